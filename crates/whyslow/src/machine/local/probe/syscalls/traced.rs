//! Counts by the tracer, which works for everybody and takes some 25 microseconds for every call. Where that is too long
//! for the time that there is, the rest of the run is left alone, and what the kernel says about reads and writes tells how
//! much that was.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::super::tracer::{self, Call, Observer, Task, Traced};
use super::super::{Looker, proc};
use super::counting::{Counting, Moves};
use crate::model::{Exit, Missing, Partial, Probe, Probed, Syscalls, Trace};

/// The part of the limit of time in which calls are counted. Without a tracer the rest of the run takes a fraction of
/// what it would take, and should end within the limit.
const COUNTED_PART: f64 = 0.5;

/// Reads and writes tell about the others if they are this part of all.
const ENOUGH_TRANSFERS: f64 = 0.5;

pub fn look(looker: &Looker<'_>) -> Result<Probed, Missing> {
    let counted_s = looker.launch.timeout_s.map(|limit_s| limit_s * COUNTED_PART);
    let limit = counted_s.and_then(|limit_s| Duration::try_from_secs_f64(limit_s).ok());
    let traced = tracer::trace(looker, Probe::Syscalls, Watching::new(limit))?;
    let mut blind_spots = traced.blindness.spots();
    blind_spots.extend(traced.observer.counting.blind_spot());
    let trace = Trace::Syscalls(syscalls(&traced));
    Ok(traced.end.probed(trace, blind_spots))
}

fn syscalls(traced: &Traced<Watching>) -> Syscalls {
    let watching = &traced.observer;
    let partial = watching.partial(&traced.end.exit, traced.end.wall_s);
    let share = partial.and_then(|partial| partial.share).unwrap_or(1.0);
    let counted = watching.counting.total() as f64;
    Syscalls {
        calls: watching.counting.counts((counted / share - counted).round() as u64),
        processes: traced.tree.processes,
        threads: traced.tree.threads,
        programs: traced.tree.programs(),
        starts: traced.tree.starts,
        partial,
    }
}

/// Counts until its time is up.
struct Watching {
    counting: Counting,
    began: Instant,
    limit: Option<Duration>,
    processes: HashSet<libc::pid_t>,
    /// Since when calls are not counted any more.
    cut: Option<Cut>,
    /// Reads and writes of the whole run.
    all_transfers: Option<u64>,
}

struct Cut {
    watched_s: f64,
    /// Reads and writes until then.
    transfers: Option<u64>,
}

impl Watching {
    fn new(limit: Option<Duration>) -> Watching {
        Watching {
            counting: Counting::new(),
            began: Instant::now(),
            limit,
            processes: HashSet::new(),
            cut: None,
            all_transfers: None,
        }
    }

    fn check_time(&mut self) {
        let watched = self.began.elapsed();
        if self.limit.is_some_and(|limit| watched >= limit) {
            self.cut = Some(Cut { watched_s: watched.as_secs_f64(), transfers: self.transfers() });
        }
    }

    /// Of all that live, and of the children that they have waited for.
    fn transfers(&self) -> Option<u64> {
        self.processes.iter().map(|process| transfers_of(*process)).sum()
    }

    fn partial(&self, exit: &Exit, wall_s: f64) -> Option<Partial> {
        match &self.cut {
            Some(cut) => Some(Partial { watched_s: cut.watched_s, share: self.share(cut) }),
            None if *exit == Exit::TimedOut => Some(Partial { watched_s: wall_s, share: None }),
            None => None,
        }
    }

    fn share(&self, cut: &Cut) -> Option<f64> {
        let (then, all) = (cut.transfers?, self.all_transfers?);
        let says_enough = self.counting.transfers() as f64 >= self.counting.total() as f64 * ENOUGH_TRANSFERS;
        (says_enough && then > 0 && then <= all).then(|| then as f64 / all as f64)
    }
}

impl Observer for Watching {
    fn began(&mut self, task: Task, _parent: Option<libc::pid_t>, _shares_files: bool) {
        if self.processes.is_empty() {
            self.began = Instant::now();
        }
        self.processes.insert(task.process);
    }

    fn entered(&mut self, _task: Task, call: &Call) {
        if self.cut.is_none() {
            self.counting.entered(call);
            self.check_time();
        }
    }

    fn left(&mut self, task: Task, call: &Call, result: Result<u64, i32>) {
        if self.cut.is_some() {
            return;
        }
        match result {
            Ok(result) => {
                let moves = self.counting.moves(call);
                if moves != Moves::Nothing {
                    self.counting.moved(call, moves.bytes(task, call, result));
                }
            }
            Err(errno) => self.counting.failed(call, errno),
        }
    }

    fn wants_calls(&self) -> bool {
        self.cut.is_none()
    }

    fn wants_last_look(&self) -> bool {
        self.cut.is_some()
    }

    fn about_to_end(&mut self) {
        self.all_transfers = self.transfers();
    }

    fn ended(&mut self, task: Task) {
        if task.thread == task.process {
            self.processes.remove(&task.process);
        }
    }
}

/// Calls that read or write, from `/proc/PID/io`.
fn transfers_of(process: libc::pid_t) -> Option<u64> {
    let text = proc::read(process, "io")?;
    let field = |name| proc::field(&text, name)?.parse::<u64>().ok();
    Some(field("syscr")? + field("syscw")?)
}
