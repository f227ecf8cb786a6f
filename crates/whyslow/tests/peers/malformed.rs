//! Files that are broken: the message names the file, the line where there is one, and the reason.

use whyslow::peers::{self, Options, PeerError};

use super::bytes;

fn read(form: &str, text: &[u8]) -> PeerError {
    let form = (!form.is_empty()).then(|| form.to_owned());
    peers::read("broken", text, &Options { form, ..Options::default() }).unwrap_err()
}

/// The form is told by content where it is empty.
const BROKEN: &[(&str, &str, Option<usize>, &str)] = &[
    ("", r#"{"results": 5}"#, Some(1), "expected a sequence"),
    ("", "{\"results\": [\n{\"command\": \"a\",\n\"times\": [1, \"x\"]}]}", Some(3), "expected a number"),
    ("", "{\"results\": [\n{\"mean\": 1}]}", Some(2), "missing field `command`"),
    ("", "{\"results\": [{\"command\": \"a\", \"times\": [1.5, 2", Some(1), "the end of the file"),
    ("", r#"{"results": [], "schema_version": 3}"#, None, "version 3"),
    (
        "",
        "{\"schema_version\": 2,\n\"results\": [{\"command\": \"a\", \"measurements\": [{\"t\": {\"unit\": \"s\"}}]}]}",
        Some(2),
        "the value of t is missing",
    ),
    (
        "",
        r#"{"schema_version": 2, "results": [{"command": "a", "measurements": [{"t": {"value": []}}]}]}"#,
        Some(1),
        "the value of t is no number",
    ),
    ("hyperfine-json", r#"{"result": []}"#, Some(1), "missing field `results`"),
    ("hyperfine-json", "[1]", Some(1), "invalid type"),
    ("", "command,mean,stddev\nls,0.1\n", Some(2), "2 fields where the first line has 3"),
    ("", "command,mean\nls,fast\n", Some(2), "\"fast\" is not a number"),
    ("hyperfine-csv", "name,mean\n", Some(1), "the first column is not `command`"),
    ("hyperfine-csv", "command,best\n", Some(1), "no column `mean`"),
    ("", "ok\nBenchmarkA 100 12\n", Some(2), "\"12\" has no unit"),
    ("", "BenchmarkA 100 fast ns/op\n", Some(1), "\"fast\" is not a number"),
    ("", "BenchmarkA 100\n", Some(1), "BenchmarkA has no measurement"),
    (
        "",
        r#"{"benchmarks": [{"metadata": {"name": "a"}}], "version": "1.0"}"#,
        Some(1),
        "missing field `runs`",
    ),
    (
        "",
        r#"{"benchmarks": [{"runs": [{"values": [true]}]}], "version": "1.0"}"#,
        Some(1),
        "expected a number",
    ),
    ("", "{\"machine_info\": {},\n\"benchmarks\": [{\"name\": \"a\"}]}", Some(2), "missing field `stats`"),
    ("", "{\"context\": {},\n\"benchmarks\": [{\"real_time\": 1}]}", Some(2), "a benchmark has no name"),
    (
        "",
        "{\"context\": {},\n\"benchmarks\": [{\"name\": \"a\", \"real_time\": \"1 ns\"}]}",
        Some(2),
        "real_time is no number",
    ),
    (
        "",
        "[{\"benchmark\": \"a\",\n\"primaryMetric\": {\"score\": 1}}]",
        Some(2),
        "missing field `scoreUnit`",
    ),
    ("", r#"{"iters": [1, 2], "times": [5]}"#, None, "2 iterations and 1 times"),
    ("", r#"{"mean": {"standard_error": 1}, "std_dev": null}"#, Some(1), "missing field `point_estimate`"),
    ("", r#"{"group_id": "a", "full_id": "a/b"}"#, None, "sample.json"),
    (
        "",
        "{\"event\": \"a\", \"counter-value\": \"1\"}\n{\"event\": \"b\", \"counter-value\": \"1,5\"}\n",
        Some(2),
        "\"1,5\" is not a number",
    ),
    ("", "{\"event\": \"a\", \"counter-value\": \"1\"}\n{\"event\": \n", Some(2), "the end of the file"),
    ("", "1,,faults,2,100.00,,\n\nbroken\n", Some(3), "\"broken\" is no count of an event"),
    ("", "a:  2 wallclock secs ( 1.02 usr +", Some(1), "the line ends too early"),
    ("", "\na:  2 wallclock secs ( 1.02 usr +  0.00 sys)\n", Some(2), "the total of CPU seconds is missing"),
    ("", "a:  2 wallclock secs ( x usr + 0 sys = 1 CPU)\n", Some(1), "\"x\" is not a number"),
    ("", "a:  2 wallclock secs ( 1 usr + 0 sys = 1 CPU) @ 5/s (n=", Some(1), "the line ends too early"),
    ("", "a:  two wallclock secs ( 1 usr + 0 sys = 1 CPU)\n", Some(1), "\"two\" is not a number"),
    ("", "1\ntwo\n", Some(2), "\"two\" is not a number"),
    ("numbers", "{}", Some(1), "\"{}\" is not a number"),
];

#[test]
fn the_line_and_the_reason_are_named() {
    for (form, text, line, reason) in BROKEN {
        let error = read(form, text.as_bytes());
        let message = error.to_string();
        assert!(message.contains(reason) && message.contains("broken"), "{text}\n{message}");
        assert_eq!(error.line(), *line, "{text}\n{message}");
        assert!(message.starts_with(char::is_lowercase) && !error.hint().is_empty(), "{message}");
    }
}

#[test]
fn what_is_no_benchmark_at_all_is_told_with_the_forms() {
    let error = read("", br#"{"name": "left-pad"}"#);
    assert_eq!(error.to_string(), "broken is in none of the known forms");
    assert!(error.hint().contains("hyperfine-json, pyperf"));
    assert_eq!(read("yaml", b"1").to_string(), "no form is called \"yaml\"");
    assert_eq!(read("", b"\xff\xfe1\x00").to_string(), "broken is UTF-16 text");
    assert_eq!(read("", b"\0\x80\xff").line(), Some(1));
}

#[test]
fn own_recordings_are_left_to_their_reader() {
    let recording = b"{\"whyslow\":{\"version\":1,\"header\":{}}}\n{\"run\":{}}\n";
    assert!(peers::is_recording(recording) && !peers::is_recording(b"1\n2\n"));
    assert!(matches!(read("", recording), PeerError::Recording { .. }));
}

#[test]
fn results_without_any_number_are_told() {
    for text in [
        r#"{"results": []}"#,
        r#"{"benchmarks": [], "version": "1.0"}"#,
        r#"{"benchmarks": [], "context": {}}"#,
        r#"{"results": [{"command": "a", "times": null}]}"#,
        "command,mean\n",
        r#"{"event": "a", "counter-value": "<not supported>"}"#,
    ] {
        assert_eq!(read("", text.as_bytes()).to_string(), "broken holds no numbers", "{text}");
    }
}

/// A file that was cut off is an error or, where a line ends there, a shorter file; it is never another form.
#[test]
fn json_that_is_cut_off_is_never_read() {
    for file in ["hyperfine-2.json", "pyperf.json", "pytest-data.json", "google-benchmark.json", "jmh.json"] {
        let whole = bytes(file);
        let text = whole.trim_ascii_end();
        for length in (1..text.len()).step_by(37) {
            let cut = peers::read(file, &text[..length], &Options::default());
            assert!(cut.is_err(), "{file} cut to {length} bytes");
        }
    }
}

#[test]
fn deep_nesting_ends_in_an_error() {
    for text in
        ["{\"results\":".to_owned() + &"[".repeat(200_000), "[".repeat(200_000), "{\"a\":".repeat(200_000)]
    {
        read("", text.as_bytes());
        for form in ["pyperf", "jmh", "google-benchmark", "criterion", "perf-stat", "pytest-benchmark"] {
            read(form, text.as_bytes());
        }
    }
    let inside =
        format!("{{\"results\":[{{\"command\":\"a\",\"parameters\":{{\"p\":{}}}}}]}}", "[".repeat(100_000));
    read("", inside.as_bytes());
}

#[test]
fn numbers_that_are_not_finite_are_data() {
    let text = br#"{"results": [{"command": "a", "times": [NaN, Infinity, -Infinity, 1], "mean": NaN}]}"#;
    let sets = peers::read("odd", text, &Options::default()).unwrap();
    assert!(sets[0].values[0].is_nan() && sets[0].printed[0].1.is_nan());
    assert_eq!(sets[0].values[1..], [f64::INFINITY, f64::NEG_INFINITY, 1.0]);
}
