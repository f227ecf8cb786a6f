//! The text of the views, word for word. After a change that is meant, `WHYSLOW_BLESS=1 cargo test` writes the files in
//! `tests/golden/probe` anew; the difference is then read in the diff of the commit.

use std::fs;
use std::path::PathBuf;

use unicode_width::UnicodeWidthStr;
use whyslow::model::KNOWN_PROBES;

use crate::common::{PLAIN, Terminal, whyslow, whyslow_on};
use crate::samples::world;

#[track_caller]
fn assert_golden(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/probe/{name}.txt"));
    if std::env::var_os("WHYSLOW_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name} differs; if it should, run the tests with WHYSLOW_BLESS=1");
}

#[test]
fn each_view_alone_and_as_a_difference() {
    for known in KNOWN_PROBES {
        let one = whyslow(world(), &["probe", "--with", known.name, "a"]).stdout;
        let two = whyslow(world(), &["probe", "--with", known.name, "a", "b"]).stdout;
        assert_golden(known.name, &format!("{one}\n--- a and b:\n{two}"));
    }
}

#[test]
fn views_fit_the_screen_and_its_characters() {
    for commands in [&["a"][..], &["a", "b"]] {
        for width in [40, 80, 100] {
            let terminal = Terminal { width, ..PLAIN };
            let text =
                whyslow_on(terminal, world(), &[&["probe", "--with", "all"], commands].concat()).stdout;
            for line in text.lines() {
                assert!(line.width() <= width, "{} columns: {line}", line.width());
                assert_eq!(line.trim_end(), line);
            }
        }
        let terminal = Terminal { unicode: false, ..PLAIN };
        let text = whyslow_on(terminal, world(), &[&["probe", "--with", "all"], commands].concat()).stdout;
        assert!(text.is_ascii(), "{text}");
    }
}

#[test]
fn nothing_differs_from_itself() {
    let text = whyslow(world(), &["probe", "--with", "all", "a", "a"]).stdout;
    assert!(!text.contains("difference\n"), "{text}");
    assert!(text.contains("same: all"), "{text}");
}
