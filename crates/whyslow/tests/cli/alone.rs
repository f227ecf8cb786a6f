//! `whyslow compare` with one command.

use serde_json::Value;
use whyslow::cli::Status;
use whyslow::machine::simulated::{Cost, Failure, How, Interrupt, Noise, Program, When, World};

use crate::common::{PLAIN, Printed, Terminal, WHITE, text_of, whyslow, whyslow_on, whyslow_without_machine};
use crate::golden::assert_golden;

fn world() -> World {
    World::default().with_program(Program::new("a", Cost::of_cpu(0.05))).with_noise(WHITE).with_tick(0.004)
}

fn time(more: &[&str]) -> Printed {
    whyslow(world(), &[&["compare", "a", "--seed", "1"], more].concat())
}

fn json(printed: &Printed) -> Value {
    serde_json::from_str(&printed.stdout).expect("JSON and nothing else")
}

#[test]
fn one_command_is_timed_and_compared_with_nothing() {
    let printed = time(&[]);
    assert_eq!((printed.status, printed.stderr.as_str()), (Status::Done, ""));
    assert_golden("alone", &printed.stdout);
    for word in ["faster", "slower", "verdict", "block", "both"] {
        assert!(!printed.stdout.contains(word), "{word}: {}", printed.stdout);
    }
    let quiet = time(&["--quiet"]).stdout;
    assert!(printed.stdout.starts_with(&quiet) && quiet.lines().count() == 2, "{quiet}");
}

#[test]
fn a_long_command_is_told_whole_and_no_line_is_too_wide() {
    use unicode_width::UnicodeWidthStr;
    let noise = Noise::Bimodal { scatter: 0.01, step: 9.0, chance: 0.2 };
    let world = || world().with_noise(noise);
    for width in [20, 40, 80] {
        let terminal = Terminal { width, ..PLAIN };
        let arguments = ["compare", "a --with some --more words", "--runs", "60", "--seed", "1"];
        let text = whyslow_on(terminal, world(), &arguments).stdout;
        assert!(text.lines().all(|line| line.width() <= width.max(30)), "{width}: {text}");
        assert!(text.starts_with("a --with"), "{text}");
        assert!(!text.contains("\n* :") && !text.contains(":  "), "{text}");
    }
}

#[test]
fn its_json_has_what_is_known_of_it_and_no_comparison() {
    let result = json(&time(&["--json"]));
    assert_eq!((&result["stopped"], &result["margin"]), (&"decided".into(), &0.01.into()));
    assert_eq!(result["comparisons"], Value::Array(Vec::new()));
    let alone = &result["alone"];
    assert_eq!((&alone["metric"], &alone["narrow"]), (&"wall_s".into(), &true.into()));
    let wall = &result["variants"][0]["metrics"]["wall_s"];
    for end in ["median", "low", "high"] {
        assert_eq!(alone[end], wall[end], "one interval and not two");
    }
    let two = json(&whyslow(World::pair(0.05, 1.2), &["compare", "a", "b", "--seed", "1", "--json"]));
    assert_eq!((&two["alone"], &two["margin"]), (&Value::Null, &0.02.into()));
}

#[test]
fn more_than_one_variant_is_a_comparison() {
    let cases: [(&[&str], usize); 4] =
        [(&["--aa"], 2), (&["--reference", "a --old"], 2), (&["-L", "n", "1"], 1), (&["-L", "n", "1,2"], 2)];
    for (more, variants) in cases {
        let result = json(&time(&[more, &["--json"]].concat()));
        assert_eq!(result["variants"].as_array().unwrap().len(), variants, "{more:?}");
        assert_eq!(result["alone"].is_object(), variants == 1, "{more:?}");
        assert_eq!(result["comparisons"].as_array().unwrap().is_empty(), variants == 1, "{more:?}");
    }
}

