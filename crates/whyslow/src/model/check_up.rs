//! What a look at a machine finds before anything is measured on it. Pure data; what to make of it is said elsewhere.

use serde::{Deserialize, Serialize};

use super::{Floor, Host, Metric, Missing, Probe};

/// A machine as it is for measuring, right now.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckUp {
    pub host: Host,
    pub circumstances: Circumstances,
    pub floor: Option<Floor>,
    pub metrics: Vec<CheckedMetric>,
    pub probes: Vec<CheckedProbe>,
}

/// Whether a metric can be had.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedMetric {
    pub metric: Metric,
    pub missing: Option<Missing>,
}

/// Whether a probe works, for some command.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedProbe {
    pub probe: Probe,
    pub missing: Option<Missing>,
}

/// Settings and loads that bear on measurements and can change between two of them, unlike those of a [`Host`]. Each
/// is unknown where the system does not tell.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Circumstances {
    /// CPUs of the machine; [`Host::cpus`] counts those that we may use.
    pub online_cpus: Option<usize>,
    pub cpu_quota: Option<CpuQuota>,
    /// Whether CPUs may run faster than they can for long.
    pub turbo: Option<bool>,
    /// When memory comes in huge pages: `always`, `madvise` or `never`.
    pub huge_pages: Option<String>,
    /// Tasks running or ready, averaged over the last minute.
    pub load: Option<f64>,
    /// Whether the scheduler shares the CPUs between sessions before it does between tasks.
    pub autogroup: Option<bool>,
    /// How much of the address space is laid out at random: 0 is nothing, 2 all.
    pub address_randomization: Option<i64>,
    /// Memory that programs can still get.
    pub available_bytes: Option<u64>,
    pub swap_used_bytes: Option<u64>,
    pub perf_event_paranoid: Option<i64>,
    /// Who may trace whom, as the Yama security module has it; 0 without it.
    pub ptrace_scope: Option<i64>,
}

/// CPU time that this group of processes gets at most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CpuQuota {
    Unlimited,
    /// As much as so many CPUs have.
    Cpus(f64),
}
