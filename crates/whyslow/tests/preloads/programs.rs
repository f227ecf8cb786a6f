//! Small C programs that tell what the libraries did to them, compiled here, for each libc that there is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use whyslow::machine::Machine;
use whyslow::machine::local::{Interrupt, Local, Settings};
use whyslow::model::{Exit, Launch, Output, Preload};

/// A program for each C compiler that works here.
pub fn compile(directory: &Path, name: &str, source: &str) -> Vec<PathBuf> {
    let file = directory.join(format!("{name}.c"));
    fs::write(&file, source).unwrap();
    let with = |compiler: &str| {
        let output = directory.join(format!("{name}-{compiler}"));
        let mut command = Command::new(compiler);
        command.args(["-O1", "-w", "-o"]).arg(&output).arg(&file);
        command.status().is_ok_and(|status| status.success()).then_some(output)
    };
    let programs: Vec<PathBuf> = ["gcc", "musl-gcc"].into_iter().filter_map(with).collect();
    assert!(!programs.is_empty(), "no C compiler");
    programs
}

/// What the program prints with these libraries in front; it must succeed.
pub fn printed(argv: &[&str], preloads: &[Preload]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("output");
    let launch = Launch {
        argv: argv.iter().map(|argument| (*argument).into()).collect(),
        stdout: Output::File(output.clone()),
        preloads: preloads.to_vec(),
        ..Launch::default()
    };
    let mut machine = Local::start(Interrupt::new().unwrap(), Settings::default()).unwrap();
    let outcome = machine.run(&launch, &[]).unwrap();
    let complaint = String::from_utf8_lossy(&outcome.stderr_tail);
    assert_eq!((outcome.exit, &*complaint), (Exit::Code(0), ""), "{argv:?} {preloads:?}");
    fs::read_to_string(output).unwrap()
}
