//! The embedded program as a descriptor that can be executed.

use crate::LauncherError;
use crate::process::start_error;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicU32, Ordering};

static PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/launcher"));

/// In memory, so that neither a writable directory nor /proc is needed.
pub(crate) fn in_memory() -> Result<OwnedFd, LauncherError> {
    let mut file = memory_file().map_err(start_error("memfd_create"))?;
    file.write_all(PROGRAM).map_err(start_error("write"))?;
    Ok(file.into())
}

fn memory_file() -> io::Result<File> {
    // Since Linux 6.3 the wish to execute must be stated; before, the flag is unknown.
    const MFD_EXEC: libc::c_uint = 0x10;
    let create = |flags| {
        // SAFETY: the name is a string; the call has no other effect on memory.
        let descriptor = unsafe { libc::memfd_create(c"whyslow-launcher".as_ptr(), flags) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a fresh descriptor that nobody else owns.
        Ok(unsafe { File::from_raw_fd(descriptor) })
    };
    create(libc::MFD_CLOEXEC | MFD_EXEC).or_else(|_| create(libc::MFD_CLOEXEC))
}

/// In a file without name in the directory for temporary files, for systems that forbid to execute memory
/// (`vm.memfd_noexec`).
pub(crate) fn in_file() -> Result<OwnedFd, LauncherError> {
    // Other threads may be at it too, and a name that exists is never followed.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("whyslow-launcher-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    let create = File::options().write(true).create_new(true).mode(0o700).open(&path);
    let mut file = create.map_err(start_error("create a temporary file"))?;
    let written = file.write_all(PROGRAM);
    // A file that is open for writing cannot be executed.
    drop(file);
    let opened = written.and_then(|()| File::open(&path));
    let removed = std::fs::remove_file(&path);
    let file = opened.and_then(|file| removed.map(|()| file));
    Ok(file.map_err(start_error("write a temporary file"))?.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn both_ways_hold_the_same_program() {
        for program in [in_memory().unwrap(), in_file().unwrap()] {
            // SAFETY: no memory is involved.
            let length = unsafe { libc::lseek(program.as_raw_fd(), 0, libc::SEEK_END) };
            assert_eq!(length as usize, PROGRAM.len());
        }
    }
}
