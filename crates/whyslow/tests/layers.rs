//! Who may use whom, and who may touch the world. Reads the sources of the library as text and compares them with the
//! table in ARCHITECTURE.md, of which `ROOMS` is the form that a machine keeps.
//!
//! The search is plain: comments are cut off, strings are not understood. That is enough, because it must only catch
//! what somebody writes by habit; nobody is expected to deceive it.

#[path = "layers/rules.rs"]
mod rules;
#[path = "layers/sources.rs"]
mod sources;

use std::path::Path;

use rules::{ROOMS, violations};
use sources::{Source, all};

/// Longer files are split by what they are about; most are under 400 lines.
const MOST_LINES: usize = 600;

fn library() -> Vec<Source> {
    all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

#[test]
fn every_room_uses_only_the_rooms_below_it() {
    let found: Vec<String> = library().iter().flat_map(violations).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_room_has_a_row() {
    for source in library() {
        let name = source.room();
        assert!(ROOMS.iter().any(|room| room.name == name), "{} needs a row in ROOMS", source.path);
    }
}

#[test]
fn files_are_short_enough_to_read() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let long: Vec<String> = all(crates)
        .into_iter()
        .filter(|source| source.text.lines().count() > MOST_LINES)
        .map(|source| source.path)
        .collect();
    assert!(long.is_empty(), "more than {MOST_LINES} lines: {long:?}");
}

/// A rule that catches nothing is no rule.
#[test]
fn planted_violations_are_found() {
    let planted = [
        ("model/a.rs", "use crate::plan::Question;", "uses plan"),
        ("plan/a.rs", "use crate::{model::Run, session};", "uses session"),
        ("analysis/a.rs", "fn f() { crate::machine::local::start(); }", "uses machine"),
        ("report/a.rs", "use crate::{\n    analysis::{Analysis, Verdict},\n    store,\n};", "uses store"),
        ("machine/local/a.rs", "use crate::analysis;", "uses analysis"),
        ("session/a.rs", "use crate::report::compose;", "uses report"),
        ("store/a.rs", "use benchmath::quantiles;", "uses benchmath"),
        ("plan/a.rs", "let zone = jiff::tz::TimeZone::UTC;", "uses jiff"),
        ("machine/local/a.rs", "use benchmath::random::SplitMix64;", "uses benchmath"),
        ("analysis/a.rs", "let text = std::fs::read(path)?;", "touches std::fs"),
        ("plan/a.rs", "use std::{env, fmt};", "touches std::env"),
        ("report/a.rs", "use std::time::{Duration, Instant};", "touches Instant"),
        ("model/a.rs", "use std::time::SystemTime;", "touches SystemTime"),
        ("report/a.rs", "use std::process::Command;", "touches std::process"),
        ("analysis/a.rs", "use std::net::TcpStream;", "touches std::net"),
        ("session/a.rs", "println!(\"done\");", "prints"),
        ("machine/a.rs", "    eprintln!(\"done\");", "prints"),
        ("store/a.rs", "dbg!(&line);", "prints"),
        ("report/a.rs", "let out = std::io::stdout();", "prints"),
        ("store/a.rs", "let x = unsafe { *p };", "is unsafe"),
        ("cli/a.rs", "unsafe fn f() {}", "is unsafe"),
    ];
    for (path, text, expected) in planted {
        let found = violations(&Source::new(path, text));
        assert!(found.iter().any(|violation| violation.contains(expected)), "{path}: {text}: {found:?}");
    }
}

#[test]
fn what_is_allowed_is_let_through() {
    let allowed = [
        ("analysis/a.rs", "use crate::model::Run;\nuse crate::{model, plan};\nuse benchmath::dip;"),
        ("analysis/a.rs", "use super::Samples;\nuse crate::analysis::decide;"),
        ("plan/a.rs", "// std::fs is for others, and so is crate::session.\n/// Not `println!(..)` either."),
        ("plan/a.rs", "/* use crate::cli; */ use std::fmt;"),
        ("report/a.rs", "use std::time::Duration;\nlet fs = 1; // unsafe"),
        ("report/a.rs", "let text = \"http://example.org\"; let safe = is_unsafe;"),
        ("machine/simulated/a.rs", "use benchmath::random::SplitMix64;"),
        ("machine/local/a.rs", "let n = unsafe { libc::getpid() };\nuse std::fs;"),
        ("cli/a.rs", "println!(\"{}\", crate::report::json());"),
        ("model/a.rs", "pub(crate) mod bytes; pub use bytes::ByteText; fn fs(env: Env) {}"),
    ];
    for (path, text) in allowed {
        assert_eq!(violations(&Source::new(path, text)), [""; 0], "{path}: {text}");
    }
}
