//! What can be measured of a run. A metric is one row of [`KNOWN_METRICS`]; everything that shows, stores or
//! judges numbers asks the row and never a name.

use serde::{Deserialize, Serialize};

/// A named quantity of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Machine name, with the unit last: `wall_s`, `peak_rss_bytes`.
    pub name: String,
    pub unit: Unit,
    pub better: Direction,
    pub noise: Noise,
    /// Where in the standard output of the run it stands; `None` for what the machine measures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

/// A number that the program itself prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    pub pattern: Pattern,
    /// Turns the printed number into the unit of the metric: 0.001 for milliseconds.
    pub scale: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// The first group of the last match of a regular expression, or the whole match where it has no group.
    Regex(String),
    /// A JSON pointer (RFC 6901) into the output, which is one JSON value.
    JsonPointer(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Seconds,
    Bytes,
    Count,
    /// A number without a unit that is known here.
    Number,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Less,
    More,
}

/// Whether two undisturbed runs of the same thing can be expected to give the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Noise {
    Exact,
    Noisy,
}

/// One row of the metric table.
pub struct KnownMetric {
    pub name: &'static str,
    pub unit: Unit,
    pub noise: Noise,
    /// What people call it, for tables.
    pub title: &'static str,
    /// Where the number comes from and what it leaves out.
    pub about: &'static str,
}

/// Every metric that a machine can give for any command, in the order in which a recording stores them.
pub const KNOWN_METRICS: &[KnownMetric] = &[
    row(
        "wall_s",
        Unit::Seconds,
        Noise::Noisy,
        "wall time",
        "from just before exec in the child until its end was noticed, by the monotonic clock",
    ),
    row(
        "cpu_s",
        Unit::Seconds,
        Noise::Noisy,
        "CPU time",
        "user + system time of the command and of the descendants that ended before it or were waited for, by wait4",
    ),
    row(
        "user_s",
        Unit::Seconds,
        Noise::Noisy,
        "user time",
        "user part of cpu_s; booked by the scheduler's tick on most kernels, so only its sum over many runs means anything",
    ),
    row(
        "system_s",
        Unit::Seconds,
        Noise::Noisy,
        "system time",
        "system part of cpu_s; the same caution as for user_s",
    ),
    row(
        "task_clock_s",
        Unit::Seconds,
        Noise::Noisy,
        "task clock",
        "time on a CPU of the whole tree by an inherited perf counter, also of descendants nobody waited for",
    ),
    row(
        "main_cpu_s",
        Unit::Seconds,
        Noise::Noisy,
        "main thread CPU",
        "time on a CPU of the first thread only, from exec on, by /proc/PID/schedstat",
    ),
    row(
        "run_queue_wait_s",
        Unit::Seconds,
        Noise::Noisy,
        "waited for a CPU",
        "time from exec on in which the first thread was ready to run but had no CPU, by /proc/PID/schedstat; unknown where other threads or children did part of the work",
    ),
    row(
        "peak_rss_bytes",
        Unit::Bytes,
        Noise::Noisy,
        "peak memory",
        "largest resident set of any one process of the tree, by wait4",
    ),
    row(
        "page_faults",
        Unit::Count,
        Noise::Noisy,
        "page faults",
        "minor and major page faults of the tree, by an inherited perf counter where it may count the kernel's too, else by wait4",
    ),
    row(
        "major_faults",
        Unit::Count,
        Noise::Noisy,
        "major faults",
        "page faults that had to read from a disk, by wait4",
    ),
    row(
        "voluntary_switches",
        Unit::Count,
        Noise::Noisy,
        "voluntary switches",
        "times the tree gave up a CPU to wait for something, by wait4",
    ),
    row(
        "involuntary_switches",
        Unit::Count,
        Noise::Noisy,
        "involuntary switches",
        "times a CPU was taken from the tree, by wait4",
    ),
    row(
        "blocks_read",
        Unit::Count,
        Noise::Noisy,
        "blocks read",
        "512-byte blocks that had to come from a disk, by wait4",
    ),
    row(
        "blocks_written",
        Unit::Count,
        Noise::Noisy,
        "blocks written",
        "512-byte blocks given to the disk, by wait4",
    ),
    row(
        "output_bytes",
        Unit::Bytes,
        Noise::Exact,
        "output",
        "bytes the command wrote to its standard output",
    ),
];

const fn row(
    name: &'static str,
    unit: Unit,
    noise: Noise,
    title: &'static str,
    about: &'static str,
) -> KnownMetric {
    KnownMetric { name, unit, noise, title, about }
}

/// The row of a known metric.
pub fn known_metric(name: &str) -> Option<&'static KnownMetric> {
    KNOWN_METRICS.iter().find(|row| row.name == name)
}

impl Metric {
    /// All known metrics, as an experiment lists them.
    pub fn all_known() -> Vec<Metric> {
        KNOWN_METRICS.iter().map(Metric::from).collect()
    }
}

impl From<&KnownMetric> for Metric {
    fn from(row: &KnownMetric) -> Self {
        let (name, better) = (row.name.to_owned(), Direction::Less);
        Metric { name, unit: row.unit, better, noise: row.noise, source: None }
    }
}
