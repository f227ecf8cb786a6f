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
}

#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct StartedProgram {
    pub path: String,
    pub starts: u64,
}

impl Syscalls {
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
