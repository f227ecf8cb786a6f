//! Recordings survive being written, read, cut off and broken, and what is read back gives the same result to the
//! byte.

mod common;

#[path = "recording/arbitrary.rs"]
mod arbitrary;

use std::fs;
use std::iter;
use std::path::PathBuf;

use common::{Answer, WHITE, ask, text_of, whyslow};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use whyslow::analysis::analyze;
use whyslow::machine::simulated::{Cost, Failure, How, Interrupt, Program, Rights, When, World};
use whyslow::model::{Entry, Recording};
use whyslow::plan::Question;
use whyslow::report::{self, Style, compose, render};
use whyslow::store::{ReadError, Writer, read, read_on};

fn written(recording: &Recording) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    let ends = [
        recording.looks.as_ref().map(Entry::Looks),
        recording.hook_failure.as_ref().map(Entry::Hook),
        recording.end.as_ref().map(Entry::End),
        recording.explained.map(Entry::Explained),
    ];
    let runs = recording.runs.iter().map(Entry::Run);
    let entries = iter::once(Entry::header(&recording.header)).chain(runs).chain(ends.into_iter().flatten());
    entries.for_each(|entry| writer.append(&entry).unwrap());
    bytes
}

/// The same cases in every run of the tests.
fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]))
}

fn measured() -> Recording {
    let question = Question { runs: Some(6), ..ask(&["a", "b"]) };
    Answer::of(World::pair(0.05, 1.2).with_noise(WHITE).with_tick(0.004), &question).recording
}

#[test]
fn every_recording_is_read_back_as_it_was() {
    let check = |recording: Recording| {
        let read_back = read(&written(&recording)[..]).expect("a recording");
        prop_assert_eq!(&read_back, &recording);
        prop_assert_eq!(analyze(&read_back), analyze(&recording));
        Ok(())
    };
    runner(100).run(&arbitrary::recording(), check).unwrap();
}

/// Whatever the numbers are, there is a result, and it can be printed in both forms.
#[test]
fn every_recording_has_a_result_without_nonsense() {
    let check = |recording: Recording| {
        let analysis = analyze(&recording);
        let text = render(&compose(&analysis), Style { width: 80, colour: false, unicode: true });
        let json = report::json(&recording, &analysis);
        prop_assert!(!text.contains("NaN") && !text.contains("infx"), "{}", text);
        prop_assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{:?}", text);
        prop_assert!(!json["alone"].is_object() || json["alone"]["median"].is_number(), "{}", json);
        for comparison in json["comparisons"].as_array().unwrap() {
            prop_assert!(comparison["ratio"]["point"].is_number(), "{}", comparison);
        }
        Ok(())
    };
    runner(100).run(&arbitrary::recording(), check).unwrap();
}

#[test]
fn a_measured_recording_is_read_back_as_it_was() {
    let recording = measured();
    let read_back = read(&written(&recording)[..]).unwrap();
    assert_eq!(read_back, recording);
    assert_eq!(analyze(&read_back), analyze(&recording));
}

/// A killed program, a full disk or a lost cable may cut anywhere.
#[test]
fn a_recording_that_is_cut_anywhere_keeps_its_whole_lines() {
    let recording = measured();
    let bytes = written(&recording);
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let last_three: usize = lines[lines.len() - 3..].iter().map(|line| line.len()).sum();
    for cut in bytes.len() - last_three..=bytes.len() {
        let whole_lines = bytes[..cut].iter().filter(|&&byte| byte == b'\n').count();
        let read_back = read(&bytes[..cut]).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        let entries = read_back.runs.len()
            + usize::from(read_back.looks.is_some())
            + usize::from(read_back.end.is_some());
        // A line that lacks nothing but its end is whole as well.
        let is_whole =
            entries == whole_lines - 1 || (entries == whole_lines && bytes.get(cut) == Some(&b'\n'));
        assert!(is_whole, "cut at {cut}: {entries} entries of {whole_lines} lines");
    }
}

#[test]
fn a_cut_header_says_that_line_1_is_none() {
    let bytes = written(&measured());
    let header = bytes.iter().position(|&byte| byte == b'\n').unwrap();
    assert!(matches!(read(&bytes[..0]), Err(ReadError::Empty)));
    for cut in 1..header {
        let error = read(&bytes[..cut]).expect_err("no recording");
        assert!(error.to_string().starts_with("line 1 "), "cut at {cut}: {error}");
    }
    let no_runs = read(&bytes[..header]).unwrap();
    assert!(no_runs.runs.is_empty() && no_runs.end.is_none());
}

