//! A command that is started and held just before exec, so that a probe can be attached to it, and then let go. Its
//! times are no measurement; everything else is as in a timed run: streams, directory, affinity, a process group of its
//! own (or a session with a terminal of its own). Whatever becomes of the probe, nothing of the command is left behind.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use super::super::affinity;
use super::super::interrupt::Interrupt;
use super::super::pipes;
use super::super::settings::Isolation;
use super::super::streams::{NoStreams, Streams};
use super::survivors::Survivors;
use super::{Looker, proc, ptrace};
use crate::model::{Exit, Input, Missing, Probed, Trace};

/// How long descendants have to end after their command before they are killed.
const GRACE: Duration = Duration::from_millis(300);

/// How often a watched command is looked at when nothing happens.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// What is read at once.
const DRAIN_BYTES: usize = 64 * 1024;

/// A command before its exec, or on its way.
pub struct Held {
    pid: libc::pid_t,
    /// Closed or written to: the command goes on.
    gate: Option<PipeWriter>,
    /// Says why exec failed.
    failure: PipeReader,
    /// Our own copies of the command's ends stay open with it, so that reading never comes to an end.
    streams: Streams,
    began: Instant,
    deadline: Option<Instant>,
    interrupt: Interrupt,
    is_reaped: bool,
    /// Children that we had before; whatever comes after and is not the command was adopted.
    others: Vec<libc::pid_t>,
}

/// How a held command ended.
#[derive(Clone, Debug)]
pub struct HeldEnd {
    pub exit: Exit,
    pub wall_s: f64,
    /// Of the command and the descendants that it waited for.
    pub cpu_s: f64,
    pub usage: libc::rusage,
    /// Of one that was ended by force they mean nothing.
    pub survivors: Survivors,
}

impl HeldEnd {
    /// A look at the whole run, told with what any probe misses.
    pub fn probed(self, trace: Trace, mut blind_spots: Vec<Missing>) -> Probed {
        if matches!(self.exit, Exit::Code(_) | Exit::Signal(_)) {
            blind_spots.extend(self.survivors.spot());
        }
        let HeldEnd { exit, wall_s, cpu_s, .. } = self;
        Probed { trace, exit, wall_s, cpu_s: Some(cpu_s), blind_spots }
    }
}

/// Why a probe is called while it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    Tick,
    /// A watched descriptor can be read, or is over.
    Ready,
}

#[derive(Clone, Copy, Default)]
struct Ready {
    done: bool,
    watched: bool,
}

impl Held {
    /// Starts the command up to its exec. `prepared` may differ from what the launch says, such as in its environment.
    pub fn start(looker: &Looker<'_>) -> io::Result<Held> {
        let Looker { launch, prepared, interrupt, settings, .. } = *looker;
        adopt_orphans();
        let others = children();
        let nothing = File::options().read(true).write(true).open("/dev/null")?;
        let stdin = match &launch.stdin {
            Input::Null => None,
            Input::File(path) => Some(pipes::open_input(path)?),
        };
        let streams = Streams::open(&launch.stdout).map_err(|error| match error {
            NoStreams::Refused(error) | NoStreams::NoPipe(error) => error,
        })?;
        let [stdout, stderr] = streams.ends(nothing.as_raw_fd());
        let no_stdin = streams.terminal().unwrap_or_else(|| nothing.as_raw_fd());
        let (gate_reading, gate) = io::pipe()?;
        let (failure, failure_writing) = io::pipe()?;
        // What it has to say is there before it ends; another child may hold the writing end for longer.
        pipes::set_nonblocking(failure.as_raw_fd(), true)?;
        let through_shell = prepared.through_shell();
        let child = ChildSide {
            program: &prepared.program,
            argv: pointers(&prepared.argv),
            shell: &through_shell.program,
            shell_argv: pointers(&through_shell.argv),
            env: pointers(&prepared.env),
            cwd: prepared.cwd.as_deref(),
            stdio: [stdin.as_ref().map_or(no_stdin, AsRawFd::as_raw_fd), stdout, stderr],
            is_terminal: streams.terminal().is_some(),
            needs_session: settings.isolate == Some(Isolation::Autogroup),
            affinity: launch.affinity.as_deref().and_then(affinity::mask),
            gate: gate_reading.as_raw_fd(),
            own_gate: gate.as_raw_fd(),
            failure: failure_writing.as_raw_fd(),
        };
        // SAFETY: between fork and exec the child calls nothing but async-signal-safe functions on what was made before.
        let pid = unsafe { libc::fork() };
        match pid {
            -1 => return Err(io::Error::last_os_error()),
            0 => child.run(),
            _ => {}
        }
        let began = Instant::now();
        let deadline = launch.timeout_s.and_then(|limit| Duration::try_from_secs_f64(limit).ok());
        let held = Held {
            pid,
            gate: Some(gate),
            failure,
            streams,
            began,
            deadline: deadline.and_then(|limit| began.checked_add(limit)),
            interrupt: interrupt.clone(),
            is_reaped: false,
            others,
        };
        settings.apply_to_look(pid, launch)?;
        Ok(held)
    }

