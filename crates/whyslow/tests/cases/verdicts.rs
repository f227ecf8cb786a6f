//! What is said about runs: on simulated machines.

use serde_json::Value;
use whyslow::analysis::Verdict;
use whyslow::cli::Status;
use whyslow::machine::simulated::{Cost, Drift, Failure, How, Noise, Program, When, World};
use whyslow::plan::Question;

use crate::common::{Answer, Printed, WHITE, ask, text_of, whyslow};

fn compare(world: World, more: &[&str]) -> Printed {
    whyslow(world, &[&["compare", "a", "b", "--seed", "1"], more].concat())
}

/// "a" does its work, "b" fails in these ways.
fn failing(failures: impl IntoIterator<Item = Failure>) -> World {
    let failing = failures.into_iter().fold(Program::new("b", Cost::of_cpu(0.05)), Program::with_failure);
    World::default()
        .with_program(Program::new("a", Cost::of_cpu(0.05)))
        .with_program(failing)
        .with_noise(WHITE)
}

fn json(printed: &Printed) -> Value {
    serde_json::from_str(&printed.stdout).unwrap_or_else(|error| panic!("{error}: {printed:?}"))
}

#[test]
fn case_1_a_load_that_starts_half_way_is_named_and_makes_no_difference() {
    let noise = Noise::Drifting { scatter: 0.01, drift: Drift::Step { change: 0.5, at_run: 62 } };
    let question = Question { runs: Some(60), ..ask(&["a", "b"]) };
    let answer = Answer::of(World::pair(0.05, 1.0).with_noise(noise), &question);
    assert!(matches!(answer.verdict("wall_s"), Verdict::Same | Verdict::Undecided));
    assert!(answer.has("drift"), "{:?}", answer.kinds());
}

/// Where the shell takes more time than the command, nothing is subtracted that could leave less than nothing.
#[test]
fn case_4_next_to_nothing_in_a_shell_is_shown_with_the_shell() {
    let world = World::default().with_program(Program::new("sh", Cost::of_cpu(0.000_3))).with_noise(WHITE);
    let printed =
        whyslow(world, &["compare", "-S", "sh", ":", "true", "--runs", "20", "--seed", "1", "--json"]);
    let result = json(&printed);
    for variant in result["variants"].as_array().unwrap() {
        let least_s = variant["metrics"]["wall_s"]["min"].as_f64().unwrap();
        assert!(least_s > 0.000_25, "{variant}");
    }
    let kinds =
        result["concerns"].as_array().unwrap().iter().map(|concern| concern["kind"].as_str().unwrap());
    assert_eq!(kinds.filter(|&kind| kind == "short").count(), 2, "{result}");
}

#[test]
fn case_5_runs_out_of_time_give_a_bound_and_no_ratio() {
    let options = ["--timeout", "0.5", "--ignore-failure", "--runs", "3"];
    let hanging = || failing([Failure::always(How::Hang)]);
    let printed = compare(hanging(), &options);
    let bound = "b: more than 500 ms (3 of 3 runs timed out), so no ratio";
    assert!(printed.stdout.starts_with(bound), "{}", printed.stdout);
    assert!(!printed.stdout.contains("faster") && !printed.stdout.contains("slower"), "{}", printed.stdout);
    let result = json(&compare(hanging(), &[&options[..], &["--json"]].concat()));
    assert_eq!(result["comparisons"], serde_json::json!([]));
}

