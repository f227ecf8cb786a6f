//! Programs that people run.

use whyslow::machine::Machine;
use whyslow::machine::local::{Interrupt, Local, Settings};
use whyslow::model::{Exit, Launch, Output};

use super::programs::{launch, probed, seen, with_env};

#[test]
fn perl_and_its_growing_string() {
    let script = "my $text = ''; $text .= 'x' x 100 for 1..100000; print length $text";
    let probed = probed(&launch(&["perl", "-e", script]));
    assert_eq!((&probed.exit, &*probed.blind_spots), (&Exit::Code(0), &[][..]));
    let seen = seen(&probed);
    assert!(seen.allocators[0].contains("libc"), "{:?}", seen.allocators);
    assert!(seen.peak_live_bytes > 10_000_000 && seen.malloc_calls > 100, "{seen:?}");
    // glibc gives large blocks mappings of their own, and lets the kernel move them.
    assert!(seen.realloc_remapped_bytes > 10 * seen.realloc_moved_bytes, "{seen:?}");
}

#[test]
fn python_shows_its_own_allocator_when_told_to() {
    // A shim of a version manager would be a shell script.
    let Some(python) = ["/usr/bin/python3"].into_iter().find(|path| std::path::Path::new(path).exists())
    else {
        return;
    };
    let command = launch(&[python, "-c", "x = [str(i) for i in range(100000)]"]);
    let plain = probed(&command);
    assert!(plain.blind_spots.iter().any(|spot| spot.why.contains("Python")), "{plain:?}");
    let told = probed(&with_env(command, "PYTHONMALLOC", "malloc"));
    assert_eq!(told.blind_spots, []);
    assert!(seen(&told).malloc_calls > 100_000 && seen(&told).malloc_calls > 10 * seen(&plain).malloc_calls);
}

#[cfg(feature = "bundled-mimalloc")]
#[test]
fn an_allocator_behind_the_agent() {
    use whyslow::model::Preload;
    let script = "my @words = map { 'x' x $_ } 1..1000;";
    let probed = probed(&Launch { preloads: vec![Preload::Mimalloc], ..launch(&["perl", "-e", script]) });
    assert_eq!((&probed.exit, &*probed.blind_spots), (&Exit::Code(0), &[][..]));
    assert!(seen(&probed).allocators[0].ends_with("whyslow-mimalloc.so"), "{probed:?}");
    assert!(seen(&probed).malloc_calls > 1000);
}

/// As in a timed run, whatever this process was started with.
#[test]
fn no_descriptor_is_added() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("list");
    let script = "opendir D, '/proc/self/fd'; print join ' ', sort grep { /^\\d/ } readdir D";
    let launch = Launch { stdout: Output::File(file.clone()), ..launch(&["perl", "-e", script]) };
    let mut machine = Local::start(Interrupt::new().unwrap(), Settings::default()).unwrap();
    machine.run(&launch, &[]).unwrap();
    let timed = std::fs::read_to_string(&file).unwrap();
    assert_eq!(probed(&launch).exit, Exit::Code(0));
    assert_eq!((&*std::fs::read_to_string(&file).unwrap(), &*timed), ("0 1 2 3", "0 1 2 3"));
}

/// `new` is malloc, unless the allocator has both.
#[test]
fn operator_new_of_cpp() {
    let place = tempfile::tempdir().unwrap();
    let (source, program) = (place.path().join("new.cpp"), place.path().join("new"));
    let text = "#include <cstdio>\nint *volatile kept;\n\
        int main() { for (int i = 0; i < 5000; i++) { kept = new int[600]; delete[] kept; }\n\
        try { throw 1; } catch (int) { return 3; } }";
    std::fs::write(&source, text).unwrap();
    let compiler = std::process::Command::new("g++").args(["-O1", "-o"]).arg(&program).arg(&source).status();
    if !compiler.is_ok_and(|status| status.success()) {
        return;
    }
    let command = launch(&[program.to_str().unwrap()]);
    let plain = probed(&command);
    assert_eq!((&plain.exit, seen(&plain).sizes[11]), (&Exit::Code(3), 5000));
    assert_eq!(plain.blind_spots, []);
    if cfg!(feature = "bundled-mimalloc") {
        let own = probed(&Launch { preloads: vec![whyslow::model::Preload::Mimalloc], ..command });
        assert_eq!(own.exit, Exit::Code(3));
        assert!(own.blind_spots[0].why.contains("operator new"), "{own:?}");
    }
}
