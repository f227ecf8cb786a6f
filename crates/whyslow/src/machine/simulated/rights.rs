//! What a simulated machine lets be measured. What is denied is missing and never 0.

use serde::{Deserialize, Serialize};

use crate::model::{Metric, Missing, Probe, known_metric};

/// What the kernel of the world permits or has. Everything, unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rights {
    /// Performance counters.
    pub perf: bool,
    /// Scheduler statistics of single threads.
    pub schedstat: bool,
    /// Pressure stall information; it is a condition of a run and no metric.
    pub pressure: bool,
    /// Following the system calls of other processes.
    pub ptrace: bool,
    /// Libraries of probes can be preloaded, and the loader can be asked.
    pub preload: bool,
}

impl Default for Rights {
    fn default() -> Self {
        Rights { perf: true, schedstat: true, pressure: true, ptrace: true, preload: true }
    }
}

impl Rights {
    /// Nothing of the kernel; libraries can be preloaded all the same.
    pub fn none() -> Self {
        Rights { perf: false, schedstat: false, pressure: false, ptrace: false, preload: true }
    }

    /// Whether a probe can look, or why not.
    pub fn check_probe(&self, probe: Probe) -> Result<(), Missing> {
        let denied = |why: &str, right| Err(missing(probe.known().title, why, Some(right)));
        match probe {
            Probe::Syscalls | Probe::Files if !self.ptrace => denied("tracing is not permitted", "ptrace"),
            Probe::Cpu | Probe::Faults | Probe::Waiting | Probe::Series if !self.perf => {
                denied("performance counters are not permitted", "perf")
            }
            Probe::Allocations | Probe::Loading if !self.preload => {
                denied("no library can be preloaded", "preload")
            }
            _ => Ok(()),
        }
    }

    /// Whether a metric can be had, or why not.
    pub fn check(&self, metric: &Metric) -> Result<(), Missing> {
        if known_metric(&metric.name).is_none() {
            return Err(missing(&metric.name, "a simulated machine does not know it", None));
        }
        match needed_for(&metric.name) {
            Need::Perf if !self.perf => {
                Err(missing(&metric.name, "performance counters are not permitted", Some("perf")))
            }
            Need::Schedstat if !self.schedstat => {
                Err(missing(&metric.name, "the kernel keeps no scheduler statistics", Some("schedstat")))
            }
            _ => Ok(()),
        }
    }
}

enum Need {
    Nothing,
    Perf,
    Schedstat,
}

/// Page faults need no counter: without one they come from wait4.
fn needed_for(name: &str) -> Need {
    match name {
        "task_clock_s" => Need::Perf,
        "main_cpu_s" | "run_queue_wait_s" => Need::Schedstat,
        _ => Need::Nothing,
    }
}

fn missing(what: &str, why: &str, right: Option<&str>) -> Missing {
    let remedy = right.map(|right| format!("set rights.{right} in the simulated world"));
    Missing { what: what.to_owned(), why: why.to_owned(), remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied(rights: Rights) -> Vec<String> {
        let missing = |metric: &Metric| rights.check(metric).err().map(|missing| missing.what);
        Metric::all_known().iter().filter_map(missing).collect()
    }

    #[test]
    fn every_metric_is_there_unless_denied() {
        assert!(denied(Rights::default()).is_empty());
        assert_eq!(denied(Rights::none()), ["task_clock_s", "main_cpu_s", "run_queue_wait_s"]);
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        let metric = Metric::from(known_metric("task_clock_s").unwrap());
        let missing = Rights::none().check(&metric).unwrap_err();
        assert_eq!(missing.remedy.as_deref(), Some("set rights.perf in the simulated world"));
    }
}
