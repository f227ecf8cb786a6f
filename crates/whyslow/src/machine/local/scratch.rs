//! Directories of our own for the time of a run, removed at the end, whatever that is: when they are dropped, by the
//! handler of the signal that ends this program at once ([`remove_from_handler`]), and if this program was killed, by the
//! next one: who lives holds a lock on it. The name says whose it is: `whyslow-PURPOSE-PID-` and letters.

use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

use tempfile::TempDir;

/// What they are for. A directory of another name is somebody else's.
const PURPOSES: [&str; 4] = ["explain", "instructions", "loading", "preload"];

/// Whoever made a directory has locked it by then.
const YOUNG: Duration = Duration::from_secs(5);

pub struct Scratch {
    directory: TempDir,
    /// Locked as long as it is open.
    _lock: File,
    listed: Vec<usize>,
}

impl Scratch {
    /// In the directory for temporary files.
    pub fn create(purpose: &str) -> io::Result<Scratch> {
        Scratch::create_in(&std::env::temp_dir(), purpose)
    }

    pub(super) fn create_in(place: &Path, purpose: &str) -> io::Result<Scratch> {
        debug_assert!(PURPOSES.contains(&purpose));
        let prefix = format!("whyslow-{purpose}-{}-", std::process::id());
        let directory = tempfile::Builder::new().prefix(&prefix).tempdir_in(place)?;
        let lock = File::open(directory.path())?;
        try_lock(&lock);
        let listed = list(directory.path()).into_iter().collect();
        Ok(Scratch { directory, _lock: lock, listed })
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A file in it that a handler is to remove too.
    pub(super) fn list(&mut self, path: &Path) {
        self.listed.extend(list(path));
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // While the handler still knows of it.
        let _ = fs::remove_dir_all(self.path());
        for &place in &self.listed {
            // A handler of another thread may just be reading it, so the few bytes are never given back.
            LEFT[place].store(std::ptr::null_mut(), Ordering::SeqCst);
        }
    }
}

/// Where the file system knows no locks there is nothing that could be forgotten in earnest.
fn try_lock(directory: &File) -> bool {
    // SAFETY: no memory is involved.
    unsafe { libc::flock(directory.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
}

/// Removes what was left by those of us that were killed.
pub(super) fn remove_forgotten(place: &Path) {
    let Ok(entries) = fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        if is_name_of_ours(&entry.file_name()) && is_forgotten(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_name_of_ours(name: &OsStr) -> bool {
    let parts: Vec<&str> = name.to_str().map(|name| name.split('-').collect()).unwrap_or_default();
    match parts.as_slice() {
        ["whyslow", purpose, process, _] => PURPOSES.contains(purpose) && process.parse::<u32>().is_ok(),
        _ => false,
    }
}

fn is_forgotten(path: &Path) -> bool {
    let Ok(about) = fs::symlink_metadata(path) else { return false };
    let age = about.modified().ok().and_then(|time| time.elapsed().ok());
    // SAFETY: no memory is involved.
    let is_ours = about.is_dir() && about.uid() == unsafe { libc::geteuid() };
    is_ours
        && age.is_some_and(|age| age > YOUNG)
        && File::open(path).is_ok_and(|directory| try_lock(&directory))
}

/// Files and directories to be removed, for a handler. Strings are never freed.
static LEFT: [AtomicPtr<libc::c_char>; 256] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 256];

/// Its place in the list; `None` if that is full, and then the next run of this program removes it.
fn list(path: &Path) -> Option<usize> {
    let path = CString::new(path.as_os_str().to_owned().into_vec()).ok()?.into_raw();
    let is_free = |slot: &AtomicPtr<libc::c_char>| {
        slot.compare_exchange(std::ptr::null_mut(), path, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    };
    LEFT.iter().position(is_free)
}

/// For the handler of the signal that ends this program. Only calls what a handler may.
pub(super) fn remove_from_handler() {
    let each = |remove: unsafe extern "C" fn(*const libc::c_char) -> libc::c_int| {
        for slot in &LEFT {
            let path = slot.load(Ordering::SeqCst);
            if !path.is_null() {
                // SAFETY: a string that is never freed.
                unsafe { remove(path) };
            }
        }
    };
    each(libc::unlink);
    each(libc::rmdir);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_holds_is_forgotten() {
        let place = tempfile::tempdir().unwrap();
        let held: Vec<Scratch> =
            PURPOSES.iter().map(|purpose| Scratch::create_in(place.path(), purpose).unwrap()).collect();
        let made = |name: &str| {
            let path = place.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let forgotten = [made("whyslow-preload-17-old"), made("whyslow-explain-1-old")];
        let young = made("whyslow-loading-17-young");
        let others = [made("other"), made("whyslow-loading-mine"), made("whyslow-notes-17-x")];
        fs::write(forgotten[0].join("file"), "").unwrap();
        let long_ago = std::time::SystemTime::now() - 2 * YOUNG;
        let held = || held.iter().map(Scratch::path);
        for path in held().chain(forgotten.iter().chain(&others).map(|path| path.as_path())) {
            File::open(path).unwrap().set_modified(long_ago).unwrap();
        }
        remove_forgotten(place.path());
        assert!(forgotten.iter().all(|path| !path.exists()));
        assert!(held().all(Path::exists) && young.exists() && others.iter().all(|path| path.exists()));
    }

    #[test]
    fn it_goes_with_its_owner() {
        let scratch = Scratch::create("explain").unwrap();
        let path = scratch.path().to_owned();
        fs::write(path.join("file"), "").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }
}
