//! What the caller does while a command runs: read its pipes and notice interrupts.

use std::os::fd::RawFd;

/// How long a cancelled command may take to obey SIGTERM before it is killed.
pub const CANCEL_GRACE_NS: u64 = 500_000_000;

/// What to look after during [`Launcher::run`](crate::Launcher::run).
pub struct Watch<'a> {
    pub readers: &'a mut [Reader<'a>],
    /// Whether the command shall be cancelled. Asked before the start, whenever `wake` is readable
    /// and after every interrupted wait; without `wake` also every tenth of a second.
    pub interrupted: &'a dyn Fn() -> bool,
    /// The read end of the pipe (or the eventfd) that a signal handler writes to. What is read from
    /// it is discarded: the truth is in `interrupted`.
    pub wake: Option<RawFd>,
}

impl Watch<'_> {
    /// For commands that write to nowhere or to files, and a caller who never loses patience.
    pub fn nothing() -> Self {
        Watch { readers: &mut [], interrupted: &|| false, wake: None }
    }
}

/// A pipe to be read while the command runs, and who gets what it says.
///
/// What is in the pipe when the command has ended is read too. If a descendant that still lives
/// goes on writing, that stays unread.
pub struct Reader<'a> {
    pub fd: RawFd,
    pub sink: &'a mut dyn FnMut(&[u8]),
}

impl<'a> Reader<'a> {
    pub fn new(fd: RawFd, sink: &'a mut dyn FnMut(&[u8])) -> Self {
        Self { fd, sink }
    }
}
