//! Waiting for traced tasks, and what a wait says in words. Waits for what the calling thread traces or has started
//! itself and for nothing else: other children of this process have others who wait for them.

use std::collections::VecDeque;

use super::super::ptrace;

/// The kernel tells of the tasks in the order of its list. Once in so many waits all that have stopped are collected before
/// any is handled, so that a busy task at its head does not keep the others from their turn.
const TURN: usize = 16;

/// So many are collected at most.
const BATCH: usize = 256;

/// Something that happened to a task.
pub struct Happened {
    pub task: libc::pid_t,
    pub what: What,
    /// As wait(2) gives it.
    pub status: i32,
    /// Of its process; complete where it has ended.
    pub usage: libc::rusage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It is gone, and has been reaped.
    Ended,
    /// It is at the beginning or the end of a system call.
    Call,
    /// It has started a task: its message says which.
    Child { is_clone: bool },
    /// It runs another program now.
    Exec,
    /// It is about to get this signal.
    Signal(i32),
    /// This signal has stopped it, and all of its process.
    Halted(i32),
    /// It is new, or goes on after a stop.
    Trap,
}

/// Stops that have happened and were not handled yet.
#[derive(Default)]
pub struct Stops {
    waiting: VecDeque<Happened>,
    waits: usize,
    /// There was nobody to wait for.
    pub is_alone: bool,
}

impl Stops {
    /// Waits for the next one; `None` if there is nobody to wait for. `is_crowd` says that there are several tasks.
    pub fn next(&mut self, is_crowd: bool) -> Option<Happened> {
        if self.waiting.is_empty() {
            let first = self.wait(0)?;
            self.waits += 1;
            if is_crowd && self.waits.is_multiple_of(TURN) {
                self.collect();
            }
            // Nothing came before it.
            self.waiting.push_front(first);
        }
        self.waiting.pop_front()
    }

    /// The next one if it is there already.
    pub fn next_now(&mut self) -> Option<Happened> {
        self.waiting.pop_front().or_else(|| self.wait(libc::WNOHANG))
    }

    /// Waits for the next one without taking it. Whether this task has ended and can still be looked at.
    pub fn is_next_the_end_of(&self, task: libc::pid_t) -> bool {
        if !self.waiting.is_empty() {
            return false;
        }
        // SAFETY: plain data, filled by the call below.
        let mut found: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let options = libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT | libc::__WALL | libc::__WNOTHREAD;
        // SAFETY: a structure that outlives the call, which takes nothing away.
        let done = unsafe { libc::waitid(libc::P_ALL, 0, &mut found, options) };
        let is_end = matches!(found.si_code, libc::CLD_EXITED | libc::CLD_KILLED | libc::CLD_DUMPED);
        // SAFETY: a field of every answer to this call.
        done == 0 && is_end && unsafe { found.si_pid() } == task
    }

    fn collect(&mut self) {
        while self.waiting.len() < BATCH {
            let Some(happened) = self.wait(libc::WNOHANG) else { return };
            self.waiting.push_back(happened);
        }
    }

    fn wait(&mut self, options: i32) -> Option<Happened> {
        let mut status = 0;
        // SAFETY: plain data, filled by the call below.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        loop {
            let options = options | libc::__WALL | libc::__WNOTHREAD;
            // SAFETY: pointers to places that outlive the call.
            match unsafe { libc::wait4(-1, &mut status, options, &mut usage) } {
                -1 if last_errno() == libc::EINTR => {}
                -1 => {
                    self.is_alone = true;
                    return None;
                }
                0 => return None,
                task => return Some(Happened { task, what: what(status), status, usage }),
            }
        }
    }
}

fn last_errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

fn what(status: i32) -> What {
    if !libc::WIFSTOPPED(status) {
        return What::Ended;
    }
    if let Some(signal) = ptrace::halting_signal(status) {
        return What::Halted(signal);
    }
    let signal = libc::WSTOPSIG(status);
    match status >> 16 {
        libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK => What::Child { is_clone: false },
        libc::PTRACE_EVENT_CLONE => What::Child { is_clone: true },
        libc::PTRACE_EVENT_EXEC => What::Exec,
        0 if signal == libc::SIGTRAP | 0x80 => What::Call,
        0 => What::Signal(signal),
        _ => What::Trap,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::ptrace::EVENT_STOP;
    use super::*;

    fn stopped(signal: i32, event: i32) -> i32 {
        event << 16 | signal << 8 | 0x7f
    }

    #[test]
    fn stops_are_told_apart() {
        assert_eq!(what(7 << 8), What::Ended);
        assert_eq!(what(libc::SIGKILL), What::Ended);
        assert_eq!(what(stopped(libc::SIGTRAP | 0x80, 0)), What::Call);
        assert_eq!(what(stopped(libc::SIGTRAP, 0)), What::Signal(libc::SIGTRAP));
        assert_eq!(what(stopped(libc::SIGSTOP, 0)), What::Signal(libc::SIGSTOP));
        assert_eq!(what(stopped(libc::SIGSTOP, EVENT_STOP)), What::Halted(libc::SIGSTOP));
        assert_eq!(what(stopped(libc::SIGTRAP, EVENT_STOP)), What::Trap);
        assert_eq!(what(stopped(libc::SIGTRAP, libc::PTRACE_EVENT_VFORK)), What::Child { is_clone: false });
        assert_eq!(what(stopped(libc::SIGTRAP, libc::PTRACE_EVENT_EXEC)), What::Exec);
    }
}
