//! Calls with their errors and bytes, added up by name as somebody tells of them. It does not know who that is.

use std::collections::{BTreeMap, HashMap};

use super::super::spot;
use super::super::tracer::{self, Abi, Call, Table, Task};
use crate::model::{Missing, SyscallCount};

/// What the result of a call says about bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Moves {
    #[default]
    Nothing,
    /// The result is their number.
    Bytes,
    /// The result is the number of messages in the array of the second argument.
    Messages,
}

impl Moves {
    pub fn of(name: &str) -> Moves {
        match name {
            "read" | "pread64" | "readv" | "preadv" | "preadv2" | "recv" | "recvfrom" | "recvmsg" => {
                Moves::Bytes
            }
            "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2" | "send" | "sendto" | "sendmsg" => {
                Moves::Bytes
            }
            "sendfile" | "sendfile64" | "copy_file_range" | "splice" | "tee" | "vmsplice" => Moves::Bytes,
            "recvmmsg" | "recvmmsg_time64" | "sendmmsg" => Moves::Messages,
            _ => Moves::Nothing,
        }
    }

    /// How many bytes such a call has moved.
    pub fn bytes(self, task: Task, call: &Call, result: u64) -> u64 {
        match self {
            Moves::Nothing => 0,
            Moves::Bytes => result,
            Moves::Messages => message_bytes(task, call, result),
        }
    }
}

/// The kernel takes no more messages at once.
const MESSAGE_LIMIT: usize = 1024;

/// `struct mmsghdr`: a header, then how many bytes went through it.
fn message_bytes(task: Task, call: &Call, messages: u64) -> u64 {
    let (size, place) = if call.abi == Abi::Compat { (32, 28) } else { (64, 56) };
    let count = usize::try_from(messages).unwrap_or(0).min(MESSAGE_LIMIT);
    let array = tracer::bytes(task.thread, call.arguments[1], count * size).unwrap_or_default();
    let length = |message: &[u8]| message[place..place + 4].try_into().map_or(0, u32::from_ne_bytes);
    array.chunks_exact(size).map(|message| u64::from(length(message))).sum()
}

#[derive(Clone, Default)]
struct Counter {
    calls: u64,
    bytes: u64,
    /// By number; few calls know more than a handful of errors.
    errors: Vec<(i32, u64)>,
}

impl Counter {
    fn fail(&mut self, errno: i32) {
        match self.errors.iter_mut().find(|(known, _)| *known == errno) {
            Some((_, count)) => *count += 1,
            None => self.errors.push((errno, 1)),
        }
    }

    /// As if there had been so many times as many.
    fn count(&self, scale: f64) -> SyscallCount {
        let scaled = |count: u64| if scale == 1.0 { count } else { (count as f64 * scale).round() as u64 };
        let mut by_error = BTreeMap::new();
        for (errno, count) in &self.errors {
            by_error.insert(tracer::error_name(*errno), scaled(*count));
        }
        let errors = by_error.values().sum();
        let (calls, bytes) = (scaled(self.calls), scaled(self.bytes));
        SyscallCount { calls, errors, by_error, bytes, seconds: None, is_estimate: scale != 1.0 }
    }
}

/// Kinds of calls that make up this part of all are many.
const SHARE_OF_MANY: f64 = 0.01;

/// Calls of a number that no kernel knows are counted together from here on.
const DIFFERENT_CALLS: usize = 4096;

pub struct Counting {
    counters: HashMap<(Abi, usize), Counter>,
    moves: Table<Moves>,
    /// Of reading and writing that does not show as calls.
    is_ring: Table<bool>,
    has_ring: bool,
}

impl Counting {
    pub fn new() -> Counting {
        Counting {
            counters: HashMap::new(),
            moves: Table::by_name(Moves::of),
            is_ring: Table::by_name(|name| name == "io_uring_setup"),
            has_ring: false,
        }
    }

    pub fn entered(&mut self, call: &Call) {
        self.has_ring |= self.is_ring.of(call);
        self.counter(call).calls += 1;
    }

    pub fn failed(&mut self, call: &Call, errno: i32) {
        self.counter(call).fail(errno);
    }

    pub fn moves(&self, call: &Call) -> Moves {
        self.moves.of(call)
    }

    pub fn moved(&mut self, call: &Call, bytes: u64) {
        self.counter(call).bytes += bytes;
    }

    fn counter(&mut self, call: &Call) -> &mut Counter {
        let is_full = self.counters.len() >= DIFFERENT_CALLS;
        let key = (call.abi, call.number);
        let key = if is_full && !self.counters.contains_key(&key) { (call.abi, usize::MAX) } else { key };
        self.counters.entry(key).or_default()
    }

    /// When so many more were not seen. Those were of the kinds that make up most of the others: what a program does
    /// once, as at its start, is not done more often because there is more of something else.
    pub fn counts(&self, unseen: u64) -> BTreeMap<String, SyscallCount> {
        let fewest = (self.total() as f64 * SHARE_OF_MANY).max(1.0);
        let is_many = |counter: &Counter| counter.calls as f64 >= fewest;
        let many: u64 = self.counters.values().filter(|counter| is_many(counter)).map(|one| one.calls).sum();
        let scale = 1.0 + unseen as f64 / many.max(1) as f64;
        let named = |(key, counter): (&(Abi, usize), &Counter)| {
            (tracer::name(key.0, key.1), counter.count(if is_many(counter) { scale } else { 1.0 }))
        };
        self.counters.iter().map(named).collect()
    }

    pub fn total(&self) -> u64 {
        self.counters.values().map(|counter| counter.calls).sum()
    }

    /// Those that move bytes.
    pub fn transfers(&self) -> u64 {
        let call = |key: &(Abi, usize)| Call { abi: key.0, number: key.1, arguments: [0; 6] };
        let transfers = self.counters.iter().filter(|(key, _)| self.moves.of(&call(key)) == Moves::Bytes);
        transfers.map(|(_, counter)| counter.calls).sum()
    }

    pub fn blind_spot(&self) -> Option<Missing> {
        self.has_ring.then(unseen_ring)
    }
}

/// What no one sees who looks at calls.
pub fn unseen_ring() -> Missing {
    let why = "the kernel does them for the program without a system call for each";
    spot("reads and writes through io_uring", why, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_nobody_saw_are_of_the_kinds_that_were_many() {
        let mut counting = Counting::new();
        let call = |number: i64| Call::native(number.cast_unsigned());
        for _ in 0..9_000 {
            counting.entered(&call(libc::SYS_read));
            counting.moved(&call(libc::SYS_read), 2);
        }
        for _ in 0..1_000 {
            counting.entered(&call(libc::SYS_close));
            counting.failed(&call(libc::SYS_close), libc::EBADF);
        }
        counting.entered(&call(libc::SYS_execve));
        let counts = counting.counts(10_000);
        let (read, close, execve) = (&counts["read"], &counts["close"], &counts["execve"]);
        assert_eq!((read.calls, read.bytes, read.is_estimate), (18_000, 36_000, true));
        assert_eq!((close.calls, close.errors), (2_000, 2_000));
        assert_eq!((execve.calls, execve.is_estimate), (1, false));
        assert_eq!((counting.total(), counting.transfers()), (10_001, 9_000));
        assert!(!counting.counts(0)["read"].is_estimate);
    }
}
