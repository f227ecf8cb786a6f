//! One try to run a prepared launch: streams, state of the machine before and after, the launcher's reply. A
//! command that cannot be tried is told apart from a machine on which nothing can be tried any more.

use std::error::Error;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use whyslow_launcher::{Ended, Launcher, LauncherError, Program, Reader, Reply, Request, Watch};

use super::conditions::Gauges;
use super::environment::{Prepared, Refused};
use super::interrupt::Interrupt;
use super::pipes::{self, TAIL_BYTES, Tail};
use super::streams::{Collector, Learnt, NoStreams, Streams, Wanted};
use super::{affinity, terminal::TerminalGuard};
use crate::machine::MachineError;
use crate::model::{Conditions, Input, Launch};

/// One run as the launcher and the pipes saw it.
pub struct Attempt {
    pub reply: Reply,
    pub output: Learnt,
    pub stderr_tail: Vec<u8>,
    pub conditions: Conditions,
}

/// Why there is no attempt.
pub enum Problem {
    Command(Refused),
    Machine(MachineError),
}

/// What a launch is tried with.
pub struct Means<'a> {
    pub launcher: &'a mut Launcher,
    pub gauges: &'a Gauges,
    pub interrupt: &'a Interrupt,
    /// An open /dev/null.
    pub nothing: &'a File,
    /// Of our own terminal, once a run was let at it.
    pub guard: &'a mut Option<TerminalGuard>,
    pub raise_autogroup: bool,
}

impl Attempt {
    /// Executable, but neither a program nor a script with a `#!` line.
    pub fn needs_shell(&self) -> bool {
        self.reply.outcome == Ended::NotStarted { errno: libc::ENOEXEC, step: "exec" }
    }
}

impl Means<'_> {
    pub fn attempt(
        &mut self,
        launch: &Launch,
        prepared: Prepared,
        wants_text: bool,
    ) -> Result<Attempt, Problem> {
        let stdin = open_stdin(&launch.stdin)?;
        let streams = Streams::open(&launch.stdout)?;
        let nothing = self.nothing.as_raw_fd();
        let [stdout, stderr] = streams.ends(nothing);
        let no_stdin = streams.terminal().unwrap_or(nothing);
        let request = Request {
            cwd: prepared.cwd,
            env: prepared.env,
            stdin: stdin.as_ref().map_or(no_stdin, AsRawFd::as_raw_fd),
            stdout,
            stderr,
            timeout_ns: launch.timeout_s.and_then(duration_ns),
            affinity: launch.affinity.as_deref().map(affinity_mask).transpose()?,
            is_terminal: streams.terminal().is_some(),
            raise_autogroup: self.raise_autogroup,
            wait_for_descendants_ns: launch.wait_for_descendants_s.and_then(duration_ns).unwrap_or(0),
            ..Request::new(Program::Path(prepared.program), prepared.argv)
        };
        if streams.is_ours() && self.guard.is_none() {
            *self.guard = TerminalGuard::new();
        }
        let wanted = Wanted { digest: launch.digest_output, text: wants_text };
        self.watch(&request, streams, wanted)
    }

    fn watch(&mut self, request: &Request, streams: Streams, wanted: Wanted) -> Result<Attempt, Problem> {
        let mut collector = Collector::new(wanted);
        let mut tail = Tail::new(TAIL_BYTES);
        let mut collect = |bytes: &[u8]| collector.push(bytes);
        let mut keep = |bytes: &[u8]| tail.push(bytes);
        let [stdout, stderr] = streams.readers();
        let stdout = stdout.map(|fd| Reader::new(fd, &mut collect));
        let stderr = stderr.map(|fd| Reader::new(fd, &mut keep));
        let mut readers: Vec<Reader<'_>> = stdout.into_iter().chain(stderr).collect();
        let watch = Watch {
            readers: &mut readers,
            interrupted: &|| self.interrupt.is_raised(),
            wake: Some(self.interrupt.wake_descriptor()),
        };
        let before = self.gauges.before();
        let reply = self.launcher.run(request, watch);
        let conditions = self.gauges.after(&before);
        if let Some(guard) = self.guard {
            guard.restore();
        }
        let is_joined = streams.terminal().is_some();
        streams.finish(&mut collector);
        let mut output = collector.learnt();
        let stderr_tail = if is_joined { std::mem::take(&mut output.tail) } else { tail.into_bytes() };
        Ok(Attempt { reply: reply?, output, stderr_tail, conditions })
    }
}