#[test]
fn a_broken_line_in_the_middle_is_named() {
    let bytes = written(&measured());
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    let middle = lines[6].len() / 2;
    lines[6].truncate(middle);
    lines[6].push(b'\n');
    let error = read(&lines.concat()[..]).expect_err("a broken line");
    assert!(matches!(error, ReadError::Broken { line: 7, .. }), "{error}");
    assert!(error.to_string().starts_with("line 7: "), "{error}");
}

/// However the text is split among the CPUs, borders of its blocks before, in and behind every line.
const SPLITS: [(usize, u64); 5] = [(1, 1), (2, 1), (2, 1_000), (3, 700), (8, 1 << 20)];

#[test]
fn a_recording_read_on_many_cpus_is_the_same() {
    let recording = measured();
    let bytes = written(&recording);
    for (cpus, block_bytes) in SPLITS {
        assert_eq!(read_on(cpus, block_bytes, &bytes[..]).unwrap(), recording, "{cpus} {block_bytes}");
        let cut = read_on(cpus, block_bytes, &bytes[..bytes.len() - 5]).unwrap();
        assert_eq!(cut, Recording { end: None, ..recording.clone() }, "{cpus} {block_bytes}");
    }
}

#[test]
fn a_broken_line_is_named_on_many_cpus_too() {
    let bytes = written(&measured());
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let wrong: &[u8] =
        br#"{"run":{"variant":7,"block":0,"position":0,"start_s":0.0,"exit":{"code":0},"values":[]}}
"#;
    for broken in 1..lines.len() {
        for (line, kind) in [(&b"{\n"[..], "Broken"), (wrong, "Inconsistent"), (lines[0], "SecondHeader")] {
            let mut lines = lines.clone();
            lines[broken] = line;
            for (cpus, block_bytes) in SPLITS {
                let error = read_on(cpus, block_bytes, &lines.concat()[..]).expect_err(kind);
                assert!(format!("{error:?}").starts_with(kind), "{error:?}");
                assert!(error.to_string().starts_with(&format!("line {}: ", broken + 1)), "{error}");
            }
        }
    }
}

fn changed(from: &str, to: &str) -> Result<Recording, ReadError> {
    let text = String::from_utf8(written(&measured())).unwrap();
    assert!(text.contains(from), "{from} is not in {text}");
    read(text.replacen(from, to, 1).as_bytes())
}

