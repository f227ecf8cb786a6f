//! What the descriptors of each process stand for, as far as it is known: a memory of names, not a copy of the kernel's
//! tables. A name is forgotten when its descriptor may be closed, so that a wrong name is never told.

use std::collections::HashMap;

use super::ledger::Name;

#[derive(Default)]
pub struct Descriptors {
    tables: HashMap<usize, Table>,
    processes: HashMap<libc::pid_t, Process>,
    next_table: usize,
}

#[derive(Default)]
struct Table {
    names: HashMap<i32, Name>,
    /// Processes that have it in common.
    users: usize,
}

struct Process {
    table: usize,
    /// Where relative paths start.
    directory: Option<Name>,
}

impl Descriptors {
    /// A new process knows what its parent knew.
    pub fn process_began(&mut self, process: libc::pid_t, parent: Option<libc::pid_t>, shares: bool) {
        self.process_ended(process);
        let parent = parent.and_then(|parent| self.processes.get(&parent));
        let directory = parent.and_then(|parent| parent.directory.clone());
        let table = match parent.map(|parent| parent.table) {
            Some(table) if shares => table,
            Some(table) => self.copy(table),
            None => self.add(HashMap::new()),
        };
        if let Some(table) = self.tables.get_mut(&table) {
            table.users += 1;
        }
        self.processes.insert(process, Process { table, directory });
    }

    pub fn process_ended(&mut self, process: libc::pid_t) {
        if let Some(process) = self.processes.remove(&process) {
            self.leave(process.table);
        }
    }

    /// The process has a table for itself from now on.
    pub fn unshare(&mut self, process: libc::pid_t) {
        let Some(old) = self.processes.get(&process).map(|process| process.table) else { return };
        if self.tables.get(&old).is_none_or(|table| table.users < 2) {
            return;
        }
        let new = self.copy(old);
        self.leave(old);
        if let Some(table) = self.tables.get_mut(&new) {
            table.users = 1;
        }
        if let Some(process) = self.processes.get_mut(&process) {
            process.table = new;
        }
    }

    /// Forgets what is not there any more.
    pub fn retain(&mut self, process: libc::pid_t, is_open: impl Fn(i32) -> bool) {
        if let Some(names) = self.names(process) {
            names.retain(|descriptor, _| is_open(*descriptor));
        }
    }

    pub fn get(&self, process: libc::pid_t, descriptor: i32) -> Option<Name> {
        let table = self.tables.get(&self.processes.get(&process)?.table)?;
        table.names.get(&descriptor).cloned()
    }

    pub fn set(&mut self, process: libc::pid_t, descriptor: i32, name: Name) {
        if let Some(names) = self.names(process) {
            names.insert(descriptor, name);
        }
    }

    pub fn forget(&mut self, process: libc::pid_t, descriptor: i32) {
        if let Some(names) = self.names(process) {
            names.remove(&descriptor);
        }
    }

    pub fn directory(&self, process: libc::pid_t) -> Option<Name> {
        self.processes.get(&process)?.directory.clone()
    }

    pub fn set_directory(&mut self, process: libc::pid_t, directory: Option<Name>) {
        if let Some(process) = self.processes.get_mut(&process) {
            process.directory = directory;
        }
    }

    fn names(&mut self, process: libc::pid_t) -> Option<&mut HashMap<i32, Name>> {
        let table = self.processes.get(&process)?.table;
        self.tables.get_mut(&table).map(|table| &mut table.names)
    }

    fn copy(&mut self, table: usize) -> usize {
        let names = self.tables.get(&table).map(|table| table.names.clone()).unwrap_or_default();
        self.add(names)
    }

    fn add(&mut self, names: HashMap<i32, Name>) -> usize {
        let table = self.next_table;
        self.next_table += 1;
        self.tables.insert(table, Table { names, users: 0 });
        table
    }

    fn leave(&mut self, table: usize) {
        let Some(left) = self.tables.get_mut(&table) else { return };
        left.users -= 1;
        if left.users == 0 {
            self.tables.remove(&table);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        text.as_bytes().into()
    }

    #[test]
    fn children_know_what_their_parents_knew_and_go_their_own_way() {
        let mut descriptors = Descriptors::default();
        descriptors.process_began(1, None, false);
        descriptors.set(1, 3, name("/a"));
        descriptors.process_began(2, Some(1), false);
        descriptors.process_began(3, Some(1), true);
        descriptors.set(1, 3, name("/b"));
        assert_eq!(descriptors.get(2, 3), Some(name("/a")));
        assert_eq!(descriptors.get(3, 3), Some(name("/b")));
        descriptors.unshare(3);
        descriptors.forget(1, 3);
        assert_eq!((descriptors.get(1, 3), descriptors.get(3, 3)), (None, Some(name("/b"))));
        descriptors.set(3, 4, name("/c"));
        descriptors.retain(3, |descriptor| descriptor == 4);
        assert_eq!((descriptors.get(3, 3), descriptors.get(3, 4)), (None, Some(name("/c"))));
        for process in [1, 2, 3, 4] {
            descriptors.process_ended(process);
        }
        assert!(descriptors.tables.is_empty() && descriptors.processes.is_empty());
    }

    #[test]
    fn a_number_that_is_used_again_is_a_new_process() {
        let mut descriptors = Descriptors::default();
        descriptors.process_began(1, None, false);
        descriptors.set(1, 3, name("/a"));
        descriptors.set_directory(1, Some(name("/")));
        descriptors.process_began(1, None, false);
        assert_eq!((descriptors.get(1, 3), descriptors.directory(1)), (None, None));
    }
}
