//! Everything that was observed in an experiment. Append-only: one line of JSON each for the header, every run, and
//! what was decided on the way. Every result is computed from this and from nothing else.

use serde::{Deserialize, Serialize};

use super::{
    CustomSign, Experiment, HookKind, Probe, Probed, Stage, StagePlan, TraceEntry, Unit, Values, at_one_rate,
};

/// Raised when a reader of the older form would misread the newer one.
pub const FORMAT_VERSION: u32 = 1;

/// A recording in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    pub header: Header,
    /// In the order in which they were made, warm-up and failed runs included.
    pub runs: Vec<Run>,
    /// The looks that were fixed before the first one; `None` in a recording that ended before that.
    pub looks: Option<Looks>,
    /// The hook that ended it by failing.
    pub hook_failure: Option<HookFailure>,
    /// `None` when the recording breaks off (killed, power lost).
    pub end: Option<End>,
    /// What probes saw of the variants, in the order in which they looked.
    pub traces: Vec<TraceEntry>,
    /// Rounds of experiments on suspected causes.
    pub stages: Vec<Stage>,
    /// What suspects of the user's own saw.
    pub custom: Vec<CustomSign>,
    /// Why the search for reasons stopped; `None` where there was none, or it breaks off.
    pub explained: Option<Stop>,
}

/// What a recording consists of, in the order in which it was observed: one line of the file each.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry<'a> {
    Whyslow {
        version: u32,
        header: &'a Header,
    },
    Run(&'a Run),
    Looks(&'a Looks),
    Hook(&'a HookFailure),
    /// Also of a stage: the last one that began and did not end.
    End(&'a End),
    Trace(&'a TraceEntry),
    /// The runs that follow belong to it.
    Stage(&'a StagePlan),
    Custom(&'a CustomSign),
    /// The end of the search for reasons.
    Explained(Stop),
}

impl<'a> Entry<'a> {
    /// The first one.
    pub fn header(header: &'a Header) -> Self {
        Entry::Whyslow { version: FORMAT_VERSION, header }
    }
}

/// The first line of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version and build of the program that wrote it.
    pub tool: String,
    /// Local time with offset, RFC 3339.
    pub started: String,
    pub experiment: Experiment,
    pub host: Host,
    /// Cost of starting a program that does nothing, on this host just before the experiment.
    pub floor: Option<Floor>,
    /// Metrics of the experiment that this machine could not give.
    pub missing: Vec<Missing>,
    /// What was done to the machine for the experiment, and undone after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
}

/// One execution of one variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub variant: usize,
    /// Blocks count from 0 in the order they were made; the first `warmup` of them are not analysed.
    pub block: usize,
    /// Place in the order of the block, from 0.
    pub position: usize,
    /// Seconds since the experiment began.
    pub start_s: f64,
    pub exit: Exit,
    /// One value for each metric of the experiment, in that order.
    pub values: Values,
    #[serde(default, skip_serializing_if = "Conditions::is_unknown")]
    pub conditions: Conditions,
    /// The end of what a failed run wrote to its standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr_tail: String,
    /// Descendants that were still alive when the command had ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub leftovers: u32,
    /// Digest of the standard output, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_digest: Option<u64>,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// A signal stopped it (Ctrl-Z, reading from a terminal in the background) and it did not go on.
    Stopped(i32),
    TimedOut,
    /// The operating system refused to start it; `step` says what was being done.
    NotStarted {
        errno: i32,
        step: String,
    },
    /// The user stopped the experiment during the run.
    Interrupted,
}

impl Exit {
    pub fn is_success(&self) -> bool {
        *self == Exit::Code(0)
    }
}

/// The state of the machine during one run. Every field is unknown where the system does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Conditions {
    /// Share of the run in which some task on the machine waited for a CPU (pressure stall information).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_pressure: Option<f32>,
    /// Tasks running or ready, averaged by the kernel over the last minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f32>,
    /// Time that a hypervisor took from this machine during the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_s: Option<f32>,
    /// Mean frequency of the CPUs at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_hz: Option<f32>,
    /// Time that the whole computer slept during the run. The clock of the wall time stood still meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_s: Option<f32>,
}

impl Conditions {
    pub fn is_unknown(&self) -> bool {
        *self == Conditions::default()
    }
}

/// What kind of machine a recording comes from.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Host {
    pub name: String,
    pub kernel: String,
    pub architecture: String,
    pub cpu_model: Option<String>,
    pub cpus: usize,
    pub memory_bytes: Option<u64>,
    /// Frequency governor of the first CPU.
    pub governor: Option<String>,
    pub clocksource: Option<String>,
    pub hypervisor: Option<bool>,
    /// Whether the kernel books user and system time by the timer tick, which misbooks short runs.
    pub tick_accounting: Option<bool>,
    /// Length of a tick.
    pub tick_s: Option<f64>,
}

/// The cost of starting and reaping a program that does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    pub wall_s: f64,
    pub cpu_s: Option<f64>,
    pub peak_rss_bytes: Option<f64>,
}

/// A hook that did not succeed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HookFailure {
    pub kind: HookKind,
    pub variant: usize,
    /// The block of its run; `None` for setup and cleanup.
    pub block: Option<usize>,
    pub exit: Exit,
    pub stderr_tail: String,
}

