//! Files that the program writes: found and told apart before anything is measured, and replaced at once after it.
//! Links are followed, so that a link stays a link.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use tempfile::{Builder, NamedTempFile};

use super::Trouble;

/// As many links in a row as the kernel follows.
const MOST_LINKS: usize = 40;

/// How long a pipe waits for the reader that was started together with us.
const READER_TIME: Duration = Duration::from_secs(1);
const READER_INTERVAL: Duration = Duration::from_millis(10);

/// Where a path leads.
#[derive(Debug, PartialEq, Eq)]
pub enum Place {
    /// To a regular file that is there or can be, by its own name.
    Regular(PathBuf),
    /// To a pipe, a device, or a descriptor that is open already: it can only be added to.
    Stream(PathBuf),
}

impl Place {
    pub fn of(path: &Path) -> io::Result<Self> {
        if path.as_os_str().is_empty() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it has no name"));
        }
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() || is_descriptor(path) => Ok(Place::Stream(path.to_owned())),
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(Place::Regular(resolve(path)?)),
        }
    }

    /// What would keep it from being written. A pipe may get its reader later.
    pub fn check(&self) -> io::Result<()> {
        let Place::Regular(path) = self else { return Ok(()) };
        if path.try_exists()? {
            OpenOptions::new().write(true).open(path)?;
        }
        beside(path).map(drop)
    }

    /// A regular file is replaced at once, so that an older result is not lost to a full disk. A reader of a pipe that
    /// has seen enough is no error.
    pub fn write(&self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let path = match self {
            Place::Regular(path) => return replace(path, content),
            Place::Stream(path) => path,
        };
        match write_to(&open_stream(path)?, content) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }
}

/// Opening it a second time gives what was opened already.
fn is_descriptor(path: &Path) -> bool {
    ["/dev/fd", "/dev/stdout", "/dev/stderr", "/proc"].iter().any(|known| path.starts_with(known))
}

/// The file's own name, also of one that is not there yet, at the end of a link or not.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    if let Ok(known) = fs::canonicalize(path) {
        return Ok(known);
    }
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = fs::read_link(&path) else { return new_name(&path) };
        path = folder(&path).join(target);
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

fn new_name(path: &Path) -> io::Result<PathBuf> {
    let is_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
    let name = path.file_name().filter(|_| !is_folder).ok_or(ErrorKind::IsADirectory)?;
    match fs::canonicalize(folder(path)) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(io::Error::new(ErrorKind::NotFound, "there is no such folder"))
        }
        folder => Ok(folder?.join(name)),
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A new file that nobody can have put there, with the rights of any new file.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let rights = Permissions::from_mode(0o666);
    Builder::new().prefix(".whyslow-").permissions(rights).tempfile_in(folder(path))
}

fn replace(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let new = beside(path)?;
    write_to(new.as_file(), content)?;
    if let Ok(old) = fs::metadata(path) {
        // Only root can give files away, and nobody else needs to.
        let _ = chown(new.path(), Some(old.uid()), Some(old.gid()));
        new.as_file().set_permissions(old.permissions())?;
    }
    new.persist(path).map_err(|failed| failed.error)?;
    Ok(())
}

fn write_to(file: &File, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut output = BufWriter::new(file);
    content(&mut output)?;
    output.flush()
}

/// A pipe that nobody reads is told from one that is read, since opening it would wait for ever.
pub fn open_stream(path: &Path) -> io::Result<File> {
    let _open = open_at_once(path)?;
    // While the first one is open and has a reader, this one does not wait, and it writes without losing anything.
    OpenOptions::new().append(true).open(path)
}

fn open_at_once(path: &Path) -> io::Result<File> {
    let is_pipe = fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo());
    let mut left = READER_TIME;
    loop {
        match OpenOptions::new().append(true).custom_flags(libc::O_NONBLOCK).open(path) {
            Err(error) if is_pipe && error.raw_os_error() == Some(libc::ENXIO) => {
                if left.is_zero() {
                    return Err(io::Error::new(ErrorKind::BrokenPipe, "nobody reads this pipe"));
                }
            }
            opened => return opened,
        }
        sleep(READER_INTERVAL);
        left = left.saturating_sub(READER_INTERVAL);
    }
}

/// A file that takes part in a call.
pub struct Part {
    /// The option and the name, as typed.
    pub what: String,
    pub path: PathBuf,
    /// By this program; what others write and read must only be left alone.
    pub is_written: bool,
}

impl Part {
    pub fn written(option: &str, path: &Path) -> Self {
        Part { what: format!("{option}{}", path.display()), path: path.to_owned(), is_written: true }
    }

    pub fn left_alone(option: &str, path: &Path) -> Self {
        Part { is_written: false, ..Part::written(option, path) }
    }

    /// Where a shell has sent it.
    pub fn standard_output() -> Self {
        Part { what: "the standard output".into(), path: "/proc/self/fd/1".into(), is_written: true }
    }
}

/// Refuses to write into a file that is something else as well: one of the two would be lost.
pub fn check_distinct(parts: &[Part]) -> Result<(), Trouble> {
    let known: Vec<(&Part, Identity)> =
        parts.iter().filter_map(|part| Some((part, identity(&part.path)?))).collect();
    for (place, (part, identity)) in known.iter().enumerate().filter(|(_, (part, _))| part.is_written) {
        // Two that are written are met twice; the first time is enough.
        let same =
            known.iter().enumerate().find(|(other, (_, of_other))| place != *other && identity == of_other);
        if let Some((_, (other, _))) = same {
            return Err(Trouble::new(format!("{} and {} are one file", part.what, other.what))
                .hint("choose another name for one of them"));
        }
    }
    Ok(())
}

/// What makes two names the same file.
#[derive(PartialEq, Eq)]
enum Identity {
    Inode(u64, u64),
    NotThereYet(PathBuf),
}

/// `None` of what is no regular file: devices and pipes can be written by many.
fn identity(path: &Path) -> Option<Identity> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Some(Identity::Inode(found.dev(), found.ino())),
        Ok(_) => None,
        Err(_) => resolve(path).ok().map(Identity::NotThereYet),
    }
}
