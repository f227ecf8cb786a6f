//! Files with numbers in full.

use serde_json::Value;
use whyslow::model::{Edit, Exit, Factor, Level, Recording, Role};

use super::samples::recording;
use super::write;

/// Measured values of a metric in one variant, in order.
fn values(recording: &Recording, variant: usize, metric: &str) -> Vec<f64> {
    let index = recording.metric_index(metric).unwrap();
    let runs = recording.runs.iter().filter(|run| run.variant == variant && run.block >= 1);
    runs.filter_map(|run| run.values.get(index)).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn pair() -> Recording {
    recording(&[("old", 0.010), ("grep 'a|b' \"x\"", 0.012)])
}

#[test]
fn hyperfine_1_finds_its_keys_in_order_and_every_number() {
    let recording = pair();
    let text = write("hyperfine-json", &recording);
    let keys = [
        "command",
        "mean",
        "stddev",
        "median",
        "user",
        "system",
        "min",
        "max",
        "times",
        "memory_usage_byte",
        "exit_codes",
    ];
    let places: Vec<usize> =
        keys.iter().map(|key| text.find(&format!("\n      \"{key}\": ")).expect(key)).collect();
    assert!(places.is_sorted(), "{text}");
    assert!(
        text.starts_with("{\n  \"results\": [\n    {\n      \"command\": \"old\",\n")
            && !text.contains("parameters")
    );

    let file: Value = serde_json::from_str(&text).unwrap();
    for variant in 0..2 {
        let result = &file["results"][variant];
        let times = values(&recording, variant, "wall_s");
        assert_eq!(numbers(&result["times"]), times);
        assert_eq!(numbers(&result["memory_usage_byte"]), [5_242_880.0; 12]);
        assert_eq!(numbers(&result["exit_codes"]), [0.0; 12]);
        let summary = benchmath::summarize(&times).unwrap();
        assert_eq!(result["mean"].as_f64(), Some(summary.mean));
        assert_eq!(result["stddev"].as_f64(), Some(summary.deviation));
        assert_eq!(result["median"].as_f64(), Some(summary.median));
    }
}

#[test]
fn one_run_has_no_deviation_and_failures_keep_their_codes() {
    let mut recording = pair();
    recording.runs.truncate(4);
    let file: Value = serde_json::from_str(&write("hyperfine-json", &recording)).unwrap();
    assert!(file["results"][0]["stddev"].is_null() && file["results"][0]["mean"].is_number());
    assert!(write("csv-summary", &recording).lines().nth(1).unwrap().split(',').nth(2) == Some("0"));

    recording.runs[2].exit = Exit::Code(22);
    recording.runs[3].exit = Exit::Signal(9);
    let file: Value = serde_json::from_str(&write("hyperfine-json", &recording)).unwrap();
    let codes: Vec<f64> =
        (0..2).flat_map(|variant| numbers(&file["results"][variant]["exit_codes"])).collect();
    let mut codes_of_both = codes;
    codes_of_both.sort_by(f64::total_cmp);
    assert_eq!(codes_of_both, [22.0, 137.0]);
}

#[test]
fn a_failed_run_among_good_ones_spoils_no_statistics() {
    let mut recording = pair();
    let last = recording.runs.len() - 1;
    recording.runs[last].exit = Exit::TimedOut;
    recording.runs[last].values.set(0, Some(500.0));
    let file: Value = serde_json::from_str(&write("hyperfine-json", &recording)).unwrap();
    let maxima = (0..2).map(|variant| file["results"][variant]["max"].as_f64().unwrap());
    assert!(maxima.fold(0.0, f64::max) < 1.0);
    assert!(write("csv", &recording).contains("timed out"));
}

#[test]
fn hyperfine_2_has_an_object_for_each_run() {
    let recording = pair();
    let text = write("hyperfine-json2", &recording);
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(file["schema_version"], 2);
    assert_eq!(file["primary_metric"], "time_wall_clock");
    assert_eq!(file["metadata"]["start_time"], "2026-11-30T12:00:00+00:00");
    assert!(text.find("\"schema_version\"") < text.find("\"metadata\""));
    for variant in 0..2 {
        let result = &file["results"][variant];
        let runs = result["measurements"].as_array().unwrap();
        for (ours, theirs) in [
            ("wall_s", "time_wall_clock"),
            ("system_s", "time_system"),
            ("peak_rss_bytes", "memory_peak_resident"),
        ] {
            let read: Vec<f64> = runs.iter().map(|run| run[theirs]["value"].as_f64().unwrap()).collect();
            assert_eq!(read, values(&recording, variant, ours), "{theirs}");
        }
        assert_eq!(runs[0]["exit_code"], 0);
        assert_eq!(result["summary"]["time_wall_clock"]["count"], 12);
        assert_eq!(result["summary"]["memory_peak_resident"]["unit"], "byte");
    }
    assert_eq!(file["results"][0]["command"], "old");
    assert!(file["results"][0]["name"].is_null());
}

/// A reader of RFC 4180.
fn rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut characters = text.chars().peekable();
    let mut is_quoted = false;
    while let Some(c) = characters.next() {
        match c {
            '"' if is_quoted && characters.peek() == Some(&'"') => field.extend(characters.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(std::mem::take(&mut field)),
            '\n' if !is_quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            c => field.push(c),
        }
    }
    rows
}

#[test]
fn csv_holds_every_run_and_every_metric() {
    let mut recording = pair();
    recording.runs[5].stderr_tail = "line, one\n\"line\" two".into();
    recording.runs[6].values.set(1, None);
    let rows = rows(&write("csv", &recording));
    let (header, runs) = rows.split_first().unwrap();
    assert_eq!(header[..7], ["variant", "block", "position", "phase", "start_s", "exit", "stderr_tail"]);
    assert_eq!((runs.len(), header.len()), (recording.runs.len(), 7 + 5 + 4));
    let column = |name: &str| header.iter().position(|field| field == name).unwrap();
    let names = ["old", "grep 'a|b' \"x\""];
    for (row, run) in runs.iter().zip(&recording.runs) {
        assert_eq!(row[0], names[run.variant]);
        assert_eq!(row[column("stderr_tail")], run.stderr_tail);
        assert_eq!(row[column("phase")] == "warmup", run.block == 0);
        let read: Vec<Option<f64>> = row[7..12].iter().map(|field| field.parse().ok()).collect();
        assert_eq!(whyslow::model::Values::from(read), run.values);
    }
}

#[test]
fn the_summary_is_hyperfines() {
    let recording = pair();
    let rows = rows(&write("csv-summary", &recording));
    assert_eq!(rows[0].join(","), "command,mean,stddev,median,user,system,min,max");
    let wall = benchmath::summarize(&values(&recording, 1, "wall_s")).unwrap();
    assert_eq!(rows[2][0], "grep 'a|b' \"x\"");
    assert_eq!(rows[2][1].parse(), Ok(wall.mean));
    assert_eq!(rows[2][7].parse(), Ok(wall.max));
}

#[test]
fn go_lines_can_be_split_at_white_space() {
    let mut recording = recording(&[("a b", 0.010), ("a_b", 0.012), ("/bin/x-8", 0.5)]);
    recording.header.experiment.factors[0].name = "the command".into();
    let text = write("go", &recording);
    assert!(text.starts_with("goos: linux\ngoarch: amd64\ncpu: A CPU\n"), "{text}");
    let lines: Vec<Vec<&str>> =
        text.lines().skip(3).map(|line| line.split_ascii_whitespace().collect()).collect();
    assert_eq!(lines.len(), 36);
    assert!(lines.iter().all(|line| line.len() == 2 + 2 * 5 && line[1] == "1"), "{text}");
    let mut names: Vec<&str> = lines.iter().map(|line| line[0]).collect();
    names.sort();
    names.dedup();
    assert_eq!(
        names,
        [
            "BenchmarkCompare/the_command=%2Fbin%2Fx-8-1",
            "BenchmarkCompare/the_command=a_b#01-1",
            "BenchmarkCompare/the_command=a_b-1",
        ]
    );
    let units: Vec<&str> = lines[0].iter().skip(3).step_by(2).copied().collect();
    assert_eq!(units, ["ns/op", "cpu-ns/op", "user-ns/op", "system-ns/op", "peak-rss-bytes/op"]);
    let of_first = lines.iter().filter(|line| line[0].ends_with("=a_b-1"));
    let read: Vec<f64> = of_first.map(|line| line[2].parse::<f64>().unwrap() / 1e9).collect();
    for (read, value) in read.iter().zip(values(&recording, 0, "wall_s")) {
        assert!((read - value).abs() <= 1e-15 * value, "{read} {value}");
    }
}

#[test]
fn parameters_are_where_hyperfine_has_them() {
    let mut recording = pair();
    let level =
        |value: &str| Level { name: value.into(), edits: vec![Edit::Parameter("n".into(), value.into())] };
    let experiment = &mut recording.header.experiment;
    experiment.factors[0].levels.truncate(1);
    experiment.factors.push(Factor {
        name: "n".into(),
        levels: vec![level("1"), level("2")],
        role: Role::Asked,
    });
    let file: Value = serde_json::from_str(&write("hyperfine-json", &recording)).unwrap();
    assert_eq!(file["results"][1]["parameters"], serde_json::json!({ "n": "2" }));
    recording.header.experiment.factors[0].levels[0].name = "gzip -{n}".into();
    let text = write("go", &recording);
    assert!(
        text.contains("BenchmarkCompare/command=gzip_-2/n=2-1\t"),
        "what runs, not what was typed:\n{text}"
    );
    let file: Value = serde_json::from_str(&write("hyperfine-json2", &recording)).unwrap();
    assert_eq!(file["results"][1]["parameters"], serde_json::json!({ "n": { "value": "2" } }));
    let rows = rows(&write("csv-summary", &recording));
    assert_eq!((rows[0][8].as_str(), rows[2][8].as_str()), ("parameter_n", "2"));
}
