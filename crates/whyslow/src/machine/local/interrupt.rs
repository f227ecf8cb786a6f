//! The user's wish to stop, in a form that a loop can ask about and a poll can wake up on. It never kills and
//! never exits: it only says that somebody asked, so that what was measured is kept.
//!
//! Once raised it stays raised, because a half-stopped experiment must not go on. The flag is the truth; the
//! descriptor is only there to wake up a poll.

use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::terminal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// A flag with a descriptor that becomes readable when the flag is raised. Clones share both.
#[derive(Clone, Debug)]
pub struct Interrupt {
    raised: Arc<AtomicBool>,
    ends: Arc<Ends>,
}

#[derive(Debug)]
struct Ends {
    reading: UnixStream,
    writing: UnixStream,
}

impl Interrupt {
    /// One that nothing raises but [`Interrupt::raise`].
    pub fn new() -> io::Result<Interrupt> {
        let (reading, writing) = UnixStream::pair()?;
        // Raising for the thousandth time must not block on a full buffer.
        writing.set_nonblocking(true)?;
        Ok(Interrupt { raised: Arc::default(), ends: Arc::new(Ends { reading, writing }) })
    }

    /// One that is raised by SIGINT, SIGTERM and SIGHUP for the rest of the life of this process. Those that
    /// this process was told to ignore (by nohup, or as a job in the background) stay ignored.
    pub fn on_signals() -> io::Result<Interrupt> {
        let interrupt = Interrupt::new()?;
        let mut signals = vec![SIGINT, SIGTERM, SIGHUP];
        signals.retain(|signal| !is_ignored(*signal));
        // Actions run in the order of registration. With this one first, a second Ctrl-C ends the program at
        // once, which is what a user wants who pressed it twice.
        if signals.contains(&SIGINT) {
            let raised = Arc::clone(&interrupt.raised);
            // SAFETY: an atomic and two system calls, which a handler may do.
            unsafe {
                signal_hook::low_level::register(SIGINT, move || {
                    if raised.load(Ordering::SeqCst) {
                        terminal::restore_from_handler();
                    }
                })?;
            }
            signal_hook::flag::register_conditional_default(SIGINT, Arc::clone(&interrupt.raised))?;
        }
        for signal in signals {
            signal_hook::flag::register(signal, Arc::clone(&interrupt.raised))?;
            signal_hook::low_level::pipe::register(signal, interrupt.ends.writing.try_clone()?)?;
        }
        Ok(interrupt)
    }

    /// Asks for a stop, as a signal would.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::SeqCst);
        // A full buffer is a descriptor that is ready already.
        let _ = (&self.ends.writing).write(&[0]);
    }

    /// Waits until the flag is raised, at most so many seconds.
    pub fn wait(&self, seconds: f64) {
        if self.is_raised() || seconds.is_nan() || seconds <= 0.0 {
            return;
        }
        let mut wake = libc::pollfd { fd: self.wake_descriptor(), events: libc::POLLIN, revents: 0 };
        let milliseconds = (seconds * 1e3).ceil().min(f64::from(i32::MAX)) as i32;
        // SAFETY: one valid entry, alive during the call.
        unsafe { libc::poll(&mut wake, 1, milliseconds) };
    }

    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::SeqCst)
    }

    /// Becomes readable when the flag is raised. Whoever polls it may empty it, but must then ask the flag.
    pub(super) fn wake_descriptor(&self) -> RawFd {
        self.ends.reading.as_raw_fd()
    }
}

fn is_ignored(signal: libc::c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action the call only fills the old one, and zeroes are valid should it fail.
    let action = unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_ready(interrupt: &Interrupt) -> bool {
        let mut polled = libc::pollfd { fd: interrupt.wake_descriptor(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid entry, and the count says one.
        unsafe { libc::poll(&mut polled, 1, 0) == 1 }
    }

    #[test]
    fn raising_is_seen_by_every_clone_and_by_a_poll() {
        let interrupt = Interrupt::new().unwrap();
        let clone = interrupt.clone();
        assert!(!interrupt.is_raised() && !is_ready(&interrupt));
        for _ in 0..100_000 {
            clone.raise();
        }
        assert!(interrupt.is_raised() && is_ready(&interrupt));
    }

    #[test]
    fn ignored_signals_are_known() {
        assert!(!is_ignored(SIGTERM));
        // The runtime of Rust ignores this one.
        assert!(is_ignored(libc::SIGPIPE));
    }

    #[test]
    fn a_signal_raises_it_instead_of_killing() {
        let interrupt = Interrupt::on_signals().unwrap();
        signal_hook::low_level::raise(SIGTERM).unwrap();
        assert!(interrupt.is_raised() && is_ready(&interrupt));
    }
}
