//! The probe of system calls: counts every call of the whole tree with its errors and bytes, by the tracer. It says
//! nothing about time, since a traced call takes many times as long.

use std::collections::{BTreeMap, HashMap};

use super::Looker;
use super::tracer::{self, Abi, Call, Observer, Table, Task, Traced};
use crate::model::{Missing, Probe, Probed, SyscallCount, Syscalls, Trace};

pub fn can() -> Result<(), Missing> {
    tracer::can(Probe::Syscalls)
}

pub fn look(looker: &Looker<'_>) -> Result<Probed, Missing> {
    let traced = tracer::trace(looker, Probe::Syscalls, Counting::new())?;
    let mut blind_spots = traced.blindness.spots();
    blind_spots.extend(traced.observer.blind_spot());
    Ok(Probed {
        exit: traced.end.exit.clone(),
        wall_s: traced.end.wall_s,
        cpu_s: Some(traced.end.cpu_s),
        blind_spots,
        trace: Trace::Syscalls(syscalls(&traced)),
    })
}

fn syscalls(traced: &Traced<Counting>) -> Syscalls {
    Syscalls {
        calls: traced.observer.counts(),
        processes: traced.tree.processes,
        threads: traced.tree.threads,
        programs: traced.tree.programs(),
        starts: traced.tree.starts,
    }
}

/// What the result of a call says about bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Moves {
    #[default]
    Nothing,
    /// The result is their number.
    Bytes,
    /// The result is the number of messages in the array of the second argument.
    Messages,
}

impl Moves {
    pub(super) fn of(name: &str) -> Moves {
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
    pub(super) fn bytes(self, task: Task, call: &Call, result: u64) -> u64 {
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

    fn count(&self) -> SyscallCount {
        let mut by_error = BTreeMap::new();
        for (errno, count) in &self.errors {
            by_error.insert(tracer::error_name(*errno), *count);
        }
        let errors = by_error.values().sum();
        SyscallCount { calls: self.calls, errors, by_error, bytes: self.bytes, seconds: None }
    }
}

/// Calls of a number that no kernel knows are counted together from here on.
const DIFFERENT_CALLS: usize = 4096;

struct Counting {
    counters: HashMap<(Abi, usize), Counter>,
    moves: Table<Moves>,
    /// Of reading and writing that does not show as calls.
    is_ring: Table<bool>,
    has_ring: bool,
}

impl Counting {
    fn new() -> Counting {
        Counting {
            counters: HashMap::new(),
            moves: Table::by_name(Moves::of),
            is_ring: Table::by_name(|name| name == "io_uring_setup"),
            has_ring: false,
        }
    }

    fn counter(&mut self, call: &Call) -> &mut Counter {
        let is_full = self.counters.len() >= DIFFERENT_CALLS;
        let key = (call.abi, call.number);
        let key = if is_full && !self.counters.contains_key(&key) { (call.abi, usize::MAX) } else { key };
        self.counters.entry(key).or_default()
    }

    fn counts(&self) -> BTreeMap<String, SyscallCount> {
        let named = |(key, counter): (&(Abi, usize), &Counter)| (tracer::name(key.0, key.1), counter.count());
        self.counters.iter().map(named).collect()
    }

    fn blind_spot(&self) -> Option<Missing> {
        self.has_ring.then(|| Missing {
            what: "reads and writes through io_uring".to_owned(),
            why: "the kernel does them for the program without a system call for each".to_owned(),
            remedy: None,
        })
    }
}

impl Observer for Counting {
    fn entered(&mut self, _task: Task, call: &Call) {
        self.has_ring |= self.is_ring.of(call);
        self.counter(call).calls += 1;
    }

    fn left(&mut self, task: Task, call: &Call, result: Result<u64, i32>) {
        match result {
            Ok(result) => {
                let moves = self.moves.of(call);
                if moves != Moves::Nothing {
                    self.counter(call).bytes += moves.bytes(task, call, result);
                }
            }
            Err(errno) => self.counter(call).fail(errno),
        }
    }
}
