//! The tree of tasks as the tracer knows it: which threads belong to which process, what each is doing, how many there
//! were, and which programs they started. Bounded by the tasks that live at one time and by [`PROGRAM_LIMIT`].

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::calls::Call;
use crate::model::StartedProgram;

/// Programs of different paths that are told apart.
const PROGRAM_LIMIT: usize = 10_000;

/// Of those, so many are told about.
const PROGRAMS_TOLD: usize = 40;

/// A thread, and the process that it belongs to (whose first thread has the same number).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    pub thread: libc::pid_t,
    pub process: libc::pid_t,
}

/// What is known of a task that lives.
pub struct Tracee {
    pub process: libc::pid_t,
    /// The system call that it is in.
    pub call: Option<Call>,
    /// The program that this call starts, as the caller named it.
    pub program: Option<Vec<u8>>,
    /// Whether its program, which it may have from its parent, may trace others.
    pub may_trace: bool,
}

#[derive(Default)]
pub struct Tree {
    pub tracees: HashMap<libc::pid_t, Tracee>,
    pub processes: u64,
    /// Besides the first one of each process.
    pub threads: u64,
    pub starts: u64,
    programs: HashMap<Vec<u8>, u64>,
}

impl Tree {
    pub fn add(&mut self, task: Task) {
        let is_process = task.thread == task.process;
        *if is_process { &mut self.processes } else { &mut self.threads } += 1;
        let tracee = Tracee { process: task.process, call: None, program: None, may_trace: false };
        self.tracees.insert(task.thread, tracee);
    }

    pub fn task(&self, thread: libc::pid_t) -> Option<Task> {
        self.tracees.get(&thread).map(|tracee| Task { thread, process: tracee.process })
    }

    /// Whether a program of this path is new.
    pub fn started(&mut self, path: &[u8]) -> bool {
        self.starts += 1;
        let is_full = self.programs.len() >= PROGRAM_LIMIT;
        match self.programs.entry(path.to_vec()) {
            Entry::Occupied(mut known) => *known.get_mut() += 1,
            Entry::Vacant(_) if is_full => return false,
            Entry::Vacant(new) => {
                new.insert(1);
                return true;
            }
        }
        false
    }

    /// Those that were started most often.
    pub fn programs(&self) -> Vec<StartedProgram> {
        let mut programs: Vec<StartedProgram> = self
            .programs
            .iter()
            .map(|(path, starts)| StartedProgram {
                path: String::from_utf8_lossy(path).into_owned(),
                starts: *starts,
            })
            .collect();
        programs.sort_by(|a, b| b.starts.cmp(&a.starts).then_with(|| a.path.cmp(&b.path)));
        programs.truncate(PROGRAMS_TOLD);
        programs
    }

    /// Every process that has a task left.
    pub fn living(&self) -> Vec<libc::pid_t> {
        let mut processes: Vec<libc::pid_t> = self.tracees.values().map(|tracee| tracee.process).collect();
        processes.sort_unstable();
        processes.dedup();
        processes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_and_programs_are_counted() {
        let mut tree = Tree::default();
        for (thread, process) in [(10, 10), (11, 10), (12, 12)] {
            tree.add(Task { thread, process });
        }
        assert_eq!((tree.processes, tree.threads), (2, 1));
        assert_eq!(tree.living(), [10, 12]);
        assert!(tree.started(b"/bin/b") && tree.started(b"/bin/a") && !tree.started(b"/bin/a"));
        let told: Vec<_> =
            tree.programs().into_iter().map(|program| (program.path, program.starts)).collect();
        assert_eq!(told, [("/bin/a".to_owned(), 2), ("/bin/b".to_owned(), 1)]);
        assert_eq!(tree.starts, 3);
    }
}
