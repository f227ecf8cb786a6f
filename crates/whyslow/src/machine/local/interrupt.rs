//! The user's wish to stop, in a form that a loop can ask about and a poll can wake up on. It never kills and
//! never exits (but for the user who presses Ctrl-C again): it only says that somebody asked, so that what was
//! measured is kept.
//!
//! Once raised it stays raised, because a half-stopped experiment must not go on. The count of the signals is the
//! truth; the descriptor is only there to wake up a poll. Whoever must do some work after a stop (a hook that cleans
//! up) listens for the signals [`Interrupt::beyond`] those that were meant for others.

use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::{scratch, terminal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/// A flag with a descriptor that becomes readable when the flag is raised. Clones share both.
#[derive(Clone, Debug)]
pub struct Interrupt {
    wishes: Arc<Wishes>,
    /// So many wishes were meant for others.
    deaf_to: usize,
    ends: Arc<Ends>,
}

/// How often the user asked.
#[derive(Debug)]
struct Wishes {
    count: AtomicUsize,
    /// When the first one came, in milliseconds of a clock that only goes on.
    first_ms: AtomicU64,
    /// With so many wishes before it, the next one has somebody to end, and this program goes on.
    has_hearer_at: AtomicUsize,
}

/// Nobody but the first wish has somebody to end.
const NO_HEARER: usize = usize::MAX;

/// A key that is pressed twice in a hurry means what it means once: by then the command is dead, even a deaf one, and
/// what was measured is about to be shown.
const ONE_PRESS_MS: u64 = 1000;

impl Wishes {
    /// Whether the next Ctrl-C is one too many, and the user wants the end of everything at once.
    fn is_next_the_end(&self, now_ms: u64) -> bool {
        let count = self.count.load(Ordering::SeqCst);
        let is_one_press = now_ms.saturating_sub(self.first_ms.load(Ordering::SeqCst)) < ONE_PRESS_MS;
        let has_hearer = self.has_hearer_at.load(Ordering::SeqCst) == count;
        count >= 2 || (count == 1 && !is_one_press && !has_hearer)
    }

    fn add(&self, now_ms: u64) {
        if self.count.load(Ordering::SeqCst) == 0 {
            self.first_ms.store(now_ms, Ordering::SeqCst);
        }
        self.count.fetch_add(1, Ordering::SeqCst);
    }
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
        let wishes = Wishes {
            count: AtomicUsize::new(0),
            first_ms: AtomicU64::new(0),
            has_hearer_at: AtomicUsize::new(NO_HEARER),
        };
        Ok(Interrupt { wishes: Arc::new(wishes), deaf_to: 0, ends: Arc::new(Ends { reading, writing }) })
    }

    /// One that is raised by SIGINT, SIGQUIT, SIGTERM and SIGHUP for the rest of the life of this process. Those that
    /// this process was told to ignore (by nohup, or as a job in the background) stay ignored.
    pub fn on_signals() -> io::Result<Interrupt> {
        let interrupt = Interrupt::new()?;
        for signal in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] {
            if is_ignored(signal) {
                continue;
            }
            let wishes = Arc::clone(&interrupt.wishes);
            // A user who presses a key again wants the end at once; who sends the others may send them in pairs.
            let is_key = matches!(signal, SIGINT | SIGQUIT);
            // SAFETY: atomics and system calls, which a handler may do.
            unsafe { signal_hook::low_level::register(signal, move || heed(&wishes, signal, is_key)) }?;
            signal_hook::low_level::pipe::register(signal, interrupt.ends.writing.try_clone()?)?;
        }
        Ok(interrupt)
    }

    /// For work that must be done although the user asked to stop: raised by the wishes after those that there were, and
    /// after `others` at least.
    pub fn beyond(&self, others: usize) -> Interrupt {
        let deaf_to = self.wishes.count.load(Ordering::SeqCst).max(others);
        Interrupt { deaf_to, ..self.clone() }
    }

    /// Lets a Ctrl-C that raises this one end what listens to it, and not this program, while the result lives.
    pub fn expect(&self) -> Expecting<'_> {
        self.wishes.has_hearer_at.store(self.deaf_to, Ordering::SeqCst);
        Expecting(&self.wishes)
    }

    /// Asks for a stop, as a signal would.
    pub fn raise(&self) {
        self.wishes.add(now_ms());
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
        self.wishes.count.load(Ordering::SeqCst) > self.deaf_to
    }

    /// Becomes readable when the flag is raised. Whoever polls it may empty it, but must then ask the flag.
    pub(super) fn wake_descriptor(&self) -> RawFd {
        self.ends.reading.as_raw_fd()
    }
}

/// What [`Interrupt::expect`] gives.
pub struct Expecting<'a>(&'a Wishes);

impl Drop for Expecting<'_> {
    fn drop(&mut self) {
        self.0.has_hearer_at.store(NO_HEARER, Ordering::SeqCst);
    }
}

/// In the handler of a signal.
fn heed(wishes: &Wishes, signal: libc::c_int, is_key: bool) {
    if is_key && wishes.is_next_the_end(now_ms()) {
        terminal::restore_from_handler();
        scratch::remove_from_handler();
        // What could go wrong is an unknown signal.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    wishes.add(now_ms());
}

/// May be asked for in a handler.
fn now_ms() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the structure; this clock cannot fail on Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
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
    fn work_after_a_stop_hears_the_next_wish() {
        let interrupt = Interrupt::new().unwrap();
        let end_of_all = || interrupt.wishes.is_next_the_end(now_ms() + ONE_PRESS_MS);
        let cleanup = interrupt.beyond(1);
        assert!(!end_of_all());
        interrupt.raise();
        assert!(interrupt.is_raised() && !cleanup.is_raised() && !interrupt.beyond(0).is_raised());
        assert!(end_of_all());
        let expecting = cleanup.expect();
        assert!(!end_of_all());
        interrupt.raise();
        assert!(cleanup.is_raised() && end_of_all());
        drop(expecting);
        assert!(!interrupt.beyond(1).is_raised() && end_of_all());
    }

    #[test]
    fn a_key_pressed_twice_in_a_hurry_is_one_wish() {
        let wishes = Interrupt::new().unwrap().wishes;
        wishes.add(5000);
        assert!(!wishes.is_next_the_end(5000) && !wishes.is_next_the_end(5000 + ONE_PRESS_MS - 1));
        assert!(wishes.is_next_the_end(5000 + ONE_PRESS_MS));
        wishes.add(5100);
        assert!(wishes.is_next_the_end(5200));
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
