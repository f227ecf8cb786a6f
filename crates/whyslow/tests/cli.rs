//! The program as a function of its arguments, on simulated machines: what goes to which output, exit codes, and that
//! no result is ever lost.

mod common;

#[path = "cli/alone.rs"]
mod alone;
#[path = "cli/doctor.rs"]
mod doctor;
#[path = "cli/errors.rs"]
mod errors;
#[path = "cli/explained.rs"]
mod explained;
#[path = "cli/golden.rs"]
mod golden;
#[path = "cli/records.rs"]
mod records;
#[path = "cli/resume.rs"]
mod resume;
#[path = "cli/targets.rs"]
mod targets;
#[path = "cli/why_refused.rs"]
mod why_refused;

use common::{PLAIN, Terminal, WHITE, whyslow, whyslow_on, whyslow_without_machine};
use serde_json::Value;
use whyslow::cli::Status;
use whyslow::machine::simulated::{Interrupt, World};

const COMPARE: [&str; 5] = ["compare", "a", "b", "--seed", "1"];

fn slower() -> World {
    World::pair(0.05, 1.2).with_noise(WHITE)
}

/// The usual comparison with more arguments.
fn compare_with(more: &[&'static str]) -> Vec<&'static str> {
    [&COMPARE[..], more].concat()
}

#[test]
fn a_result_goes_to_the_output_and_nothing_to_the_errors() {
    let printed = whyslow(slower(), &COMPARE);
    assert_eq!((printed.status, printed.stderr.as_str()), (Status::Done, ""));
    assert!(printed.stdout.starts_with("b is 1.20x slower than a ["), "{}", printed.stdout);
    assert!(printed.stdout.contains("95 % confidence, margin 2 %"), "{}", printed.stdout);
}

#[test]
fn quiet_prints_the_verdicts_alone() {
    let all = whyslow(slower(), &COMPARE).stdout;
    for option in ["--quiet", "-q"] {
        let quiet = whyslow(slower(), &compare_with(&[option])).stdout;
        assert_eq!(quiet.lines().count(), 2, "{quiet}");
        assert!(all.starts_with(&quiet), "the same words as in the whole result:\n{quiet}\n{all}");
    }
}

#[test]
fn json_is_one_object_whatever_else_is_asked_for() {
    for more in [&["--json"][..], &["--json", "--quiet"], &["--json", "--color", "always"]] {
        let printed = whyslow(slower(), &compare_with(more));
        let json: Value = serde_json::from_str(&printed.stdout).expect("JSON and nothing else");
        assert_eq!(json["comparisons"][0]["verdict"], "slower");
        assert_eq!((printed.status, printed.stderr.as_str()), (Status::Done, ""));
    }
}

#[test]
fn colour_changes_no_word() {
    let coloured_terminal = Terminal { colour: true, ..PLAIN };
    let plain = whyslow(slower(), &COMPARE).stdout;
    for (terminal, option, has_colour) in [
        (PLAIN, "auto", false),
        (PLAIN, "always", true),
        (PLAIN, "never", false),
        (coloured_terminal, "auto", true),
        (coloured_terminal, "never", false),
    ] {
        let printed = whyslow_on(terminal, slower(), &compare_with(&["--color", option])).stdout;
        assert_eq!(printed.contains('\u{1b}'), has_colour, "{option}: {printed}");
        assert_eq!(anstream::adapter::strip_str(&printed).to_string(), plain, "{option}");
    }
}

#[test]
fn a_terminal_without_unicode_gets_ascii() {
    let terminal = Terminal { unicode: false, ..PLAIN };
    for world in [slower(), World::pair(1e-5, 1.0).with_noise(WHITE)] {
        let printed = whyslow_on(terminal, world, &COMPARE).stdout;
        assert!(printed.is_ascii(), "{printed}");
    }
}

#[test]
fn an_interrupt_shows_what_was_measured() {
    let world = || slower().with_interrupt(Interrupt::AfterRuns(30));
    let printed = whyslow(world(), &compare_with(&["--runs", "50"]));
    assert_eq!((printed.status as u8, printed.stderr.as_str()), (130, ""));
    assert!(printed.stdout.starts_with("interrupted: "), "{}", printed.stdout);
    assert!(printed.stdout.contains("slower than"), "{}", printed.stdout);
    let json = whyslow(world(), &compare_with(&["--runs", "50", "--json"]));
    assert_eq!(json.status, Status::Interrupted);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&json["stopped"], &json["blocks"]), (&"interrupted".into(), &14.into()));
}

#[test]
fn an_interrupt_before_the_first_result_is_no_error() {
    let printed = whyslow(slower().with_interrupt(Interrupt::AfterRuns(0)), &COMPARE);
    assert_eq!((printed.status as u8, printed.stdout.as_str()), (130, ""));
    assert!(printed.stderr.starts_with("interrupted before"), "{}", printed.stderr);
}

#[test]
fn help_and_version_are_results() {
    for arguments in [&["--help"][..], &["-h"], &["compare", "--help"], &["report", "-h"], &["help"]] {
        let printed = whyslow_without_machine(arguments);
        assert_eq!((printed.status, printed.stderr.as_str()), (Status::Done, ""), "{arguments:?}");
        assert!(printed.stdout.contains("Usage: whyslow"), "{}", printed.stdout);
    }
    for arguments in [&["--version"][..], &["-V"], &["compare", "--version"]] {
        let printed = whyslow_without_machine(arguments);
        assert_eq!((printed.status, printed.stderr.as_str()), (Status::Done, ""), "{arguments:?}");
        assert!(printed.stdout.contains(env!("CARGO_PKG_VERSION")), "{}", printed.stdout);
    }
}

#[test]
fn names_stand_for_the_commands() {
    let printed = whyslow(slower(), &compare_with(&["-n", "old", "--name", "new"]));
    assert!(printed.stdout.starts_with("new is 1.20x slower than old"), "{}", printed.stdout);
    let turned = whyslow(slower(), &compare_with(&["-n", "old", "-n", "new", "--reference", "new"]));
    assert!(turned.stdout.starts_with("old is 1.20x faster than new"), "{}", turned.stdout);
}

#[test]
fn a_design_that_takes_long_is_announced() {
    let printed = whyslow(World::pair(60.0, 1.2).with_noise(WHITE), &COMPARE);
    assert_eq!(printed.stderr.lines().count(), 1, "{}", printed.stderr);
    assert!(printed.stderr.contains("6 blocks, about 13 min more"), "{}", printed.stderr);
    let quiet = whyslow(World::pair(60.0, 1.2).with_noise(WHITE), &compare_with(&["--quiet"]));
    assert_eq!(quiet.stderr, "");
}
