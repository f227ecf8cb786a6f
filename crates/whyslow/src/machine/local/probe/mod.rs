//! Probes: instruments that look at one run of their own and tell what they saw. Each is one file with two functions:
//! `can` says whether it works here at all, `look` runs the launch once under it. What cannot be seen of this launch
//! is a [`Missing`], never a zero. Nothing in here compares or explains.

mod allocations;
mod cpu;
mod elf;
mod environment;
mod family;
mod faults;
mod files;
#[cfg(any(test, fuzzing))]
pub mod fuzzed;
pub mod held;
mod instructions;
mod loading;
#[cfg(test)]
mod mutated;
pub mod perf;
mod proc;
mod ptrace;
mod series;
mod survivors;
mod syscalls;
mod tracer;
mod waiting;

use std::io;

use self::held::HeldEnd;
use super::environment::{Prepared, Refused};
use super::interrupt::Interrupt;
use super::settings::Settings;
use crate::model::{Exit, Launch, Missing, Probe, Seen};

/// What a probe looks at, and with what.
pub struct Looker<'a> {
    pub launch: &'a Launch,
    /// The launch in the words of `execve`, ready to be changed in a copy.
    pub prepared: &'a Prepared,
    pub interrupt: &'a Interrupt,
    /// As for the timed runs: what is looked at is no child of the launcher, so it is done to each command anew.
    pub settings: &'a Settings,
    /// At least so many samples of CPU time a second, where another variant has needed that.
    pub least_hz: Option<f64>,
}

/// Whether the probe works here, for some command.
pub fn can(probe: Probe) -> Result<(), Missing> {
    match probe {
        Probe::Environment => environment::can(),
        Probe::Loading => loading::can(),
        Probe::Syscalls => syscalls::can(),
        Probe::Files => files::can(),
        Probe::Allocations => allocations::can(),
        Probe::Cpu => cpu::can(),
        Probe::Faults => faults::can(),
        Probe::Waiting => waiting::can(),
        Probe::Series => series::can(),
        Probe::Instructions => instructions::can(),
    }
}

pub fn look(looker: &Looker<'_>, probe: Probe) -> Seen {
    let seen = match probe {
        Probe::Environment => environment::look(looker),
        Probe::Loading => loading::look(looker),
        Probe::Syscalls => syscalls::look(looker),
        Probe::Files => files::look(looker),
        Probe::Allocations => allocations::look(looker),
        Probe::Cpu => cpu::look(looker),
        Probe::Faults => faults::look(looker),
        Probe::Waiting => waiting::look(looker),
        Probe::Series => series::look(looker),
        Probe::Instructions => instructions::look(looker),
    };
    match seen {
        Ok(probed) => Seen::Probed(Box::new(probed)),
        Err(missing) => Seen::Missing(missing),
    }
}

/// A launch that cannot even be tried.
pub fn refused(probe: Probe, refused: &Refused) -> Seen {
    Seen::Missing(not_started(probe, refused.step, refused.errno))
}

/// The end of a command that became its program; of another one, why it did not.
pub fn started(probe: Probe, end: HeldEnd) -> Result<HeldEnd, Missing> {
    match &end.exit {
        Exit::NotStarted { errno, step } => Err(not_started(probe, step, *errno)),
        _ => Ok(end),
    }
}

fn not_started(probe: Probe, step: &str, errno: i32) -> Missing {
    let error = io::Error::from_raw_os_error(errno);
    failed(probe, &format!("the command cannot be started ({step})"), &error)
}

/// For a command that cannot even be held before its program.
pub fn unstarted(probe: Probe) -> impl Fn(io::Error) -> Missing + Copy {
    move |error| failed(probe, "the command cannot be started", &error)
}

/// For all that goes wrong between us and the command while it is looked at.
pub fn unwatched(probe: Probe) -> impl Fn(io::Error) -> Missing + Copy {
    move |error| failed(probe, "the command could not be watched", &error)
}

pub fn failed(probe: Probe, what: &str, error: &io::Error) -> Missing {
    missing(probe, format!("{what}: {error}"), general_remedy(error))
}

/// What helps against it whatever was tried.
pub fn general_remedy(error: &io::Error) -> Option<&'static str> {
    error.raw_os_error().and_then(crate::machine::remedy)
}

/// Nothing can be seen with this probe.
pub fn missing(probe: Probe, why: impl Into<String>, remedy: Option<&str>) -> Missing {
    spot(probe.known().title, why, remedy)
}

/// A part of what a probe sees otherwise.
pub fn spot(what: &str, why: impl Into<String>, remedy: Option<&str>) -> Missing {
    Missing { what: what.to_owned(), why: why.into(), remedy: remedy.map(str::to_owned) }
}
