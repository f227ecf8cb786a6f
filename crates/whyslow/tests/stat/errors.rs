//! What cannot be read or asked: exit code 2, the file with the line and the reason, and what to do.

use whyslow::cli::Status;

use crate::common::{Printed, WHITE, whyslow};
use crate::{Files, peer, stat};
use whyslow::cli::{self, Screen};
use whyslow::machine::simulated::World;

#[track_caller]
fn assert_refused(printed: &Printed, error: &str, hint: &str) {
    assert_eq!((printed.status, printed.stdout.as_str()), (Status::CouldNot, ""), "{printed:?}");
    let error = format!("error: {error}");
    assert!(printed.stderr.starts_with(&error), "{error}\n{}", printed.stderr);
    let last = printed.stderr.lines().last().unwrap();
    assert!(hint.is_empty() || (last.starts_with("hint: ") && last.contains(hint)), "{}", printed.stderr);
}

/// The form, a broken file of it, the line and the reason.
const MALFORMED: [(&str, &str, &str); 12] = [
    ("1\n2\nthree\n", "invalid data on line 3 in broken: \"three\" is not a number", "-C chooses"),
    (
        "{\"results\": [\n{\"mean\": 1}]}",
        "broken, line 2: not JSON of hyperfine: missing field `command`",
        "cut off",
    ),
    ("command,mean\nls,fast\n", "broken, line 2: not ", "cut off"),
    ("ok\nBenchmarkA 100 12\n", "broken, line 2: not ", "cut off"),
    (
        "{\"benchmarks\": [{\"runs\": [{\"values\": [true]}]}],\n \"version\": \"1.0\"}",
        "broken, line 1: not ",
        "cut off",
    ),
    ("{\"machine_info\": {},\n\"benchmarks\": [{\"name\": \"a\"}]}", "broken, line 2: not ", "cut off"),
    ("{\"context\": {},\n\"benchmarks\": [{\"real_time\": 1}]}", "broken, line 2: not ", "cut off"),
    ("[{\"benchmark\": \"a\",\n\"primaryMetric\": {\"score\": 1}}]", "broken, line 2: not ", "cut off"),
    ("{\"mean\": {\"standard_error\": 1}, \"std_dev\": null}", "broken, line 1: not ", "cut off"),
    ("{\"event\": \"a\", \"counter-value\": \"1\"}\n{\"event\": \n", "broken, line 2: not ", "cut off"),
    ("a:  2 wallclock secs ( 1.02 usr +", "broken, line 1: not ", "cut off"),
    ("{\"whyslow\":{\"version\":1}}\n", "broken is not a recording that can be shown: line 1", ""),
];

#[test]
fn a_malformed_file_is_told_with_line_reason_and_remedy() {
    for (text, error, hint) in MALFORMED {
        let files = Files::new();
        let printed = stat(&[&files.write("broken", text)]);
        let printed = Printed { stderr: files.plain(&printed.stderr), ..printed };
        assert_refused(&printed, error, hint);
    }
}

#[test]
fn the_first_file_in_trouble_is_told() {
    let files = Files::new();
    let good = files.numbers("good", &[1.0, 2.0]);
    let first = files.write("first", "1\nx\n");
    let second = files.write("second", "y\n");
    for arguments in [[&good, &first, &second], [&first, &good, &second]] {
        let printed = stat(&arguments.map(String::as_str));
        assert!(
            printed.stderr.contains("line 2 in ") && printed.stderr.contains("first"),
            "{}",
            printed.stderr
        );
    }
}

#[test]
fn files_that_are_not_there_or_are_none() {
    let files = Files::new();
    assert_refused(&stat(&["/nowhere/old.json"]), "cannot open /nowhere/old.json: ", "");
    assert_refused(&stat(&[files.path("").to_str().unwrap()]), "", "target/criterion");
    assert_refused(&stat(&[&files.write("empty", "")]), "", "interrupted");
    assert_refused(
        &stat(&[&files.write("package", r#"{"name": "left-pad"}"#)]),
        "",
        "hyperfine-json, pyperf",
    );
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let files = Files::new();
    let numbers = files.numbers("x", &[1.0, 2.0, 3.0]);
    for (arguments, error, hint) in [
        (&["-c", "100"][..], "`--confidence` must be above 0 and below 100, not 100", ""),
        (&["--margin", "0"], "`--margin` must be above 0, not 0", ""),
        (&["--compat", "-c", "97"], "ministat has no confidence level 97", "80, 90, 95"),
        (&["--metric", "time"], "no metric is called time", "the files have value"),
        (&["--form", "jmh"], "", "cut off"),
        (&["-C", "0"], "invalid value '0'", ""),
        (&["--form", "yaml"], "invalid value 'yaml'", ""),
        (&["--view", "gnuplot"], "invalid value 'gnuplot'", ""),
    ] {
        assert_refused(&stat(&[&[numbers.as_str()], arguments].concat()), error, hint);
    }
    let small = files.numbers("small", &[1.0, 2.0]);
    assert_refused(&stat(&["--compat", &small]), "dataset ", "fewer will do");
    let eight = [numbers.as_str(); 8];
    assert_refused(&stat(&[&["--compat"], &eight[..]].concat()), "ministat shows at most 7 sets", "");
}

/// A table that was printed stays; that a file could not be written is told all the same.
#[test]
fn an_export_that_cannot_be_is_told() {
    let files = Files::new();
    let numbers = files.numbers("x", &[1.0, 2.0, 3.0]);
    let printed = stat(&[&numbers, "--export", "go=-"]);
    assert_eq!(printed.status, Status::CouldNot);
    assert!(printed.stderr.contains("the form go is only for recordings"), "{}", printed.stderr);
    assert!(printed.stdout.contains("median"), "{}", printed.stdout);
    assert_refused(
        &stat(&[&numbers, "--export", "csv=/nowhere/x.csv"]),
        "cannot write /nowhere/x.csv",
        "folder",
    );
}

#[test]
fn what_a_recording_was_judged_by_is_fixed() {
    let files = Files::new();
    let file = files.path("run.jsonl").to_str().unwrap().to_owned();
    whyslow(World::pair(0.05, 1.2).with_noise(WHITE), &["compare", "a", "b", "--seed", "1", "-o", &file]);
    for option in
        [&["--confidence", "99"][..], &["--margin", "1"], &["--metric", "cpu_s"], &["--interleaved"]]
    {
        let error = format!("{} is for files of other tools", option[0]);
        assert_refused(&stat(&[&[file.as_str()], option].concat()), &error, "when it was made");
    }
}

/// The reader of a pipe that has gone.
struct Closed;

impl std::io::Write for Closed {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_output_that_is_closed_is_no_error() {
    for way in [&[][..], &["--json"], &["--view", "ministat"], &["-q"]] {
        let (mut output, mut errors) = (Closed, Vec::new());
        let screen = Screen::plain(&mut output, &mut errors);
        let file = peer("hyperfine-1.15-parameters.json");
        let words = [&["whyslow", "stat", &file], way].concat();
        let machine = |_settings| unreachable!("no machine is needed");
        let status = cli::run(words.into_iter().map(Into::into), screen, Box::new(machine));
        assert_eq!((status, errors), (Status::Done, Vec::new()), "{way:?}");
    }
}