fn affinity_mask(cpus: &[usize]) -> Result<Vec<u64>, Problem> {
    affinity::mask(cpus).ok_or(Problem::Command(Refused { errno: libc::EINVAL, step: "affinity" }))
}

fn open_stdin(input: &Input) -> Result<Option<File>, Problem> {
    match input {
        Input::Null => Ok(None),
        Input::File(path) => pipes::open_input(path).map(Some).map_err(|error| {
            let errno = error.raw_os_error().unwrap_or(libc::EINVAL);
            Problem::Command(Refused { errno, step: "stdin" })
        }),
    }
}

/// A time that no clock can hold is none.
fn duration_ns(seconds: f64) -> Option<u64> {
    let duration = Duration::try_from_secs_f64(seconds).ok()?;
    u64::try_from(duration.as_nanos()).ok()
}

/// A run of a program of a few instructions: what it costs to start and reap anything at all.
pub fn null_run(launcher: &mut Launcher, nothing: &File) -> Result<Reply, MachineError> {
    let mut request = Request::new(launcher.null_program(), vec![c"null".to_owned()]);
    let nothing = nothing.as_raw_fd();
    (request.stdin, request.stdout, request.stderr) = (nothing, nothing, nothing);
    launcher.run(&request, Watch::nothing()).map_err(launcher_broke)
}

/// Some errors of the launcher are about this one command; it goes on with the next.
impl From<LauncherError> for Problem {
    fn from(error: LauncherError) -> Problem {
        match error {
            LauncherError::RequestTooLarge { .. } => {
                Problem::Command(Refused { errno: libc::E2BIG, step: "exec" })
            }
            LauncherError::Refused { source } => {
                let errno = source.raw_os_error().unwrap_or(libc::EINVAL);
                Problem::Command(Refused { errno, step: "request" })
            }
            other => Problem::Machine(launcher_broke(other)),
        }
    }
}

impl From<NoStreams> for Problem {
    fn from(error: NoStreams) -> Problem {
        match error {
            NoStreams::Refused(error) => {
                let errno = error.raw_os_error().unwrap_or(libc::EINVAL);
                Problem::Command(Refused { errno, step: "stdout" })
            }
            NoStreams::NoPipe(error) => no_pipe(error),
        }
    }
}

fn launcher_broke(error: LauncherError) -> MachineError {
    match error {
        LauncherError::Stopped => {
            let what = "the process that starts commands was stopped by a signal during a run, which spoils its times";
            MachineError::new(what).hint("does a command send SIGSTOP to its parent, or to everybody?")
        }
        error => broken("the process that starts commands is gone, nothing more can be measured", error),
    }
}

fn no_pipe(error: io::Error) -> Problem {
    Problem::Machine(broken("cannot make a pipe for the output of a command", error))
}

pub fn broken(what: &str, error: impl Error + Send + Sync + 'static) -> MachineError {
    MachineError::new(what).because(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_time() {
        assert_eq!(duration_ns(0.5), Some(500_000_000));
        for none in [f64::NAN, f64::INFINITY, -1.0, 1e30] {
            assert_eq!(duration_ns(none), None, "{none}");
        }
    }

    #[test]
    fn errors_say_it_once_and_what_to_do() {
        let source = io::Error::from_raw_os_error(libc::EAGAIN);
        let error = broken("cannot measure", LauncherError::Start { step: "clone", source });
        assert_eq!(error.source.as_ref().unwrap().to_string(), "cannot start the launcher process: clone");
        assert!(error.hint.unwrap().contains("ulimit -u"));
        assert_eq!(broken("gone", LauncherError::Gone).hint, None);
    }

    #[test]
    fn a_command_that_is_too_large_does_not_end_the_measuring() {
        let error = LauncherError::RequestTooLarge { bytes: 9, limit_bytes: 1 };
        assert!(matches!(error.into(), Problem::Command(Refused { errno: libc::E2BIG, .. })));
        assert!(matches!(LauncherError::Gone.into(), Problem::Machine(_)));
    }
}
