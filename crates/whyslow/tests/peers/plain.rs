//! Plain numbers and columns, by the rules of ministat.

use std::num::NonZeroUsize;

use whyslow::model::{DataSet, Schedule};
use whyslow::peers::{self, Options, PeerError};

use super::bytes;

fn columns(column: usize, delimiters: &str) -> Options {
    Options {
        column: NonZeroUsize::new(column),
        delimiters: (!delimiters.is_empty()).then(|| delimiters.to_owned()),
        ..Options::default()
    }
}

fn values(text: &str, options: &Options) -> Vec<f64> {
    set(text, options).values
}

fn set(text: &str, options: &Options) -> DataSet {
    let mut sets = peers::read("data", text.as_bytes(), options).unwrap();
    assert_eq!(sets.len(), 1);
    sets.remove(0)
}

fn error(text: &str, options: &Options) -> PeerError {
    peers::read("data", text.as_bytes(), options).unwrap_err()
}

#[test]
fn a_number_a_line() {
    let iguana = peers::read("iguana", &bytes("numbers-iguana.txt"), &Options::default()).unwrap();
    assert_eq!(iguana[0].values, [50.0, 200.0, 150.0, 400.0, 750.0, 400.0, 150.0]);
    assert_eq!((iguana[0].name.as_str(), iguana[0].metric.unit), ("iguana", None));
    assert_eq!(iguana[0].schedule, Schedule::Unknown);
}

/// A byte-order mark, ends of line of Windows, tabs, comments, lines without the column, and all that strtod takes.
#[test]
fn columns_comments_and_odd_numbers() {
    let sets = peers::read("columns", &bytes("numbers-columns.txt"), &columns(2, "")).unwrap();
    let values = &sets[0].values;
    assert_eq!(values[..3], [1.5, 3.0, f64::NEG_INFINITY]);
    assert!(values[3].is_nan());
    assert_eq!(values[4..], [-2e-3]);
    assert_eq!(sets[0].origin.line, 3);
}

#[test]
fn delimiters_are_a_set_and_count_once() {
    assert_eq!(values("a;;b,7\n,;x;8,9\n", &columns(3, ",;")), [7.0, 9.0]);
    assert_eq!(
        values("1,2 \n 3,4\t\n", &columns(1, ",")),
        [1.0, 3.0],
        "strtod skips white space before a number"
    );
    assert_eq!(error("1, ,3", &columns(2, ",")).line(), Some(1), "a blank is a word there");
    assert_eq!(
        error("1 ,2", &columns(1, ",")).line(),
        Some(1),
        "and white space after a number is left over"
    );
    assert_eq!(values("1,2#3,4", &columns(3, ",")), [4.0], "only a word that begins with # is a comment");
}

#[test]
fn what_is_no_number_is_told_with_its_line() {
    let error = error("1\n\n2 x\n3x\n", &Options::default());
    assert_eq!(error.to_string(), "invalid data on line 4 in data: \"3x\" is not a number");
    assert!(error.hint().contains("-C"));
}

#[test]
fn nothing_is_told_as_nothing() {
    for text in ["", "\n\n", " \r\n", "# only\n#comments", "\u{feff}"] {
        assert_eq!(error(text, &Options::default()).to_string(), "data holds no numbers", "{text:?}");
    }
    assert_eq!(error("1 2\n3 4", &columns(3, "")).to_string(), "data holds no numbers");
    assert_eq!(
        error("1", &Options { delimiters: Some(String::new()), ..Options::default() }),
        PeerError::NoDelimiter
    );
}

#[test]
fn columns_asked_for_are_columns_whatever_the_file_is() {
    let text = "BenchmarkA 10 20 ns/op\nBenchmarkA 10 21 ns/op\n";
    assert_eq!(values(text, &columns(3, "")), [20.0, 21.0]);
}

#[test]
fn a_last_line_without_an_end_and_a_very_long_one_count() {
    let long = format!("{}7\n8", " ".repeat(100_000));
    assert_eq!(values(&long, &Options::default()), [7.0, 8.0]);
}

/// The sets on which ministat itself was run are read back as they were written.
#[test]
fn numbers_come_back_as_they_were() {
    let numbers =
        [1.27, 60.478, 50.74, 1e9 + 0.1, f64::MIN_POSITIVE, f64::MAX, 0.1 + 0.2, -0.0, 123456789012345680.0];
    let text: String = numbers.iter().map(|number| format!("{number:?}\n")).collect();
    assert_eq!(values(&text, &Options::default()), numbers);
}
