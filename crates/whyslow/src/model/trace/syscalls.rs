//! Every system call of a tree of processes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Syscalls {
    /// By name.
    pub calls: BTreeMap<String, SyscallCount>,
    /// Processes, the first one included.
    pub processes: u64,
    /// Threads besides the first one of each process.
    pub threads: u64,
    /// Programs that were started, the first one included, most often first; at most a few dozen.
    pub programs: Vec<StartedProgram>,
    /// Successful calls of execve, the first one included.
    pub starts: u64,
    /// Where not every call of the run was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Partial>,
}

/// How much of the run was counted.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Partial {
    /// For so long, from its start.
    pub watched_s: f64,
    /// The part of all calls that was counted, if that is known. Counts of the calls that there were very many of are
    /// then estimates for the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct SyscallCount {
    pub calls: u64,
    pub errors: u64,
    /// Errors by their name: ENOENT, EBADF.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_error: BTreeMap<String, u64>,
    /// Bytes moved by calls that read or write.
    #[serde(default)]
    pub bytes: u64,
    /// Time in the kernel, only where it can be measured honestly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Not all of them were counted: the numbers above stand for the whole run, about.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_estimate: bool,
}

#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct StartedProgram {
    pub path: String,
    pub starts: u64,
}

impl Syscalls {
    /// Whether the counts are less than those of the run, nobody knows by how much.
    pub fn is_cut_short(&self) -> bool {
        self.partial.is_some_and(|partial| partial.share.is_none())
    }

    /// Whether what is said of these calls is an estimate.
    pub fn is_estimate(&self, names: &[&str]) -> bool {
        names.iter().filter_map(|name| self.calls.get(*name)).any(|count| count.is_estimate)
    }

    pub fn count(&self, name: &str) -> u64 {
        self.calls.get(name).map_or(0, |count| count.calls)
    }

    /// Calls of any of these names.
    pub fn count_of(&self, names: &[&str]) -> u64 {
        names.iter().map(|name| self.count(name)).sum()
    }

    pub fn bytes_of(&self, names: &[&str]) -> u64 {
        names.iter().filter_map(|name| self.calls.get(*name)).map(|count| count.bytes).sum()
    }

    pub fn errors(&self, name: &str, error: &str) -> u64 {
        self.calls.get(name).and_then(|count| count.by_error.get(error)).copied().unwrap_or(0)
    }

    pub fn total(&self) -> u64 {
        self.calls.values().map(|count| count.calls).sum()
    }
}
