//! What a probe saw. A probe is an instrument that disturbs the run, so it looks at a run of its own: what it saw tells
//! where the time goes, and how long that run took is never a value.

mod allocations;
mod environment;
mod files;
mod instructions;
mod loading;
mod profile;
mod rates;
mod series;
mod syscalls;
mod waiting;

use serde::{Deserialize, Serialize};

use super::{Exit, Missing};

pub use allocations::Allocations;
pub use environment::Environment;
pub use files::{FileUse, Files};
pub use instructions::{CountedFunction, Instructions};
pub use loading::{ElfFacts, LoadedProgram, Loading};
pub use profile::{Frame, KernelView, Profile, Stack};
pub use rates::{SAME_RATE, at_one_rate, usual_rate_hz};
pub use series::{Moment, Series};
pub use syscalls::{Partial, StartedProgram, SyscallCount, Syscalls};
pub use waiting::{ThreadTime, WaitKind, WaitPlace, Waiting};

/// An instrument that disturbs the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Probe {
    Environment,
    Loading,
    Syscalls,
    Files,
    Allocations,
    Cpu,
    Faults,
    Waiting,
    Series,
    Instructions,
}

/// One row of the table of probes.
pub struct KnownProbe {
    pub probe: Probe,
    /// What `--with` calls it.
    pub name: &'static str,
    pub title: &'static str,
    /// What it sees, and by what means.
    pub about: &'static str,
    /// Whether it is used without being asked for: not where it makes a run many times as slow.
    pub is_default: bool,
}

/// Every probe, in the order in which they are used and shown: the cheap ones first.
pub const KNOWN_PROBES: &[KnownProbe] = &[
    row(
        Probe::Environment,
        "environment",
        "environment",
        "arguments, variables, limits, affinity, interpreter, libraries and machine settings that the run has",
    ),
    row(
        Probe::Loading,
        "loading",
        "loading",
        "programs started, libraries and relocations (LD_DEBUG=statistics), and what the ELF files say",
    ),
    row(
        Probe::Syscalls,
        "syscalls",
        "system calls",
        "exact counts, errors and bytes of every system call of the whole tree, by ptrace",
    ),
    row(Probe::Files, "files", "files", "files opened, missed, read, written and synced, by ptrace"),
    row(
        Probe::Allocations,
        "allocations",
        "allocations",
        "exact counts of malloc, free and realloc, and what realloc moved, by a preloaded library",
    ),
    row(Probe::Cpu, "cpu", "CPU profile", "where the time on the CPU goes, by sampling with whole stacks"),
    row(Probe::Faults, "faults", "page faults", "the code that touches memory for the first time"),
    row(
        Probe::Waiting,
        "waiting",
        "waiting",
        "time off the CPU of every thread: preempted or blocked, and what it blocks on",
    ),
    row(
        Probe::Series,
        "series",
        "time series",
        "CPU time, page faults, memory, switches and I/O every few milliseconds",
    ),
    KnownProbe {
        is_default: false,
        ..row(
            Probe::Instructions,
            "instructions",
            "instructions",
            "instructions by function: hardware counters, or valgrind --tool=callgrind",
        )
    },
];

const fn row(probe: Probe, name: &'static str, title: &'static str, about: &'static str) -> KnownProbe {
    KnownProbe { probe, name, title, about, is_default: true }
}

impl Probe {
    pub fn known(self) -> &'static KnownProbe {
        // Every probe has a row: a test sees to it.
        KNOWN_PROBES.iter().find(|known| known.probe == self).unwrap_or(&KNOWN_PROBES[0])
    }

    pub fn name(self) -> &'static str {
        self.known().name
    }
}

/// What one probe saw in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trace {
    Environment(Environment),
    Loading(Loading),
    Syscalls(Syscalls),
    Files(Files),
    Allocations(Allocations),
    Cpu(Profile),
    Faults(Profile),
    Waiting(Waiting),
    Series(Series),
    Instructions(Instructions),
}

impl Trace {
    /// The probe that sees this.
    pub fn probe(&self) -> Probe {
        match self {
            Trace::Environment(_) => Probe::Environment,
            Trace::Loading(_) => Probe::Loading,
            Trace::Syscalls(_) => Probe::Syscalls,
            Trace::Files(_) => Probe::Files,
            Trace::Allocations(_) => Probe::Allocations,
            Trace::Cpu(_) => Probe::Cpu,
            Trace::Faults(_) => Probe::Faults,
            Trace::Waiting(_) => Probe::Waiting,
            Trace::Series(_) => Probe::Series,
            Trace::Instructions(_) => Probe::Instructions,
        }
    }
}

/// A probed run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probed {
    pub trace: Trace,
    /// How the probed run ended: as without the probe, or the probe is not to be trusted.
    pub exit: Exit,
    /// How long it took with the probe; for the cost of the probe and nothing else.
    pub wall_s: f64,
    /// CPU time of the whole tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// What the probe could not see of this run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blind_spots: Vec<Missing>,
}

/// A line of a recording: one look of one probe at one variant. "Could not look" is data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceEntry {
    /// The stage whose variant it is of; `None`: of the main part of the recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<usize>,
    pub variant: usize,
    pub probe: Probe,
    pub seen: Seen,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    Probed(Box<Probed>),
    Missing(Missing),
}

impl Seen {
    pub fn probed(&self) -> Option<&Probed> {
        match self {
            Seen::Probed(probed) => Some(probed),
            Seen::Missing(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probe_has_its_row() {
        for known in KNOWN_PROBES {
            assert_eq!(known.probe.known().name, known.name);
        }
        let mut probes: Vec<Probe> = KNOWN_PROBES.iter().map(|known| known.probe).collect();
        probes.dedup();
        assert_eq!(probes.len(), Probe::Instructions as usize + 1);
    }
}
