//! Files that are written: what is in the way of them, what they must not cost, and what is told before measuring.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use whyslow::cli::Status;

use crate::common::{Printed, text_of, whyslow, whyslow_without_machine};
use crate::{COMPARE, slower};

const WHYSLOW: &str = env!("CARGO_BIN_EXE_whyslow");

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn compare(more: &[&str]) -> Printed {
    whyslow(slower(), &[&COMPARE[..], &["--runs", "6"], more].concat())
}

/// A finished recording.
fn recording(folder: &TempDir) -> PathBuf {
    let file = folder.path().join("run.jsonl");
    assert_eq!(compare(&["--record", text_of(&file)]).status, Status::Done);
    file
}

fn export(form: &str, file: &Path) -> String {
    format!("{form}={}", file.display())
}

fn fifo(path: &Path) {
    let name = std::ffi::CString::new(text_of(path)).unwrap();
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
}

#[test]
fn one_file_for_two_things_is_refused_and_left_alone() {
    let folder = folder();
    let file = recording(&folder);
    let name = text_of(&file);
    let other_name = format!("{}/./run.jsonl", text_of(folder.path()));
    let link = folder.path().join("link");
    symlink(&file, &link).unwrap();
    let new = folder.path().join("new");
    let kept = fs::read(&file).unwrap();
    let calls: [Vec<&str>; 6] = [
        vec!["report", name, "--export", &export("json", &file)],
        vec!["report", text_of(&link), "--export", &export("csv", Path::new(&other_name))],
        vec!["compare", "a", "b", "--record", name, "--export", &export("csv", &link)],
        vec!["compare", "a", "b", "--record", text_of(&new), "--output", text_of(&new)],
        vec!["compare", "a", "b", "--record", text_of(&new), "--export", &export("csv", &new)],
        vec!["compare", "a", "b", "--export", &export("csv", &new), "--export", &export("go", &new)],
    ]
    .map(|words| words.into_iter().map(|word| &*word.to_owned().leak()).collect());
    for arguments in calls {
        let printed = whyslow_without_machine(&arguments);
        assert_eq!((printed.status, printed.stdout.as_str()), (Status::CouldNot, ""), "{arguments:?}");
        assert!(printed.stderr.contains(" are one file\nhint: "), "{}", printed.stderr);
    }
    assert_eq!(fs::read(&file).unwrap(), kept);
    assert!(!new.exists());
}

#[test]
fn an_export_touches_nothing_beside_it() {
    let folder = folder();
    let file = recording(&folder);
    let result = folder.path().join("result.csv");
    fs::write(&result, "older").unwrap();
    fs::set_permissions(&result, fs::Permissions::from_mode(0o640)).unwrap();
    let in_the_way = folder.path().join("result.csv.new");
    fifo(&in_the_way);
    let printed = whyslow_without_machine(&["report", text_of(&file), "--export", &export("csv", &result)]);
    assert_eq!((printed.status, printed.stderr.as_str()), (Status::Done, ""));
    assert!(fs::read_to_string(&result).unwrap().starts_with("variant,"));
    assert_eq!(result.metadata().unwrap().mode() & 0o777, 0o640, "the rights of the older file");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "no file is left behind");
}

#[test]
fn an_export_replaces_what_a_link_leads_to() {
    let folder = folder();
    let file = recording(&folder);
    let (link, target) = (folder.path().join("link"), folder.path().join("target"));
    symlink("target", &link).unwrap();
    for older in [None, Some("x".repeat(100_000))] {
        older.iter().for_each(|older| fs::write(&target, older).unwrap());
        let printed = whyslow_without_machine(&["report", text_of(&file), "--export", &export("org", &link)]);
        assert_eq!((printed.status, printed.stderr.as_str()), (Status::Done, ""));
        assert!(fs::read_link(&link).is_ok(), "it stays a link");
        let text = fs::read_to_string(&target).unwrap();
        assert!(text.starts_with('|') && text.ends_with("|\n") && text.len() < 1_000, "{text}");
    }
}

#[test]
fn every_older_recording_is_kept_also_behind_a_link() {
    let folder = folder();
    let file = recording(&folder);
    let good = fs::read(&file).unwrap();
    let link = folder.path().join("link");
    symlink(&file, &link).unwrap();
    for _ in 0..2 {
        assert_eq!(compare(&["--record", text_of(&link)]).status, Status::Done);
    }
    assert_eq!(fs::read(folder.path().join("run.jsonl.old")).unwrap(), good);
    assert!(folder.path().join("run.jsonl.old.2").exists());
    assert!(fs::read_link(&link).is_ok(), "it stays a link");
}

