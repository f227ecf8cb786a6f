//! A command to run, and its form on the wire.

use crate::LauncherError;
use crate::wire::{self, Order, Words};
use std::ffi::{CStr, CString};
use std::os::fd::RawFd;

/// What to execute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A path, not searched in `PATH`. A relative one counts from the command's directory.
    Path(CString),
    /// An open executable of the caller. Not a script.
    Descriptor(RawFd),
}

/// A command to run. Descriptors are the caller's and stay open and the caller's.
#[derive(Clone, Debug)]
pub struct Request {
    pub program: Program,
    /// The arguments from `argv[0]`, the name by which the program is to know itself.
    pub argv: Vec<CString>,
    /// The whole environment, as `NAME=value`.
    pub env: Vec<CString>,
    pub cwd: Option<CString>,
    pub stdin: RawFd,
    pub stdout: RawFd,
    pub stderr: RawFd,
    /// After this time (from the start) the process group is killed.
    pub timeout_ns: Option<u64>,
    /// The processors that may be used: bit n of the row of words is processor n.
    pub affinity: Option<Vec<u64>>,
    /// Standard output is a terminal that nobody else uses: the command gets a session of its own with this as
    /// controlling terminal.
    pub is_terminal: bool,
    /// In such a session, give the scheduler's group of it the highest weight. (All other commands are in the group
    /// of the launcher.)
    pub raise_autogroup: bool,
    /// How long to wait, after the end of the command, for descendants that outlive it.
    pub wait_for_descendants_ns: u64,
}

impl Request {
    /// Empty environment, the caller's directory and standard descriptors, no limits.
    pub fn new(program: Program, argv: Vec<CString>) -> Self {
        Self {
            program,
            argv,
            env: Vec::new(),
            cwd: None,
            stdin: 0,
            stdout: 1,
            stderr: 2,
            timeout_ns: None,
            affinity: None,
            is_terminal: false,
            raise_autogroup: false,
            wait_for_descendants_ns: 0,
        }
    }

    pub(crate) fn encode(&self) -> Result<Encoded, LauncherError> {
        let affinity = self.affinity.as_deref().unwrap_or_default();
        let mut body = Body::with_words(self.argv.len() + 1 + self.env.len() + 1 + affinity.len());
        body.list(&self.argv);
        body.list(&self.env);
        affinity.iter().for_each(|word| body.word(*word));
        let mut order = Order::zero();
        order.magic = wire::MAGIC;
        order.kind = wire::RUN;
        order.argument_count = self.argv.len() as u64;
        order.environment_count = self.env.len() as u64;
        order.affinity_words = affinity.len() as u64;
        order.timeout_ns = self.timeout_ns.unwrap_or(wire::NONE);
        order.descendants_ns = self.wait_for_descendants_ns;
        order.flags = if self.is_terminal { wire::TERMINAL } else { 0 };
        if self.is_terminal && self.raise_autogroup {
            order.flags |= wire::AUTOGROUP;
        }
        let mut descriptors = vec![self.stdin, self.stdout, self.stderr];
        match &self.program {
            Program::Path(path) => order.program = body.string(path),
            Program::Descriptor(descriptor) => descriptors.push(*descriptor),
        }
        order.directory = self.cwd.as_deref().map_or(0, |directory| body.string(directory));
        let body = body.finish()?;
        order.body_bytes = body.len() as u64;
        Ok(Encoded { order, body, descriptors })
    }
}

/// A request as it is sent.
pub(crate) struct Encoded {
    pub order: Order,
    pub body: Vec<u8>,
    pub descriptors: Vec<RawFd>,
}

/// A row of words, then the strings; see [`Order`].
struct Body {
    words: Vec<u64>,
    strings: Vec<u8>,
    first_string: u64,
}

impl Body {
    fn with_words(count: usize) -> Self {
        Self { words: Vec::with_capacity(count), strings: Vec::new(), first_string: count as u64 * 8 }
    }

    fn word(&mut self, word: u64) {
        self.words.push(word);
    }

    fn list(&mut self, strings: &[CString]) {
        for string in strings {
            let offset = self.string(string);
            self.word(offset);
        }
        self.word(0);
    }

    /// The offset at which the string will be.
    fn string(&mut self, string: &CStr) -> u64 {
        let offset = self.first_string + self.strings.len() as u64;
        self.strings.extend_from_slice(string.to_bytes_with_nul());
        offset
    }

    fn finish(mut self) -> Result<Vec<u8>, LauncherError> {
        // The last byte of a body is zero, even of one without strings.
        self.strings.push(0);
        let bytes = self.first_string + self.strings.len() as u64;
        if bytes > wire::BODY_LIMIT_BYTES {
            return Err(LauncherError::RequestTooLarge { bytes, limit_bytes: wire::BODY_LIMIT_BYTES });
        }
        let mut body: Vec<u8> = self.words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        body.append(&mut self.strings);
        Ok(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(body: &[u8], index: usize) -> usize {
        u64::from_ne_bytes(body[index * 8..][..8].try_into().unwrap()) as usize
    }

    fn string(body: &[u8], offset: usize) -> &CStr {
        CStr::from_bytes_until_nul(&body[offset..]).unwrap()
    }

    #[test]
    fn offsets_point_at_the_strings() {
        let mut request = Request::new(Program::Path(c"/bin/echo".into()), vec![c"echo".into(), c"".into()]);
        request.env = vec![c"A=1".into()];
        request.affinity = Some(vec![5]);
        let Encoded { order, body, descriptors } = request.encode().unwrap();
        assert_eq!(string(&body, word(&body, 0)), c"echo");
        assert_eq!(string(&body, word(&body, 1)), c"");
        assert_eq!(word(&body, 2), 0);
        assert_eq!(string(&body, word(&body, 3)), c"A=1");
        assert_eq!([word(&body, 4), word(&body, 5)], [0, 5]);
        assert_eq!(string(&body, order.program as usize), c"/bin/echo");
        assert_eq!(order.directory, 0);
        assert_eq!(descriptors, [0, 1, 2]);
        assert_eq!(body.last(), Some(&0));
    }

    #[test]
    fn a_descriptor_travels_as_the_fourth() {
        let encoded = Request::new(Program::Descriptor(9), Vec::new()).encode().unwrap();
        assert_eq!((encoded.order.program, encoded.descriptors), (0, vec![0, 1, 2, 9]));
    }

    #[test]
    fn a_body_beyond_all_reason_is_refused() {
        let argument = CString::new(vec![b'x'; wire::BODY_LIMIT_BYTES as usize]).unwrap();
        let request = Request::new(Program::Path(c"/bin/true".into()), vec![argument]);
        assert!(matches!(request.encode(), Err(LauncherError::RequestTooLarge { .. })));
    }
}
