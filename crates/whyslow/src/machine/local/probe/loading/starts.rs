//! Collects what the loader tells about every start in a tree of traced processes, and sums it up at once, so that ten
//! thousand starts take no more room than one.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::proc;
use super::super::tracer::{Call, Observer, Task};
use super::entry::{self, Entry, Stop};
use super::told::{self, Told};
use crate::model::Loading;

/// Programs of different paths that are told apart.
const MOST_PROGRAMS: usize = 1000;

/// More than any loader tells.
const MOST_TEXT_BYTES: u64 = 4 << 20;

#[derive(Default)]
pub struct Starts {
    directory: PathBuf,
    entries: HashMap<i32, Entry>,
    /// Of all starts; it names no programs.
    pub sums: Loading,
    /// By the file that the kernel runs.
    pub programs: HashMap<PathBuf, OneProgram>,
    /// Starts that could not be stopped at their first instruction, though a loader is at work.
    pub unstopped: u64,
    /// Loaders that could not be silenced.
    pub unsilenced: u64,
}

#[derive(Default)]
pub struct OneProgram {
    pub starts: u64,
    /// Of its last start.
    pub libraries: Vec<String>,
    pub search_misses: u64,
}

impl Starts {
    pub fn new(directory: &Path) -> Starts {
        let sums = Loading { loads: Some(0), ..Loading::default() };
        Starts { directory: directory.to_owned(), sums, ..Starts::default() }
    }

    /// The loader of this process is done.
    fn loaded(&mut self, pid: i32, mut entry: Entry) {
        self.unsilenced += u64::from(!entry.silence());
        let Some((descriptor, path)) = entry::open_file(pid, &self.directory) else {
            return entry.begin();
        };
        self.note(pid, &told::parse(&text(&path)));
        let _ = fs::remove_file(&path);
        entry.close(descriptor);
        self.entries.insert(pid, entry);
    }

    fn note(&mut self, pid: i32, told: &Told) {
        // What is not silent says at least this much.
        let Some(relocations) = told.relocations else { return };
        let sums = &mut self.sums;
        add(&mut sums.loads, Some(1));
        sums.relocations += relocations;
        sums.relocations_from_cache += told.relocations_from_cache.unwrap_or(0);
        sums.relative_relocations += told.relative_relocations.unwrap_or(0);
        add(&mut sums.startup_cycles, told.startup_cycles);
        add(&mut sums.relocation_cycles, told.relocation_cycles);
        add(&mut sums.load_cycles, told.load_cycles);
        let Some(program) = proc::link(pid, "exe") else { return };
        if self.programs.len() < MOST_PROGRAMS || self.programs.contains_key(&program) {
            let known = self.programs.entry(program).or_default();
            known.starts += 1;
            known.libraries.clone_from(&told.libraries);
            known.search_misses = told.search_misses;
        }
    }
}

fn add(sum: &mut Option<u64>, value: Option<u64>) {
    if let Some(value) = value {
        *sum = Some(sum.unwrap_or(0) + value);
    }
}

fn text(path: &Path) -> Vec<u8> {
    use std::io::Read;
    let mut bytes = Vec::new();
    if let Ok(file) = fs::File::open(path) {
        let _ = file.take(MOST_TEXT_BYTES).read_to_end(&mut bytes);
    }
    bytes
}

impl Observer for Starts {
    fn entered(&mut self, _task: Task, _call: &Call) {}

    fn left(&mut self, _task: Task, _call: &Call, _result: Result<u64, i32>) {}

    fn executed(&mut self, task: Task) {
        self.entries.remove(&task.thread);
        match Entry::arm(task.thread) {
            Some(entry) => drop(self.entries.insert(task.thread, entry)),
            None => self.unstopped += u64::from(has_loader(task.thread)),
        }
    }

    fn wants_calls(&self) -> bool {
        false
    }

    fn intercepted(&mut self, task: Task, signal: i32) -> bool {
        if signal != libc::SIGTRAP {
            return false;
        }
        let Some(entry) = self.entries.remove(&task.thread) else { return false };
        match entry.stopped() {
            Stop::Loaded => self.loaded(task.thread, entry),
            Stop::Begins => entry.begin(),
            Stop::Other => {
                self.entries.insert(task.thread, entry);
                return false;
            }
        }
        true
    }

    fn ended(&mut self, task: Task) {
        self.entries.remove(&task.thread);
    }
}

fn has_loader(pid: i32) -> bool {
    let identity = proc::link(pid, "exe").and_then(|program| super::super::elf::identity(&program));
    identity.is_some_and(|identity| identity.interpreter.is_some_and(|loader| loader.contains("/ld-linux")))
}