/// Something that could not be looked at, and how to get it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    pub what: String,
    pub why: String,
    pub remedy: Option<String>,
}

/// When the data are looked at, fixed before the first look so that looking often costs no honesty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Looks {
    /// Number of measured blocks at each look.
    pub at: Vec<usize>,
    /// Chance of a false claim spent at each look, for one comparison.
    pub alpha_each: f64,
}

/// The last line of a recording that ended as it should.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    pub stop: Stop,
    /// Seconds from the first run to the end.
    pub elapsed_s: f64,
}

/// Why measuring stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// Every comparison is decided and precise enough.
    Decided,
    /// All the runs that were asked for are made.
    RunsDone,
    BudgetSpent,
    Failed,
    HookFailed,
    /// Failures were to be counted, and one of the variants does nothing else.
    NeverSucceeded,
    Interrupted,
}

impl Recording {
    pub fn new(header: Header) -> Self {
        Recording {
            header,
            runs: Vec::new(),
            looks: None,
            hook_failure: None,
            end: None,
            traces: Vec::new(),
            stages: Vec::new(),
            custom: Vec::new(),
            explained: None,
        }
    }

    /// Why it ended, with the search for reasons where they were asked for; `None` where it breaks off.
    pub fn stop(&self) -> Option<Stop> {
        let measured = self.end.as_ref()?.stop;
        let is_whole = matches!(measured, Stop::Decided | Stop::RunsDone | Stop::BudgetSpent);
        if !is_whole || !self.header.experiment.asks_why {
            return Some(measured);
        }
        self.explained.map(|stop| if stop == Stop::Interrupted { stop } else { measured })
    }

    /// What a probe saw of a variant of this experiment, in the order of the looks, by profiles of one rate; variants of a
    /// round are others.
    pub fn seen(&self, variant: usize, probe: Probe) -> impl Iterator<Item = &Probed> {
        let is_wanted = move |entry: &&TraceEntry| {
            entry.stage.is_none() && entry.variant == variant && entry.probe == probe
        };
        let looks = at_one_rate(self.traces.iter().filter(is_wanted).collect());
        looks.into_iter().filter_map(|entry| entry.seen.probed())
    }

    /// Place of a metric in the values of a run.
    pub fn metric_index(&self, name: &str) -> Option<usize> {
        self.header.experiment.metrics.iter().position(|metric| metric.name == name)
    }

    pub fn metric_unit(&self, name: &str) -> Option<Unit> {
        self.metric_index(name).map(|index| self.header.experiment.metrics[index].unit)
    }
}
