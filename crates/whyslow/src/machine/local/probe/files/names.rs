//! Names of files that are not told by a path of the program: what a descriptor stands for, the directory that relative
//! paths start in, the file behind a mapping. All of it is read from /proc while the task is stopped.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::super::proc;
use super::ledger::Name;

/// What cannot be read, as of a process that hides itself.
pub fn unknown() -> Name {
    b"unknown"[..].into()
}

/// A file, or the kind of what has no path.
pub fn of_descriptor(task: libc::pid_t, descriptor: i32) -> Name {
    let target = proc::link(task, &format!("fd/{descriptor}"));
    target.map_or_else(unknown, |target| kind(target.as_os_str().as_bytes()).into())
}

pub fn is_open(task: libc::pid_t, descriptor: i32) -> bool {
    fs::symlink_metadata(format!("/proc/{task}/fd/{descriptor}")).is_ok()
}

pub fn directory(task: libc::pid_t) -> Option<Name> {
    Some(proc::link(task, "cwd")?.into_os_string().into_vec().into())
}

/// `pipe:[123]`, `anon_inode:[eventfd]`, `/memfd:name (deleted)` and the like by their kind; a path as it is.
fn kind(target: &[u8]) -> &[u8] {
    let target = target.strip_suffix(b" (deleted)").unwrap_or(target);
    if target.starts_with(b"/memfd:") {
        return b"memfd";
    }
    if target.starts_with(b"/") {
        return target;
    }
    let target = target.strip_prefix(b"anon_inode:").unwrap_or(target);
    let target = target.strip_prefix(b"[").and_then(|name| name.strip_suffix(b"]")).unwrap_or(target);
    let end = target.iter().position(|byte| *byte == b':').unwrap_or(target.len());
    &target[..end]
}

/// The path that the program named, from the root.
pub fn joined(directory: &[u8], path: &[u8]) -> Name {
    if path.starts_with(b"/") {
        return path.into();
    }
    let mut path = path;
    while let Some(rest) = path.strip_prefix(b"./") {
        path = rest;
    }
    if path.is_empty() || path == b"." {
        return directory.into();
    }
    let directory = directory.strip_suffix(b"/").unwrap_or(directory);
    [directory, b"/", path].concat().into()
}

/// Whether a file of this path is there for the task, in its own root and directory.
pub fn exists(task: libc::pid_t, directory: Option<i32>, path: &[u8]) -> bool {
    let start = match directory {
        _ if path.starts_with(b"/") => format!("/proc/{task}/root"),
        Some(descriptor) if descriptor != libc::AT_FDCWD => format!("/proc/{task}/fd/{descriptor}/"),
        _ => format!("/proc/{task}/cwd/"),
    };
    let path = PathBuf::from(OsString::from_vec([start.as_bytes(), path].concat()));
    fs::metadata(path).is_ok()
}

/// The file behind an address.
pub fn of_mapping(task: libc::pid_t, address: u64) -> Name {
    let maps = proc::read(task, "maps").unwrap_or_default();
    let found = maps.split(|byte| *byte == b'\n').find(|line| covers(line, address));
    let path = found.and_then(|line| line.iter().position(|byte| *byte == b'/').map(|start| &line[start..]));
    path.map_or_else(|| b"memory"[..].into(), |path| kind(path).into())
}

/// A line starts with `from-to` in hexadecimal digits.
fn covers(line: &[u8], address: u64) -> bool {
    let range = || {
        let text = std::str::from_utf8(line.split(|byte| *byte == b' ').next()?).ok()?;
        let (from, to) = text.split_once('-')?;
        Some(u64::from_str_radix(from, 16).ok()?..u64::from_str_radix(to, 16).ok()?)
    };
    range().is_some_and(|range| range.contains(&address))
}

/// The errors of a path that leads nowhere.
pub fn is_missing(errno: i32) -> bool {
    matches!(errno, libc::ENOENT | libc::ENOTDIR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_path_has_a_kind() {
        for (target, expected) in [
            ("pipe:[123]", "pipe"),
            ("socket:[9]", "socket"),
            ("anon_inode:[eventfd]", "eventfd"),
            ("anon_inode:inotify", "inotify"),
            ("/memfd:secret (deleted)", "memfd"),
            ("/tmp/a b (deleted)", "/tmp/a b"),
            ("/dev/pts/0", "/dev/pts/0"),
        ] {
            assert_eq!(kind(target.as_bytes()), expected.as_bytes());
        }
    }

    #[test]
    fn relative_paths_start_at_their_directory() {
        for (directory, path, expected) in [
            ("/a", "/b", "/b"),
            ("/a", "b/c", "/a/b/c"),
            ("/a", "././b", "/a/b"),
            ("/a", "../b", "/a/../b"),
            ("/", "b", "/b"),
            ("/a", ".", "/a"),
            ("/a", "", "/a"),
        ] {
            assert_eq!(&*joined(directory.as_bytes(), path.as_bytes()), expected.as_bytes());
        }
    }

    #[test]
    fn our_own_files_are_found() {
        let own = std::process::id() as libc::pid_t;
        let file = tempfile::NamedTempFile::new().unwrap();
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&file);
        assert_eq!(&*of_descriptor(own, descriptor), file.path().as_os_str().as_bytes());
        assert!(is_open(own, descriptor) && !is_open(own, 999_999));
        assert_eq!(of_descriptor(own, 999_999), unknown());
        assert!(exists(own, None, file.path().as_os_str().as_bytes()));
        assert!(exists(own, Some(libc::AT_FDCWD), b"Cargo.toml") && !exists(own, None, b"no such file"));
        let address = our_own_files_are_found as *const () as u64;
        assert!(of_mapping(own, address).starts_with(b"/"));
        assert_eq!(&*of_mapping(own, 1), b"memory");
        assert!(covers(b"10-20 r--p", 0x10) && !covers(b"10-20 r--p", 0x20) && !covers(b"x", 1));
    }
}
