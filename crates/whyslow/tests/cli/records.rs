//! What happens to recordings: to the one being written, to an older one in its place, and to the result when neither
//! can be had.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use whyslow::cli::Status;
use whyslow::machine::MachineError;

use crate::common::{PLAIN, Printed, text_of, whyslow, whyslow_with, whyslow_without_machine};
use crate::{COMPARE, slower};

struct Place {
    /// Removed with everything in it at the end.
    _folder: TempDir,
    file: PathBuf,
    old: PathBuf,
}

/// A folder with a file name for a recording, and that of an older one.
fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let (file, old) = (folder.path().join("run.jsonl"), folder.path().join("run.jsonl.old"));
    Place { _folder: folder, file, old }
}

fn record(path: &Path, more: &[&str]) -> Printed {
    whyslow(slower(), &[&COMPARE[..], &["--record", text_of(path)], more].concat())
}

#[test]
fn an_older_recording_is_kept_beside_the_new_one() {
    let Place { file, old, .. } = &place();
    record(file, &["--runs", "6"]);
    let first = fs::read(file).unwrap();
    assert!(!old.exists());
    assert_eq!(record(file, &["--runs", "8"]).status, Status::Done);
    assert_eq!(fs::read(old).unwrap(), first);
    assert_ne!(fs::read(file).unwrap(), first);
}

#[test]
fn what_is_asked_wrongly_touches_no_file() {
    let Place { file, old, .. } = &place();
    fs::write(file, "hours of work").unwrap();
    let name = text_of(file);
    let wrong: [&[&str]; 4] = [
        &["compare", "a", "b", "-o", name, "--runz", "5"],
        &["compare", "a", "-o", name],
        &["compare", "a", "b", "-o", name, "--margin", "0"],
        &["report", name, "--runs", "5"],
    ];
    for arguments in wrong {
        assert_eq!(whyslow_without_machine(arguments).status, Status::CouldNot, "{arguments:?}");
    }
    let no_machine = |_settings| Err(MachineError::new("none"));
    let arguments = [&COMPARE[..], &["-o", name]].concat();
    assert_eq!(whyslow_with(PLAIN, Box::new(no_machine), &arguments).status, Status::CouldNot);
    assert_eq!(fs::read_to_string(file).unwrap(), "hours of work");
    assert!(!old.exists());
}

#[test]
fn a_place_that_cannot_be_written_is_refused_before_anything_runs() {
    let Place { file, .. } = &place();
    for name in [file.join("below/a/file"), file.parent().unwrap().to_owned()] {
        let printed = record(&name, &[]);
        assert_eq!((printed.status, printed.stdout.as_str()), (Status::CouldNot, ""));
        assert!(printed.stderr.starts_with("error: cannot write the recording "), "{}", printed.stderr);
        assert!(printed.stderr.contains("\nhint: choose another file with --record"), "{}", printed.stderr);
    }
}

#[test]
fn a_full_disk_ends_it_before_the_first_run() {
    let printed = record(Path::new("/dev/full"), &[]);
    assert_eq!((printed.status, printed.stdout.as_str()), (Status::CouldNot, ""));
    assert!(printed.stderr.contains("cannot write the recording /dev/full: "), "{}", printed.stderr);
    assert!(Path::new("/dev/full").exists());
}

/// A pipe whose reader goes away stands for a disk that fills up on the way.
#[test]
fn a_recording_that_breaks_off_leaves_the_result_until_then() {
    let Place { file, .. } = &place();
    let name = std::ffi::CString::new(text_of(file)).unwrap();
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let reader = std::thread::spawn({
        let file = file.clone();
        move || read_some(&file)
    });
    let printed = record(file, &["--runs", "200"]);
    reader.join().unwrap();
    assert_eq!(printed.status, Status::CouldNot);
    assert!(printed.stderr.contains("error: cannot write the recording"), "{}", printed.stderr);
    assert!(printed.stdout.contains("b is 1.") && printed.stdout.contains("slower than a"), "{printed:?}");
}

/// Takes the first 16 kB, about forty runs, and lets no more than a page wait.
fn read_some(path: &Path) {
    let mut pipe = File::open(path).unwrap();
    unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETPIPE_SZ, 4096) };
    let mut bytes = [0; 16_384];
    pipe.read_exact(&mut bytes).unwrap();
}

#[test]
fn an_output_that_cannot_be_written_is_an_error_and_the_recording_stays() {
    let Place { file, .. } = &place();
    let arguments = [&COMPARE[..], &["--record", text_of(file)]].concat();
    for (path, status) in [("/dev/full", Status::CouldNot), ("/dev/null", Status::Done)] {
        let mut stdout = File::options().write(true).open(path).unwrap();
        let mut stderr = Vec::new();
        let machine = |_settings| {
            let machine = whyslow::machine::simulated::Simulated::new(slower());
            Ok(Box::new(machine) as Box<dyn whyslow::machine::Machine>)
        };
        let words = std::iter::once("whyslow").chain(arguments.iter().copied()).map(Into::into);
        let screen = whyslow::cli::Screen::plain(&mut stdout, &mut stderr);
        assert_eq!(whyslow::cli::run(words, screen, Box::new(machine)), status, "{path}");
        let shown = whyslow_without_machine(&["report", text_of(file)]);
        assert!(shown.stdout.starts_with("b is 1.20x slower"), "{shown:?}");
    }
}

#[test]
fn what_is_no_recording_cannot_be_shown() {
    let Place { file, .. } = &place();
    let missing = whyslow_without_machine(&["report", text_of(file)]);
    assert_eq!(missing.status, Status::CouldNot);
    assert!(missing.stderr.starts_with("error: cannot open the recording "), "{}", missing.stderr);
    for (bytes, reason) in [("", "it is empty"), ("{\"a\": 1}\n", "line 1 is not the header")] {
        fs::write(file, bytes).unwrap();
        let printed = whyslow_without_machine(&["report", text_of(file)]);
        assert_eq!((printed.status, printed.stdout.as_str()), (Status::CouldNot, ""));
        assert!(printed.stderr.contains(reason) && printed.stderr.contains("\nhint: "), "{}", printed.stderr);
    }
}

#[test]
fn a_recording_that_is_still_being_written_can_be_shown() {
    let Place { file, .. } = &place();
    record(file, &["--runs", "30"]);
    let text = fs::read_to_string(file).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(file, lines[..40].concat() + "{\"run\":{\"vari").unwrap();
    let printed = whyslow_without_machine(&["report", text_of(file)]);
    assert_eq!((printed.status, printed.stderr.as_str()), (Status::Done, ""));
    assert!(printed.stdout.starts_with("unfinished: "), "{}", printed.stdout);
    assert!(printed.stdout.contains("18 blocks"), "{}", printed.stdout);
}
