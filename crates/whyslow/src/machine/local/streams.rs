//! Where the output of a run goes, and what is learnt from it on the way: how much it was, a digest, its end. It is
//! never stored whole, so that a flood costs no memory.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use twox_hash::XxHash3_64;

use super::extract::LOOKED_AT_BYTES;
use super::pipes::{Channel, TAIL_BYTES, Tail, set_nonblocking};
use super::terminal::PseudoTerminal;
use crate::model::Output;

/// What is to be learnt of the standard output besides its length.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    pub digest: bool,
    pub text: bool,
}

/// Standard output and error of one run.
pub struct Streams {
    stdout: Stdout,
    /// `None` where standard error goes the same way as standard output.
    stderr: Option<Channel>,
}

enum Stdout {
    Pipe(Channel),
    Nothing,
    Ours,
    File(File),
    Terminal(PseudoTerminal),
}

/// Why there are no streams.
pub enum NoStreams {
    /// The file of the launch, or the terminal, cannot be had.
    Refused(io::Error),
    NoPipe(io::Error),
}

impl Streams {
    /// New ones for every run: what a descendant of an earlier run still writes must not reach this one.
    pub fn open(output: &Output) -> Result<Streams, NoStreams> {
        let stdout = match output {
            Output::Pipe => Stdout::Pipe(Channel::open_wide().map_err(NoStreams::NoPipe)?),
            Output::Null => Stdout::Nothing,
            Output::Inherit => Stdout::Ours,
            Output::File(path) => Stdout::File(open_emptied(path).map_err(NoStreams::Refused)?),
            Output::Terminal => Stdout::Terminal(PseudoTerminal::open().map_err(NoStreams::Refused)?),
        };
        let is_joined = matches!(stdout, Stdout::Ours | Stdout::Terminal(_));
        let stderr = if is_joined { None } else { Some(Channel::open().map_err(NoStreams::NoPipe)?) };
        Ok(Streams { stdout, stderr })
    }

    /// The run's ends of standard output and error; `nothing` is an open /dev/null.
    pub fn ends(&self, nothing: RawFd) -> [RawFd; 2] {
        let stdout = match &self.stdout {
            Stdout::Pipe(channel) => channel.writing.as_raw_fd(),
            Stdout::Nothing => nothing,
            Stdout::Ours => libc::STDOUT_FILENO,
            Stdout::File(file) => file.as_raw_fd(),
            Stdout::Terminal(terminal) => terminal.inner(),
        };
        let joined = if self.is_ours() { libc::STDERR_FILENO } else { stdout };
        [stdout, self.stderr.as_ref().map_or(joined, |channel| channel.writing.as_raw_fd())]
    }

    /// Our ends, where there is something to read.
    pub fn readers(&self) -> [Option<RawFd>; 2] {
        let stdout = match &self.stdout {
            Stdout::Pipe(channel) => Some(channel.reading.as_raw_fd()),
            Stdout::Terminal(terminal) => Some(terminal.outer()),
            Stdout::Nothing | Stdout::Ours | Stdout::File(_) => None,
        };
        [stdout, self.stderr.as_ref().map(|channel| channel.reading.as_raw_fd())]
    }

    /// The terminal as a standard input, for a run that was given no other.
    pub fn terminal(&self) -> Option<RawFd> {
        match &self.stdout {
            Stdout::Terminal(terminal) => Some(terminal.inner()),
            _ => None,
        }
    }

    pub fn is_ours(&self) -> bool {
        matches!(self.stdout, Stdout::Ours)
    }

    /// What could not be read while it ran, and whether all of it is known now.
    pub fn finish(mut self, seen: &mut Collector) {
        match &mut self.stdout {
            Stdout::Pipe(_) => {}
            Stdout::Terminal(terminal) => terminal.read_rest(|bytes| seen.push(bytes)),
            Stdout::File(file) => seen.read_file(file),
            Stdout::Nothing | Stdout::Ours => seen.forget(),
        }
    }
}

/// Without waiting for a reader, should it be a named pipe; the run itself may wait.
fn open_emptied(path: &Path) -> io::Result<File> {
    // Reading is for afterwards, and not everything that can be written can be read.
    let open = |readable| {
        let mut options = OpenOptions::new();
        options.read(readable).write(true).create(true).truncate(true);
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
    };
    let is_plain = path.metadata().map_or(true, |kind| kind.is_file());
    let file = if is_plain { open(true).or_else(|_| open(false)) } else { open(false) }?;
    set_nonblocking(file.as_raw_fd(), false)?;
    Ok(file)
}

/// What is learnt from the standard output.
pub struct Collector {
    bytes: Option<u64>,
    digest: Option<XxHash3_64>,
    text: Option<Tail>,
    /// What a terminal shows is also what went wrong.
    tail: Tail,
}

/// The same, at the end.
pub struct Learnt {
    pub bytes: Option<u64>,
    pub digest: Option<u64>,
    pub text: Option<Vec<u8>>,
    pub tail: Vec<u8>,
}

impl Collector {
    pub fn new(wanted: Wanted) -> Collector {
        Collector {
            bytes: Some(0),
            digest: wanted.digest.then(XxHash3_64::new),
            text: wanted.text.then(|| Tail::new(LOOKED_AT_BYTES)),
            tail: Tail::new(TAIL_BYTES),
        }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes = self.bytes.map(|sum| sum + bytes.len() as u64);
        if let Some(digest) = &mut self.digest {
            std::hash::Hasher::write(digest, bytes);
        }
        if let Some(text) = &mut self.text {
            text.push(bytes);
        }
        self.tail.push(bytes);
    }

    pub fn learnt(self) -> Learnt {
        Learnt {
            bytes: self.bytes,
            digest: self.digest.as_ref().map(std::hash::Hasher::finish),
            text: self.text.map(Tail::into_bytes),
            tail: self.tail.into_bytes(),
        }
    }

    fn forget(&mut self) {
        (self.bytes, self.digest, self.text) = (None, None, None);
    }

    /// The length is asked for and not read; the content only if it is wanted. What cannot be read is unknown.
    fn read_file(&mut self, file: &mut File) {
        let Some(length) = file.metadata().ok().filter(|kind| kind.is_file()).map(|kind| kind.len()) else {
            return self.forget();
        };
        let is_wanted = self.digest.is_some() || self.text.is_some();
        if is_wanted && self.read_all(file).is_err() {
            self.forget();
        }
        self.bytes = Some(length);
    }

    fn read_all(&mut self, file: &mut File) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 20];
        file.rewind()?;
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(()),
                count => self.push(&buffer[..count]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_does_not_depend_on_the_pieces_nor_on_the_version() {
        let text: Vec<u8> = (0..100_000u32).map(|index| (index % 251) as u8).collect();
        let digest = |pieces: usize| {
            let mut collector = Collector::new(Wanted { digest: true, text: true });
            text.chunks(pieces).for_each(|piece| collector.push(piece));
            let learnt = collector.learnt();
            assert_eq!((learnt.bytes, learnt.text.unwrap().len()), (Some(100_000), 100_000));
            learnt.digest.unwrap()
        };
        assert_eq!(digest(7), digest(100_000));
        // The published value of XXH3 for no bytes at all.
        let nothing = Collector::new(Wanted { digest: true, text: false }).learnt();
        assert_eq!(nothing.digest, Some(0x2d06_8005_38d3_94c2));
    }

    #[test]
    fn a_named_pipe_without_reader_is_refused_and_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("fifo");
        let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: a string that ends in NUL.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        assert_eq!(open_emptied(&path).unwrap_err().raw_os_error(), Some(libc::ENXIO));
    }
}
