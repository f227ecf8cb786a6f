//! Time off the CPU.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Waiting {
    /// Sums over all threads. `None` where records of switches were lost, or no thread was seen.
    pub on_cpu_s: Option<f64>,
    /// Ready to run, but another task had the CPU.
    pub preempted_s: Option<f64>,
    pub blocked_s: Option<f64>,
    /// Longest first; at most a few hundred.
    pub threads: Vec<ThreadTime>,
    /// What the threads were blocked on, by looking at them from time to time; most first.
    pub places: Vec<WaitPlace>,
    /// Looks at blocked threads, and the time between two.
    pub looks: u64,
    pub look_s: f64,
}

#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct ThreadTime {
    pub name: String,
    pub process: u32,
    pub thread: u32,
    pub on_cpu_s: f64,
    pub preempted_s: f64,
    pub blocked_s: f64,
    pub switches: u64,
}

impl ThreadTime {
    /// From its start to its end.
    fn lived_s(&self) -> f64 {
        self.on_cpu_s + self.preempted_s + self.blocked_s
    }

    /// To sort by.
    pub fn longest_first(&self, other: &ThreadTime) -> std::cmp::Ordering {
        other.lived_s().total_cmp(&self.lived_s()).then_with(|| self.thread.cmp(&other.thread))
    }
}

#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct WaitPlace {
    pub kind: WaitKind,
    /// System call, and what it waits for: `clock_nanosleep`, `read /path`, `poll 127.0.0.1:53`.
    pub what: String,
    /// Time that the looks stand for, over all threads.
    pub seconds: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitKind {
    Sleep,
    Lock,
    Socket,
    NameLookup,
    Disk,
    Pipe,
    Child,
    Terminal,
    /// poll, select, epoll on other things.
    Event,
    #[default]
    Other,
}
