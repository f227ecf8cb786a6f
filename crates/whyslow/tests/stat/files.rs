//! Which files are taken, how they are read, and what is compared with what.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::{Files, json, peer, shown, stat};
use whyslow::cli::Status;

#[test]
fn every_form_is_read() {
    for (file, metric, count) in [
        ("numbers-iguana.txt", "value", 7),
        ("hyperfine-1.15-parameters.json", "time", 4),
        ("hyperfine-1.20.json", "time", 3),
        ("hyperfine-2.json", "time_wall_clock", 3),
        ("hyperfine-1.15-parameters.csv", "time", 0),
        ("go.txt", "ns/op", 3),
        ("pyperf.json", "value", 6),
        ("pytest-data.json", "time", 0),
        ("google-benchmark.json", "real_time", 3),
        ("jmh.json", "ops/s", 0),
        ("perf-stat-repeated.json", "", 0),
        ("benchmark-pm.txt", "", 0),
        ("criterion", "time", 0),
    ] {
        let result = json(&[&peer(file)]);
        let sets = result["sets"].as_array().unwrap();
        assert!(!sets.is_empty(), "{file}");
        let known = |set: &&serde_json::Value| metric.is_empty() || set["metric"] == metric;
        let set = sets.iter().find(known);
        assert!(set.is_some() || count == 0, "{file}: no {metric} in {result:#}");
        if count > 0 {
            assert_eq!(set.unwrap()["count"], count, "{file}");
        }
    }
}

