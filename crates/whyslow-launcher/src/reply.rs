//! What the launcher knows about a command that has ended, and its form on the wire.

use crate::wire::{self, Answer};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Exited(i32),
    /// The signal, and whether the kernel wrote (or would have written) a core dump.
    Signaled(i32, bool),
    /// A signal stopped it, it did not go on by itself, and was killed.
    Stopped(i32),
    TimedOut,
    /// The program was never executed. Only `request_ns` of the reply has a meaning.
    NotStarted {
        errno: i32,
        /// `spawn`, `group`, `stdin`, `stdout`, `stderr`, `terminal`, `autogroup`, `chdir`, `affinity` or `exec`.
        step: &'static str,
    },
    /// Interrupted by the caller; all times are 0 if that was before the start.
    Cancelled,
}

/// One run. Times ending in `_ns` with a clock are CLOCK_MONOTONIC.
///
/// Processor time, faults, switches and blocks are those of the command and of all descendants that
/// were waited for, as `wait4` reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    pub outcome: Ended,
    /// When the launcher had the whole request, just before it made the child.
    pub request_ns: u64,
    /// Read in the child just before it executed the program.
    pub exec_ns: u64,
    /// Read when the launcher woke up because the command had ended.
    pub end_ns: u64,
    /// User and system time. Their sum is exact to the microsecond, the split is the kernel's guess
    /// by clock ticks and means nothing below some hundred milliseconds.
    pub user_ns: u64,
    pub system_ns: u64,
    /// The largest peak among the processes, but at least the launcher's own (some tens of
    /// kilobytes).
    pub maxrss_bytes: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
    /// In units of 512 bytes.
    pub blocks_in: u64,
    pub blocks_out: u64,
    /// The scheduler's account of the command's main thread; nothing where /proc does not tell.
    pub main_thread: Option<SchedStat>,
    /// Time on a processor, of the whole tree from exec on, also of descendants nobody waited for.
    pub task_clock_ns: Option<u64>,
    /// Page faults, likewise. Of user code only unless [`Counters::page_faults`] is `Ok(true)`.
    pub page_faults: Option<u64>,
    /// Processor time of descendants that outlived their parents but ended before this reply.
    pub leftover_user_ns: u64,
    pub leftover_system_ns: u64,
    /// Descendants of this command that are still alive. They end with the launcher, not before. Nothing where there
    /// may be some and /proc does not tell.
    pub leftovers: Option<u32>,
    /// The same, with those of earlier commands.
    pub strangers: Option<u32>,
}

/// `/proc/PID/schedstat`, from exec to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedStat {
    pub on_cpu_ns: u64,
    /// Ready to run, but waiting for a processor.
    pub wait_ns: u64,
    pub slices: u64,
}

/// Which counters of the kernel's perf subsystem work here. `Ok(true)`: the kernel's own work is
/// counted too; `Ok(false)`: only the user's; `Err`: the errno, or ENODATA for a counter that opens
/// but does not count.
///
/// For the task clock both are the same: it counts all time on a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    pub task_clock: Result<bool, i32>,
    pub page_faults: Result<bool, i32>,
}

impl Counters {
    pub(crate) fn decode(hello: &Answer) -> Self {
        Self { task_clock: counter_state(hello.task_clock), page_faults: counter_state(hello.page_faults) }
    }

    /// A counter that reads zero for a program that ran and touched memory does not work, whatever
    /// it says.
    pub(crate) fn distrust(&mut self, null_run: &Reply) {
        const ENODATA: i32 = 61;
        if self.task_clock.is_ok() && null_run.task_clock_ns.is_none() {
            self.task_clock = Err(ENODATA);
        }
        if self.page_faults.is_ok() && null_run.page_faults.is_none() {
            self.page_faults = Err(ENODATA);
        }
    }
}

fn counter_state(word: u64) -> Result<bool, i32> {
    match word {
        0 => Ok(true),
        wire::USER_ONLY => Ok(false),
        negated => Err((negated as i64).wrapping_neg() as i32),
    }
}

impl Reply {
    pub(crate) fn decode(answer: &Answer, counters: &Counters) -> Self {
        // Whatever runs takes time and touches memory, so 0 says that the counter was taken away
        // (as the kernel does when a setuid program is executed), not that there was nothing to
        // count.
        let counted = |word: u64, state: Result<bool, i32>| {
            let works = word != wire::NONE && word != 0 && state.is_ok();
            works.then_some(word)
        };
        Self {
            outcome: outcome(answer),
            request_ns: answer.request_ns,
            exec_ns: answer.exec_ns,
            end_ns: answer.end_ns,
            user_ns: answer.user_us * 1000,
            system_ns: answer.system_us * 1000,
            maxrss_bytes: answer.maxrss_kib * 1024,
            minor_faults: answer.minor_faults,
            major_faults: answer.major_faults,
            voluntary_switches: answer.voluntary_switches,
            involuntary_switches: answer.involuntary_switches,
            blocks_in: answer.blocks_in,
            blocks_out: answer.blocks_out,
            main_thread: main_thread(answer.schedstat),
            task_clock_ns: counted(answer.task_clock, counters.task_clock),
            page_faults: counted(answer.page_faults, counters.page_faults),
            leftover_user_ns: answer.leftover_user_us * 1000,
            leftover_system_ns: answer.leftover_system_us * 1000,
            leftovers: number(answer.leftovers),
            strangers: number(answer.strangers),
        }
    }

