//! What `whyslow explain` and `whyslow try` print, word for word, on a machine whose truth is known.

use std::path::Path;

use tempfile::TempDir;
use whyslow::cli::Status;
use whyslow::machine::simulated::{Cause, Condition, Cost, Effect, Failure, How, Noise, Program, World};
use whyslow::model::{Frame, KernelView, Profile, Stack, SyscallCount, Syscalls, Trace};

use super::golden::assert_golden;
use crate::common::{Printed, WHITE, text_of, whyslow, whyslow_without_machine};

const SLOW: &str = "env LC_ALL=en_US.UTF-8 sort words";
const FAST: &str = "env LC_ALL=C sort words";

fn profile(name: &str, module: &str, seconds: f64) -> Trace {
    Trace::Cpu(Profile {
        rate_hz: 999.0,
        samples: (seconds * 999.0) as u64,
        sampled: seconds,
        total: Some(seconds),
        kernel: KernelView::Seen,
        rooted: 1.0,
        frames: vec![Frame { name: name.into(), module: module.into() }],
        stacks: vec![Stack { frames: vec![0], weight: seconds, thread: "sort".into() }],
        ..Profile::default()
    })
}

/// Sorting by the rules of a language instead of by bytes.
fn sorting() -> World {
    let effect = Effect::adding(Cost { user_s: 0.324, system_s: 0.003, ..Cost::default() });
    let cause = Cause::new("locale", Condition::env_is("LC_ALL", "en_US.UTF-8"), effect);
    let program = Program::new("sort", Cost::of_cpu(0.058))
        .with_trace(profile("memcmp", "libc.so.6", 0.058))
        .with_cause(cause.with_trace(profile("strcoll_l", "libc.so.6", 0.327)));
    World::default().with_program(program).with_noise(WHITE)
}

fn explain(more: &[&str]) -> Printed {
    whyslow(sorting(), &[&["explain", SLOW, FAST, "--seed", "1"], more].concat())
}

/// A recording of it.
fn recorded(folder: &TempDir, name: &str) -> std::path::PathBuf {
    let path = folder.path().join(name);
    assert_eq!(explain(&["--record", text_of(&path), "-n", "slow", "-n", "fast"]).status, Status::Done);
    path
}

#[test]
fn a_culprit() {
    let printed = explain(&[]);
    assert_eq!((printed.status, printed.stderr.as_str()), (Status::Done, ""));
    assert_golden("explain/culprit", &printed.stdout);
}

#[test]
fn no_difference_to_explain() {
    let same = "env LC_ALL=C.UTF-8 sort words";
    let printed = whyslow(sorting(), &["explain", same, FAST, "--seed", "1"]);
    assert_golden("explain/nothing", &printed.stdout);
}

#[test]
fn everything_as_json() {
    let printed = explain(&["--json"]);
    let json: serde_json::Value = serde_json::from_str(&printed.stdout).expect("JSON and nothing else");
    let text = serde_json::to_string_pretty(&json).unwrap() + "\n";
    assert_golden("explain/json", &without_time(&text));
}

/// The moment of the recording is that of the test.
fn without_time(text: &str) -> String {
    let is_moment = |line: &&str| !line.trim_start().starts_with("\"started\"");
    text.lines().filter(is_moment).map(|line| format!("{line}\n")).collect()
}

#[test]
fn one_command_with_and_without_an_edit() {
    let world = sorting().with_variable("LC_ALL", "en_US.UTF-8");
    let printed = whyslow(world, &["try", "--edit", "LC_ALL=C", "--seed", "1", "sort words"]);
    assert_eq!(printed.status, Status::Done, "{}", printed.stderr);
    assert_golden("explain/try-one", &printed.stdout);
}

#[test]
fn an_edit_on_the_gap_between_two_commands() {
    let (slow, fast) = ("sort --german words", "sort words");
    let mut world = sorting();
    let is_german = Condition::HasArgument("--german".into());
    let is_bytes = Condition::env_is("LC_ALL", "C").negated();
    world.programs[0].causes[0].when = Condition::All(vec![is_german, is_bytes]);
    let printed = whyslow(world, &["try", "--edit", "LC_ALL=C", "--seed", "1", slow, fast]);
    assert_eq!(printed.status, Status::Done, "{}", printed.stderr);
    assert_golden("explain/try-two", &printed.stdout);
}

#[test]
fn a_recording_is_explained_again_without_a_machine() {
    let folder = tempfile::tempdir().unwrap();
    let path = recorded(&folder, "run.jsonl");
    let report = whyslow_without_machine(&["report", text_of(&path)]);
    let again = whyslow_without_machine(&["explain", text_of(&path)]);
    assert_eq!((report.status, again.stdout.as_str()), (Status::Done, report.stdout.as_str()));
    assert_golden("explain/report", &report.stdout);
}

#[test]
fn two_recordings_from_two_days() {
    let folder = tempfile::tempdir().unwrap();
    let one = recorded(&folder, "a.jsonl");
    let other = folder.path().join("b.jsonl");
    let command = ["explain", FAST, SLOW, "--seed", "2", "-n", "fast", "-n", "slow"];
    assert_eq!(
        whyslow(sorting(), &[&command[..], &["--record", text_of(&other)]].concat()).status,
        Status::Done
    );
    let joined = whyslow_without_machine(&["explain", text_of(&one), text_of(&other)]);
    assert_eq!(joined.status, Status::Done, "{}", joined.stderr);
    assert_golden("explain/joined", &without_place(&joined.stdout, folder.path()));
}

