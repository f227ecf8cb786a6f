//! Lets a held command run and looks at its first process just after every exec and just before its end. Where it may be
//! traced, it is stopped at these moments; where not, it is looked at again and again, and a short one may be missed.
//! Its descendants are never stopped, and what it does is not changed.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::super::held::{Held, HeldEnd};
use super::super::tracer::{self, Halt};
use super::super::{proc, ptrace};
use super::snapshot::Snapshot;
use super::work::{Work, Worker};
use crate::model::Exit;

/// How often a process is looked at that may not be traced.
const PATIENCE: Duration = Duration::from_millis(1);

/// How often the descendants are looked at.
const LONG_PATIENCE: Duration = Duration::from_millis(10);

/// The first process is stopped for these only.
const STOPS: libc::c_int = libc::PTRACE_O_TRACEEXEC | libc::PTRACE_O_TRACEEXIT;

/// Looks without tracing are this part of the time that has passed apart.
const SPACING: u32 = 8;

pub struct Watched {
    pub end: HeldEnd,
    /// Just after the last exec that was seen.
    pub begun: Option<Snapshot>,
    /// As late as it could be had.
    pub ended: Option<Snapshot>,
    /// What the first process was, one after the other.
    pub programs: Vec<PathBuf>,
    pub is_traced: bool,
    /// Of those, the ones that ran without the rights of their files since they were traced...
    pub without_rights: BTreeSet<String>,
    /// ... and those that use ptrace, and may have wanted to be traced by somebody else.
    pub tracers: BTreeSet<String>,
    /// It was seen at its very end.
    pub is_whole: bool,
    /// The descendant that has worked most, if any was seen to work.
    pub work: Option<Worker>,
}

pub fn watch(held: Held, may_trace: bool) -> io::Result<Watched> {
    if may_trace && ptrace::seize(held.pid(), STOPS).is_ok() { traced(held) } else { sampled(held) }
}

#[derive(Default)]
struct Seen {
    begun: Option<Snapshot>,
    ended: Option<Snapshot>,
    programs: Vec<PathBuf>,
    without_rights: BTreeSet<String>,
    tracers: BTreeSet<String>,
    is_whole: bool,
}

impl Seen {
    fn after_exec(&mut self, pid: i32) {
        let snapshot = Snapshot::take(pid);
        if let Some(program) = &snapshot.program {
            let name = || program.display().to_string();
            self.without_rights.extend(tracer::has_lost_rights(pid).then(name));
            self.tracers.extend((tracer::uses_ptrace(program) == Some(true)).then(name));
        }
        self.programs.extend(snapshot.program.clone());
        (self.begun, self.ended) = (Some(snapshot), None);
    }

    fn before_end(&mut self, pid: i32) {
        self.ended = Some(Snapshot::take(pid));
        self.is_whole = true;
    }

    fn watched(self, end: HeldEnd, is_traced: bool) -> Watched {
        let Seen { begun, ended, programs, without_rights, tracers, is_whole } = self;
        Watched { end, begun, ended, programs, is_traced, without_rights, tracers, is_whole, work: None }
    }
}

/// The tracer is this thread, and waits for nothing but stops: each keeps the command from its work. Another one reads the
/// output and looks at the clock, a third one looks at the descendants.
fn traced(mut held: Held) -> io::Result<Watched> {
    let pid = held.pid();
    let mut seen = Seen::default();
    held.release();
    let (done, finish) = io::pipe()?;
    let has_ended = AtomicBool::new(false);
    let halt = Halt::default();
    let (ended, broken_off, work) = thread::scope(|scope| {
        let watcher = scope.spawn(|| watch_clock(&held, done.as_raw_fd(), &halt));
        let looker = scope.spawn(|| look_at_descendants(pid, &has_ended));
        let ended = held.follow(|status| {
            halt.set(ptrace::halting_signal(status));
            stopped(pid, status, &mut seen);
        });
        has_ended.store(true, Ordering::SeqCst);
        looker.thread().unpark();
        drop(finish);
        (ended, watcher.join().unwrap_or_default(), looker.join().unwrap_or_default())
    });
    let (status, usage) = ended?;
    let mut end = held.ended(status, usage);
    end.exit = broken_off.unwrap_or(end.exit);
    Ok(Watched { work, ..seen.watched(end, true) })
}

/// Why it was ended, if it was.
fn watch_clock(held: &Held, done: RawFd, halt: &Halt) -> Option<Exit> {
    // Nothing but a command that is ended can come of output that cannot be read.
    let exit = held.watch(done, || halt.is_too_long()).unwrap_or(Some(Exit::Interrupted))?;
    held.kill();
    Some(exit)
}

fn look_at_descendants(main: i32, has_ended: &AtomicBool) -> Option<Worker> {
    let mut work = Work::new(main);
    while !has_ended.load(Ordering::SeqCst) {
        work.look();
        thread::park_timeout(LONG_PATIENCE);
    }
    work.hardest
}

/// Looks at what it was stopped for, and lets it go on as it would have.
fn stopped(pid: i32, status: i32, seen: &mut Seen) {
    let mut signal = 0;
    match status >> 16 {
        libc::PTRACE_EVENT_EXEC => seen.after_exec(pid),
        libc::PTRACE_EVENT_EXIT => seen.before_end(pid),
        // A signal has stopped the whole command: it stays stopped.
        _ if ptrace::halting_signal(status).is_some() => return ptrace::stay_stopped(pid),
        ptrace::EVENT_STOP => {}
        _ => signal = libc::WSTOPSIG(status),
    }
    ptrace::go_on(pid, signal);
}

fn sampled(held: Held) -> io::Result<Watched> {
    let mut seen = Seen::default();
    let began = Instant::now();
    let mut next = Duration::ZERO;
    let before_exec = proc::read(held.pid(), "cmdline");
    let mut work = Work::new(held.pid());
    let end = held.wait(Some(PATIENCE), |pid| {
        work.look();
        if began.elapsed() < next {
            return;
        }
        sample(pid, before_exec.as_deref(), &mut seen);
        next = began.elapsed() + began.elapsed() / SPACING;
    })?;
    Ok(Watched { work: work.hardest, ..seen.watched(end, false) })
}

/// A process that has ended has no program any more.
fn sample(pid: i32, before_exec: Option<&[u8]>, seen: &mut Seen) {
    let snapshot = Snapshot::take(pid);
    let is_other = |argv: &Vec<u8>| before_exec != Some(argv.as_slice());
    if !snapshot.argv.as_ref().is_some_and(is_other) {
        return;
    }
    // Of one with more rights than we have the program is not told.
    if seen.begun.is_none() || seen.programs.last() != snapshot.program.as_ref() {
        seen.programs.extend(snapshot.program.clone());
        seen.begun = Some(snapshot.clone());
    }
    seen.ended = Some(snapshot);
}
