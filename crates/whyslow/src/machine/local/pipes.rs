//! What a run reads and writes: standard input, and the two pipes that catch its output. The output is
//! counted or kept at its end, never stored whole, so that a flood costs no memory.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// How much of the end of standard error is kept.
pub const TAIL_BYTES: usize = 4096;

/// The largest pipe that an unprivileged user gets by default. A small pipe makes a talkative command wait
/// for its reader, and the wait would be measured.
const WISHED_PIPE_BYTES: libc::c_int = 1 << 20;

/// A pipe from a run to us. Both ends are closed on exec, the reading end never blocks.
pub struct Channel {
    pub reading: PipeReader,
    pub writing: PipeWriter,
}

impl Channel {
    pub fn open() -> io::Result<Channel> {
        let (reading, writing) = io::pipe()?;
        set_nonblocking(reading.as_raw_fd(), true)?;
        Ok(Channel { reading, writing })
    }

    /// Like [`Channel::open`], with room for much output where the system allows it.
    pub fn open_wide() -> io::Result<Channel> {
        let channel = Channel::open()?;
        // Not being allowed more than the usual 64 KiB is no error.
        // SAFETY: a plain fcntl on a descriptor that we own.
        unsafe { libc::fcntl(channel.writing.as_raw_fd(), libc::F_SETPIPE_SZ, WISHED_PIPE_BYTES) };
        Ok(channel)
    }
}

/// The last bytes of a stream.
pub struct Tail {
    kept: VecDeque<u8>,
    limit_bytes: usize,
}

impl Tail {
    pub fn new(limit_bytes: usize) -> Tail {
        Tail { kept: VecDeque::new(), limit_bytes }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        let new = &bytes[bytes.len().saturating_sub(self.limit_bytes)..];
        let excess = (self.kept.len() + new.len()).saturating_sub(self.limit_bytes);
        self.kept.drain(..excess);
        self.kept.extend(new);
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.kept.into()
    }
}

/// Opens a file for a run to read from its beginning.
pub fn open_input(path: &Path) -> io::Result<File> {
    // Opening a named pipe without a writer would hang before the run has begun, so it is opened without
    // waiting. The run must not inherit that, because few programs are ready for a read that fails for now.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    set_nonblocking(file.as_raw_fd(), false)?;
    Ok(file)
}

pub fn set_nonblocking(descriptor: libc::c_int, wanted: bool) -> io::Result<()> {
    // SAFETY: plain fcntl calls on a descriptor that the caller owns.
    let done = unsafe {
        let old = libc::fcntl(descriptor, libc::F_GETFL);
        let new = if wanted { old | libc::O_NONBLOCK } else { old & !libc::O_NONBLOCK };
        old >= 0 && libc::fcntl(descriptor, libc::F_SETFL, new) >= 0
    };
    if done { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn the_tail_is_the_end_whatever_the_pieces() {
        let text: Vec<u8> = (0..3 * TAIL_BYTES).map(|i| (i % 251) as u8).collect();
        for piece in [1, 7, 4095, 4096, 4097, 3 * TAIL_BYTES] {
            let mut tail = Tail::new(TAIL_BYTES);
            text.chunks(piece).for_each(|bytes| tail.push(bytes));
            assert_eq!(tail.into_bytes(), text[2 * TAIL_BYTES..], "pieces of {piece}");
        }
        let mut short = Tail::new(TAIL_BYTES);
        short.push(b"no such ");
        short.push(b"file");
        assert_eq!(short.into_bytes(), b"no such file");
    }

    #[test]
    fn reading_an_empty_pipe_does_not_wait_although_somebody_could_write() {
        let channel = Channel::open_wide().unwrap();
        let error = (&channel.reading).read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn a_named_pipe_as_input_does_not_hang() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("fifo");
        let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: a string that ends in NUL.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let mut text = String::new();
        open_input(&path).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "");
    }
}