#[test]
fn a_pipe_that_nobody_reads_costs_no_result() {
    let folder = folder();
    let file = recording(&folder);
    let pipe = folder.path().join("pipe");
    fifo(&pipe);
    let began = Instant::now();
    let printed = whyslow_without_machine(&["report", text_of(&file), "--export", &export("csv", &pipe)]);
    assert_eq!(printed.status, Status::CouldNot);
    assert!(printed.stderr.contains("nobody reads this pipe\nhint: "), "{}", printed.stderr);
    assert!(printed.stdout.contains("slower than a"), "{}", printed.stdout);
    let printed = compare(&["--record", text_of(&pipe)]);
    assert!(printed.stderr.contains("nobody reads this pipe\nhint: "), "{}", printed.stderr);
    assert!(began.elapsed() < Duration::from_secs(60), "it does not wait for ever");
}

#[test]
fn places_that_cannot_be_written_are_told_before_anything_runs() {
    let folder = folder();
    for (place, reason) in [
        (".", "directory"),
        ("", "it has no name"),
        ("/proc/whyslow-result", "cannot write /proc/"),
        ("/nowhere/result", "there is no such folder"),
        (text_of(folder.path()), "directory"),
    ] {
        let arguments = ["compare", "a", "b", "--export", &format!("json={place}")];
        let printed = whyslow_without_machine(&arguments);
        assert_eq!((printed.status, printed.stdout.as_str()), (Status::CouldNot, ""), "{place}");
        assert!(printed.stderr.contains(reason) && printed.stderr.contains("\nhint: "), "{}", printed.stderr);
    }
}

#[test]
fn two_results_do_not_share_the_output() {
    for arguments in [&["--record", "-"][..], &["--json", "--export", "csv=-"]] {
        let printed = whyslow_without_machine(&[&["compare", "a", "b"], arguments].concat());
        assert_eq!((printed.status, printed.stdout.as_str()), (Status::CouldNot, ""));
        assert!(printed.stderr.contains("standard output") && printed.stderr.contains("\nhint: "));
    }
}

/// As the operating system starts it, by a shell that sets its limits and outputs.
fn in_shell(script: &str, file: &Path) -> std::process::Output {
    Command::new("sh").args(["-c", script, WHYSLOW, text_of(file)]).output().unwrap()
}

#[test]
fn a_limit_of_the_size_of_files_is_an_error_like_any_other() {
    let folder = folder();
    let file = recording(&folder);
    let script = "ulimit -f 1; exec \"$0\" report \"$1\" --export json=\"$1.json\"";
    let output = in_shell(script, &file);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.starts_with("error: cannot write "), "{errors}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("slower than a"), "the result is shown");
}

#[test]
fn an_output_that_is_only_for_reading_is_an_error() {
    let folder = folder();
    let output = in_shell("exec \"$0\" report \"$1\" 1</dev/null", &recording(&folder));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.starts_with("error: cannot write the result"), "{errors}");
}

#[test]
fn what_another_tool_has_written_is_told_from_garbage() {
    let folder = folder();
    let file = folder.path().join("other");
    for (text, hint) in [("1.5\n1.6\n1.7\n", "whyslow stat "), ("\0\0\0", "whyslow compare --record")] {
        fs::write(&file, text).unwrap();
        let printed = whyslow_without_machine(&["report", text_of(&file)]);
        let (error, rest) = printed.stderr.split_once('\n').unwrap();
        assert!(error.ends_with("line 1 is not the header of a recording"), "{error}");
        assert!(rest.contains(hint), "{rest}");
    }
}

#[test]
fn pages_of_the_manual_lead_to_each_other() {
    let program = whyslow_without_machine(&["man"]).stdout;
    for subcommand in ["compare", "report", "stat", "doctor"] {
        assert!(program.contains(&format!("whyslow man {subcommand}")), "{program}");
        assert!(whyslow_without_machine(&["man", subcommand]).stdout.contains("SEE ALSO"));
    }
}

#[test]
fn completions_know_values() {
    let script = whyslow_without_machine(&["completions", "bash"]).stdout;
    for value in ["ministat", "hyperfine-json2=", "autogroup", "peak_rss_bytes"] {
        assert!(script.contains(value), "{value}");
    }
}
