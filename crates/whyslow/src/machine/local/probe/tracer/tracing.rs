//! Programs that trace others themselves, such as gdb, strace and those that do not want to be watched: a process has one
//! tracer, so under ours they fail, and the run is another one than without it. Whether it came to that is seen at the
//! system call; where calls are not looked at, they are for the programs that may make this one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::super::{elf, missing};
use super::calls::Call;
use crate::model::{Missing, Probe};

const ATTACHING: [u64; 3] =
    [libc::PTRACE_TRACEME as u64, libc::PTRACE_ATTACH as u64, libc::PTRACE_SEIZE as u64];

/// Programs of different paths that are remembered.
const PROGRAM_LIMIT: usize = 1000;

/// Whether this call of ptrace makes somebody a tracer.
pub fn attaches(call: &Call) -> bool {
    ATTACHING.contains(&call.arguments[0])
}

/// Whether its file says that a program uses ptrace; `None` where nothing can be told, as of a static one.
pub fn uses_ptrace(path: &Path) -> Option<bool> {
    elf::imports_function(path, b"ptrace")
}

/// By the file of the program.
#[derive(Default)]
pub struct Tracers(HashMap<PathBuf, bool>);

impl Tracers {
    /// Also of a program of which nothing can be told.
    pub fn has(&mut self, path: &Path) -> bool {
        if let Some(known) = self.0.get(path) {
            return *known;
        }
        let may_trace = uses_ptrace(path) != Some(false);
        if self.0.len() < PROGRAM_LIMIT {
            self.0.insert(path.to_owned(), may_trace);
        }
        may_trace
    }
}

/// Numbers of a run that went wrong are not those of the command.
pub fn failed(probe: Probe) -> Missing {
    let why = "a program of this run traces another one itself (ptrace, as gdb and strace do), which fails under this \
               probe: what it did then is not what it does otherwise";
    let remedy = match probe {
        Probe::Syscalls => {
            "look at the traced program alone, without its tracer; or run as root, where the kernel counts the calls"
        }
        _ => "look at the traced program alone, without its tracer",
    };
    missing(probe, why, Some(remedy))
}
