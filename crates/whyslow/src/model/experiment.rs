//! What is to be measured: the work, the factors that vary, and how much effort to spend.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{ByteText, Exit, Metric};

/// A question in the form in which it is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    pub name: String,
    pub workload: Workload,
    pub factors: Vec<Factor>,
    pub metrics: Vec<Metric>,
    pub design: Design,
    /// The difference is to be explained and not only measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_why: bool,
    /// Its variants were measured apart, on different hosts or days.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_joined: bool,
}

/// The work that every variant does before its edits are applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Workload {
    Command(Launch),
}

/// What is handed to the operating system.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Launch {
    pub argv: Vec<ByteText>,
    /// Changes to the inherited environment, in order; `None` removes the variable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(ByteText, Option<ByteText>)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    #[serde(default)]
    pub stdin: Input,
    #[serde(default)]
    pub stdout: Output,
    /// Whether to take a digest of what it writes to its standard output.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub digest_output: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<f64>,
    /// How long to wait, after its end, for descendants that outlive it. What they use until then is in the
    /// CPU time, not in the wall time; `None` does not wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_for_descendants_s: Option<f64>,
    /// CPUs that it may run on; `None` leaves it as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affinity: Option<Vec<usize>>,
    /// Libraries loaded before all others, in front of those that LD_PRELOAD names already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preloads: Vec<Preload>,
}

/// A library that changes what a program does without changing the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preload {
    /// The allocator that comes with whyslow.
    Mimalloc,
    /// A library of this machine: an absolute path, or a name that the loader finds.
    File(PathBuf),
    Shim(Shim),
}

/// Small libraries of our own, each of which changes one thing. There is none that makes fork share memory: whether an
/// exec follows is not known beforehand, and where none does the parent would be overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shim {
    /// fsync, fdatasync, sync_file_range, msync, sync and O_SYNC do nothing. For an experiment only: data may be lost.
    NoSync,
    /// What the program itself maps of private memory is filled at once (MAP_POPULATE); not what malloc maps.
    Populate,
    /// TCP_NODELAY on every TCP socket.
    NoDelay,
    /// The soft limit of open files is at most 1024 in every program that is started.
    FewFiles,
}

impl Shim {
    pub const ALL: [Shim; 4] = [Shim::NoSync, Shim::Populate, Shim::NoDelay, Shim::FewFiles];

    pub fn name(self) -> &'static str {
        match self {
            Shim::NoSync => "no-sync",
            Shim::Populate => "populate",
            Shim::NoDelay => "no-delay",
            Shim::FewFiles => "few-files",
        }
    }
}

/// Where the standard output of a run goes.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Into a pipe that is read and forgotten: programs do their whole work.
    #[default]
    Pipe,
    /// `/dev/null`, where some programs skip their work.
    Null,
    /// Standard output and error of whyslow itself.
    Inherit,
    /// A file, emptied before each run.
    File(PathBuf),
    /// A terminal of its own, as under `script`.
    Terminal,
}

#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Nothing to read: a program that waits for input sees the end of it at once.
    #[default]
    Null,
    File(PathBuf),
}

/// Something that varies between variants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    pub name: String,
    pub levels: Vec<Level>,
    pub role: Role,
}

/// Why a factor is in the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user asked about it.
    Asked,
    /// A suspected cause, taken away or added.
    WhatIf,
}

/// One setting of a factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    pub name: String,
    pub edits: Vec<Edit>,
}

/// One difference between launches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    Argv(Vec<ByteText>),
    SetEnv(ByteText, ByteText),
    UnsetEnv(ByteText),
    Directory(PathBuf),
    Stdin(Input),
    Stdout(Output),
    Affinity(Vec<usize>),
    Preload(Preload),
    /// Words in front of the command line: `nice -n 5`.
    Wrap(Vec<ByteText>),
    Timeout(f64),
    /// A command around the runs; not measured.
    Hook(HookKind, Vec<ByteText>),
    /// Puts a value in for `{name}` in everything else; counts after all other edits.
    Parameter(String, String),
}

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookKind {
    /// Once for each variant, before the first block.
    Setup,
    /// Before every run, also those that warm up.
    Prepare,
    /// After every run, also one that failed.
    Conclude,
    /// Once for each variant whose setup was begun, at the end, however it came.
    Cleanup,
}

