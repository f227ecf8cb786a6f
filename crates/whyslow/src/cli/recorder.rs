//! Writes the recording while it is made.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::Trouble;
use super::files::{Place, open_stream};
use crate::session::{Event, WatcherError};
use crate::store::{self, Writer};

pub struct Recorder {
    writer: Writer<BufWriter<File>>,
    path: String,
}

impl Recorder {
    pub fn create(path: &Path) -> Result<Self, Trouble> {
        let file = create(path).map_err(|error| {
            Trouble::new(format!("cannot write the recording {}: {error}", path.display()))
                .hint("choose another file with --record")
        })?;
        Ok(Recorder::on(file, path))
    }

    /// To go on with a recording.
    pub fn append(path: &Path) -> Result<Self, Trouble> {
        let file = append(path).map_err(|error| {
            Trouble::new(format!("cannot go on with the recording {}: {error}", path.display()))
                .hint("the file must be one that can be written; copy it to go on with the copy")
        })?;
        Ok(Recorder::on(file, path))
    }

    fn on(file: File, path: &Path) -> Self {
        Recorder { writer: Writer::new(BufWriter::new(file)), path: path.display().to_string() }
    }

    pub fn notice(&mut self, event: &Event<'_>) -> Result<(), WatcherError> {
        let Some(entry) = event.entry() else { return Ok(()) };
        let what = || format!("cannot write the recording {}", self.path);
        self.writer.append(&entry).map_err(|source| WatcherError { what: what(), source: Some(source) })
    }
}

/// An older recording is moved aside first: it may have taken hours to make.
fn create(path: &Path) -> io::Result<File> {
    let path = match Place::of(path)? {
        Place::Stream(path) => return open_stream(&path),
        Place::Regular(path) => path,
    };
    let found = path.metadata();
    let is_empty = found.as_ref().is_ok_and(|found| found.len() == 0);
    if found.is_ok() && !is_empty {
        move_aside(&path)?;
    }
    let file = if is_empty { File::options().write(true).open(path) } else { File::create_new(path) }?;
    lock(&file)?;
    Ok(file)
}

/// To the first of FILE.old, FILE.old.2, ... that is free: two attempts that fail must not cost a good recording.
fn move_aside(path: &Path) -> io::Result<()> {
    for number in 1.. {
        let aside = aside(path, number);
        match fs::hard_link(path, &aside) {
            Ok(()) => return fs::remove_file(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            // Not every file system has links, and not every file may have one.
            Err(_) if aside.symlink_metadata().is_err() => return fs::rename(path, aside),
            Err(error) => return Err(error),
        }
    }
    unreachable!("there are fewer files than numbers")
}

fn aside(path: &Path, number: usize) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(if number == 1 { ".old".to_owned() } else { format!(".old.{number}") });
    name.into()
}

/// The next line starts where it should: a last line that lacks its end gets it, one that breaks off is cut. Readers
/// of recordings take them the same way.
fn append(path: &Path) -> io::Result<File> {
    let mut file = File::options().append(true).open(path)?;
    lock(&file)?;
    let text = fs::read(path)?;
    let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    if store::is_whole(&text[whole..]) {
        file.write_all(b"\n")?;
    } else {
        file.set_len(whole as u64)?;
    }
    Ok(file)
}

/// Two that write into one recording would break it. Where there are no locks, nobody looks.
fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(io::Error::other("another whyslow is writing it")),
        _ => Ok(()),
    }
}
