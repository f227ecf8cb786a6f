//! Measurements that somebody else took: named samples, with what is known about how they were taken.

use serde::{Deserialize, Serialize};

use super::{Direction, Unit};

/// One sample of one metric, as a file of another tool holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataSet {
    /// What was measured: a benchmark, a command, a file of numbers.
    pub name: String,
    /// Settings that the file gives for it, in its order: parameters, environment, `-cpu` suffixes.
    pub parameters: Vec<(String, String)>,
    pub metric: DataMetric,
    /// In the order of the file, in the unit of the metric. Empty where only a summary was kept.
    pub values: Vec<f64>,
    pub schedule: Schedule,
    /// What the tool itself says about the sample, unchanged. A unit other than that of the values stands in the
    /// name: `mean [ns]`.
    pub printed: Vec<(String, f64)>,
    /// Times as Benchmark.pm keeps them, where the file is its output.
    pub perl_times: Option<PerlTimes>,
    pub origin: Origin,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataMetric {
    /// As in the file, such as `time`, `ns/op`, `B/op`, `instructions`.
    pub name: String,
    /// Of the values. `None` for plain numbers, and for what is neither time, size nor count, such as rates: the name
    /// tells then.
    pub unit: Option<Unit>,
    pub better: Direction,
}

/// How the values of several samples of a file were taken, as far as the form of the file tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// One sample after the other: a drift of the machine looks like a difference.
    Blocked,
    /// Value i of every sample was taken close in time, in random order.
    Interleaved,
    /// Nothing is known, so the worst is assumed.
    Unknown,
}

/// Where a sample was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Name of the file; `<stdin>` for standard input.
    pub file: String,
    /// Name of the form, such as `hyperfine-json`.
    pub form: String,
    /// First line of the sample in the file, from 1; 0 where lines mean nothing.
    pub line: usize,
}

/// The six numbers of Benchmark.pm.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct PerlTimes {
    pub real_s: f64,
    pub user_s: f64,
    pub system_s: f64,
    pub children_user_s: f64,
    pub children_system_s: f64,
    pub iterations: f64,
}
