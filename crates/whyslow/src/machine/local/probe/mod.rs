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
pub mod held;
mod instructions;
mod loading;
pub mod perf;
mod proc;
mod series;
mod syscalls;
mod tracer;
mod waiting;

use super::environment::{Prepared, Refused};
use super::interrupt::Interrupt;
use crate::model::{Launch, Missing, Probe, Seen};

/// What a probe looks at, and with what.
pub struct Looker<'a> {
    pub launch: &'a Launch,
    /// The launch in the words of `execve`, ready to be changed in a copy.
    pub prepared: &'a Prepared,
    pub interrupt: &'a Interrupt,
    /// Whether the kernel's own records may be used, where that is allowed, for what can be traced as well.
    pub may_record: bool,
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
    let error = std::io::Error::from_raw_os_error(refused.errno);
    Seen::Missing(missing(probe, format!("the command cannot be started ({}): {error}", refused.step), None))
}

pub fn missing(probe: Probe, why: impl Into<String>, remedy: Option<&str>) -> Missing {
    Missing { what: probe.known().title.to_owned(), why: why.into(), remedy: remedy.map(str::to_owned) }
}