    pub fn pid(&self) -> libc::pid_t {
        self.pid
    }

    /// Lets the command go on to its exec.
    pub fn release(&mut self) {
        if let Some(mut gate) = self.gate.take() {
            let _ = gate.write_all(b"g");
        }
        if let Some(limit) = self.deadline {
            let held = self.began.elapsed();
            self.deadline = limit.checked_add(held);
        }
        self.began = Instant::now();
    }

    /// Waits for the end, and reads and forgets what the command writes. `tick` is called that often, and once before.
    pub fn wait(self, tick: Option<Duration>, mut on_tick: impl FnMut(libc::pid_t)) -> io::Result<HeldEnd> {
        self.wait_watching(&[], tick, |woken, pid| {
            if woken == Woken::Tick {
                on_tick(pid);
            }
        })
    }

    /// As [`Held::wait`], and says when there is something to read from one of the descriptors that are watched.
    pub fn wait_watching(
        mut self,
        watched: &[RawFd],
        tick: Option<Duration>,
        mut on_woken: impl FnMut(Woken, libc::pid_t),
    ) -> io::Result<HeldEnd> {
        self.release();
        let pidfd = pidfd_open(self.pid)?;
        let mut watched = watched.to_vec();
        let mut next_tick = Instant::now();
        let mut next_look = next_tick + LOOK_INTERVAL;
        let mut was_halted = false;
        loop {
            if let Some(tick) = tick.filter(|_| Instant::now() >= next_tick) {
                on_woken(Woken::Tick, self.pid);
                next_tick = (next_tick + tick).max(Instant::now());
            }
            let others = [tick.map(|_| next_tick), self.deadline].into_iter().flatten();
            let ready = self.poll(pidfd.as_raw_fd(), &mut watched, others.fold(next_look, Instant::min))?;
            if ready.watched {
                on_woken(Woken::Ready, self.pid);
            }
            if ready.done {
                break;
            }
            let mut halted = None;
            if Instant::now() >= next_look {
                let signal = self.halted_by();
                halted = signal.filter(|_| was_halted).map(Exit::Stopped);
                (was_halted, next_look) = (signal.is_some(), Instant::now() + LOOK_INTERVAL);
            }
            if let Some(exit) = self.broken_off().or(halted) {
                self.kill();
                let mut end = self.reap()?;
                end.exit = exit;
                return Ok(end);
            }
        }
        self.reap()
    }

