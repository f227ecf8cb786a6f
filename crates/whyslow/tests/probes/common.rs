//! Short ways to look at a launch with a probe.
#![allow(dead_code, reason = "each test uses some of it")]

use std::path::{Path, PathBuf};
use std::process::Command;

use whyslow::machine::Machine;
use whyslow::machine::local::{Interrupt, Local, Settings};
use whyslow::model::{Environment, Launch, Missing, Probe, Probed, Seen, Trace};

pub fn launch(argv: &[&str]) -> Launch {
    Launch { argv: argv.iter().map(|argument| (*argument).into()).collect(), ..Launch::default() }
}

pub fn shell(script: &str) -> Launch {
    launch(&["sh", "-c", script])
}

pub fn seen(launch: &Launch, probe: Probe) -> Result<Probed, Missing> {
    let mut machine = Local::start(Interrupt::new().unwrap(), Settings::default()).unwrap();
    match machine.probe(launch, probe) {
        Seen::Probed(probed) => Ok(*probed),
        Seen::Missing(missing) => Err(missing),
    }
}

pub fn probed(launch: &Launch, probe: Probe) -> Probed {
    seen(launch, probe).unwrap_or_else(|missing| panic!("{missing:?}"))
}

pub fn facts(launch: &Launch) -> Environment {
    match probed(launch, Probe::Environment).trace {
        Trace::Environment(environment) => environment,
        other => panic!("{other:?}"),
    }
}

/// A C program; `None` where there is no compiler.
pub fn compiled(directory: &Path, name: &str, source: &str, flags: &[&str]) -> Option<PathBuf> {
    let (text, program) = (directory.join(format!("{name}.c")), directory.join(name));
    std::fs::write(&text, source).unwrap();
    let output = Command::new("gcc").arg(&text).arg("-o").arg(&program).args(flags).output().ok()?;
    output.status.success().then_some(program)
}
