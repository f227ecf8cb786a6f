//! The readers of foreign text and binary records, each as a function of any bytes: nothing may panic. For tests, and for the
//! fuzzers in `fuzz/`.

use std::io::Write;

use super::environment::{facts, interpreter};
use super::instructions::callgrind;
use super::loading::told;
use super::perf::any_ring;
use super::perf::jit::JitNames;
use super::perf::record::Layout;
use super::waiting::{place, sockets};
use super::{elf, perf, proc};

/// A file of a program or library, as the probes of loading and of profiles read it.
pub fn program(bytes: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().expect("a place for temporary files");
    file.write_all(bytes).expect("room for it");
    elf::read_all(file.path());
    let address = bytes.first_chunk().map_or(0, |first| u64::from_ne_bytes(*first));
    perf::elf::read_all(file.path(), address);
}

/// Files of a process and of the system in `/proc`.
pub fn process(bytes: &[u8]) {
    proc::read_all(bytes);
    facts::read_all(bytes);
    place::in_call(bytes);
    sockets::ends(bytes);
}

/// What the kernel writes into a ring.
pub fn records(bytes: &[u8]) {
    for layout in [Layout::Stack, Layout::Traced] {
        let (times, _) = any_ring::read(bytes, layout);
        assert!(times.is_sorted());
    }
}

/// What other programs say: the loader, interpreters about themselves, callgrind, and runtimes about the code that they made.
pub fn text(bytes: &[u8]) {
    told::parse(bytes);
    interpreter::parse(bytes);
    callgrind::add(bytes, &mut callgrind::Counts::default()).expect("no file that could fail");
    JitNames::parse(bytes);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::mutated;
    use super::*;

    /// Text for one reader and records for another, each given to all: what is right for one is nonsense for the others.
    fn anything() -> Vec<Vec<u8>> {
        let of_process = mutated::of_this_process(&["stat", "status", "maps", "limits", "cgroup", "net/tcp"]);
        [of_process, mutated::of_the_loader(), mutated::of_programs()].concat()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_reader_panics_on_anything_that_is_broken(bytes in mutated::mutated(anything())) {
            process(&bytes);
            text(&bytes);
            records(&bytes);
            program(&bytes);
        }
    }
}
