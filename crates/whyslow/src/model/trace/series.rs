//! What a run used over time, as vmstat would show it for this run alone.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Series {
    /// Time between two moments that was asked for.
    pub tick_s: f64,
    pub moments: Vec<Moment>,
}

/// Sums since the start of the run, but for `rss_bytes` and `processes`. `None` where it cannot be read here.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Moment {
    pub at_s: f64,
    pub cpu_s: Option<f64>,
    pub faults: Option<f64>,
    pub switches: Option<f64>,
    pub rss_bytes: Option<f64>,
    pub read_bytes: Option<f64>,
    pub written_bytes: Option<f64>,
    pub processes: Option<f64>,
}
