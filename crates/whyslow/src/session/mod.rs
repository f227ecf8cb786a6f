//! The loop that joins thought and action. It runs what the plan says on a machine, tells a watcher everything that
//! happens at once, and stops when the analysis says so. No formula, no format and no printing in here.

mod block_times;
mod bound;
mod check_up;
mod investigate;
mod look;
mod measure;
mod observe;
mod preflight;
mod rates;

pub use check_up::check_up;
pub use investigate::{Inquiry, explain, investigate};
pub use look::look;
pub use measure::{Stamp, measure, resume};
pub use observe::observe;
pub use preflight::{Asked, preflight};

use crate::analysis::Progress;
use crate::machine::MachineError;
use crate::model::{
    CustomSign, End, Entry, Header, HookFailure, Looks, Missing, Probe, Recording, Run, StagePlan, Stop,
    TraceEntry,
};

/// Something that happened, in the order in which it did.
pub enum Event<'a> {
    Began(&'a Header),
    Ran(&'a Run),
    HookFailed(&'a HookFailure),
    /// A block is complete; a good moment to draw, since no child runs.
    BlockDone(&'a Forecast),
    /// The looks are fixed.
    Settled(&'a Looks),
    Looked(&'a Progress),
    Ended(&'a End),
    /// A probe is about to look at a variant, which takes a run; the how manieth of how many it is, where that is known.
    Probing {
        probe: Probe,
        of: &'a str,
        place: Option<(usize, usize)>,
    },
    /// Whether this edit takes effect is about to be seen, which takes a run.
    Checking(&'a str),
    /// All of it ends in so many seconds, whatever happens.
    Bounded {
        left_s: f64,
    },
    Probed(&'a TraceEntry),
    /// A round of what-ifs begins; runs and an end follow.
    StageBegan(&'a StagePlan),
    /// What a suspect of the user's own saw.
    Custom(&'a CustomSign),
    /// The search for reasons is over.
    Explained(Stop),
}

impl<'a> Event<'a> {
    /// What it adds to the recording.
    pub fn entry(&self) -> Option<Entry<'a>> {
        Some(match *self {
            Event::Began(header) => Entry::header(header),
            Event::Ran(run) => Entry::Run(run),
            Event::Settled(looks) => Entry::Looks(looks),
            Event::HookFailed(failure) => Entry::Hook(failure),
            Event::Ended(end) => Entry::End(end),
            Event::Probed(trace) => Entry::Trace(trace),
            Event::StageBegan(plan) => Entry::Stage(plan),
            Event::Custom(sign) => Entry::Custom(sign),
            Event::Explained(stop) => Entry::Explained(stop),
            Event::BlockDone(_)
            | Event::Looked(_)
            | Event::Probing { .. }
            | Event::Checking(_)
            | Event::Bounded { .. } => return None,
        })
    }
}

/// What is known about the rest of an experiment after a block.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// Measured blocks so far; 0 after a warm-up block.
    pub blocks: usize,
    pub is_warmup: bool,
    pub elapsed_s: f64,
    /// Typical time of one block.
    pub block_s: f64,
    /// Time until the last look, or until the budget is spent.
    pub most_left_s: f64,
    /// Number of blocks at the last look.
    pub last_look: usize,
    /// The number of blocks is fixed, because they take long or because it was asked for.
    pub is_fixed: bool,
    /// Time until the end of an explanation that this decides about, where that is bounded.
    pub explained_in_s: Option<f64>,
}

/// Someone who wants to know: a recorder, a progress line.
pub trait Watcher {
    /// An error ends the measurement, with what was measured so far kept.
    fn notice(&mut self, event: Event<'_>) -> Result<(), WatcherError>;
}

/// A watcher that cannot go on.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct WatcherError {
    pub what: String,
    #[source]
    pub source: Option<std::io::Error>,
}

/// The measurement could not go on; what was measured until then is in `recording`.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Watcher(#[from] WatcherError),
    /// What was asked for is not there in the child.
    #[error("{} did not take effect: {}", .0.what, .0.why)]
    NoEffect(Missing),
}

/// A recording, and what ended it before its time, if anything did.
pub struct Measured {
    pub recording: Recording,
    pub trouble: Option<SessionError>,
}