#[test]
fn case_6_failed_runs_are_counted_by_kind_and_left_out() {
    let sometimes = |chance, how| Failure { when: When::Chance(chance), ..Failure::always(how) };
    let world = || failing([sometimes(0.2, How::Exit(3)), sometimes(0.1, How::Signal(11))]);
    let options = ["--ignore-failure", "--runs", "60"];
    let text = compare(world(), &options).stdout;
    assert!(text.contains(" of 60 runs failed ("), "{text}");
    assert!(text.contains(" with status 3, ") && text.contains(" by signal 11 (SIGSEGV))"), "{text}");
    assert!(text.contains("the variants do not fail equally often"), "{text}");

    let result = json(&compare(world(), &[&options[..], &["--json"]].concat()));
    let of = |variant: usize, key: &str| result["variants"][variant][key].as_u64().unwrap();
    assert_eq!((of(0, "runs"), of(0, "failed")), (60, 0));
    assert_eq!(of(1, "runs") + of(1, "failed"), 60);
    assert_eq!(result["variants"][1]["metrics"]["wall_s"]["count"], of(1, "runs"));
}

#[test]
fn case_7_a_failure_at_once_keeps_its_code_and_last_words() {
    let folder = tempfile::tempdir().unwrap();
    let (older, record) = (folder.path().join("older.json"), folder.path().join("run.jsonl"));
    std::fs::write(&older, "hours of work").unwrap();
    let export = format!("json={}", text_of(&older));
    let message = Some("cannot open the database\n".to_owned());
    let world = failing([Failure { message, ..Failure::always(How::Exit(22)) }]);
    let printed = compare(world, &["--json", "--record", text_of(&record), "--warmup", "0"]);
    assert_eq!((printed.status, printed.status as u8), (Status::CouldNot, 2));
    let failure = &json(&printed)["failure"];
    assert_eq!(
        (&failure["exit"]["code"], &failure["stderr_tail"]),
        (&22.into(), &"cannot open the database".into())
    );
    let recorded = std::fs::read_to_string(&record).unwrap();
    assert!(recorded.contains("cannot open the database"), "{recorded}");

    // An export of nothing does not take the place of an older one.
    let world = failing([Failure::always(How::Exit(22))]);
    assert_eq!(compare(world, &["--export", &export]).status, Status::CouldNot);
    assert_eq!(std::fs::read_to_string(&older).unwrap(), "hours of work");
}

#[test]
fn case_8_descendants_that_outlive_a_command_are_told() {
    let leaving = Program::new("b", Cost::of_cpu(0.05)).with_leftovers(1);
    let world = World::default().with_program(Program::new("a", Cost::of_cpu(0.05))).with_program(leaving);
    let printed = compare(world.with_noise(WHITE), &["--runs", "8"]);
    let words = printed.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("b: in 8 runs descendants were still alive when the command had ended"),
        "{words}"
    );
}

#[test]
fn case_13_a_silent_status_1_may_be_an_answer() {
    let silent = Failure { message: Some(String::new()), ..Failure::always(How::Exit(1)) };
    let printed = compare(failing([silent.clone()]), &[]);
    assert_eq!(printed.status, Status::CouldNot);
    assert!(printed.stderr.contains("b exited with status 1\n"), "{}", printed.stderr);
    assert!(printed.stderr.contains("it said nothing") && printed.stderr.contains("--success-codes 0,1"));
    let taken_for_one = compare(failing([silent]), &["--success-codes", "0,1", "--runs", "6"]);
    assert_eq!(taken_for_one.status, Status::Done, "{}", taken_for_one.stderr);
}

#[test]
fn case_15_a_hang_is_ended_with_a_hint_at_input() {
    let printed = compare(failing([Failure::always(How::Hang)]), &["--timeout", "2"]);
    assert_eq!(printed.status, Status::CouldNot);
    assert!(printed.stderr.contains("b did not end in time and was killed"), "{}", printed.stderr);
    assert!(printed.stderr.contains("does it wait for input?"), "{}", printed.stderr);
}

#[test]
fn case_36_a_gap_comes_before_every_run() {
    let question = Question { runs: Some(6), gap_s: 0.25, ..ask(&["a", "b"]) };
    let answer = Answer::of(World::pair(0.05, 1.0), &question);
    for pair in answer.recording.runs.windows(2) {
        assert!(pair[1].start_s - pair[0].start_s >= 0.3 - 1e-9, "{} {}", pair[0].start_s, pair[1].start_s);
    }
}
