//! `whyslow probe` on simulated machines whose programs state what probes see of them: views, differences, JSON, files of
//! profiles, and what is asked wrongly.

mod common;

#[path = "probe/golden.rs"]
mod golden;
#[path = "probe/json.rs"]
mod json;
#[path = "probe/profiles.rs"]
mod profiles;
#[path = "probe/samples.rs"]
mod samples;
#[path = "common/schema.rs"]
mod schema_check;

use common::{text_of, whyslow, whyslow_without_machine};
use samples::world;
use serde_json::Value;
use whyslow::cli::Status;
use whyslow::machine::simulated::{Cost, Interrupt, Program, Rights, World};
use whyslow::model::Trace;

#[test]
fn a_recording_shows_the_same_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("traces.jsonl");
    for commands in [&["a"][..], &["a", "b"]] {
        let record = ["--record", text_of(&file)];
        let printed = whyslow(world(), &[&["probe", "--with", "all"], commands, &record].concat());
        assert_eq!((printed.status, printed.stderr.as_str()), (Status::Done, ""), "{}", printed.stdout);
        let again = whyslow_without_machine(&["report", text_of(&file)]);
        assert_eq!((again.status, again.stdout), (Status::Done, printed.stdout));
        let json = whyslow_without_machine(&["report", text_of(&file), "--json"]);
        let first = whyslow(world(), &[&["probe", "--with", "all", "--json"], commands].concat());
        let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
        let first: serde_json::Value = serde_json::from_str(&first.stdout).unwrap();
        assert_eq!(json["traces"], first["traces"]);
    }
    let printed = whyslow_without_machine(&["compare", "--resume", text_of(&file)]);
    assert!(printed.stderr.contains("no runs to go on with"), "{}", printed.stderr);
}

#[test]
fn what_cannot_be_seen_is_told_with_its_remedy_and_never_0() {
    let printed = whyslow(world().with_rights(Rights::none()), &["probe", "a"]);
    assert_eq!(printed.status, Status::Done);
    let notes: Vec<&str> = printed.stdout.split("* not checked: ").skip(1).collect();
    assert!(notes[0].starts_with("system calls, files: tracing is not permitted; set"), "{notes:?}");
    assert!(notes[1].starts_with("CPU profile, page faults, waiting, time series"), "{notes:?}");
    assert!(!printed.stdout.contains("0 calls"), "{}", printed.stdout);
    let blind = World::default().with_program(Program::new("a", Cost::of_cpu(0.01)));
    let printed = whyslow(blind, &["probe", "--with", "cpu", "a"]);
    assert_eq!(printed.status, Status::CouldNot);
    assert!(
        printed.stderr.starts_with("error: no program of this name") || printed.stderr.starts_with("error: ")
    );
}

#[test]
fn a_side_that_was_not_seen_is_named() {
    let mut world = world();
    world.program_mut("b").unwrap().traces.retain(|trace| trace.probe().name() != "syscalls");
    let printed = whyslow(world, &["probe", "--with", "syscalls,loading", "a", "b"]);
    assert!(printed.stdout.contains("not checked: system calls of b: "), "{}", printed.stdout);
    assert!(printed.stdout.contains("loading  a: the probed run took"), "{}", printed.stdout);
}

#[test]
fn an_interrupt_shows_what_was_seen() {
    let printed = whyslow(world().with_interrupt(Interrupt::AfterRuns(2)), &["probe", "a"]);
    assert_eq!(printed.status as u8, 130);
    assert!(
        printed.stdout.starts_with("interrupted: this is what was seen until then\n"),
        "{}",
        printed.stdout
    );
    let words = printed.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("it was interrupted: this is a part of the run"), "{words}");
    let before = whyslow(world().with_interrupt(Interrupt::AtSecond(0.0)), &["probe", "a"]);
    assert_eq!((before.status as u8, before.stdout.as_str()), (130, ""));
    assert!(before.stderr.starts_with("interrupted before a probe"), "{}", before.stderr);
}

#[test]
fn several_looks_give_intervals() {
    let once = whyslow(world(), &["probe", "--with", "cpu", "a", "b"]).stdout;
    assert!(once.contains("95 %") && once.contains('±'), "{once}");
    let thrice = whyslow(world(), &["probe", "--with", "cpu", "--repeat", "3", "a", "b"]).stdout;
    assert!(thrice.contains("3 probed runs took"), "{thrice}");
}

/// The second side needs another rate than the first.
fn world_of_two_rates(rate_hz: f64, total_s: f64) -> World {
    let mut world = world();
    for trace in &mut world.program_mut("b").unwrap().traces {
        if let Trace::Cpu(profile) = trace {
            (profile.rate_hz, profile.total) = (rate_hz, Some(total_s));
        }
    }
    world
}

