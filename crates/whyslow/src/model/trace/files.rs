//! What a tree of processes did with files.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Files {
    /// By path, those with the most calls first; at most a few hundred.
    pub files: Vec<FileUse>,
    /// All of them, also those that are not in the list; its path is empty.
    pub total: FileUse,
    /// Different paths.
    pub paths: u64,
    /// Bytes that had to be read from a disk during the run, and those that were sent to one; of the whole tree.
    pub disk_read_bytes: Option<u64>,
    pub disk_written_bytes: Option<u64>,
}

/// How often what was done with one path.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct FileUse {
    /// As the program named it, made absolute where that was possible; `pipe`, `socket` and the like for what has none.
    pub path: String,
    /// Opens that succeeded.
    pub opened: u64,
    /// Opens that found no such file.
    pub missed: u64,
    /// stat, access and readlink by path, those that found no such file included.
    pub stated: u64,
    pub stat_missed: u64,
    /// execve that found no such file.
    pub exec_missed: u64,
    pub reads: u64,
    pub read_bytes: u64,
    pub writes: u64,
    pub written_bytes: u64,
    pub synced: u64,
    /// Opened with O_DIRECT.
    pub direct: u64,
    /// Opened with O_CREAT and did not exist, or unlinked.
    pub created: u64,
    pub removed: u64,
}

impl FileUse {
    /// What was done with another path as well; the path stays.
    pub fn add(&mut self, more: &FileUse) {
        self.opened += more.opened;
        self.missed += more.missed;
        self.stated += more.stated;
        self.stat_missed += more.stat_missed;
        self.exec_missed += more.exec_missed;
        self.reads += more.reads;
        self.read_bytes += more.read_bytes;
        self.writes += more.writes;
        self.written_bytes += more.written_bytes;
        self.synced += more.synced;
        self.direct += more.direct;
        self.created += more.created;
        self.removed += more.removed;
    }
}
