//! Whether we were started without a standard output. Only the time before `main` knows: then the standard library opens
//! /dev/null in its place, where a result would be lost without a word.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

// SAFETY: the loader calls it once before `main`; it needs nothing of the standard library.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: a plain question.
    let is_open = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } != -1;
    IS_CLOSED.store(!is_open, Ordering::Relaxed);
}

pub fn is_closed() -> bool {
    IS_CLOSED.load(Ordering::Relaxed)
}
