//! docs/cases.md names only tests that exist, and all that are here.

use std::fs;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document() -> String {
    fs::read_to_string(repository().join("docs/cases.md")).unwrap()
}

/// The rows of both tables, as cells.
fn rows(document: &str) -> Vec<Vec<&str>> {
    let lines = document.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| case"));
    lines.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

/// What stands between backquotes and has the form `file::test`.
fn tests_named(text: &str) -> Vec<(&str, &str)> {
    text.split('`').skip(1).step_by(2).filter_map(|word| word.split_once(".rs::")).collect()
}

/// The places that the document says a file may be in.
fn source(file: &str) -> Option<String> {
    let roots = ["crates/whyslow/tests", "crates/whyslow", "crates"];
    let paths = roots.map(|root| repository().join(root).join(format!("{file}.rs")));
    paths.iter().find_map(|path| fs::read_to_string(path).ok())
}

#[test]
fn every_test_that_the_table_names_exists() {
    let document = document();
    let named = tests_named(&document);
    assert!(named.len() > 40, "{}", named.len());
    let is_there = |file: &str, test: &str| {
        source(file).is_some_and(|text| {
            text.contains(&format!("#[test]\nfn {test}("))
                || text.contains(&format!("#[test]\n    fn {test}("))
        })
    };
    let missing: Vec<_> = named.iter().filter(|(file, test)| !is_there(file, test)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_case_is_held_by_a_test_or_a_reason() {
    let document = document();
    for row in rows(&document) {
        assert_eq!(row.len(), 4, "{row:?}");
        let is_held = !tests_named(row[3]).is_empty() || row[3].contains("by design: ");
        assert!(is_held && !row[1].is_empty() && !row[2].is_empty(), "{row:?}");
    }
}

#[test]
fn every_test_of_a_case_is_in_the_table() {
    let document = document();
    for file in ["cases/hands", "cases/processes", "cases/verdicts", "stat/cases"] {
        let text = source(file).unwrap();
        let tests = text.split("\nfn ").skip(1).filter_map(|rest| rest.split_once('(')).map(|(name, _)| name);
        for test in tests.filter(|name| name.starts_with("case_")) {
            assert!(document.contains(&format!("`{file}.rs::{test}`")), "{file}.rs::{test}");
        }
    }
}
