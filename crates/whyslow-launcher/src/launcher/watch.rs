//! From the start of a command to its end: waiting, stopping it when asked, and reaping.

use crate::kernel::{self, SIGKILL, SIGTERM, State};
use crate::orders::Control;
use crate::wire::{self, Answer};

/// How a command came to its end.
pub struct End {
    pub end_ns: u64,
    pub stopped_by: u64,
    /// The signal of `BY_STOP`, otherwise 0.
    pub stop_signal: u64,
    /// How long its descendants may go on after a cancellation, as a time of the clock.
    pub grace_until_ns: u64,
    /// The other end of the control socket is gone; nobody waits for the answer.
    pub hung_up: bool,
}

/// For how long to wait for a killed command when nobody waits for the answer.
const LAST_WAIT_NS: u64 = 1_000_000_000;

/// A command that is stopped for so long will not go on: nobody is there to continue it.
const STOP_GRACE_NS: u64 = 1_000_000_000;

/// Returns when the command is a zombie. `deadline_ns` is a time of the clock, `wire::NONE` for
/// none.
pub fn until_end(control: &Control, signals: i32, pid: i32, deadline_ns: u64) -> End {
    let mut watch = Watch::new(pid, control.socket(), deadline_ns);
    loop {
        let [child_changed, spoken_to] = kernel::wait_for_either([signals, watch.control], watch.time_left());
        let now_ns = kernel::now_ns();
        if child_changed {
            clear(signals);
            // It may also have been an adopted orphan.
            match kernel::state(pid) {
                State::Ended => return watch.end(now_ns),
                State::Stopped(_) => watch.halt_ns = now_ns.saturating_add(STOP_GRACE_NS),
                State::Running => {}
            }
        }
        if spoken_to {
            match control.next_cancellation() {
                Some(grace_ns) => watch.cancel(now_ns.saturating_add(grace_ns)),
                None => watch.hang_up(now_ns.saturating_add(LAST_WAIT_NS)),
            }
        }
        if now_ns >= watch.halt_ns {
            watch.still_stopped();
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
    /// When to see whether a command that was stopped still is; `wire::NONE` if it was not.
    halt_ns: u64,
    stopped_by: u64,
    stop_signal: u64,
    grace_until_ns: u64,
}

impl Watch {
    fn new(pid: i32, control: i32, deadline_ns: u64) -> Self {
        let (halt_ns, stopped_by) = (wire::NONE, wire::BY_NOBODY);
        Self { pid, control, deadline_ns, halt_ns, stopped_by, stop_signal: 0, grace_until_ns: 0 }
    }

    fn end(&self, end_ns: u64) -> End {
        End {
            end_ns,
            stopped_by: self.stopped_by,
            stop_signal: self.stop_signal,
            grace_until_ns: self.grace_until_ns,
            hung_up: self.has_hung_up(),
        }
    }

    fn time_left(&self) -> Option<u64> {
        let next_ns = self.deadline_ns.min(self.halt_ns);
        let limited = next_ns != wire::NONE;
        limited.then(|| next_ns.saturating_sub(kernel::now_ns()))
    }

    fn still_stopped(&mut self) {
        self.halt_ns = wire::NONE;
        let State::Stopped(signal) = kernel::state(self.pid) else { return };
        if self.stopped_by == wire::BY_NOBODY {
            self.stopped_by = wire::BY_STOP;
            self.stop_signal = signal as u64;
            self.signal_group(SIGKILL);
        }
    }

    fn has_hung_up(&self) -> bool {
        self.control < 0
    }

    fn cancel(&mut self, deadline_ns: u64) {
        if self.stopped_by == wire::BY_NOBODY {
            self.stopped_by = wire::BY_CANCEL;
            self.deadline_ns = deadline_ns;
            self.grace_until_ns = deadline_ns;
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
pub fn clear(signals: i32) {
    let mut information = [0; 128];
    let _ = kernel::read(signals, &mut information);
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
