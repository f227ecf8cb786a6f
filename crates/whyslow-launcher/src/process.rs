//! The launcher process: from embedded bytes to a running program, and its end.
//!
//! It is run from a memfd, so neither a writable directory nor /proc is needed. All the `unsafe` of
//! starting it is here.

use crate::conversation::Conversation;
use crate::{Counters, Ended, LauncherError, Program, Reply, Request, Watch, program, wire};
use std::ffi::{c_char, c_int, c_void};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// The launcher process. It ends, and is reaped, when this is dropped.
pub struct Launcher {
    conversation: Conversation,
    process: Process,
    /// The program that the process runs, kept for `null_program`.
    program: OwnedFd,
    counters: Counters,
}

impl Launcher {
    /// Starts the process, and tries the counters on the null program.
    pub fn start() -> Result<Launcher, LauncherError> {
        let from_memory = program::in_memory().and_then(Self::start_program);
        from_memory.or_else(|first| program::in_file().and_then(Self::start_program).map_err(|_| first))
    }

    fn start_program(program: OwnedFd) -> Result<Launcher, LauncherError> {
        let (ours, theirs) = UnixStream::pair().map_err(start_error("socketpair"))?;
        let process = Process::spawn(&program, &out_of_the_way(&theirs)?)?;
        drop(theirs);
        let mut conversation = Conversation::new(ours, process.id);
        let counters = conversation.greeting()?;
        let mut launcher = Launcher { conversation, process, program, counters };
        launcher.try_counters()?;
        Ok(launcher)
    }

    /// Which counters the replies can hold.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Runs the command to its end. While it runs, reads and interrupts are handled as `watch`
    /// says.
    pub fn run(&mut self, request: &Request, watch: Watch<'_>) -> Result<Reply, LauncherError> {
        if (watch.interrupted)() {
            return Ok(Reply::never_started());
        }
        let answer = self.conversation.run(&request.encode()?, watch)?;
        Ok(Reply::decode(&answer, &self.counters))
    }

    /// A program that ends after a few instructions, whatever its arguments: what it seems to take
    /// is the floor of every measurement. The descriptor lives as long as this launcher.
    pub fn null_program(&self) -> Program {
        Program::Descriptor(self.program.as_raw_fd())
    }

    /// The launcher's own process number, for those who want to look at it.
    pub fn process_id(&self) -> u32 {
        self.process.id as u32
    }

    fn try_counters(&mut self) -> Result<(), LauncherError> {
        let nowhere = File::options().read(true).write(true).open("/dev/null");
        // Whatever is open serves: the null program neither reads nor writes.
        let descriptor = nowhere.as_ref().map_or(self.program.as_raw_fd(), AsRawFd::as_raw_fd);
        let mut request = Request::new(self.null_program(), vec![c"null".into()]);
        (request.stdin, request.stdout, request.stderr) = (descriptor, descriptor, descriptor);
        let reply = self.run(&request, Watch::nothing())?;
        match reply.outcome {
            Ended::Exited(0) => {
                self.counters.distrust(&reply);
                Ok(())
            }
            Ended::NotStarted { errno, step } => Err(start_error(step)(io::Error::from_raw_os_error(errno))),
            _ => Err(LauncherError::Gone),
        }
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        self.conversation.close();
    }
}

pub(crate) fn start_error(step: &'static str) -> impl Fn(io::Error) -> LauncherError {
    move |source| LauncherError::Start { step, source }
}

/// Another name of the descriptor, whose number is not one that the child uses.
fn out_of_the_way(descriptor: &impl AsRawFd) -> Result<OwnedFd, LauncherError> {
    let lowest = wire::CONTROL_DESCRIPTOR + 1;
    // SAFETY: no memory is involved.
    let copy = unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_DUPFD_CLOEXEC, lowest) };
    if copy < 0 {
        return Err(start_error("fcntl")(io::Error::last_os_error()));
    }
    // SAFETY: a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// A child process that is reaped when this is dropped.
struct Process {
    id: libc::pid_t,
}

impl Process {
    /// By clone with shared memory, as vfork: a plain fork would copy the page tables of a large
    /// whyslow.
    fn spawn(program: &OwnedFd, control: &OwnedFd) -> Result<Self, LauncherError> {
        let program = out_of_the_way(program)?;
        let mut birth = Birth { program: program.as_raw_fd(), control: control.as_raw_fd(), errno: 0 };
        let mut stack = vec![0u128; 4096];
        let stack_end = stack.as_mut_ptr_range().end;
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        // No handler of this process may run in the child, which shares its memory.
        let before = SignalMask::block_all();
        // SAFETY: the child runs `become_launcher` on its own stack while this thread sleeps; stack
        // and `birth` live until it has executed or ended.
        let id = unsafe { libc::clone(become_launcher, stack_end.cast(), flags, (&raw mut birth).cast()) };
        let clone_error = io::Error::last_os_error();
        before.restore();
        if id < 0 {
            return Err(start_error("clone")(clone_error));
        }
        let process = Process { id };
        // SAFETY: the child wrote it, if at all, before this thread woke up.
        match unsafe { (&raw const birth.errno).read_volatile() } {
            0 => Ok(process),
            errno => Err(start_error("execveat")(io::Error::from_raw_os_error(errno))),
        }
    }