    /// Why it must end now, if it must: the user asked, or its time is up.
    pub fn broken_off(&self) -> Option<Exit> {
        if self.interrupt.is_raised() {
            return Some(Exit::Interrupted);
        }
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline).then_some(Exit::TimedOut)
    }

    /// The signal that has stopped it, if one has: nobody is there to continue it.
    fn halted_by(&self) -> Option<i32> {
        // SAFETY: plain data, filled by the call below.
        let mut found: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let options = libc::WSTOPPED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
        // SAFETY: a structure that outlives the call, which takes nothing away.
        let done = unsafe { libc::waitid(libc::P_PID, self.pid.cast_unsigned(), &mut found, options) };
        // SAFETY: a field of every answer to this call; 0 where there is none.
        (done == 0 && unsafe { found.si_pid() } == self.pid).then(|| unsafe { found.si_status() })
    }

    /// For the thread beside a probe with a loop of its own: reads and forgets the output until `done` can be read. What
    /// it returns else is why the command must end now; `must_end` is asked once a second at least.
    pub fn watch(&self, done: RawFd, mut must_end: impl FnMut() -> Option<Exit>) -> io::Result<Option<Exit>> {
        loop {
            let next_look = Instant::now() + LOOK_INTERVAL;
            let until = self.deadline.map_or(next_look, |deadline| deadline.min(next_look));
            if self.poll(done, &mut Vec::new(), until)?.done {
                return Ok(None);
            }
            if let Some(exit) = self.broken_off().or_else(&mut must_end) {
                return Ok(Some(exit));
            }
        }
    }

    /// Waits for output, the user, the time, `done` or the watched, whichever comes first. What will never have
    /// anything to read again is taken off the watched.
    fn poll(&self, done: RawFd, watched: &mut Vec<RawFd>, until: Instant) -> io::Result<Ready> {
        let readers = self.streams.readers();
        let [stdout, stderr] = readers.map(|reader| reader.unwrap_or(-1));
        let ours = [done, stdout, stderr, self.interrupt.wake_descriptor()];
        let polled = |fd: RawFd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut polled: Vec<_> = ours.into_iter().chain(watched.iter().copied()).map(polled).collect();
        let left = until.saturating_duration_since(Instant::now());
        // Rounded up, so that nothing is asked for before its time.
        let timeout = left.as_micros().div_ceil(1000).min(60_000) as i32;
        // SAFETY: an array of that length that outlives the call.
        if unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout) } == -1 {
            let error = io::Error::last_os_error();
            let is_signal = error.kind() == io::ErrorKind::Interrupted;
            return if is_signal { Ok(Ready::default()) } else { Err(error) };
        }
        for (place, reader) in readers.into_iter().enumerate() {
            if let Some(reader) = reader
                && polled[place + 1].revents != 0
            {
                read_some(reader);
            }
        }
        let others = &polled[ours.len()..];
        let is_over = |polled: &libc::pollfd| polled.revents & !libc::POLLIN != 0;
        watched.retain(|fd| !others.iter().any(|polled| polled.fd == *fd && is_over(polled)));
        let watched = others.iter().any(|polled| polled.revents != 0);
        Ok(Ready { done: polled[0].revents != 0, watched })
    }

    /// The command has ended, or is about to.
    fn reap(&mut self) -> io::Result<HeldEnd> {
        // It may have been traced by a probe that has given up, and stop on its way to its end.
        let (status, usage) = self.follow(|_| ptrace::go_on(self.pid, 0))?;
        Ok(self.ended(status, usage))
    }

    /// For a probe that traces the command: from stop to stop until its end, as wait(2) tells of them.
    pub fn follow(&self, mut on_stop: impl FnMut(i32)) -> io::Result<(i32, libc::rusage)> {
        let mut status = 0;
        // SAFETY: plain data, filled by the call below.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        loop {
            // SAFETY: pointers to places that outlive the call.
            match unsafe { libc::wait4(self.pid, &mut status, libc::__WALL, &mut usage) } {
                -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                -1 => return Err(io::Error::last_os_error()),
                _ if libc::WIFSTOPPED(status) => on_stop(status),
                _ => return Ok((status, usage)),
            }
        }
    }

    /// For a probe that has reaped the command itself.
    pub fn ended(&mut self, status: i32, usage: libc::rusage) -> HeldEnd {
        self.is_reaped = true;
        let wall_s = self.began.elapsed().as_secs_f64();
        HeldEnd {
            exit: self.exit(status),
            wall_s,
            cpu_s: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            usage,
            survivors: Survivors::of(adopted(&self.others)),
        }
    }

    fn exit(&mut self, status: i32) -> Exit {
        let mut errno = [0; 4];
        if self.failure.read_exact(&mut errno).is_ok() {
            return Exit::NotStarted { errno: i32::from_ne_bytes(errno), step: "exec".to_owned() };
        }
        if libc::WIFSIGNALED(status) {
            Exit::Signal(libc::WTERMSIG(status))
        } else {
            Exit::Code(libc::WEXITSTATUS(status))
        }
    }

    pub fn kill(&self) {
        // SAFETY: no memory is involved.
        unsafe { libc::kill(-self.pid, libc::SIGKILL) };
        // SAFETY: as above; before its exec it may not have a group yet.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.is_reaped {
            self.kill();
            let _ = self.reap();
        }
        end_orphans(self.pid, &self.others);
    }
}

/// What the child needs, made before the fork.
struct ChildSide<'a> {
    program: &'a CStr,
    argv: Vec<*const libc::c_char>,
    /// For what is executable, but neither a program nor a script with a `#!` line.
    shell: &'a CStr,
    shell_argv: Vec<*const libc::c_char>,
    env: Vec<*const libc::c_char>,
    cwd: Option<&'a CStr>,
    stdio: [RawFd; 3],
    is_terminal: bool,
    /// Also without a terminal: what is done to a session must not be done to ours.
    needs_session: bool,
    affinity: Option<Vec<u64>>,
    gate: RawFd,
    own_gate: RawFd,
    failure: RawFd,
}

