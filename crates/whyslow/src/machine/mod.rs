//! The outside world behind one trait. All processes, clocks and system calls are in here, and nothing in here
//! knows what the numbers are for.

pub mod local;
pub mod simulated;

use std::error::Error;
use std::io;

use crate::model::{
    Circumstances, Conditions, Exit, Floor, HookKind, Host, Launch, Metric, Missing, Preload, Probe, Seen,
};

/// Something that can run commands and say what they cost.
pub trait Machine {
    /// What kind of machine this is.
    fn host(&mut self) -> Host;

    /// Settings and loads that bear on measurements, right now.
    fn circumstances(&mut self) -> Circumstances {
        Circumstances::default()
    }

    /// `Err` says why a metric cannot be had here and how to get it.
    fn can_measure(&mut self, metric: &Metric) -> Result<(), Missing>;

    /// What was done to the machine for the experiment, in words for people.
    fn settings(&self) -> Vec<String> {
        Vec::new()
    }

    /// What cannot be seen of any run here, besides metrics.
    fn blind_spots(&self) -> Vec<Missing> {
        Vec::new()
    }

    /// `Err` says why a probe cannot be used here and how to get it.
    fn can_probe(&mut self, probe: Probe) -> Result<(), Missing> {
        Err(no_probe(probe))
    }

    /// Runs the launch once under a probe. What the probe sees is data, and so is that it can see nothing of this launch.
    fn probe(&mut self, _launch: &Launch, probe: Probe) -> Seen {
        Seen::Missing(no_probe(probe))
    }

    /// The same with at least so many samples a second, for a probe that takes samples and may choose how many.
    fn probe_at(&mut self, launch: &Launch, probe: Probe, _least_hz: Option<f64>) -> Seen {
        self.probe(launch, probe)
    }

    /// `Err` says what keeps preloaded libraries out of the program.
    fn can_preload(&mut self, _launch: &Launch) -> Result<(), Missing> {
        Ok(())
    }

    /// Libraries that bring an allocator: our own, and those found on the machine.
    fn allocators(&mut self) -> Vec<Preload>;

    /// Cost of starting a program that does nothing, measured now; `None` where that is not known.
    fn floor(&mut self) -> Option<Floor>;

    /// Runs the launch once, undisturbed, and reports one value for each metric in that order.
    ///
    /// A command that fails, cannot be started or is killed is an [`Outcome`]; an error is a machine that can
    /// measure nothing more.
    fn run(&mut self, launch: &Launch, metrics: &[Metric]) -> Result<Outcome, MachineError>;

    /// Runs a hook, which is not timed. A user who asked to stop does not keep a conclude or a cleanup from its work, but
    /// who asks once more ends it. The first wish of all leaves a cleanup alone and ends any other hook.
    fn run_hook(&mut self, launch: &Launch, kind: HookKind) -> Result<Outcome, MachineError>;

    /// Lets time pass with nothing running; a user who asks to stop ends it.
    fn pause(&mut self, seconds: f64);

    /// Waits before a block until the rest of the machine is quiet, if that was asked for.
    fn wait_until_quiet(&mut self) {}

    /// Seconds on a clock that never goes back.
    fn now_s(&mut self) -> f64;

    /// Whether the user asked to stop.
    fn interrupted(&self) -> bool;
}

fn no_probe(probe: Probe) -> Missing {
    Missing {
        what: probe.known().title.to_owned(),
        why: "this machine has no such probe".to_owned(),
        remedy: None,
    }
}

/// What one run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub exit: Exit,
    pub values: Vec<Option<f64>>,
    pub conditions: Conditions,
    /// The last bytes that the run wrote to its standard error.
    pub stderr_tail: Vec<u8>,
    /// Descendants that were still alive when the command had ended; 0 where they are a blind spot.
    pub leftovers: u32,
    /// Digest of the standard output, where it was asked for.
    pub output_digest: Option<u64>,
}

/// The machine itself failed, not the command.
#[derive(Debug, Default, thiserror::Error)]
#[error("{what}")]
pub struct MachineError {
    /// Without what the source says.
    pub what: String,
    #[source]
    pub source: Option<Box<dyn Error + Send + Sync>>,
    /// What to do about it, where that is known.
    pub hint: Option<String>,
}

impl MachineError {
    pub fn new(what: impl Into<String>) -> MachineError {
        MachineError { what: what.into(), ..MachineError::default() }
    }

    /// With what can be done about this cause, where that is known.
    pub fn because(self, source: impl Error + Send + Sync + 'static) -> MachineError {
        let hint = self.hint.or_else(|| root_errno(&source).and_then(remedy).map(str::to_owned));
        MachineError { what: self.what, source: Some(Box::new(source)), hint }
    }

    pub fn hint(self, hint: impl Into<String>) -> MachineError {
        MachineError { hint: Some(hint.into()), ..self }
    }
}

/// Of the innermost cause.
fn root_errno(error: &(dyn Error + 'static)) -> Option<i32> {
    match error.source() {
        Some(source) => root_errno(source),
        None => error.downcast_ref::<io::Error>()?.raw_os_error(),
    }
}

/// What helps whatever was tried.
fn remedy(errno: i32) -> Option<&'static str> {
    match errno {
        libc::EMFILE => Some("too many files are open for the limit of this process: ulimit -n 256"),
        libc::ENFILE => Some("too many files are open on the whole system"),
        libc::EAGAIN => Some("this user may start no more processes: end some, or raise ulimit -u"),
        libc::ENOMEM => Some("there is no memory left"),
        _ => None,
    }
}
