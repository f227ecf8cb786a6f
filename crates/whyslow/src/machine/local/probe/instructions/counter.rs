//! The instructions of the whole tree by a counter of the processor, where there is one.

use std::fs::File;
use std::io::{self, Read};

use perf_event_open_sys::bindings;

use super::super::perf::event;

pub struct Counter {
    file: File,
    pub with_kernel: bool,
}

impl Counter {
    /// Of a process, its threads and its descendants, from its next exec; 0 is this process, to see whether it works.
    pub fn open(pid: libc::pid_t) -> io::Result<Counter> {
        let open = |with_kernel| open(pid, with_kernel).map(|file| Counter { file, with_kernel });
        open(true).or_else(|_| open(false))
    }

    /// Scaled, if the counter had to be shared; `None` if it never counted.
    pub fn read(&self) -> Option<u64> {
        let mut bytes = [0; 24];
        (&self.file).read_exact(&mut bytes).ok()?;
        let number = |place: usize| Some(u64::from_ne_bytes(bytes[place..place + 8].try_into().ok()?));
        scaled(number(0)?, number(8)?, number(16)?)
    }
}

fn scaled(count: u64, enabled_ns: u64, running_ns: u64) -> Option<u64> {
    let share = running_ns as f64 / enabled_ns as f64;
    (count > 0 && running_ns > 0).then(|| if share < 1.0 { (count as f64 / share) as u64 } else { count })
}

fn open(pid: libc::pid_t, with_kernel: bool) -> io::Result<File> {
    let mut attributes = event::of_tree(bindings::PERF_TYPE_HARDWARE, with_kernel);
    attributes.config = bindings::PERF_COUNT_HW_INSTRUCTIONS.into();
    attributes.read_format =
        (bindings::PERF_FORMAT_TOTAL_TIME_ENABLED | bindings::PERF_FORMAT_TOTAL_TIME_RUNNING).into();
    event::open(attributes, pid, None).map(File::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_counter_is_scaled() {
        assert_eq!(scaled(100, 50, 50), Some(100));
        assert_eq!(scaled(100, 100, 50), Some(200));
        assert_eq!(scaled(0, 100, 100), None);
        assert_eq!(scaled(5, 100, 0), None);
    }
}