    /// The reply for a command that was cancelled before its start.
    pub(crate) fn never_started() -> Self {
        use wire::Words;
        let mut answer = Answer::zero();
        answer.stopped_by = wire::BY_CANCEL;
        answer.schedstat = [wire::NONE; 3];
        Self::decode(&answer, &Counters { task_clock: Err(0), page_faults: Err(0) })
    }
}

fn outcome(answer: &Answer) -> Ended {
    if answer.kind == wire::NOT_STARTED {
        let step = wire::STEPS.get(answer.step as usize).copied().unwrap_or("unknown");
        return Ended::NotStarted { errno: answer.errno as i32, step };
    }
    let signal = (answer.wait_status & 0x7f) as i32;
    match answer.stopped_by {
        wire::BY_TIMEOUT => Ended::TimedOut,
        wire::BY_CANCEL => Ended::Cancelled,
        wire::BY_STOP => Ended::Stopped(answer.stop_signal as i32),
        _ if signal == 0 => Ended::Exited((answer.wait_status >> 8 & 0xff) as i32),
        _ => Ended::Signaled(signal, answer.wait_status & 0x80 != 0),
    }
}

fn number(word: u64) -> Option<u32> {
    (word != wire::NONE).then_some(word as u32)
}

fn main_thread([on_cpu_ns, wait_ns, slices]: [u64; 3]) -> Option<SchedStat> {
    (slices != wire::NONE).then_some(SchedStat { on_cpu_ns, wait_ns, slices })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Words;

    const ALL: Counters = Counters { task_clock: Ok(true), page_faults: Ok(false) };

    fn answer(kind: u64) -> Answer {
        let mut answer = Answer::zero();
        answer.kind = kind;
        answer
    }

    #[test]
    fn wait_statuses() {
        let mut ended = answer(wire::ENDED);
        ended.wait_status = 3 << 8;
        assert_eq!(outcome(&ended), Ended::Exited(3));
        ended.wait_status = 11 | 0x80;
        assert_eq!(outcome(&ended), Ended::Signaled(11, true));
        ended.stopped_by = wire::BY_TIMEOUT;
        assert_eq!(outcome(&ended), Ended::TimedOut);
        (ended.stopped_by, ended.stop_signal) = (wire::BY_STOP, 21);
        assert_eq!(outcome(&ended), Ended::Stopped(21));
    }

    #[test]
    fn steps_have_the_names_of_the_documentation() {
        let mut failed = answer(wire::NOT_STARTED);
        failed.errno = 2;
        for (step, name) in [
            (wire::STEP_SPAWN, "spawn"),
            (wire::STEP_GROUP, "group"),
            (wire::STEP_STDIN, "stdin"),
            (wire::STEP_STDIN + 2, "stderr"),
            (wire::STEP_CHDIR, "chdir"),
            (wire::STEP_AFFINITY, "affinity"),
            (wire::STEP_EXEC, "exec"),
            (wire::STEP_TERMINAL, "terminal"),
            (wire::STEP_AUTOGROUP, "autogroup"),
        ] {
            failed.step = step;
            assert_eq!(outcome(&failed), Ended::NotStarted { errno: 2, step: name });
        }
    }

    #[test]
    fn an_absent_counter_is_none_and_not_zero() {
        let mut ended = answer(wire::ENDED);
        ended.task_clock = wire::NONE;
        ended.page_faults = 7;
        let reply = Reply::decode(&ended, &ALL);
        assert_eq!((reply.task_clock_ns, reply.page_faults), (None, Some(7)));
        let denied = Counters { task_clock: Err(13), page_faults: Err(13) };
        assert_eq!(Reply::decode(&ended, &denied).page_faults, None);
    }

    #[test]
    fn a_counter_that_stands_still_is_distrusted() {
        let mut ended = answer(wire::ENDED);
        ended.page_faults = 1;
        let mut counters = ALL;
        counters.distrust(&Reply::decode(&ended, &ALL));
        assert_eq!(counters, Counters { task_clock: Err(61), page_faults: Ok(false) });
    }

    #[test]
    fn counter_states() {
        let mut hello = answer(wire::HELLO);
        hello.task_clock = wire::USER_ONLY;
        hello.page_faults = (-13i64) as u64;
        assert_eq!(Counters::decode(&hello), Counters { task_clock: Ok(false), page_faults: Err(13) });
    }
}
