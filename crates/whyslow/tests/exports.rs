//! Every export, read back: the numbers are those of the recording, and names cannot break the form.

#[path = "exports/files.rs"]
mod files;
#[path = "exports/markup.rs"]
mod markup;
#[path = "exports/round_trip.rs"]
mod round_trip;
#[path = "views/samples.rs"]
#[allow(dead_code)] // Shared with the tests of the views.
mod samples;
#[path = "exports/schema.rs"]
mod schema;
#[path = "common/schema.rs"]
mod schema_check;

use whyslow::analysis::analyze;
use whyslow::model::Recording;
use whyslow::report::exports::{EXPORTS, Export, export};

/// The text of one export.
fn write(name: &str, recording: &Recording) -> String {
    text(export(name).unwrap(), recording)
}

fn text(export: &Export, recording: &Recording) -> String {
    let mut bytes = Vec::new();
    (export.write)(recording, &analyze(recording), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn nothing_is_no_number_in_recordings_that_hold_little() {
    let whole = samples::recording(&[("old", 0.010), ("new", 0.012)]);
    for runs in [0, 1, 2, 3, 4, 6, 26] {
        let mut recording = whole.clone();
        recording.runs.truncate(runs);
        (recording.looks, recording.end) = (None, None);
        for row in EXPORTS {
            let text = text(row, &recording);
            let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
            assert!(
                !words.contains(&"NaN") && !words.contains(&"inf"),
                "{} of {runs} runs:\n{text}",
                row.name
            );
            assert!(text.is_empty() || text.ends_with('\n'), "{}", row.name);
        }
    }
}

#[test]
fn names_of_exports_differ_and_are_explained() {
    let names: std::collections::BTreeSet<&str> = EXPORTS.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), EXPORTS.len());
    assert!(EXPORTS.iter().all(|row| !row.about.is_empty() && !row.extension.starts_with('.')));
}