#[test]
fn a_newer_recording_is_refused_and_says_so() {
    let error = changed("\"version\":1", "\"version\":2").unwrap_err();
    assert!(matches!(error, ReadError::Newer(2)));
    assert!(error.to_string().contains("newer whyslow"), "{error}");
    let other_shape = read(&br#"{"whyslow":{"version":99,"anything":[]}}"#[..]);
    assert!(matches!(other_shape, Err(ReadError::Newer(99))), "whatever its header looks like");
}

#[test]
fn what_later_code_relies_on_is_checked() {
    let changes = [
        ("\"base\":0", "\"base\":2"),
        ("\"confidence\":0.95", "\"confidence\":1.5"),
        ("\"confidence\":0.95", "\"confidence\":1.0"),
        ("\"margin\":0.02", "\"margin\":-2.0"),
        ("\"budget_s\":30.0", "\"budget_s\":0.0"),
        ("\"variant\":1", "\"variant\":2"),
        ("\"block\":3", "\"block\":1000000000000"),
        ("\"alpha_each\":0.", "\"alpha_each\":7."),
        ("\"at\":[6]", "\"at\":[]"),
        ("\"at\":[6]", "\"at\":[18446744073709551615]"),
        ("\"block\":3", "\"block\":10000000"),
        ("\"values\":[0.", "\"values\":[-0."),
        ("\"values\":[0.", "\"values\":[1e300,0."),
        ("\"start_s\":0.", "\"start_s\":-1."),
    ];
    for (from, to) in changes {
        let error = changed(from, to).expect_err(to);
        assert!(error.to_string().starts_with("line "), "{to}: {error}");
    }
}

/// As `/dev/zero`, and a file that is one line.
#[test]
fn a_line_without_end_is_refused_before_it_fills_the_memory() {
    let endless = || std::io::BufReader::new(std::io::repeat(b' '));
    assert!(matches!(read(endless()), Err(ReadError::NoHeader)));
    let begun = std::io::Cursor::new(written(&measured()));
    let error = read(std::io::BufReader::new(std::io::Read::chain(begun, endless()))).expect_err("endless");
    assert!(matches!(error, ReadError::TooLong { line } if line > 10), "{error}");
}

#[test]
fn a_hook_of_no_variant_is_refused() {
    let mut bytes = written(&measured());
    let hook = br#"{"hook":{"kind":"setup","variant":2,"block":null,"exit":{"code":1},"stderr_tail":""}}"#;
    bytes.extend([&hook[..], b"\n"].concat());
    let error = read(&bytes[..]).expect_err("no such variant");
    assert!(matches!(error, ReadError::Inconsistent { .. }), "{error}");
}

#[test]
fn garbage_is_refused_at_its_first_line() {
    let garbage: [&[u8]; 7] = [
        b"\n",
        b"{}\n",
        b"hello\n",
        b"\xff\xfe\x00",
        b"[1,2]\n",
        b"null",
        b"{\"run\":{}}\n{\"whyslow\":1}\n",
    ];
    for bytes in garbage {
        let error = read(bytes).expect_err("no recording");
        assert!(error.to_string().starts_with("line 1 "), "{error}");
    }
}

#[test]
fn a_second_header_is_refused() {
    let mut bytes = written(&measured());
    bytes.extend(bytes.clone());
    assert!(matches!(read(&bytes[..]), Err(ReadError::SecondHeader { line }) if line > 10));
}

/// Everything that can end a measurement, each in a world of its own.
fn endings() -> Vec<(&'static str, World)> {
    let noisy = |ratio| World::pair(0.05, ratio).with_noise(WHITE);
    let failing =
        |failure| noisy(1.0).with_program(Program::new("c", Cost::of_cpu(0.05)).with_failure(failure));
    let message = Some("it\u{1b}[31m says \"no\"\n\tand stops".to_owned());
    let late = Failure { when: When::From(5), message, ..Failure::always(How::Exit(3)) };
    vec![
        ("decided", noisy(1.2).with_program(Program::new("c", Cost::of_cpu(0.02)))),
        ("ticks and no rights", failing_never(noisy(1.0).with_tick(0.01).with_rights(Rights::none()))),
        ("failed", failing(late)),
        ("failed at once", failing(Failure::always(How::Signal(9)))),
        ("interrupted", failing_never(noisy(1.2)).with_interrupt(Interrupt::AfterRuns(40))),
        ("interrupted at once", failing_never(noisy(1.2)).with_interrupt(Interrupt::AfterRuns(0))),
    ]
}

fn failing_never(world: World) -> World {
    world.with_program(Program::new("c", Cost::of_cpu(0.05)))
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

#[test]
fn the_report_of_a_recording_is_what_was_printed_when_it_was_made() {
    let folder = Folder::new();
    let file = folder.file("run.jsonl");
    let file = text_of(&file);
    for (name, world) in endings() {
        for form in [&[][..], &["--json"], &["--quiet"], &["--color", "always"]] {
            let compare = [&["compare", "a", "b", "c", "--seed", "3", "--record", file], form].concat();
            let made = whyslow(world.clone(), &compare);
            let shown = whyslow(World::default(), &[&["report", file], form].concat());
            // A comparison without a single run prints nothing but its error.
            if !made.stdout.is_empty() {
                assert_eq!(shown.stdout, made.stdout, "{name} {form:?}");
            }
            assert_eq!((shown.status as u8, shown.stderr.as_str()), (0, ""), "{name}");
        }
    }
}

#[test]
fn a_recording_on_disk_holds_a_whole_line_for_each_run() {
    let folder = Folder::new();
    let file = folder.file("run.jsonl");
    whyslow(World::pair(0.05, 1.5), &["compare", "a", "b", "--runs", "6", "--record", text_of(&file)]);
    let text = fs::read_to_string(&file).unwrap();
    let kinds: Vec<&str> = text.lines().map(|line| &line[2..5]).collect();
    assert!(text.ends_with('\n'));
    assert_eq!(kinds[0], "why");
    assert_eq!(kinds.iter().filter(|kind| **kind == "run").count(), 2 * 7);
    assert_eq!(&kinds[kinds.len() - 2..], ["loo", "end"]);
}
