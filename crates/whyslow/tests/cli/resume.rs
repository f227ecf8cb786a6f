//! Recordings that broke off and go on: as if nothing had happened, whatever the place.

use std::fs::{self, File};

use serde_json::Value;
use whyslow::cli::Status;
use whyslow::machine::simulated::Interrupt;

use crate::common::{Printed, text_of, whyslow, whyslow_without_machine};
use crate::{COMPARE, slower};

/// A recording of three blocks, line by line.
fn whole() -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    whyslow(slower(), &[&COMPARE[..], &["--runs", "3", "--record", text_of(&file)]].concat());
    fs::read_to_string(file).unwrap().split_inclusive('\n').map(str::to_owned).collect()
}

/// What a resumed text leaves: what was printed, what is shown again, and the text.
fn resumed(text: &str) -> (Printed, Printed, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    fs::write(&file, text).unwrap();
    let printed = whyslow(slower(), &["compare", "--resume", text_of(&file)]);
    let shown = whyslow_without_machine(&["report", text_of(&file)]);
    (printed, shown, fs::read_to_string(&file).unwrap())
}

/// Numbers of the blocks of the runs.
fn blocks(text: &str) -> Vec<u64> {
    let entries = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries.filter_map(|entry| entry["run"]["block"].as_u64()).collect()
}

/// Header, two runs of the warm-up, six of three blocks, looks and end.
#[test]
fn a_recording_goes_on_from_every_line() {
    let lines = whole();
    assert_eq!(lines.len(), 11);
    for kept in 1..=10 {
        let (printed, shown, text) = resumed(&lines[..kept].concat());
        assert_eq!((printed.status, printed.stderr.as_str()), (Status::Done, ""), "{kept} lines");
        assert_eq!(shown.stdout, printed.stdout, "{kept} lines");
        let mut measured: Vec<u64> = blocks(&text);
        measured.dedup_by_key(|block| *block);
        let is_cut_in_a_block = (2..=9).contains(&kept) && kept % 2 == 0;
        let expected = 4 + u64::from(is_cut_in_a_block && kept > 2);
        assert_eq!(measured.len() as u64, expected, "{kept} lines: {measured:?}");
    }
}

/// A last line that lacks nothing but its end counts, for who shows it and for who goes on.
#[test]
fn a_line_that_lacks_its_end_gets_it() {
    let lines = whole();
    for kept in 1..=10 {
        let text = lines[..kept].concat();
        let (printed, shown, made) = resumed(text.trim_end());
        assert_eq!(printed.status, Status::Done, "{}", printed.stderr);
        assert_eq!(shown.stdout, printed.stdout, "{kept} lines");
        assert!(made.starts_with(&text), "{kept} lines");
    }
}

#[test]
fn a_line_that_breaks_off_is_cut() {
    let text = whole()[..7].concat();
    let (printed, shown, made) = resumed(&format!("{text}{{\"run\":{{\"vari"));
    assert_eq!(printed.status, Status::Done, "{}", printed.stderr);
    assert_eq!(shown.stdout, printed.stdout);
    assert!(made.starts_with(&text));
}

#[test]
fn an_interrupt_in_the_warm_up_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let interrupted = slower().with_interrupt(Interrupt::AfterRuns(0));
    whyslow(interrupted, &[&COMPARE[..], &["--runs", "3", "--record", text_of(&file)]].concat());
    let printed = whyslow(slower(), &["compare", "--resume", text_of(&file)]);
    assert_eq!((printed.status, printed.stderr.as_str()), (Status::Done, ""));
}

#[test]
fn a_recording_that_somebody_writes_is_left_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    fs::write(&file, whole()[..5].concat()).unwrap();
    let other = File::open(&file).unwrap();
    other.lock().unwrap();
    let printed = whyslow(slower(), &["compare", "--resume", text_of(&file)]);
    assert_eq!(printed.status, Status::CouldNot);
    assert!(printed.stderr.contains("another whyslow is writing it\nhint: "), "{}", printed.stderr);
}
