//! The probes that sample, on programs whose truth is known. Shares are wide enough for a busy machine; where the system
//! does not allow sampling there is nothing to test.

#[path = "probes_perf/confined.rs"]
mod confined;
#[path = "probes_perf/faults.rs"]
mod faults;
#[path = "probes_perf/made.rs"]
mod made;
#[path = "probes_perf/shares.rs"]
mod shares;
#[path = "probes_perf/trees.rs"]
mod trees;

use std::path::{Path, PathBuf};
use std::process::Command;

use whyslow::machine::Machine;
use whyslow::machine::local::{Interrupt, Local, Settings};
use whyslow::model::{Launch, Probe, Probed, Profile, Seen, Trace};

fn launch(argv: &[&str]) -> Launch {
    Launch { argv: argv.iter().map(|argument| (*argument).into()).collect(), ..Launch::default() }
}

/// `None` where the system does not allow it.
fn probe(argv: &[&str], probe: Probe) -> Option<Probed> {
    let mut machine = Local::start(Interrupt::new().unwrap(), Settings::default()).unwrap();
    if let Err(missing) = machine.can_probe(probe) {
        eprintln!("skipped: {missing:?}");
        return None;
    }
    match machine.probe(&launch(argv), probe) {
        Seen::Probed(probed) => Some(*probed),
        Seen::Missing(missing) => panic!("{missing:?}"),
    }
}

fn profile(probed: &Probed) -> &Profile {
    match &probed.trace {
        Trace::Cpu(profile) | Trace::Faults(profile) => profile,
        other => panic!("{other:?}"),
    }
}

/// Of all samples, those with this function somewhere in the stack.
fn share(profile: &Profile, function: &str) -> f64 {
    profile.inclusive_where(|frame| frame.name == function) / profile.sampled
}

/// A C program in a new directory, which goes with the value.
struct Program {
    directory: tempfile::TempDir,
}

impl Program {
    fn compile(source: &str, options: &[&str]) -> Program {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("program.c");
        std::fs::write(&file, source).unwrap();
        let mut compiler = Command::new("gcc");
        compiler.args(["-O1", "-fno-inline", "-fomit-frame-pointer", "-o"]);
        compiler.arg(directory.path().join("program")).arg(&file).args(options);
        assert!(compiler.status().unwrap().success());
        Program { directory }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("program")
    }

    fn word(&self) -> String {
        self.path().to_str().unwrap().to_owned()
    }

    fn probe(&self, with: Probe) -> Option<Probed> {
        probe(&[&self.word()], with)
    }
}

fn write(directory: &Path, name: &str, text: &str) -> String {
    let file = directory.join(name);
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

/// Time on the CPU of a thread, without a system call in the loops that are measured.
const BURN: &str = r#"
#include <time.h>
__attribute__((noinline)) unsigned long burn(unsigned long rounds) {
    unsigned long sum = 1;
    for (unsigned long i = 0; i < rounds; i++) { sum = sum * 6364136223846793005ul + i; __asm__ volatile("" : "+r"(sum)); }
    return sum;
}
"#;

fn with_burn(source: &str) -> String {
    format!("{BURN}{source}")
}
