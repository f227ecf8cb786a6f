//! Terminals: one of its own for a run that wants to see one, and ours, whose modes must be after a run what they were
//! before it.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, Instant};

/// What a run sees as the size of its terminal.
const SIZE: libc::winsize = libc::winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };

/// A pseudo-terminal: what a program writes to `inner` is read from `outer`.
pub struct PseudoTerminal {
    outer: File,
    inner: Option<File>,
}

impl PseudoTerminal {
    pub fn open() -> io::Result<PseudoTerminal> {
        let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC | libc::O_NONBLOCK;
        // SAFETY: no memory is involved.
        let outer = owned(unsafe { libc::posix_openpt(flags) })?;
        let unlocked: libc::c_int = 0;
        // SAFETY: the calls read an int and a winsize.
        unsafe {
            check(libc::ioctl(outer.as_raw_fd(), libc::TIOCSPTLCK, &unlocked))?;
            check(libc::ioctl(outer.as_raw_fd(), libc::TIOCSWINSZ, &SIZE))?;
        }
        // By this call and not by name: there may be no /dev/pts here, or another one.
        let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
        // SAFETY: no memory is involved.
        let inner = owned(unsafe { libc::ioctl(outer.as_raw_fd(), libc::TIOCGPTPEER, flags) })?;
        Ok(PseudoTerminal { outer, inner: Some(inner) })
    }

    pub fn outer(&self) -> RawFd {
        self.outer.as_raw_fd()
    }

    /// For the run; -1 after [`PseudoTerminal::read_rest`].
    pub fn inner(&self) -> RawFd {
        self.inner.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// After the run: what is still on its way. The kernel hands it over with a delay, and says that it was all only
    /// when nobody has the other end any more. A descendant that writes on is not waited for.
    pub fn read_rest(&mut self, mut sink: impl FnMut(&[u8])) {
        const PATIENCE: Duration = Duration::from_secs(1);
        const SILENCE_MS: libc::c_int = 100;
        self.inner = None;
        let begin = Instant::now();
        let mut buffer = [0; 65536];
        while begin.elapsed() < PATIENCE {
            let mut polled = libc::pollfd { fd: self.outer(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one valid entry, and the buffer is as long as stated.
            let count = unsafe {
                if libc::poll(&mut polled, 1, SILENCE_MS) == 0 {
                    return;
                }
                libc::read(self.outer(), buffer.as_mut_ptr().cast(), buffer.len())
            };
            match count {
                1.. => sink(&buffer[..count as usize]),
                0 => return,
                _ if is_passing(&io::Error::last_os_error()) => {}
                _ => return,
            }
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}

fn owned(descriptor: libc::c_int) -> io::Result<File> {
    check(descriptor)?;
    // SAFETY: a fresh descriptor that nobody else owns.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The modes of our own terminal. They are put back when this is dropped, also by a panic, and by
/// [`restore_from_handler`].
pub struct TerminalGuard {
    saved: *mut Saved,
}

struct Saved {
    terminal: RawFd,
    modes: libc::termios,
}

/// What a signal handler finds. Never freed while it can be found; see `TerminalGuard::drop`.
static SAVED: AtomicPtr<Saved> = AtomicPtr::new(std::ptr::null_mut());

/// One guard at a time.
static GUARDED: Mutex<bool> = Mutex::new(false);

impl TerminalGuard {
    /// `None` if we have no terminal, or somebody guards it already.
    pub fn new() -> Option<TerminalGuard> {
        let mut guarded = GUARDED.lock().ok()?;
        let saved = (0..3).find_map(|terminal| Some(Saved { terminal, modes: modes(terminal)? }))?;
        if std::mem::replace(&mut guarded, true) {
            return None;
        }
        let saved = Box::into_raw(Box::new(saved));
        SAVED.store(saved, Ordering::SeqCst);
        Some(TerminalGuard { saved })
    }

    pub fn restore(&self) {
        // SAFETY: allocated by `new`, and never freed.
        restore(unsafe { &*self.saved });
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        self.restore();
        // A handler of another thread may just be reading it, so the few bytes are never given back.
        SAVED.store(std::ptr::null_mut(), Ordering::SeqCst);
        if let Ok(mut guarded) = GUARDED.lock() {
            *guarded = false;
        }
    }
}

/// For the handler of the signal that ends this program. Only calls what a handler may.
pub fn restore_from_handler() {
    let saved = SAVED.load(Ordering::SeqCst);
    // SAFETY: null, or allocated by `TerminalGuard::new` and never freed.
    if let Some(saved) = unsafe { saved.as_ref() } {
        restore(saved);
    }
}

fn restore(saved: &Saved) {
    // From the background the call would stop us, and the modes are somebody else's there.
    // SAFETY: no memory is involved.
    let is_ours = unsafe { libc::tcgetpgrp(saved.terminal) == libc::getpgrp() };
    if is_ours && modes(saved.terminal).is_some_and(|now| !are_equal(&now, &saved.modes)) {
        // SAFETY: the call reads the structure.
        unsafe { libc::tcsetattr(saved.terminal, libc::TCSANOW, &saved.modes) };
    }
}

fn modes(terminal: RawFd) -> Option<libc::termios> {
    let mut modes = MaybeUninit::<libc::termios>::zeroed();
    // SAFETY: the call fills the structure, for which zeroes are valid too.
    let result = unsafe { libc::tcgetattr(terminal, modes.as_mut_ptr()) };
    // SAFETY: as above.
    (result == 0).then(|| unsafe { modes.assume_init() })
}

fn are_equal(one: &libc::termios, other: &libc::termios) -> bool {
    let flags = |modes: &libc::termios| (modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag);
    flags(one) == flags(other) && one.c_cc == other.c_cc
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let mut terminal = PseudoTerminal::open().unwrap();
        terminal.inner.as_ref().unwrap().write_all(b"line\n").unwrap();
        let mut text = Vec::new();
        terminal.read_rest(|bytes| text.extend_from_slice(bytes));
        assert_eq!(text, b"line\r\n", "as a terminal gets it");
        assert_eq!(terminal.inner(), -1);
    }

    #[test]
    fn modes_are_put_back() {
        let terminal = PseudoTerminal::open().unwrap();
        let before = modes(terminal.inner()).unwrap();
        let mut changed = before;
        changed.c_lflag &= !(libc::ECHO | libc::ICANON);
        assert!(!are_equal(&before, &changed) && are_equal(&before, &before));
        assert!(modes(File::open("/dev/null").unwrap().as_raw_fd()).is_none());
    }
}
