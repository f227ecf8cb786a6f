//! What the records of a run say: which calls there were, by how many processes and threads, and which programs they
//! started. Remembers only what lives, and one name for every program.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::super::perf::record::{Body, Record};
use super::super::proc;
use super::super::tracer::{Call, Table, Task, Tree};
use super::counting::{Counting, Moves};
use super::tracepoints::{Noted, Tracepoints};

/// A call of this number has no place in a table: it has come back from a signal.
const NO_NUMBER: i64 = -1;

/// A name that the kernel makes up for a program that was named by a descriptor.
const BY_DESCRIPTOR: &[u8] = b"/dev/fd/";

pub struct Course {
    tracepoints: Tracepoints,
    /// The command itself.
    main: u32,
    /// As it was named, and where.
    program: PathBuf,
    cwd: PathBuf,
    /// How many of the command's threads live.
    main_threads: u64,
    pub counting: Counting,
    pub tree: Tree,
    is_fork: Table<bool>,
    /// Processes on their way to another program, with the file of it as soon as it is mapped.
    starting: HashMap<u32, Option<Vec<u8>>>,
    /// Records of calls that have returned.
    pub returned: u64,
    /// Programs that ran without being seen, since they have other rights.
    pub hidden: u64,
    /// A program was started whose calls have other numbers.
    pub has_other_width: bool,
    /// Bytes went in messages, whose lengths nobody has read.
    pub has_unread_messages: bool,
}

impl Course {
    pub fn new(tracepoints: Tracepoints, main: libc::pid_t, program: PathBuf, cwd: PathBuf) -> Course {
        let mut tree = Tree::default();
        tree.add(Task { thread: main, process: main });
        Course {
            tracepoints,
            main: main.cast_unsigned(),
            program,
            cwd,
            main_threads: 1,
            counting: Counting::new(),
            tree,
            is_fork: Table::by_name(|name| matches!(name, "clone" | "clone3" | "fork" | "vfork")),
            starting: HashMap::new(),
            returned: 0,
            hidden: 0,
            has_other_width: false,
            has_unread_messages: false,
        }
    }

    pub fn take(&mut self, record: &Record<'_>) {
        match &record.body {
            Body::Traced(traced) => match self.tracepoints.read(traced.data) {
                Some(Noted::Returned { number, result }) => self.call(number, result),
                Some(Noted::Exits { whole_process }) => self.exits(whole_process),
                Some(Noted::Program { path }) => self.started(traced.process, path),
                None => {}
            },
            Body::Name { process, is_exec: true, .. } => drop(self.starting.insert(*process, None)),
            Body::Map(map) if map.file.starts_with(b"/") => {
                if let Some(file @ None) = self.starting.get_mut(&map.process) {
                    *file = Some(map.file.to_vec());
                }
            }
            Body::Fork { process, thread, .. } => self.fork(*process, *thread),
            Body::Exit { process, thread } => self.ended(*process, *thread),
            Body::Name { .. } | Body::Map(_) | Body::Sample(_) | Body::Switch { .. } | Body::Lost(_) => {}
        }
    }

    /// What is left of the tree when the command has ended is not the command's.
    fn is_over(&self) -> bool {
        self.main_threads == 0
    }

    fn call(&mut self, number: i64, result: i64) {
        self.returned += 1;
        if self.is_over() {
            return;
        }
        let number = if number == NO_NUMBER { libc::SYS_rt_sigreturn } else { number };
        let call = Call::native(number.cast_unsigned());
        // The child returns from the call of its parent as well.
        if result == 0 && self.is_fork.of(&call) {
            return;
        }
        self.counting.entered(&call);
        if (-4095..0).contains(&result) {
            return self.counting.failed(&call, -result as i32);
        }
        match self.counting.moves(&call) {
            Moves::Nothing => {}
            Moves::Bytes => self.counting.moved(&call, result.cast_unsigned()),
            Moves::Messages => self.has_unread_messages |= result > 0,
        }
    }

    fn exits(&mut self, whole_process: bool) {
        if !self.is_over() {
            let number = if whole_process { libc::SYS_exit_group } else { libc::SYS_exit };
            self.counting.entered(&Call::native(number.cast_unsigned()));
        }
    }

    fn fork(&mut self, process: u32, thread: u32) {
        if process == self.main {
            self.main_threads += 1;
        }
        if !self.is_over() {
            self.tree.add(Task { thread: thread.cast_signed(), process: process.cast_signed() });
        }
    }

    fn ended(&mut self, process: u32, thread: u32) {
        if process == self.main {
            self.main_threads = self.main_threads.saturating_sub(1);
        }
        if self.starting.remove(&process).is_some() {
            self.hidden += 1;
        }
        self.tree.tracees.remove(&thread.cast_signed());
    }

    fn started(&mut self, process: u32, named: &[u8]) {
        let file = self.starting.remove(&process).flatten();
        if self.is_over() {
            return;
        }
        let is_first = self.tree.starts == 0;
        let path = if is_first { self.program.clone() } else { self.path(process, named, file.as_deref()) };
        if self.tree.started(path.as_os_str().as_bytes()) {
            let file = file.as_deref().map_or(path.as_path(), path_of);
            self.has_other_width |= has_other_width(file);
        }
    }

    /// As it was named. Where from is only known of a process that still lives, or by the file.
    fn path(&self, process: u32, named: &[u8], file: Option<&[u8]>) -> PathBuf {
        let by_name = path_of(named);
        match file.map(path_of) {
            Some(file) if named.starts_with(BY_DESCRIPTOR) => file.to_owned(),
            _ if by_name.is_absolute() => by_name.to_owned(),
            Some(file) if file.file_name() == by_name.file_name() => file.to_owned(),
            _ => {
                let cwd = proc::link(process.cast_signed(), "cwd");
                let by_name = by_name.strip_prefix("./").unwrap_or(by_name);
                cwd.unwrap_or_else(|| self.cwd.clone()).join(by_name)
            }
        }
    }
}

fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Whether it is a program of 32 bits, or one with pointers of 32 bits.
pub fn has_other_width(path: &Path) -> bool {
    const IDENTITY_OF_32_BITS: [u8; 5] = [0x7f, b'E', b'L', b'F', 1];
    let mut identity = [0; 5];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut identity));
    cfg!(target_pointer_width = "64") && read.is_ok() && identity == IDENTITY_OF_32_BITS
}
