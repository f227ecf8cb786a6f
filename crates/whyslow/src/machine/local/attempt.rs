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
use super::pipes::{self, Channel, Tail};
use crate::machine::MachineError;
use crate::model::{Conditions, Input, Launch};

/// One run as the launcher and the pipes saw it.
pub struct Attempt {
    pub reply: Reply,
    pub output_bytes: u64,
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
}

impl Attempt {
    /// Executable, but neither a program nor a script with a `#!` line.
    pub fn needs_shell(&self) -> bool {
        self.reply.outcome == Ended::NotStarted { errno: libc::ENOEXEC, step: "exec" }
    }
}

impl Means<'_> {
    pub fn attempt(&mut self, launch: &Launch, prepared: Prepared) -> Result<Attempt, Problem> {
        let stdin = open_stdin(&launch.stdin)?;
        // New ones for every run: what a descendant of an earlier run still writes must not reach this one.
        let stdout = Channel::open_wide().map_err(no_pipe)?;
        let stderr = Channel::open().map_err(no_pipe)?;
        let request = Request {
            cwd: prepared.cwd,
            env: prepared.env,
            stdin: stdin.as_ref().unwrap_or(self.nothing).as_raw_fd(),
            stdout: stdout.writing.as_raw_fd(),
            stderr: stderr.writing.as_raw_fd(),
            timeout_ns: launch.timeout_s.and_then(timeout_ns),
            ..Request::new(Program::Path(prepared.program), prepared.argv)
        };
        self.watch(&request, &stdout, &stderr)
    }

    fn watch(&mut self, request: &Request, stdout: &Channel, stderr: &Channel) -> Result<Attempt, Problem> {
        let mut output_bytes = 0;
        let mut tail = Tail::default();
        let mut count = |bytes: &[u8]| output_bytes += bytes.len() as u64;
        let mut keep = |bytes: &[u8]| tail.push(bytes);
        let watch = Watch {
            readers: &mut [
                Reader::new(stdout.reading.as_raw_fd(), &mut count),
                Reader::new(stderr.reading.as_raw_fd(), &mut keep),
            ],
            interrupted: &|| self.interrupt.is_raised(),
            wake: Some(self.interrupt.wake_descriptor()),
        };
        let before = self.gauges.before();
        let reply = self.launcher.run(request, watch);
        let conditions = self.gauges.after(&before);
        Ok(Attempt { reply: reply?, output_bytes, stderr_tail: tail.into_bytes(), conditions })
    }
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

/// A limit that no clock can hold is none.
fn timeout_ns(timeout_s: f64) -> Option<u64> {
    let timeout = Duration::try_from_secs_f64(timeout_s).ok()?;
    u64::try_from(timeout.as_nanos()).ok()
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

fn launcher_broke(error: LauncherError) -> MachineError {
    broken("the process that starts commands is gone, nothing more can be measured", error)
}

fn no_pipe(error: io::Error) -> Problem {
    Problem::Machine(broken("cannot make a pipe for the output of a command", error))
}

pub fn broken(what: &str, error: impl Error + Send + Sync + 'static) -> MachineError {
    MachineError { what: what.to_owned(), source: Some(Box::new(error)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_time() {
        assert_eq!(timeout_ns(0.5), Some(500_000_000));
        for none in [f64::NAN, f64::INFINITY, -1.0, 1e30] {
            assert_eq!(timeout_ns(none), None, "{none}");
        }
    }

    #[test]
    fn a_command_that_is_too_large_does_not_end_the_measuring() {
        let error = LauncherError::RequestTooLarge { bytes: 9, limit_bytes: 1 };
        assert!(matches!(error.into(), Problem::Command(Refused { errno: libc::E2BIG, .. })));
        assert!(matches!(LauncherError::Gone.into(), Problem::Machine(_)));
    }
}
