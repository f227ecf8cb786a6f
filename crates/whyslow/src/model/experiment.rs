//! What is to be measured: the work, the factors that vary, and how much effort to spend.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{ByteText, Metric};

/// A question in the form in which it is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    pub name: String,
    pub workload: Workload,
    pub factors: Vec<Factor>,
    pub metrics: Vec<Metric>,
    pub design: Design,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<f64>,
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
}

/// One level of every factor, ready to launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    pub name: String,
    /// Index of the level of each factor, in the order of the factors.
    pub levels: Vec<usize>,
    pub launch: Launch,
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
    /// A ratio between 1/(1+margin) and 1+margin counts as no difference.
    pub margin: f64,
    /// Index of the variant that the others are compared with.
    pub base: usize,
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
        }
    }
}
