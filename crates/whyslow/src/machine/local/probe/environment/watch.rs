//! Lets a held command run and looks at its first process just after every exec and just before its end. Where it may be
//! traced, it is stopped at these moments; where not, it is looked at again and again, and a short one may be missed.
//! Its descendants are never stopped, and what it does is not changed.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::PathBuf;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::super::held::{Held, HeldEnd};
use super::super::proc;
use super::snapshot::Snapshot;
use super::work::{Work, Worker};
use crate::model::Exit;

/// How often a process is looked at that may not be traced.
const PATIENCE: Duration = Duration::from_millis(1);

/// How often the descendants are looked at.
const LONG_PATIENCE: Duration = Duration::from_millis(10);

/// A command that a signal has stopped for so long will not go on: nobody is there to continue it.
const HALT_LIMIT: Duration = Duration::from_secs(1);

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
    /// It was seen at its very end.
    pub is_whole: bool,
    /// The descendant that has worked most, if any was seen to work.
    pub work: Option<Worker>,
}

pub fn watch(held: Held, may_trace: bool) -> io::Result<Watched> {
    if may_trace && seize(held.pid()) { traced(held) } else { sampled(held) }
}

#[derive(Default)]
struct Seen {
    begun: Option<Snapshot>,
    ended: Option<Snapshot>,
    programs: Vec<PathBuf>,
    is_whole: bool,
}

impl Seen {
    fn after_exec(&mut self, pid: i32) {
        let snapshot = Snapshot::take(pid);
        self.programs.extend(snapshot.program.clone());
        (self.begun, self.ended) = (Some(snapshot), None);
    }

    fn before_end(&mut self, pid: i32) {
        self.ended = Some(Snapshot::take(pid));
        self.is_whole = true;
    }

    fn watched(self, end: HeldEnd, is_traced: bool) -> Watched {
        let Seen { begun, ended, programs, is_whole } = self;
        Watched { end, begun, ended, programs, is_traced, is_whole, work: None }
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
        let ended = follow(pid, &mut seen, &halt);
        has_ended.store(true, Ordering::SeqCst);
        drop(finish);
        (ended, watcher.join().unwrap_or_default(), looker.join().unwrap_or_default())
    });
    let (status, usage) = ended?;
    let mut end = held.ended(status, usage);
    end.exit = broken_off.unwrap_or(end.exit);
    Ok(Watched { work, ..seen.watched(end, true) })
}

/// The signal that has the command stopped, and since when.
#[derive(Default)]
struct Halt(Mutex<Option<(Instant, i32)>>);

impl Halt {
    fn note(&self, signal: Option<i32>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            signal.map(|signal| (Instant::now(), signal));
    }

    fn is_too_long(&self) -> Option<Exit> {
        let halted = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        halted.filter(|(since, _)| since.elapsed() >= HALT_LIMIT).map(|(_, signal)| Exit::Stopped(signal))
    }
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
        thread::sleep(LONG_PATIENCE);
    }
    work.hardest
}

/// From stop to stop until its end.
fn follow(pid: i32, seen: &mut Seen, halt: &Halt) -> io::Result<(i32, libc::rusage)> {
    loop {
        let mut status = 0;
        // SAFETY: plain data, filled by the call below.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: pointers to places that outlive the call.
        match unsafe { libc::wait4(pid, &mut status, libc::__WALL, &mut usage) } {
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            -1 => return Err(io::Error::last_os_error()),
            _ if libc::WIFSTOPPED(status) => {
                halt.note(halting_signal(status));
                stopped(pid, status, seen);
            }
            _ => return Ok((status, usage)),
        }
    }
}

/// Looks at what it was stopped for, and lets it go on as it would have.
fn stopped(pid: i32, status: i32, seen: &mut Seen) {
    let signal = libc::WSTOPSIG(status);
    let (request, passed_on) = match status >> 16 {
        libc::PTRACE_EVENT_EXEC => {
            seen.after_exec(pid);
            (libc::PTRACE_CONT, 0)
        }
        libc::PTRACE_EVENT_EXIT => {
            seen.before_end(pid);
            (libc::PTRACE_CONT, 0)
        }
        // A signal has stopped the whole command: it stays stopped.
        libc::PTRACE_EVENT_STOP if halting_signal(status).is_some() => (libc::PTRACE_LISTEN, 0),
        libc::PTRACE_EVENT_STOP => (libc::PTRACE_CONT, 0),
        _ => (libc::PTRACE_CONT, signal),
    };
    // SAFETY: no memory is involved; a process that is gone is an error that its end will tell.
    unsafe { libc::ptrace(request, pid, ptr::null_mut::<libc::c_void>(), passed_on as libc::c_long) };
}

/// The signal that has stopped the whole command, if one has.
fn halting_signal(status: i32) -> Option<i32> {
    let signal = libc::WSTOPSIG(status);
    let is_halt = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU].contains(&signal);
    (is_halt && status >> 16 == libc::PTRACE_EVENT_STOP).then_some(signal)
}

fn seize(pid: i32) -> bool {
    let options = libc::PTRACE_O_TRACEEXEC | libc::PTRACE_O_TRACEEXIT | libc::PTRACE_O_EXITKILL;
    // SAFETY: no memory is involved.
    let result = unsafe {
        libc::ptrace(libc::PTRACE_SEIZE, pid, ptr::null_mut::<libc::c_void>(), options as libc::c_long)
    };
    result == 0
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
    if seen.programs.last() != snapshot.program.as_ref() {
        seen.programs.extend(snapshot.program.clone());
        seen.begun = Some(snapshot.clone());
    }
    seen.ended = Some(snapshot);
}