impl ChildSide<'_> {
    /// In the child: no allocation, no lock.
    fn run(&self) -> ! {
        // SAFETY: async-signal-safe calls on descriptors and strings that were made before the fork.
        unsafe {
            if self.is_terminal || self.needs_session {
                libc::setsid();
            } else {
                libc::setpgid(0, 0);
            }
            if self.is_terminal {
                libc::ioctl(self.stdio[0], libc::TIOCSCTTY, 0);
            }
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            libc::close(self.own_gate);
            for signal in 1..=64 {
                libc::signal(signal, libc::SIG_DFL);
            }
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
            let mut go = 0_u8;
            if libc::read(self.gate, (&raw mut go).cast(), 1) != 1 {
                libc::_exit(127);
            }
            libc::prctl(libc::PR_SET_PDEATHSIG, 0);
            // Above the places that they go to, so that none overwrites another.
            let mut stdio = self.stdio;
            for descriptor in &mut stdio {
                *descriptor = libc::fcntl(*descriptor, libc::F_DUPFD_CLOEXEC, 10);
            }
            for (place, descriptor) in stdio.into_iter().enumerate() {
                libc::dup2(descriptor, place as i32);
            }
            if let Some(cwd) = self.cwd
                && libc::chdir(cwd.as_ptr()) != 0
            {
                self.fail();
            }
            if let Some(mask) = &self.affinity {
                libc::syscall(libc::SYS_sched_setaffinity, 0, size_of_val(mask.as_slice()), mask.as_ptr());
            }
            close_others_at_exec();
            libc::execve(self.program.as_ptr(), self.argv.as_ptr(), self.env.as_ptr());
            if *libc::__errno_location() == libc::ENOEXEC {
                libc::execve(self.shell.as_ptr(), self.shell_argv.as_ptr(), self.env.as_ptr());
            }
            self.fail()
        }
    }

    /// In the child.
    fn fail(&self) -> ! {
        let errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL);
        // SAFETY: a number on the stack; the process ends.
        unsafe {
            libc::write(self.failure, (&raw const errno).cast(), 4);
            libc::_exit(127)
        }
    }
}

/// In the child: a timed run finds the three standard descriptors and no other, whatever we were started with. Not at
/// once, since the reason of a failure still has to get out.
unsafe fn close_others_at_exec() {
    const FIRST: libc::c_uint = 3;
    // SAFETY: no memory is involved. Before Linux 5.11 the flag is unknown, and the first ones must do.
    unsafe {
        let flag = libc::CLOSE_RANGE_CLOEXEC;
        if libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, flag) != 0 {
            for descriptor in FIRST as RawFd..1024 {
                libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
            }
        }
    }
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
}

fn pidfd_open(pid: libc::pid_t) -> io::Result<OwnedFd> {
    // SAFETY: no memory is involved.
    match unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: it is new and ours.
        descriptor => Ok(unsafe { OwnedFd::from_raw_fd(descriptor as RawFd) }),
    }
}

/// Reads once, without waiting, and forgets it.
fn read_some(descriptor: RawFd) {
    let mut bytes = [0_u8; DRAIN_BYTES];
    // SAFETY: a buffer of that length.
    unsafe { libc::read(descriptor, bytes.as_mut_ptr().cast(), bytes.len()) };
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 * 1e-6
}

/// Descendants that lose their parent become ours, so that none is left behind unseen.
fn adopt_orphans() {
    // SAFETY: no memory is involved.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
}

/// Children that we did not have before.
fn adopted(others: &[libc::pid_t]) -> Vec<libc::pid_t> {
    children().into_iter().filter(|pid| !others.contains(pid)).collect()
}

/// Ends what is left of the command's group, and what left the group and was adopted.
fn end_orphans(group: libc::pid_t, others: &[libc::pid_t]) {
    let adopted = || adopted(others);
    let signal_all = |signal| {
        // SAFETY: no memory is involved.
        unsafe { libc::kill(-group, signal) };
        for pid in adopted() {
            // SAFETY: as above.
            unsafe { libc::kill(pid, signal) };
        }
    };
    if adopted().is_empty() {
        return;
    }
    signal_all(libc::SIGTERM);
    let until = Instant::now() + GRACE;
    while Instant::now() < until {
        adopted().into_iter().for_each(reap_if_dead);
        if adopted().is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    signal_all(libc::SIGKILL);
    for pid in adopted() {
        // SAFETY: the status is not wanted.
        unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::__WALL) };
    }
}

fn reap_if_dead(pid: libc::pid_t) {
    // SAFETY: the status is not wanted.
    unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG | libc::__WALL) };
}

/// What this process has adopted, and what its first thread has started, but for launchers, which are looked after by
/// whoever started them. The kernel gives orphans to the first thread; the children of the others are not ours to end.
fn children() -> Vec<libc::pid_t> {
    let listed = format!("/proc/self/task/{}/children", std::process::id());
    let listed = std::fs::read_to_string(listed).unwrap_or_default();
    let children = listed.split_whitespace().filter_map(|pid| pid.parse().ok());
    children.filter(|pid| !is_launcher(*pid)).collect()
}

fn is_launcher(pid: libc::pid_t) -> bool {
    let program = proc::link(pid, "exe").unwrap_or_default();
    program.to_string_lossy().contains("memfd:whyslow")
}
