//! C programs compiled here, and how they are looked at. A program does its work for an argument; without one it only
//! starts and ends, so that what the start itself allocates (the libc, for its output) can be taken off.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use whyslow::machine::Machine;
use whyslow::machine::local::{Interrupt, Local, Settings};
use whyslow::model::{Allocations, ByteText, Launch, Missing, Probe, Probed, Seen, Trace};

pub const GLIBC: &[&str] = &["gcc"];
pub const ALL: &[&str] = &["gcc", "musl-gcc"];

/// What all programs begin with.
const HEAD: &str = r#"
    #define _GNU_SOURCE
    #include <errno.h>
    #include <malloc.h>
    #include <pthread.h>
    #include <signal.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/wait.h>
    #include <unistd.h>
    #ifndef __GLIBC__
    void *valloc(size_t);
    #endif
    static void work(int argc, char **argv);
    int main(int argc, char **argv) { if (argc > 1) work(argc, argv); return 0; }
    static void *volatile kept;
"#;

/// The program for each of these compilers that works here.
pub fn compile(directory: &Path, compilers: &[&str], source: &str, flags: &[&str]) -> Vec<PathBuf> {
    let file = directory.join("program.c");
    fs::write(&file, format!("{HEAD}\n{source}")).unwrap();
    let with = |compiler: &&str| {
        let output = directory.join(format!("program-{compiler}"));
        let mut command = Command::new(compiler);
        command.args(["-O1", "-fno-builtin", "-w", "-pthread", "-o"]).arg(&output).arg(&file).args(flags);
        command.status().is_ok_and(|status| status.success()).then_some(output)
    };
    let programs: Vec<PathBuf> = compilers.iter().filter_map(with).collect();
    assert!(!programs.is_empty(), "none of {compilers:?} compiles this with {flags:?}");
    programs
}

pub fn launch(argv: &[&str]) -> Launch {
    Launch { argv: argv.iter().map(|argument| (*argument).into()).collect(), ..Launch::default() }
}

pub fn with_env(launch: Launch, name: &str, value: &str) -> Launch {
    Launch { env: vec![(name.into(), Some(ByteText::from(value)))], ..launch }
}

pub fn look(launch: &Launch) -> Seen {
    let mut machine = Local::start(Interrupt::new().unwrap(), Settings::default()).unwrap();
    machine.can_probe(Probe::Allocations).unwrap();
    machine.probe(launch, Probe::Allocations)
}

pub fn probed(launch: &Launch) -> Probed {
    match look(launch) {
        Seen::Probed(probed) => *probed,
        Seen::Missing(missing) => panic!("{missing:?}"),
    }
}

pub fn missing(launch: &Launch) -> Missing {
    match look(launch) {
        Seen::Missing(missing) => missing,
        Seen::Probed(probed) => panic!("{probed:?}"),
    }
}

pub fn seen(probed: &Probed) -> &Allocations {
    match &probed.trace {
        Trace::Allocations(allocations) => allocations,
        other => panic!("{other:?}"),
    }
}

/// What the work of a program asked for, without its start, for each libc. The peak is that of the whole.
pub fn work_of(compilers: &[&str], source: &str) -> Vec<Allocations> {
    let directory = tempfile::tempdir().unwrap();
    let programs = compile(directory.path(), compilers, source, &[]);
    programs.iter().map(|program| work_of_program(program, &[])).collect()
}

pub fn work_of_program(program: &Path, preloads: &[&Path]) -> Allocations {
    let path = program.to_str().unwrap();
    let look_at = |argv: &[&str]| {
        let preloads = preloads.iter().map(|path| whyslow::model::Preload::File((*path).into())).collect();
        let probed = probed(&Launch { preloads, ..launch(argv) });
        assert_eq!(probed.blind_spots, [], "{argv:?}");
        seen(&probed).clone()
    };
    difference(&look_at(&[path, "work"]), &look_at(&[path]))
}

fn difference(with: &Allocations, without: &Allocations) -> Allocations {
    let sizes = |of: &Allocations, class: usize| of.sizes.get(class).copied().unwrap_or(0);
    Allocations {
        processes: with.processes,
        malloc_calls: with.malloc_calls - without.malloc_calls,
        calloc_calls: with.calloc_calls - without.calloc_calls,
        realloc_calls: with.realloc_calls - without.realloc_calls,
        aligned_calls: with.aligned_calls - without.aligned_calls,
        free_calls: with.free_calls - without.free_calls,
        asked_bytes: with.asked_bytes - without.asked_bytes,
        sizes: (0..with.sizes.len()).map(|class| sizes(with, class) - sizes(without, class)).collect(),
        realloc_new: with.realloc_new - without.realloc_new,
        realloc_freed: with.realloc_freed - without.realloc_freed,
        realloc_in_place: with.realloc_in_place - without.realloc_in_place,
        realloc_moved: with.realloc_moved - without.realloc_moved,
        realloc_moved_bytes: with.realloc_moved_bytes - without.realloc_moved_bytes,
        realloc_remapped: with.realloc_remapped - without.realloc_remapped,
        realloc_remapped_bytes: with.realloc_remapped_bytes - without.realloc_remapped_bytes,
        sbrk_calls: with.sbrk_calls - without.sbrk_calls,
        ..with.clone()
    }
}
