//! From the start of a command to its end: waiting, stopping it when asked, and taking the
//! accounts.

use crate::kernel::{self, SIGKILL, SIGTERM};
use crate::orders::Control;
use crate::wire::{self, Answer};

/// How a command came to its end.
pub struct End {
    pub end_ns: u64,
    pub stopped_by: u64,
    /// The other end of the control socket is gone; nobody waits for the answer.
    pub hung_up: bool,
}

/// For how long to wait for a killed command when nobody waits for the answer.
const LAST_WAIT_NS: u64 = 1_000_000_000;

/// Returns when the command is a zombie. `deadline_ns` is a time of the clock, `wire::NONE` for
/// none.
pub fn until_end(control: &Control, signals: i32, pid: i32, deadline_ns: u64) -> End {
    let mut watch = Watch { pid, control: control.socket(), deadline_ns, stopped_by: wire::BY_NOBODY };
    loop {
        let [child_changed, spoken_to] = kernel::wait_for_either([signals, watch.control], watch.time_left());
        let now_ns = kernel::now_ns();
        if child_changed {
            clear(signals);
            // It may also have been an adopted orphan.
            if kernel::has_ended(pid) {
                return End { end_ns: now_ns, stopped_by: watch.stopped_by, hung_up: watch.has_hung_up() };
            }
        }
        if spoken_to {
            match control.next_cancellation() {
                Some(grace_ns) => watch.cancel(now_ns.saturating_add(grace_ns)),
                None => watch.hang_up(now_ns.saturating_add(LAST_WAIT_NS)),
            }
        }
        if now_ns >= watch.deadline_ns {
            watch.out_of_time();
        }
    }
}

struct Watch {
    pid: i32,
    /// Negative once it has hung up.
    control: i32,
    deadline_ns: u64,
    stopped_by: u64,
}

impl Watch {
    fn time_left(&self) -> Option<u64> {
        let limited = self.deadline_ns != wire::NONE;
        limited.then(|| self.deadline_ns.saturating_sub(kernel::now_ns()))
    }

    fn has_hung_up(&self) -> bool {
        self.control < 0
    }

    fn cancel(&mut self, deadline_ns: u64) {
        if self.stopped_by == wire::BY_NOBODY {
            self.stopped_by = wire::BY_CANCEL;
            self.deadline_ns = deadline_ns;
            self.signal_group(SIGTERM);
        }
    }

    fn hang_up(&mut self, deadline_ns: u64) {
        self.control = -1;
        self.deadline_ns = deadline_ns;
        self.signal_group(SIGKILL);
    }

    fn out_of_time(&mut self) {
        if self.has_hung_up() {
            // Killed and still there: the kernel holds it. Its parent's death signal is all that
            // can be added.
            kernel::exit(1);
        }
        if self.stopped_by == wire::BY_NOBODY {
            self.stopped_by = wire::BY_TIMEOUT;
        }
        self.deadline_ns = wire::NONE;
        self.signal_group(SIGKILL);
    }

    /// To the command itself too, which may have left its group. Its number cannot have been
    /// reused: it is not reaped yet.
    fn signal_group(&self, signal: i32) {
        kernel::kill(-self.pid, signal);
        kernel::kill(self.pid, signal);
    }
}

/// Takes the pending SIGCHLD, so that the descriptor is quiet until the next.
fn clear(signals: i32) {
    let mut information = [0; 128];
    let _ = kernel::read(signals, &mut information);
}

/// The accounts of the zombie's main thread: time on a processor, time waiting for one, number of
/// slices.
pub fn read_schedstat(pid: i32, numbers: &mut [u64; 3]) {
    let mut path = [0; 32];
    schedstat_path(&mut path, pid as u32);
    let mut text = [0; 96];
    let Some(length) = read_file(&path, &mut text) else { return };
    let mut words = text[..length].split(|byte| !byte.is_ascii_digit()).filter(|word| !word.is_empty());
    let mut next = || words.next().map(decimal);
    if let (Some(on_cpu), Some(wait), Some(slices)) = (next(), next(), next()) {
        *numbers = [on_cpu, wait, slices];
    }
}

/// Writes `/proc/PID/schedstat` and leaves zero bytes behind it.
fn schedstat_path(path: &mut [u8; 32], pid: u32) {
    let mut digits = [0; 10];
    let first = write_decimal(&mut digits, pid);
    let mut end = 0;
    for part in [b"/proc/".as_slice(), &digits[first..], b"/schedstat"] {
        path[end..end + part.len()].copy_from_slice(part);
        end += part.len();
    }
}

fn read_file(path: &[u8], text: &mut [u8]) -> Option<usize> {
    let file = kernel::open_to_read(path).ok()?;
    let length = kernel::read(file, text).ok();
    kernel::close(file);
    length
}

/// Right-aligned; returns where the number begins.
fn write_decimal(place: &mut [u8; 10], mut number: u32) -> usize {
    let mut first = place.len();
    loop {
        first -= 1;
        place[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return first;
        }
    }
}

fn decimal(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |sum: u64, digit| sum.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')))
}

/// Takes the zombie away and writes its accounts (and those of its reaped descendants) into the
/// answer.
pub fn reap(pid: i32, answer: &mut Answer) {
    let Ok((status, usage)) = kernel::reap(pid) else { return };
    answer.wait_status = u64::from(status);
    answer.user_us = usage[0] * 1_000_000 + usage[1];
    answer.system_us = usage[2] * 1_000_000 + usage[3];
    answer.maxrss_kib = usage[4];
    answer.minor_faults = usage[8];
    answer.major_faults = usage[9];
    answer.blocks_in = usage[11];
    answer.blocks_out = usage[12];
    answer.voluntary_switches = usage[16];
    answer.involuntary_switches = usage[17];
}

/// Takes away the orphans that have ended, and counts those that live.
pub fn reap_adopted() -> u64 {
    loop {
        match kernel::reap_any() {
            Ok(0) => return count_children().unwrap_or(1),
            Ok(_) => {}
            Err(_) => return 0,
        }
    }
}

/// Counts as many as one page of numbers holds, several hundred.
fn count_children() -> Option<u64> {
    let mut text = [0; 4096];
    let length = read_file(b"/proc/thread-self/children\0", &mut text)?;
    let count = text[..length].split(|byte| *byte == b' ').filter(|word| !word.is_empty()).count();
    (count > 0).then_some(count as u64)
}
