//! Files of our own that the loader of another program must find: written into a directory of their own, and removed
//! at the end, whatever that is.
//!
//! A file in memory (`/proc/PID/fd/N` of this process) would leave nothing behind by itself, but only programs of the same
//! user that see the same processes can open it, and the loader writes its complaint into the output of all others. So it
//! is a directory that everybody may read. It is removed when it is dropped, by the handler of the signal that ends this
//! program at once ([`remove_from_handler`]), and if this program was killed, by the next one that needs such a directory: who
//! lives holds a lock on it.

use std::ffi::CString;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

use tempfile::TempDir;
use whyslow_agent::Object;

const PREFIX: &str = "whyslow-preload-";

/// Whoever made a directory has locked it by then.
const YOUNG: Duration = Duration::from_secs(60);

/// What the loader takes for the end of a path in a list, or for a variable.
const AWKWARD: [u8; 6] = [b' ', b':', b'$', b'\n', b'\t', b';'];

/// What is delivered to the runs of one machine; written when it is first asked for.
#[derive(Default)]
pub struct Delivery {
    directory: Option<Directory>,
}

impl Delivery {
    /// Where the loader finds one of our own.
    pub fn object(&mut self, object: Object) -> io::Result<PathBuf> {
        let bytes = object.bytes().ok_or_else(|| io::Error::from_raw_os_error(libc::ENOSYS))?;
        self.directory()?.put(object.file_name(), bytes)
    }

    /// Where the loader finds a file of this machine; a name without a slash it finds itself.
    pub fn file(&mut self, path: &Path) -> io::Result<PathBuf> {
        if !path.as_os_str().as_bytes().contains(&b'/') {
            return Ok(path.to_owned());
        }
        // Otherwise the loader would complain in the output of the run, and go on without it.
        File::open(path)?;
        if is_plain(path) { Ok(path.to_owned()) } else { self.directory()?.link(path) }
    }

    fn directory(&mut self) -> io::Result<&mut Directory> {
        if self.directory.is_none() {
            self.directory = Some(Directory::create()?);
        }
        self.directory.as_mut().ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))
    }
}

/// A directory that other users may read too, on a file system from which programs may be run.
pub struct Directory {
    directory: TempDir,
    /// Locked as long as it is open.
    _lock: File,
    listed: Vec<usize>,
}

impl Directory {
    pub fn create() -> io::Result<Directory> {
        let mut failure = io::Error::from_raw_os_error(libc::ENOENT);
        for place in places() {
            if !is_plain(&place) || is_noexec(&place) {
                continue;
            }
            remove_forgotten(&place);
            match Directory::create_in(&place) {
                Ok(directory) => return Ok(directory),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn create_in(place: &Path) -> io::Result<Directory> {
        let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(place)?;
        fs::set_permissions(directory.path(), Permissions::from_mode(0o755))?;
        let lock = File::open(directory.path())?;
        try_lock(&lock);
        let listed = list(directory.path()).into_iter().collect();
        Ok(Directory { directory, _lock: lock, listed })
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file that everybody may read and run, unless it is there.
    pub fn put(&mut self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let path = self.path().join(name);
        if path.exists() {
            return Ok(path);
        }
        fs::write(&path, bytes)?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))?;
        self.listed.extend(list(&path));
        Ok(path)
    }

    /// Another name for a file, one that the loader can read.
    fn link(&mut self, target: &Path) -> io::Result<PathBuf> {
        let target = std::path::absolute(target)?;
        for number in 0.. {
            let path = self.path().join(format!("link-{number}.so"));
            match fs::read_link(&path) {
                Ok(known) if known == target => return Ok(path),
                Ok(_) => {}
                Err(_) => {
                    symlink(&target, &path)?;
                    self.listed.extend(list(&path));
                    return Ok(path);
                }
            }
        }
        Err(io::Error::from_raw_os_error(libc::EEXIST))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // While the handler still knows of it.
        let _ = fs::remove_dir_all(self.path());
        for &place in &self.listed {
            // A handler of another thread may just be reading it, so the few bytes are never given back.
            LEFT[place].store(std::ptr::null_mut(), Ordering::SeqCst);
        }
    }
}

/// Memory first: what is there makes no disk work.
fn places() -> Vec<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home_cache = std::env::home_dir().map(|home| home.join(".cache"));
    let fixed = [PathBuf::from("/dev/shm"), std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
    fixed.into_iter().chain(cache).chain(home_cache).filter(|place| place.is_absolute()).collect()
}

fn is_plain(path: &Path) -> bool {
    !path.as_os_str().as_bytes().iter().any(|byte| AWKWARD.contains(byte))
}

fn is_noexec(place: &Path) -> bool {
    let Ok(name) = CString::new(place.as_os_str().as_bytes()) else { return true };
    // SAFETY: zeroes are valid, and the call fills the structure.
    let (result, about) = unsafe {
        let mut about: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(name.as_ptr(), &mut about), about)
    };
    result != 0 || about.f_flag & libc::ST_NOEXEC != 0
}

/// Where the file system knows no locks there is nothing that could be forgotten in earnest.
fn try_lock(directory: &File) -> bool {
    // SAFETY: no memory is involved.
    unsafe { libc::flock(directory.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
}

/// Removes what was left by those of us that were killed.
fn remove_forgotten(place: &Path) {
    let Ok(entries) = fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        if entry.file_name().as_bytes().starts_with(PREFIX.as_bytes()) && is_forgotten(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
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
pub fn remove_from_handler() {
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

    fn in_place() -> (TempDir, Directory) {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::create_in(place.path()).unwrap();
        (place, directory)
    }

    #[test]
    fn everybody_may_read_it_and_it_goes_with_its_owner() {
        let mut directory = Directory::create().unwrap();
        let file = directory.put("name.so", b"text").unwrap();
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o755);
        assert_eq!(fs::metadata(directory.path()).unwrap().mode() & 0o777, 0o755);
        assert_eq!(directory.put("name.so", b"text").unwrap(), file);
        let path = directory.path().to_owned();
        drop(directory);
        assert!(!path.exists());
    }

    #[test]
    fn only_what_nobody_holds_is_forgotten() {
        let (place, directory) = in_place();
        let long_ago = std::time::SystemTime::now() - 2 * YOUNG;
        let age = |path: &Path| File::open(path).unwrap().set_modified(long_ago).unwrap();
        age(directory.path());
        let forgotten = place.path().join(format!("{PREFIX}old"));
        let young = place.path().join(format!("{PREFIX}young"));
        let other = place.path().join("other");
        for path in [&forgotten, &young, &other] {
            fs::create_dir(path).unwrap();
        }
        fs::write(forgotten.join("file"), "").unwrap();
        age(&forgotten);
        age(&other);
        remove_forgotten(place.path());
        assert!(!forgotten.exists());
        assert!(directory.path().exists() && young.exists() && other.exists());
    }

    #[test]
    fn awkward_names_get_another() {
        let place = tempfile::tempdir().unwrap();
        let awkward = place.path().join("my lib:1.so");
        fs::write(&awkward, "text").unwrap();
        let mut delivery = Delivery::default();
        let path = delivery.file(&awkward).unwrap();
        assert!(is_plain(&path) && fs::read(&path).unwrap() == b"text");
        assert_eq!(delivery.file(&awkward).unwrap(), path);
        assert_eq!(delivery.file(Path::new("libm.so.6")).unwrap(), Path::new("libm.so.6"));
        assert!(delivery.file(&place.path().join("none.so")).is_err());
    }
}
