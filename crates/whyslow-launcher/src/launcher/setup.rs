//! What the program does once, so that every command starts from the same clean state whatever
//! whyslow had blocked, ignored or left open.

use crate::kernel::{self, Errno, SIGCHLD};

/// The descriptors that this process has for itself, besides the control socket.
pub struct Own {
    /// Readable when a child has ended.
    pub signals: i32,
    pub placeholder: i32,
}

pub fn become_launcher(control: i32) -> Result<Own, Errno> {
    // All signals stay blocked: nothing but SIGKILL ends this process while a command depends on
    // it.
    kernel::block_signals(u64::MAX);
    reset_dispositions();
    kernel::close_on_exec(control)?;
    kernel::close_from(control + 1);
    let placeholder = placeholder()?;
    occupy_standard_descriptors(placeholder);
    // Without a controlling terminal, Ctrl-C reaches whyslow only, which then decides.
    kernel::own_session()?;
    kernel::adopt_orphans();
    kernel::name_process(b"whyslow-launch\0");
    // Signal and not pidfd: it works on every kernel and in every sandbox, and needs no fallback.
    let signals = kernel::signal_descriptor(1 << (SIGCHLD - 1))?;
    Ok(Own { signals, placeholder })
}

/// An ignored signal would stay ignored in every command (Rust programs ignore SIGPIPE).
fn reset_dispositions() {
    for signal in 1..=64 {
        // SIGCHLD without SA_NOCLDSTOP: a child that is stopped is to be noticed.
        kernel::default_disposition(signal);
    }
}

/// A placeholder that is not itself one of the standard descriptors, should those have been closed.
fn placeholder() -> Result<i32, Errno> {
    loop {
        let descriptor = kernel::placeholder()?;
        if descriptor > 2 {
            return Ok(descriptor);
        }
    }
}

/// A descriptor received for a command then never has one of the numbers that it will be copied to.
/// To be repeated after every start: the child has its own there, in the table of descriptors that
/// both share.
pub fn occupy_standard_descriptors(placeholder: i32) {
    for standard in 0..3 {
        let _ = kernel::duplicate(placeholder, standard, true);
    }
}