fn without_place(text: &str, folder: &Path) -> String {
    text.replace(text_of(folder), "DIR")
}

/// An allocator that costs a third more without threads and nothing with them, and writes something else. Threads bring
/// calls with them.
fn builds() -> World {
    let calls = |count| {
        let calls = [("futex".to_owned(), SyscallCount { calls: count, ..SyscallCount::default() })].into();
        Trace::Syscalls(Syscalls { calls, processes: 1, starts: 1, ..Syscalls::default() })
    };
    let is = Condition::env_is;
    let both = Condition::All(vec![is("MALLOC", "system"), is("THREADS", "yes")]);
    let program = Program::new("perl", Cost::of_cpu(0.1))
        .with_trace(calls(10))
        .with_cause(Cause::new("system malloc", is("MALLOC", "system"), Effect::on_cpu(1.4)))
        .with_cause(
            Cause::new("threads", is("THREADS", "yes"), Effect::on_cpu(1.35)).with_trace(calls(20_000)),
        )
        .with_cause(Cause::new("a lock that is not taken", both, Effect::on_cpu(0.76)))
        .with_cause(Cause::new(
            "a banner",
            is("THREADS", "yes"),
            Effect::adding(Cost { output_bytes: 10.0, ..Cost::default() }),
        ));
    World::default().with_program(program).with_noise(WHITE)
}

#[test]
fn factors_that_interact_and_what_differs_beside_them() {
    let line = "env MALLOC={malloc} THREADS={threads} perl split.pl";
    let parameters = ["-L", "malloc", "own,system", "-L", "threads", "no,yes", "-n", "{malloc} {threads}"];
    let printed = whyslow(builds(), &[&["explain", line, "--seed", "1"], &parameters[..]].concat());
    assert_eq!(printed.status, Status::Done, "{}", printed.stderr);
    assert_golden("explain/factors", &printed.stdout);
}

/// A suspect of the user's own that nothing takes away gives the difference its name, also in a report of the recording.
#[test]
fn a_suspect_without_an_experiment_is_named() {
    let folder = TempDir::new().unwrap();
    let (file, path) = (folder.path().join("own.toml"), folder.path().join("r.jsonl"));
    let text = "[[suspect]]\nname = \"app.rehash\"\ntitle = \"tables are built again\"\nadvice = \"larger tables\"\n\
                [suspect.trigger]\nfunction = { contains = \"rehash\", share = 0.1 }\n";
    std::fs::write(&file, text).unwrap();
    let effect = Effect::adding(Cost { user_s: 0.3, ..Cost::default() });
    let cause = Cause::new("rehash", Condition::HasArgument("large".into()), effect);
    let program = Program::new("app", Cost::of_cpu(0.058))
        .with_trace(profile("main", "app", 0.058))
        .with_cause(cause.with_trace(profile("rehash_table", "app", 0.3)));
    let world = World::default().with_program(program).with_noise(WHITE);
    let files = ["--suspects", text_of(&file), "--record", text_of(&path)];
    let printed =
        whyslow(world, &[&["explain", "app small", "app large", "--seed", "1"], &files[..]].concat());
    assert!(printed.stdout.contains("tables are built again (app.rehash)"), "{}", printed.stdout);
    assert!(printed.stdout.contains("larger tables"), "{}", printed.stdout);
    assert_eq!(whyslow_without_machine(&["report", text_of(&path)]).stdout, printed.stdout);
}

/// Both sides scatter so much that a first round tells nothing.
#[test]
fn an_edit_is_tried_until_it_is_told_from_nothing() {
    let program = |name: &str, seconds| Program::new(name, Cost::of_cpu(seconds));
    let world = World::default().with_program(program("a", 0.05)).with_program(program("b", 0.075));
    let world = world.with_noise(Noise::White { scatter: 0.2 });
    let printed =
        whyslow(world, &["try", "--edit", "A=1", "--seed", "1", "--budget", "600", "--json", "a", "b"]);
    let json: serde_json::Value = serde_json::from_str(&printed.stdout).expect("JSON and nothing else");
    let findings = json["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["suspect"] == "A=1").unwrap();
    assert!(finding["stage"].as_u64() > Some(0) && finding["status"] != "confirmed", "{finding}");
    assert_eq!(json["asked"][0]["suspect"], "A=1");
}

#[test]
fn an_edit_that_does_nothing_is_told_first() {
    let world = World::default()
        .with_program(Program::new("a", Cost::of_cpu(0.05)))
        .with_program(Program::new("b", Cost::of_cpu(0.2)))
        .with_noise(WHITE);
    let printed = whyslow(world, &["try", "--edit", "A=1", "--seed", "1", "a", "b"]);
    let line = printed.stdout.lines().nth(2).unwrap();
    assert!(
        line.starts_with("tried ") && line.contains("A=1 on both sides closes nothing"),
        "{}",
        printed.stdout
    );
}

#[test]
fn an_edit_with_which_the_command_fails() {
    let given = Condition::env_is("A", "1");
    let failure = Failure { given, ..Failure::always(How::Exit(3)) };
    let program = Program::new("sort", Cost::of_cpu(0.05)).with_failure(failure);
    let world = World::default().with_program(program).with_noise(WHITE);
    for commands in [&["sort x"][..], &["sort x", "sort y"]] {
        let printed = whyslow(world.clone(), &[&["try", "-e", "A=1"], commands].concat());
        assert_eq!((printed.status, printed.stdout.as_str()), (Status::CouldNot, ""));
        assert!(printed.stderr.contains("A=1 exited with status 3"), "{}", printed.stderr);
    }
}