    fn has_ended(&self) -> bool {
        // SAFETY: null is allowed for the status. An error means that there is nothing to wait for.
        unsafe { libc::waitpid(self.id, std::ptr::null_mut(), libc::WNOHANG) != 0 }
    }
}

impl Drop for Process {
    /// The launcher ends the descendants that are left, and then itself, when its socket is closed. One that somebody
    /// stopped is continued for that; one that does not end is killed.
    fn drop(&mut self) {
        const PATIENCE: Duration = Duration::from_secs(3);
        let begin = Instant::now();
        while !self.has_ended() {
            if begin.elapsed() > PATIENCE {
                // SAFETY: our child, not reaped yet, so the number is still its own.
                unsafe {
                    libc::kill(self.id, libc::SIGKILL);
                    libc::waitpid(self.id, std::ptr::null_mut(), 0);
                }
                return;
            }
            // SAFETY: as above.
            unsafe { libc::kill(self.id, libc::SIGCONT) };
            rest();
        }
    }
}

/// A fifth of a millisecond. Not by the sleep of the standard library, which panics where a sandbox forbids it.
fn rest() {
    let time = libc::timespec { tv_sec: 0, tv_nsec: 200_000 };
    // SAFETY: no descriptors, and a time that lives.
    unsafe { libc::ppoll(std::ptr::null_mut(), 0, &time, std::ptr::null()) };
}

/// What the child needs, and its failure.
struct Birth {
    program: RawFd,
    control: RawFd,
    errno: c_int,
}

/// Runs in the child with the parent's memory: only system calls, no allocation, no lock.
extern "C" fn become_launcher(birth: *mut c_void) -> c_int {
    let arguments = [c"whyslow-launcher".as_ptr(), c"serve".as_ptr(), std::ptr::null()];
    let environment: [*const c_char; 1] = [std::ptr::null()];
    // SAFETY: `spawn` passes a `Birth` and sleeps; both lists end with null and hold strings.
    unsafe {
        let birth = &mut *birth.cast::<Birth>();
        if libc::dup2(birth.control, wire::CONTROL_DESCRIPTOR) >= 0 {
            libc::syscall(
                libc::SYS_execveat,
                birth.program,
                c"".as_ptr(),
                arguments.as_ptr(),
                environment.as_ptr(),
                libc::AT_EMPTY_PATH,
            );
        }
        birth.errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    }
    127
}

/// The signals that this thread had blocked.
struct SignalMask(libc::sigset_t);

impl SignalMask {
    fn block_all() -> Self {
        // SAFETY: both sets are filled before they are read, the second by the call.
        unsafe {
            let mut all = std::mem::zeroed();
            let mut before = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
            Self(before)
        }
    }

    fn restore(self) {
        // SAFETY: a set that the kernel gave.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Encoded;

    fn refusal(launcher: &mut Launcher, spoil: impl FnOnce(&mut Encoded)) -> LauncherError {
        let mut request = Request::new(launcher.null_program(), vec![c"null".into()]);
        request.env = vec![c"A=1".into()];
        let mut encoded = request.encode().unwrap();
        spoil(&mut encoded);
        launcher.conversation.run(&encoded, Watch::nothing()).err().unwrap()
    }

    /// Requests that this library never makes.
    #[test]
    fn what_does_not_hold_together_is_refused_and_the_next_is_served() {
        let mut launcher = Launcher::start().unwrap();
        let spoilers: [fn(&mut Encoded); 8] = [
            |encoded| *encoded.body.last_mut().unwrap() = b'x',
            |encoded| encoded.body[0..8].copy_from_slice(&u64::MAX.to_ne_bytes()),
            |encoded| encoded.body[8..16].copy_from_slice(&1u64.to_ne_bytes()),
            |encoded| encoded.order.argument_count = u64::MAX,
            |encoded| encoded.order.environment_count = 1000,
            |encoded| encoded.order.affinity_words = 1 << 60,
            |encoded| encoded.order.directory = encoded.body.len() as u64,
            |encoded| encoded.descriptors.truncate(3),
        ];
        for (index, spoil) in spoilers.into_iter().enumerate() {
            let error = refusal(&mut launcher, spoil);
            assert!(matches!(error, LauncherError::Refused { .. }), "{index}: {error:?}");
            launcher.try_counters().unwrap();
        }
    }

    #[test]
    fn a_foreign_speaker_gets_an_error_and_then_nobody_is_served() {
        let mut launcher = Launcher::start().unwrap();
        let error = refusal(&mut launcher, |encoded| encoded.order.magic = 1);
        // The launcher says why and leaves; whether we still hear it depends on how much we had to say.
        assert!(matches!(error, LauncherError::Refused { .. } | LauncherError::Gone), "{error:?}");
        assert!(matches!(launcher.try_counters(), Err(LauncherError::Gone)));
    }
}