#[test]
fn a_directory_of_criterion_is_searched_for_its_last_samples() {
    let files = Files::new();
    let sample = |time: u32| format!("{{\"iters\": [10, 20], \"times\": [{}, {}]}}", 10 * time, 20 * time);
    for (name, run, time) in [("sort/10", "base", 90), ("sort/10", "new", 100), ("sort/20", "new", 300)] {
        files.write(&format!("criterion/{name}/{run}/sample.json"), &sample(time));
        let id = format!("{{\"group_id\": \"sort\", \"full_id\": \"{name}\"}}");
        files.write(&format!("criterion/{name}/{run}/benchmark.json"), &id);
    }
    let folder = |name: &str| files.path(name).to_str().unwrap().to_owned();
    let result = json(&[&folder("criterion")]);
    let names: Vec<&str> =
        result["sets"].as_array().unwrap().iter().map(|set| set["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["sort/10", "sort/20"]);
    assert_eq!(result["sets"][0]["summary"]["median"], 1e-7);
    let (base, new) = (folder("criterion/sort/10/base"), folder("criterion/sort/10/new"));
    let compared = json(&[&base, &new]);
    assert!((compared["comparisons"][0]["change_of_medians"].as_f64().unwrap() - 1.0 / 9.0).abs() < 1e-9);
}

#[test]
fn the_form_can_be_forced_and_the_column_chosen() {
    let files = Files::new();
    let table = files.write("table", "a;1;10\nb;2;20\nc;3;30\n# comment\nd;4;40\n");
    let median = |arguments: &[&str]| {
        json(&[&[table.as_str()], arguments].concat())["sets"][0]["summary"]["median"].clone()
    };
    assert_eq!(median(&["-d", ";", "-C", "2"]), 2.5);
    assert_eq!(median(&["--delimiters", ";", "--column", "3"]), 25.0);
    let odd = files.write("odd", "{\"results\": []}\n");
    assert_eq!(stat(&["--form", "numbers", &odd]).status, Status::CouldNot);
    let forced = files.write("forced", "BenchmarkA 1 5 ns/op\n");
    assert!(shown(&["--form", "go", &forced]).contains("ns/op"));
}

#[test]
fn a_metric_can_be_chosen_and_a_view_of_one_says_which() {
    let file = peer("hyperfine-1.20.json");
    let names = |arguments: &[&str]| -> Vec<String> {
        let result = json(&[&[file.as_str()], arguments].concat());
        let sets = result["sets"].as_array().unwrap();
        sets.iter().map(|set| set["metric"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&[]), ["time", "memory_usage_byte"]);
    assert_eq!(names(&["--metric", "memory_usage_byte"]), ["memory_usage_byte"]);
    let printed = stat(&[&file, "--view", "ministat"]);
    assert_eq!(printed.stderr, "note: time alone is shown; --metric chooses among time, memory_usage_byte\n");
}

#[test]
fn names_belong_together_across_files_and_the_first_is_the_base_within_one() {
    let files = Files::new();
    let hyperfine = |commands: &[(&str, f64)]| {
        let result = |(name, time): &(&str, f64)| {
            format!("{{\"command\": \"{name}\", \"times\": [{time}, {}, {}]}}", time + 0.1, time + 0.2)
        };
        format!("{{\"results\": [{}]}}", commands.iter().map(result).collect::<Vec<_>>().join(","))
    };
    let old = files.write("old", &hyperfine(&[("x", 1.0), ("y", 2.0), ("z", 3.0)]));
    let new = files.write("new", &hyperfine(&[("y", 4.0), ("x", 1.0)]));
    let pairs = |arguments: &[&str]| -> Vec<(String, u64, u64)> {
        let result = json(arguments);
        let pair = |comparison: &serde_json::Value| {
            let place = |name: &str| comparison[name].as_u64().unwrap();
            (comparison["name"].as_str().unwrap().to_owned(), place("base_set"), place("other_set"))
        };
        result["comparisons"].as_array().unwrap().iter().map(pair).collect()
    };
    assert_eq!(pairs(&[&old, &new]), [("x".to_owned(), 0, 4), ("y".to_owned(), 1, 3)]);
    assert_eq!(pairs(&[&old]), [("y".to_owned(), 0, 1), ("z".to_owned(), 0, 2)]);
    // No name in common: each file for itself.
    let strange = files.write("strange", &hyperfine(&[("p", 1.0), ("q", 2.0)]));
    assert_eq!(pairs(&[&new, &strange]), [("x".to_owned(), 0, 1), ("q".to_owned(), 2, 3)]);
    assert!(shown(&[&new, &strange]).contains("each file is compared within itself"));
    // One set each: whatever they are called.
    let [one, other] =
        [("one", "p"), ("two", "q")].map(|(file, name)| files.write(file, &hyperfine(&[(name, 1.0)])));
    assert_eq!(pairs(&[&one, &other]), [("q".to_owned(), 0, 1)]);
}

#[test]
fn a_file_against_itself_is_a_comparison() {
    let files = Files::new();
    let file = files.numbers("x", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let result = json(&[&file, &file, &file]);
    let comparisons = result["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 2);
    assert!(comparisons.iter().all(|comparison| comparison["ratio"]["point"] == 1.0));
}

#[test]
fn values_said_to_be_interleaved_get_the_verdict_of_blocks() {
    let files = Files::new();
    // A drift of which both have their share: block by block, the other takes 1 % more.
    let drift = |factor: f64| (0..20).map(|k| factor * (1.0 + f64::from(k))).collect::<Vec<f64>>();
    let (base, other) = (files.numbers("base", &drift(1.0)), files.numbers("other", &drift(1.04)));
    let verdict =
        |arguments: &[&str]| json(&[arguments, &[&base, &other]].concat())["comparisons"][0].clone();
    let blocked = verdict(&[]);
    assert_eq!((&blocked["verdict"], &blocked["paired"]), (&"unsafe".into(), &false.into()));
    let paired = verdict(&["--interleaved"]);
    assert_eq!((&paired["verdict"], &paired["paired"]), (&"larger".into(), &true.into()));
    assert!((paired["ratio"]["point"].as_f64().unwrap() - 1.04).abs() < 1e-9);
    assert_eq!(verdict(&["--interleaved", "--margin", "10"])["verdict"], "same");
}

#[test]
fn the_standard_input_is_a_file_like_any_other() {
    let files = Files::new();
    let file = files.numbers("file", &[1.0, 2.0, 3.0]);
    for arguments in [&["-"][..], &[], &[&file, "-"], &["-", &file]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_whyslow"))
            .arg("stat")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"5\n6\n7\n").unwrap();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains("<stdin>"), "{arguments:?}\n{text}");
    }
}
