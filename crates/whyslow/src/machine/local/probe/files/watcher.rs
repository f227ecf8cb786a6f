//! Watches the calls of a tree of processes that are about files and books them by path. Paths are read when a call ends,
//! but for those that the call itself changes.

use std::collections::HashMap;

use super::super::spot;
use super::super::syscalls::{Moves, unseen_ring};
use super::super::tracer::{self, Call, Observer, Table, Task};
use super::calls::{FileCall, Flags, PathAt};
use super::descriptors::Descriptors;
use super::ledger::{Ledger, Name};
use super::names;
use crate::model::{FileUse, Missing};

const CLOSE_RANGE_UNSHARE: u64 = 2;
const CLOSE_RANGE_CLOEXEC: u64 = 4;

pub struct Watcher {
    kinds: Table<FileCall>,
    moves: Table<Moves>,
    ledger: Ledger,
    descriptors: Descriptors,
    /// By thread: the program that it is about to start.
    starting: HashMap<libc::pid_t, Name>,
    /// By thread: whether the file that it is about to open, and to create if need be, is there.
    creating: HashMap<libc::pid_t, bool>,
    has_ring: bool,
}

impl Watcher {
    pub fn new() -> Watcher {
        Watcher {
            kinds: Table::by_name(FileCall::of),
            moves: Table::by_name(Moves::of),
            ledger: Ledger::default(),
            descriptors: Descriptors::default(),
            starting: HashMap::new(),
            creating: HashMap::new(),
            has_ring: false,
        }
    }

    pub fn into_ledger(self) -> Ledger {
        self.ledger
    }

    pub fn blind_spots(&self) -> Vec<Missing> {
        let ring = self.has_ring.then(unseen_ring);
        let cut = self.ledger.is_cut.then(|| {
            spot("files that are used little", "there are so many that some are in the totals only", None)
        });
        ring.into_iter().chain(cut).collect()
    }

    /// The path of a call, from the root; `None` if it has none and stands for its descriptor.
    fn path(&mut self, task: Task, call: &Call, at: PathAt) -> Option<Name> {
        let path = match tracer::string(task.thread, call.arguments[at.path]) {
            Some(path) if path.is_empty() => return None,
            Some(path) => path,
            None if call.arguments[at.path] == 0 => return None,
            None => return Some(names::unknown()),
        };
        if path.starts_with(b"/") {
            return Some(path.into());
        }
        let directory = at.directory.map(|place| call.descriptor(place)).filter(|fd| *fd != libc::AT_FDCWD);
        let directory = match directory {
            Some(descriptor) => self.descriptor(task, descriptor),
            None => self.directory(task),
        };
        Some(names::joined(&directory, &path))
    }

    fn directory(&mut self, task: Task) -> Name {
        if let Some(known) = self.descriptors.directory(task.process) {
            return known;
        }
        let Some(directory) = names::directory(task.thread) else { return names::unknown() };
        self.descriptors.set_directory(task.process, Some(directory.clone()));
        directory
    }

    fn descriptor(&mut self, task: Task, descriptor: i32) -> Name {
        if let Some(known) = self.descriptors.get(task.process, descriptor) {
            return known;
        }
        let name = names::of_descriptor(task.thread, descriptor);
        self.descriptors.set(task.process, descriptor, name.clone());
        name
    }

    /// Before it is created, if it is.
    fn about_to_open(&mut self, task: Task, call: &Call, at: PathAt, flags: Flags) {
        let flags = open_flags(task, call, flags);
        if flags & libc::O_CREAT as u64 == 0 {
            return;
        }
        let Some(path) = tracer::string(task.thread, call.arguments[at.path]) else { return };
        let directory = at.directory.map(|place| call.descriptor(place));
        self.creating.insert(task.thread, names::exists(task.thread, directory, &path));
    }

    fn opened(&mut self, task: Task, call: &Call, at: PathAt, flags: Flags, result: Result<u64, i32>) {
        let flags = open_flags(task, call, flags);
        let is_unnamed = flags & libc::O_TMPFILE as u64 == libc::O_TMPFILE as u64;
        let is_new = self.creating.remove(&task.thread) == Some(false) || is_unnamed;
        let mut name = self.path(task, call, at).unwrap_or_else(names::unknown);
        if is_unnamed {
            // What was given is the directory.
            name = [&name[..], UNNAMED].concat().into();
        }
        match result {
            Ok(descriptor) => {
                let is_direct = flags & libc::O_DIRECT as u64 != 0;
                self.ledger.note(&name, |row| {
                    row.opened += 1;
                    row.created += u64::from(is_new);
                    row.direct += u64::from(is_direct);
                });
                self.descriptors.set(task.process, descriptor as i32, name);
            }
            Err(errno) if names::is_missing(errno) => self.ledger.note(&name, |row| row.missed += 1),
            Err(_) => {}
        }
    }

    fn stated(&mut self, task: Task, call: &Call, at: PathAt, result: Result<u64, i32>) {
        let Some(name) = self.path(task, call, at) else { return };
        let is_missed = result.is_err_and(names::is_missing);
        self.ledger.note(&name, |row| {
            row.stated += 1;
            row.stat_missed += u64::from(is_missed);
        });
    }

    fn removed(&mut self, task: Task, call: &Call, at: PathAt) {
        if let Some(name) = self.path(task, call, at) {
            self.ledger.note(&name, |row| row.removed += 1);
        }
    }