impl HookKind {
    pub const ALL: [HookKind; 4] =
        [HookKind::Setup, HookKind::Prepare, HookKind::Conclude, HookKind::Cleanup];

    pub fn name(self) -> &'static str {
        match self {
            HookKind::Setup => "setup",
            HookKind::Prepare => "prepare",
            HookKind::Conclude => "conclude",
            HookKind::Cleanup => "cleanup",
        }
    }

    /// The name of several of its kind.
    pub fn plural(self) -> &'static str {
        match self {
            HookKind::Setup => "setups",
            HookKind::Prepare => "prepares",
            HookKind::Conclude => "concludes",
            HookKind::Cleanup => "cleanups",
        }
    }
}

/// One level of every factor, ready to launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    pub name: String,
    /// Index of the level of each factor, in the order of the factors.
    pub levels: Vec<usize>,
    pub launch: Launch,
    pub hooks: BTreeMap<HookKind, Launch>,
    /// Values of the parameters, by name.
    pub parameters: Vec<(String, String)>,
}

/// How many blocks to measure, in which order, and what the answer must be worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Design {
    pub runs: RunCount,
    /// Blocks run before the first one that counts; stored and marked, never analysed.
    pub warmup: usize,
    /// Draws the order of the variants in each block; kept, so that a recording tells how it was made.
    pub seed: u64,
    /// Time for measuring, warm-up included.
    pub budget_s: f64,
    /// Chance that no interval of the whole comparison misses the truth, such as 0.95.
    pub confidence: f64,
    /// A ratio between 1/(1+margin) and 1+margin counts as no difference. Of a command by itself, half the interval of
    /// its median is to be no more than this share of it.
    pub margin: f64,
    /// Index of the variant that the others are compared with.
    pub base: usize,
    /// The metric that decides when to stop.
    #[serde(default = "wall")]
    pub leading: String,
    #[serde(default)]
    pub failures: FailurePolicy,
    /// Exit codes that are no failure.
    #[serde(default = "only_zero")]
    pub success_codes: Vec<i32>,
    /// Pause before each run, for what the last one left behind to settle.
    #[serde(default)]
    pub gap_s: f64,
}

fn wall() -> String {
    "wall_s".to_owned()
}

fn only_zero() -> Vec<i32> {
    vec![0]
}

/// What a failed run means for the experiment. It never enters a statistic.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailurePolicy {
    /// The first one ends it.
    #[default]
    Abort,
    /// Failed runs are counted and shown.
    CountAll,
    /// The same for these exit codes; any other failure ends it.
    CountCodes(Vec<i32>),
}

/// How many measured runs each variant gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunCount {
    /// As many as were asked for, whatever they show.
    Exactly(usize),
    /// Until the question is decided, within bounds and the budget.
    UntilDecided { min: usize, max: Option<usize> },
}

impl Design {
    /// Whether a run that ended like this may enter the statistics.
    pub fn counts(&self, exit: &Exit) -> bool {
        matches!(exit, Exit::Code(code) if self.success_codes.contains(code))
    }

    /// Whether measuring goes on after a run that ended like this.
    pub fn goes_on(&self, exit: &Exit) -> bool {
        let is_listed = |codes: &[i32]| matches!(exit, Exit::Code(code) if codes.contains(code));
        self.counts(exit)
            || match &self.failures {
                FailurePolicy::Abort => false,
                // A command that cannot be started will not start the next time either.
                FailurePolicy::CountAll => !matches!(exit, Exit::Interrupted | Exit::NotStarted { .. }),
                FailurePolicy::CountCodes(codes) => is_listed(codes),
            }
    }
}

impl Default for Design {
    fn default() -> Self {
        Design {
            runs: RunCount::UntilDecided { min: 0, max: None },
            warmup: 1,
            seed: 0,
            budget_s: 30.0,
            confidence: 0.95,
            margin: 0.02,
            base: 0,
            leading: wall(),
            failures: FailurePolicy::Abort,
            success_codes: only_zero(),
            gap_s: 0.0,
        }
    }
}
