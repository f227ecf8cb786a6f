//! Which system calls are about files, and where among their arguments the paths and descriptors are. It knows names
//! only, so it holds for every table of numbers.

use super::super::syscalls::Moves;

/// A path among the arguments: its place, and that of the directory that it starts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathAt {
    pub directory: Option<usize>,
    pub path: usize,
}

const PLAIN: PathAt = PathAt { directory: None, path: 0 };
const AT: PathAt = PathAt { directory: Some(0), path: 1 };

/// Where an open has its flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flags {
    Argument(usize),
    /// In the structure that this argument points to.
    Structure(usize),
    Creat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileCall {
    #[default]
    Other,
    Open(PathAt, Flags),
    /// An empty path stands for the descriptor before it, and is none.
    Stat(PathAt),
    Exec(PathAt),
    Remove(PathAt),
    /// The place of the descriptor.
    Read(usize),
    Write(usize),
    /// From the first to the second.
    Move(usize, usize),
    Sync,
    SyncMemory,
    SyncAll,
    Close,
    CloseRange,
    /// The result is another name of the first argument.
    Duplicate,
    /// The second argument becomes one.
    DuplicateTo,
    /// One or none of the two, by its second argument.
    Control,
    ChangeDirectory,
    Ring,
}

impl FileCall {
    pub fn of(name: &str) -> FileCall {
        use FileCall::*;
        match name {
            "open" => Open(PLAIN, Flags::Argument(1)),
            "openat" => Open(AT, Flags::Argument(2)),
            "openat2" => Open(AT, Flags::Structure(2)),
            "creat" => Open(PLAIN, Flags::Creat),
            "stat" | "lstat" | "stat64" | "lstat64" | "oldstat" | "oldlstat" | "access" | "readlink" => {
                Stat(PLAIN)
            }
            "newfstatat" | "fstatat64" | "statx" | "faccessat" | "faccessat2" | "readlinkat" => Stat(AT),
            "execve" => Exec(PLAIN),
            "execveat" => Exec(AT),
            "unlink" | "rmdir" => Remove(PLAIN),
            "unlinkat" => Remove(AT),
            "sendfile" | "sendfile64" => Move(1, 0),
            "copy_file_range" | "splice" => Move(0, 2),
            "tee" => Move(0, 1),
            "fsync" | "fdatasync" | "sync_file_range" | "sync_file_range2" | "syncfs" => Sync,
            "msync" => SyncMemory,
            "sync" => SyncAll,
            "close" => Close,
            "close_range" => CloseRange,
            "dup" => Duplicate,
            "dup2" | "dup3" => DuplicateTo,
            "fcntl" | "fcntl64" => Control,
            "chdir" | "fchdir" => ChangeDirectory,
            "io_uring_setup" => Ring,
            name if Moves::of(name) != Moves::Nothing => Self::moving(name),
            _ => Other,
        }
    }

    fn moving(name: &str) -> FileCall {
        let is_reading = ["read", "pread", "recv"].iter().any(|start| name.starts_with(start));
        if is_reading { FileCall::Read(0) } else { FileCall::Write(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_and_writing_are_told_apart() {
        for name in ["read", "pread64", "readv", "preadv2", "recvfrom", "recvmmsg"] {
            assert_eq!(FileCall::of(name), FileCall::Read(0), "{name}");
        }
        for name in ["write", "pwrite64", "writev", "pwritev2", "sendto", "sendmmsg", "vmsplice"] {
            assert_eq!(FileCall::of(name), FileCall::Write(0), "{name}");
        }
        assert_eq!(FileCall::of("readlink"), FileCall::Stat(PLAIN));
        assert_eq!(FileCall::of("readahead"), FileCall::Other);
    }
}