    /// A read or write of the descriptor at that place of the arguments.
    fn moved(
        &mut self,
        task: Task,
        call: &Call,
        place: usize,
        result: Result<u64, i32>,
        book: impl Fn(&mut FileUse, u64),
    ) {
        if result == Err(libc::EBADF) {
            return;
        }
        let bytes = result.map_or(0, |result| self.moves.of(call).bytes(task, call, result));
        let name = self.descriptor(task, call.descriptor(place));
        self.ledger.note(&name, |row| book(row, bytes));
    }

    fn synced(&mut self, name: &Name) {
        self.ledger.note(name, |row| row.synced += 1);
    }

    fn closed_range(&mut self, task: Task, call: &Call) {
        let [first, last, flags, ..] = call.arguments;
        if flags & CLOSE_RANGE_UNSHARE != 0 {
            self.descriptors.unshare(task.process);
        }
        if flags & CLOSE_RANGE_CLOEXEC == 0 {
            let closed = first as u32..=last as u32;
            self.descriptors.retain(task.process, |descriptor| !closed.contains(&(descriptor as u32)));
        }
    }

    /// `new` is another name of `old`.
    fn duplicated(&mut self, task: Task, old: i32, new: u64) {
        let name = self.descriptor(task, old);
        self.descriptors.set(task.process, new as i32, name);
    }
}

impl Observer for Watcher {
    fn began(&mut self, task: Task, parent: Option<libc::pid_t>, shares_files: bool) {
        if task.thread == task.process {
            self.descriptors.process_began(task.process, parent, shares_files);
        }
    }

    fn entered(&mut self, task: Task, call: &Call) {
        match self.kinds.of(call) {
            FileCall::Open(at, flags) => self.about_to_open(task, call, at, flags),
            FileCall::Exec(at) => {
                if let Some(name) = self.path(task, call, at) {
                    self.starting.insert(task.thread, name);
                }
            }
            // When these end, the number may be somebody else's already.
            FileCall::Close => self.descriptors.forget(task.process, call.descriptor(0)),
            FileCall::DuplicateTo => self.descriptors.forget(task.process, call.descriptor(1)),
            FileCall::CloseRange => self.closed_range(task, call),
            FileCall::Ring => self.has_ring = true,
            _ => {}
        }
    }

    fn left(&mut self, task: Task, call: &Call, result: Result<u64, i32>) {
        match (self.kinds.of(call), result) {
            (FileCall::Open(at, flags), _) => self.opened(task, call, at, flags, result),
            (FileCall::Stat(at), _) => self.stated(task, call, at, result),
            (FileCall::Exec(_), _) => {
                let name = self.starting.remove(&task.thread);
                if let Some(name) = name.filter(|_| result.is_err_and(names::is_missing)) {
                    self.ledger.note(&name, |row| row.exec_missed += 1);
                }
            }
            (FileCall::Remove(at), Ok(_)) => self.removed(task, call, at),
            (FileCall::Read(place), _) => self.moved(task, call, place, result, read),
            (FileCall::Write(place), _) => self.moved(task, call, place, result, written),
            (FileCall::Move(from, to), _) => {
                self.moved(task, call, from, result, read);
                self.moved(task, call, to, result, written);
            }
            (FileCall::Sync, Ok(_)) => {
                let name = self.descriptor(task, call.descriptor(0));
                self.synced(&name);
            }
            (FileCall::SyncMemory, Ok(_)) => {
                self.synced(&names::of_mapping(task.thread, call.arguments[0]));
            }
            (FileCall::SyncAll, Ok(_)) => self.synced(&b"every file"[..].into()),
            (FileCall::Duplicate, Ok(new)) => self.duplicated(task, call.descriptor(0), new),
            (FileCall::DuplicateTo, Ok(new)) => self.duplicated(task, call.descriptor(0), new),
            (FileCall::Control, Ok(new)) if is_duplicating(call) => {
                self.duplicated(task, call.descriptor(0), new);
            }
            (FileCall::ChangeDirectory, Ok(_)) => self.descriptors.set_directory(task.process, None),
            _ => {}
        }
    }

    fn executed(&mut self, task: Task) {
        self.descriptors.unshare(task.process);
        self.descriptors.retain(task.process, |descriptor| names::is_open(task.thread, descriptor));
    }

    fn ended(&mut self, task: Task) {
        self.starting.remove(&task.thread);
        self.creating.remove(&task.thread);
        if task.thread == task.process {
            self.descriptors.process_ended(task.process);
        }
    }
}

fn read(row: &mut FileUse, bytes: u64) {
    row.reads += 1;
    row.read_bytes += bytes;
}

fn written(row: &mut FileUse, bytes: u64) {
    row.writes += 1;
    row.written_bytes += bytes;
}

/// A file that has no name of its own (O_TMPFILE), in the directory that was given.
const UNNAMED: &[u8] = b"/unnamed";

fn open_flags(task: Task, call: &Call, flags: Flags) -> u64 {
    match flags {
        Flags::Argument(place) => call.arguments[place],
        Flags::Structure(place) => tracer::number(task.thread, call.arguments[place]).unwrap_or(0),
        Flags::Creat => (libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC) as u64,
    }
}

fn is_duplicating(call: &Call) -> bool {
    matches!(call.descriptor(1), libc::F_DUPFD | libc::F_DUPFD_CLOEXEC)
}