#[test]
fn a_recording_of_it_is_shown_again_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.jsonl");
    let printed = time(&["--record", text_of(&file), "--runs", "20"]);
    let shown = whyslow_without_machine(&["report", text_of(&file)]);
    assert_eq!((shown.status, &shown.stdout), (Status::Done, &printed.stdout));
    let judged = whyslow_without_machine(&["stat", text_of(&file)]);
    assert_eq!((judged.status, &judged.stdout), (Status::Done, &printed.stdout));

    let lines: Vec<String> =
        std::fs::read_to_string(&file).unwrap().split_inclusive('\n').map(str::to_owned).collect();
    for kept in [1, 2, 3, 12, lines.len() - 1] {
        std::fs::write(&file, lines[..kept].concat()).unwrap();
        assert_eq!(whyslow_without_machine(&["report", text_of(&file)]).status, Status::Done, "{kept} lines");
        let resumed = whyslow(world(), &["compare", "--json", "--resume", text_of(&file)]);
        assert_eq!((resumed.status, resumed.stderr.as_str()), (Status::Done, ""), "{kept} lines");
        assert_eq!(json(&resumed)["variants"][0]["runs"], 20, "{kept} lines");
    }
    let complete = whyslow(world(), &["compare", "--resume", text_of(&file)]);
    assert!(complete.stderr.contains("is complete"), "{}", complete.stderr);
}

/// How well one median was to be known is not how large a difference must be.
#[test]
fn two_recordings_of_it_are_explained_with_the_margin_of_a_comparison() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["a", "b"].map(|name| folder.path().join(name).with_extension("jsonl"));
    for (file, command) in files.iter().zip(["a", "b"]) {
        let world = World::pair(0.05, 1.01).with_noise(WHITE);
        whyslow(world, &["compare", command, "--runs", "40", "--record", text_of(file)]);
    }
    let arguments = ["explain", "--json", text_of(&files[0]), text_of(&files[1])];
    let result = json(&whyslow_without_machine(&arguments));
    assert_eq!((&result["margin"], &result["real"]), (&0.02.into(), &false.into()));
}

#[test]
fn every_export_and_view_takes_it() {
    for form in [
        "json",
        "hyperfine-json",
        "hyperfine-json2",
        "csv",
        "csv-summary",
        "markdown",
        "asciidoc",
        "org",
        "go",
    ] {
        let export = format!("{form}=-");
        let printed = time(&["--quiet", "--export", &export]);
        assert_eq!((printed.status, printed.stderr.as_str()), (Status::Done, ""), "{form}");
        assert!(printed.stdout.lines().count() > 3, "{form}: {}", printed.stdout);
    }
    for view in ["ministat", "cmpthese", "timestr", "benchstat", "hyperfine"] {
        let printed = time(&["--view", view]);
        assert_eq!((printed.status, printed.stderr.as_str()), (Status::Done, ""), "{view}");
        assert!(printed.stdout.contains('a'), "{view}: {}", printed.stdout);
    }
}

#[test]
fn its_ends_have_their_exit_codes() {
    let interrupted = world().with_interrupt(Interrupt::AfterRuns(8));
    let printed = whyslow(interrupted, &["compare", "a", "--runs", "50"]);
    assert_eq!((printed.status, printed.stderr.as_str()), (Status::Interrupted, ""));
    assert!(
        printed.stdout.starts_with("interrupted: ") && printed.stdout.contains("7 runs"),
        "{}",
        printed.stdout
    );
    let failure = Failure { when: When::From(8), ..Failure::always(How::Exit(22)) };
    let failing = World::default().with_program(Program::new("a", Cost::of_cpu(0.05)).with_failure(failure));
    let printed = whyslow(failing, &["compare", "a", "--runs", "50"]);
    assert_eq!(printed.status, Status::CouldNot);
    assert!(
        printed.stderr.contains("a exited with status 22") && printed.stderr.contains("are timed"),
        "{}",
        printed.stderr
    );
}

#[test]
fn a_dry_run_shows_the_command_and_no_order() {
    let printed = whyslow_without_machine(&["compare", "--dry-run", "a 1"]);
    assert_eq!(printed.stdout, "a 1\n  run        a 1\n");
}

#[test]
fn what_takes_long_is_announced_by_the_run() {
    let slow = World::default().with_program(Program::new("a", Cost::of_cpu(60.0)));
    let printed = whyslow(slow, &["compare", "a"]);
    assert_eq!(printed.stderr, "a run takes 60 s: 6 runs, about 6 min more\n");
}
