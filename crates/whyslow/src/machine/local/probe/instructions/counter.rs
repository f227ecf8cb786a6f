//! The instructions of the whole tree by a counter of the processor, where there is one.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::FromRawFd;

use perf_event_open_sys as sys;
use sys::bindings;

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
    let mut attributes = bindings::perf_event_attr::default();
    attributes.type_ = bindings::PERF_TYPE_HARDWARE;
    attributes.size = size_of::<bindings::perf_event_attr>() as u32;
    attributes.config = bindings::PERF_COUNT_HW_INSTRUCTIONS.into();
    attributes.read_format =
        (bindings::PERF_FORMAT_TOTAL_TIME_ENABLED | bindings::PERF_FORMAT_TOTAL_TIME_RUNNING).into();
    attributes.set_disabled(1);
    attributes.set_enable_on_exec(1);
    attributes.set_inherit(1);
    attributes.set_exclude_kernel((!with_kernel).into());
    attributes.set_exclude_hv(1);
    let flags = libc::c_ulong::from(bindings::PERF_FLAG_FD_CLOEXEC);
    // SAFETY: the structure states its own length and outlives the call.
    match unsafe { sys::perf_event_open(&mut attributes, pid, -1, -1, flags) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: it is new and ours.
        descriptor => Ok(unsafe { File::from_raw_fd(descriptor) }),
    }
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
