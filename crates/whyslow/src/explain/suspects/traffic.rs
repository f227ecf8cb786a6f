//! Reads and writes of both sides: how often, how much, and how much at a time. Never what a file holds.

use crate::explain::Case;

const READS: [&str; 5] = ["read", "pread64", "readv", "preadv", "preadv2"];
const WRITES: [&str; 5] = ["write", "pwrite64", "writev", "pwritev", "pwritev2"];

/// So many times as many calls for the same bytes are another way to read or write.
const SPLIT: f64 = 4.0;
const FEWEST_CALLS: f64 = 100.0;
/// Bytes are the same up to this factor: a few lines more are no other work.
const ALIKE: f64 = 1.5;

#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    pub fast_calls: f64,
    pub slow_calls: f64,
    pub fast_bytes: f64,
    pub slow_bytes: f64,
    /// Not all of the calls were counted.
    pub is_estimate: bool,
}

pub fn reads(case: &Case<'_>) -> Option<Traffic> {
    of(case, &READS)
}

pub fn writes(case: &Case<'_>) -> Option<Traffic> {
    of(case, &WRITES)
}

fn of(case: &Case<'_>, names: &[&str]) -> Option<Traffic> {
    let (fast, slow) = (case.fast.syscalls()?, case.slow.syscalls()?);
    Some(Traffic {
        fast_calls: fast.count_of(names) as f64,
        slow_calls: slow.count_of(names) as f64,
        fast_bytes: fast.bytes_of(names) as f64,
        slow_bytes: slow.bytes_of(names) as f64,
        is_estimate: fast.is_estimate(names) || slow.is_estimate(names),
    })
}

impl Traffic {
    pub fn more(&self) -> f64 {
        self.slow_calls - self.fast_calls
    }

    /// The same bytes in many more pieces. Fewer bytes are the same as well: a look at a side with many calls may have been
    /// cut off.
    pub fn is_split(&self) -> bool {
        let is_more = self.more() >= FEWEST_CALLS && self.slow_calls >= SPLIT * self.fast_calls;
        let has_bytes = self.slow_bytes > 0.0 && self.fast_bytes > 0.0;
        is_more && has_bytes && self.slow_bytes <= self.fast_bytes * ALIKE
    }

    /// Bytes in one of the calls that only the slow side makes, about.
    pub fn piece_bytes(&self) -> f64 {
        self.slow_bytes / self.slow_calls.max(1.0)
    }

    pub fn sign(&self, what: &str) -> String {
        let pieces = |bytes: f64, calls: f64| format!("{:.0} bytes at a time", bytes / calls.max(1.0));
        let about = if self.is_estimate { "about " } else { "" };
        format!(
            "{what} {about}{:.0} times, {}, against {about}{:.0} times, {}",
            self.slow_calls,
            pieces(self.slow_bytes, self.slow_calls),
            self.fast_calls,
            pieces(self.fast_bytes, self.fast_calls),
        )
    }
}
