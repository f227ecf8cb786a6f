//! What is printed: the default view word for word, and ministat's own text.

use std::process::Command;

use crate::common::{Printed, WHITE, whyslow, whyslow_without_machine};
use crate::{Files, assert_golden, json, peer, shown, stat};
use serde_json::Value;
use whyslow::machine::simulated::World;

/// Times of one program and of one that takes a little more, in seconds.
fn times(factor: f64) -> Vec<f64> {
    (0..16).map(|k| factor * (0.05 + f64::from(k * 7 % 16) / 4000.0)).collect()
}

fn two(files: &Files) -> [String; 2] {
    [files.numbers("old.txt", &times(1.0)), files.numbers("new.txt", &times(1.21))]
}

#[test]
fn plain_numbers_of_two_files() {
    let files = Files::new();
    let [old, new] = two(&files);
    assert_golden("numbers", &files.plain(&shown(&[&old, &new])));
    assert_golden("interleaved", &files.plain(&shown(&[&old, &new, "--interleaved"])));
    assert_golden("ministat", &files.plain(&shown(&[&old, &new, "--view", "ministat"])));
    assert_golden("csv", &files.plain(&shown(&["-q", &old, &new, "--export", "csv=-"])));
    assert_golden("json", &files.plain(&shown(&[&old, &new, "--json"])));
}

#[test]
fn one_file_with_the_numbers_of_its_tool() {
    let file = peer("hyperfine-same-twice-sort_2.json");
    let text = shown(&[&file]);
    assert_golden("hyperfine", &text);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn two_files_by_name() {
    let files = Files::new();
    let go = |parse: f64, print: f64, other: &str| -> String {
        let rows = |name: &str, time: f64| -> String {
            (0..8)
                .map(|k| format!("Benchmark{name}-8 100 {} ns/op\t{k} B/op\n", time + f64::from(k)))
                .collect()
        };
        rows("Parse", parse) + &rows("Print", print) + &rows(other, 5.0)
    };
    let old = files.write("old/bench.txt", &go(1000.0, 2000.0, "Gone"));
    let new = files.write("new/bench.txt", &go(1100.0, 1900.0, "Fresh"));
    assert_golden("by_name", &files.plain(&shown(&[&old, &new])));
}

/// The words of the real program, where the reader of these lines has the vectors of it.
#[test]
fn ministats_text_comes_through_verbatim() {
    let vectors: Value = serde_json::from_str(include_str!("../data/views/ministat.json")).unwrap();
    for result in vectors["results"].as_array().unwrap() {
        let files = Files::new();
        let set = &vectors["sets"][result["set"].as_str().unwrap()];
        let values = |name: &str| -> Vec<f64> {
            set[name].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
        };
        let (x, y) = (files.numbers("x", &values("x")), files.numbers("y", &values("y")));
        let level = result["confidence"].as_str().unwrap();
        let text = shown(&["--compat", "-s", "-c", level, &x, &y]);
        assert_eq!(files.plain(&text), result["stdout_n"].as_str().unwrap(), "{} {level}", result["set"]);
    }
}

/// Every letter, on columns, against the program where it is installed.
#[test]
fn the_letters_mean_what_they_mean_to_ministat() {
    const PROGRAM: &str = "/usr/bin/ministat";
    if !std::path::Path::new(PROGRAM).exists() {
        return;
    }
    let files = Files::new();
    let table = |shift: i32| -> String {
        (0..15)
            .map(|k| format!("run{k},{}:{} # {k}\n", (k * 5 + shift) % 11 + 20, k * k % 17 + shift))
            .collect()
    };
    let (a, b) = (files.write("a", &table(0)), files.write("b", &table(4)));
    for letters in [
        &["-C", "2"][..],
        &["-C", "3", "-A"],
        &["-C", "3", "-n"],
        &["-C", "2", "-s", "-w", "50"],
        &["-C", "3", "-c", "80"],
        &["-C", "3", "-c", "99.5", "-s"],
    ] {
        let arguments = [&["-d", ",: "], letters, &[a.as_str(), &b]].concat();
        let real = Command::new(PROGRAM).args(&arguments).output().unwrap();
        let real = String::from_utf8(real.stdout).unwrap();
        assert!(real.contains("Median"), "{letters:?}: {real}");
        assert_eq!(shown(&[&arguments[..], &["--compat"]].concat()), real, "{letters:?}");
    }
}

#[test]
fn a_recording_is_shown_as_report_shows_it() {
    let files = Files::new();
    let file = files.path("run.jsonl").to_str().unwrap().to_owned();
    whyslow(World::pair(0.05, 1.2).with_noise(WHITE), &["compare", "a", "b", "--seed", "1", "-o", &file]);
    for more in [&[][..], &["--json"], &["-q"], &["--view", "benchstat"], &["-q", "--export", "csv=-"]] {
        let report = whyslow_without_machine(&[&["report", &file], more].concat());
        let Printed { stdout, stderr, .. } = stat(&[&[file.as_str()], more].concat());
        assert_eq!((&stdout, &stderr), (&report.stdout, &report.stderr), "{more:?}");
    }
    assert!(shown(&[&file]).contains("b is 1.20x slower than a"));
    assert!(shown(&["-A", &file]).contains("Student's t"), "ministat's letters choose its view here too");
}

/// Each recording has a verdict within; between them there is none.
#[test]
fn two_recordings_are_compared_by_name_and_unsafe() {
    let files = Files::new();
    let record = |name: &str, ratio: f64| {
        let file = files.path(name).to_str().unwrap().to_owned();
        let world = World::pair(0.05, ratio).with_noise(WHITE);
        whyslow(world, &["compare", "a", "b", "--seed", "1", "--runs", "20", "-o", &file]);
        file
    };
    let (old, new) = (record("old.jsonl", 1.0), record("new.jsonl", 1.5));
    let result = json(&[&old, &new, "--metric", "wall_s"]);
    let comparisons = result["comparisons"].as_array().unwrap();
    let names: Vec<&Value> = comparisons.iter().map(|comparison| &comparison["name"]).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(comparisons.iter().all(|comparison| comparison["verdict"] == "unsafe"), "{result}");
    for view in ["ministat", "benchstat", "hyperfine", "cmpthese"] {
        let printed = stat(&[&old, &new, "--view", view]);
        let rest = printed.stdout.replace("cannot say faster or slower", "");
        assert!(!rest.contains("faster") && !rest.contains("slower"), "{view}\n{rest}");
    }
}
