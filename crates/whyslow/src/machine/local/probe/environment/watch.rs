//! Lets a held command run and looks at its first process just after every exec and just before its end. Where it may be
//! traced, it is stopped at these moments; where not, it is looked at again and again, and a short one may be missed.
//! Its descendants are never stopped, and what it does is not changed.

use std::io;
use std::path::PathBuf;
use std::ptr;
use std::time::{Duration, Instant};

use super::super::held::{Held, HeldEnd};
use super::super::proc;
use super::snapshot::Snapshot;

/// How often a process is asked for that may have stopped.
const PATIENCE: Duration = Duration::from_millis(1);

/// The same for one that has run for a while.
const LONG_PATIENCE: Duration = Duration::from_millis(5);

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
        Watched { end, begun, ended, programs, is_traced, is_whole }
    }
}

fn traced(mut held: Held) -> io::Result<Watched> {
    let pid = held.pid();
    let mut seen = Seen::default();
    let mut broken_off = None;
    held.release();
    let began = Instant::now();
    loop {
        let mut status = 0;
        // SAFETY: plain data, filled by the call below.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: pointers to places that outlive the call.
        match unsafe { libc::wait4(pid, &mut status, libc::__WALL | libc::WNOHANG, &mut usage) } {
            0 => {
                let is_long = began.elapsed() > 100 * PATIENCE;
                held.pause(if is_long { LONG_PATIENCE } else { PATIENCE })?;
            }
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            -1 => return Err(io::Error::last_os_error()),
            _ if libc::WIFSTOPPED(status) => stopped(pid, status, &mut seen),
            _ => {
                let mut end = held.ended(status, usage);
                end.exit = broken_off.unwrap_or(end.exit);
                return Ok(seen.watched(end, true));
            }
        }
        if broken_off.is_none() {
            broken_off = held.broken_off();
            if broken_off.is_some() {
                held.kill();
            }
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
        libc::PTRACE_EVENT_STOP if is_stop_signal(signal) => (libc::PTRACE_LISTEN, 0),
        libc::PTRACE_EVENT_STOP => (libc::PTRACE_CONT, 0),
        _ => (libc::PTRACE_CONT, signal),
    };
    // SAFETY: no memory is involved; a process that is gone is an error that its end will tell.
    unsafe { libc::ptrace(request, pid, ptr::null_mut::<libc::c_void>(), passed_on as libc::c_long) };
}

fn is_stop_signal(signal: i32) -> bool {
    [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU].contains(&signal)
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
    let end = held.wait(Some(PATIENCE), |pid| {
        if began.elapsed() < next {
            return;
        }
        sample(pid, before_exec.as_deref(), &mut seen);
        next = began.elapsed() + began.elapsed() / SPACING;
    })?;
    Ok(seen.watched(end, false))
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
