//! `whyslow stat` as a function of its arguments: files of other tools in, verdicts or the refusal of one out.

mod common;

#[path = "stat/cases.rs"]
mod cases;
#[path = "stat/errors.rs"]
mod errors;
#[path = "stat/faces.rs"]
mod faces;
#[path = "stat/files.rs"]
mod files;
#[path = "stat/same_twice.rs"]
mod same_twice;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Printed, whyslow_without_machine};
use serde_json::Value;
use tempfile::TempDir;
use whyslow::cli::Status;

/// A file of another tool that the tests of the readers have too.
fn peer(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/peers").join(name);
    path.to_str().unwrap().to_owned()
}

/// Files in a directory of their own.
struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Self {
        Files { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn numbers(&self, name: &str, values: &[f64]) -> String {
        self.write(name, &values.iter().map(|value| format!("{value}\n")).collect::<String>())
    }

    /// Without the directory, which has another name each time.
    fn plain(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.folder.path().display()), "")
    }
}

fn stat(arguments: &[&str]) -> Printed {
    whyslow_without_machine(&[&["stat"], arguments].concat())
}

/// What a call printed that must succeed without a word on the error output.
#[track_caller]
fn shown(arguments: &[&str]) -> String {
    let printed = stat(arguments);
    assert_eq!((printed.status, printed.stderr.as_str()), (Status::Done, ""), "{arguments:?}");
    printed.stdout
}

#[track_caller]
fn json(arguments: &[&str]) -> Value {
    let text = shown(&[arguments, &["--json"]].concat());
    serde_json::from_str(&text).expect("one JSON object")
}

/// The text of a representative result, word for word; `WHYSLOW_BLESS=1` writes it anew.
#[track_caller]
fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/stat/{name}.txt"));
    if std::env::var_os("WHYSLOW_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name} differs; if it should, run the tests with WHYSLOW_BLESS=1");
}
