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
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use whyslow_agent::Object;

use super::scratch::{self, Scratch};

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
    scratch: Scratch,
}

impl Directory {
    pub fn create() -> io::Result<Directory> {
        let mut failure = io::Error::from_raw_os_error(libc::ENOENT);
        for place in places() {
            if !is_plain(&place) || is_noexec(&place) {
                continue;
            }
            scratch::remove_forgotten(&place);
            match Directory::create_in(&place) {
                Ok(directory) => return Ok(directory),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn create_in(place: &Path) -> io::Result<Directory> {
        let scratch = Scratch::create_in(place, "preload")?;
        fs::set_permissions(scratch.path(), Permissions::from_mode(0o755))?;
        Ok(Directory { scratch })
    }

    pub fn path(&self) -> &Path {
        self.scratch.path()
    }

    /// Writes a file that everybody may read and run, unless it is there.
    pub fn put(&mut self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let path = self.path().join(name);
        if path.exists() {
            return Ok(path);
        }
        fs::write(&path, bytes)?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))?;
        self.scratch.list(&path);
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
                    self.scratch.list(&path);
                    return Ok(path);
                }
            }
        }
        Err(io::Error::from_raw_os_error(libc::EEXIST))
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

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