fn rates(world: World, arguments: &[&str]) -> Vec<(String, f64)> {
    let arguments = [&["probe", "--json", "--with", "cpu,faults"], arguments].concat();
    let document: Value = serde_json::from_str(&whyslow(world, &arguments).stdout).unwrap();
    let of_cpu = document["traces"].as_array().unwrap().iter().filter(|trace| trace["probe"] == "cpu");
    let rate = |trace: &Value| {
        let rate_hz = trace["seen"]["cpu"]["rate_hz"].as_f64().unwrap();
        (trace["variant"].as_str().unwrap().to_owned(), rate_hz)
    };
    let mut rates: Vec<(String, f64)> = of_cpu.map(rate).collect();
    rates.sort_by(|one, other| one.partial_cmp(other).unwrap());
    rates
}

#[test]
fn sides_are_sampled_as_often_as_the_one_that_needs_it_most() {
    let two = |rate_hz, total_s| world_of_two_rates(rate_hz, total_s);
    let expected = [("a", 1000.0), ("a", 5000.0), ("b", 5000.0)].map(|(name, hz)| (name.to_owned(), hz));
    assert_eq!(rates(two(5000.0, 0.1), &["a", "b"]), expected);
    assert_eq!(rates(two(5000.0, 0.1), &["b", "a"]), expected);
    let shown = whyslow(two(5000.0, 0.1), &["probe", "--with", "cpu", "a", "b"]).stdout;
    assert!(!shown.contains("different rates") && !shown.contains("2 probed runs"), "{shown}");
    let thrice = whyslow(two(5000.0, 0.1), &["probe", "--with", "cpu", "--repeat", "3", "a", "b"]).stdout;
    assert!(thrice.contains("3 probed runs took") && !thrice.contains("4 probed runs"), "{thrice}");
    // A minute would be too many samples, and another side is too short for fewer.
    let long = two(100.0, 60.0);
    assert_eq!(rates(long.clone(), &["a", "b"]).len(), 2);
    let shown = whyslow(long, &["probe", "--with", "cpu", "a", "b"]).stdout;
    assert!(shown.contains("different rates"), "{shown}");
}

#[test]
fn every_variant_is_compared_with_the_first_or_the_reference() {
    let three =
        whyslow(world(), &["probe", "--with", "syscalls", "a", "b", "a", "-n", "x", "-n", "y", "-n", "z"]);
    assert!(three.stdout.contains("y compared with x") && three.stdout.contains("z compared with x"));
    let turned = whyslow(world(), &["probe", "--with", "syscalls", "a", "b", "--reference", "b"]).stdout;
    assert!(turned.contains("b: the probed run took") && turned.find("  b").is_some(), "{turned}");
}

#[test]
fn what_is_asked_wrongly_is_refused_before_anything_runs() {
    let cases: [(&[&str], &str); 7] = [
        (&["probe"], "there is no command"),
        (&["probe", "--with", "sycalls", "a"], "did you mean syscalls?"),
        (&["probe", "--with", "nonsense", "a"], "known are environment, loading"),
        (&["probe", "--repeat", "0", "a"], "--repeat"),
        (&["probe", "--export", "csv=x.csv", "a"], "csv is made of timed runs"),
        (&["probe", "--export", "svg=x", "a"], "pprof"),
        (&["probe", "--record", "-", "a"], "a recording cannot go to the standard output"),
    ];
    for (arguments, expected) in cases {
        let printed = whyslow_without_machine(arguments);
        assert_eq!((printed.status, printed.stdout.as_str()), (Status::CouldNot, ""), "{arguments:?}");
        assert!(printed.stderr.contains(expected), "{arguments:?}: {}", printed.stderr);
    }
}

#[test]
fn hooks_are_around_every_look() {
    // No program of this world is called sh, so a hook cannot be started.
    let printed = whyslow(world(), &["probe", "--with", "syscalls", "a", "--setup", "true"]);
    assert_eq!(printed.status, Status::CouldNot);
    assert!(printed.stderr.starts_with("error: the setup hook of a"), "{}", printed.stderr);
    let printed = whyslow(world(), &["probe", "--with", "syscalls", "a", "--prepare", "true"]);
    assert!(
        printed.stderr.starts_with("error: the prepare hook of the probed run failed\nhint: "),
        "{}",
        printed.stderr
    );
    assert_eq!((printed.status, printed.stdout.as_str()), (Status::CouldNot, ""));
}
