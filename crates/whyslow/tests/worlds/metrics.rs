//! What is unknown stays unknown: rights, the books of the timer tick, times of nothing.

use serde_json::Value;
use whyslow::analysis::Verdict;
use whyslow::machine::simulated::{Cost, Program, Rights, Sleep, World};
use whyslow::model::known_metric;
use whyslow::report;

use crate::common::{Answer, WHITE};

/// No number of a result is what JSON cannot hold: such a number would turn into null where none may be.
#[track_caller]
fn assert_numbers(answer: &Answer) {
    let json = report::json(&answer.recording, &answer.analysis);
    for variant in json["variants"].as_array().unwrap() {
        for (name, metric) in variant["metrics"].as_object().unwrap() {
            for key in ["min", "max", "spread", "count"] {
                assert!(metric[key].is_number(), "{name}.{key} is {}", metric[key]);
            }
        }
    }
    for comparison in json["comparisons"].as_array().unwrap() {
        assert!(comparison["ratio"]["point"].is_number(), "{comparison}");
        let is_open = |key: &str| comparison["ratio"][key] == Value::Null;
        assert_eq!(is_open("low"), is_open("high"), "{comparison}");
    }
    let text = json.to_string() + &crate::common::full_text(answer);
    for wrong in ["NaN", "nan ", "inf", "Infinity"] {
        assert!(!text.contains(wrong), "{wrong}: {text}");
    }
}

#[test]
fn what_may_not_be_measured_is_missing_and_never_0() {
    let answer = Answer::of_pair(World::pair(0.05, 1.0).with_noise(WHITE).with_rights(Rights::none()));
    let missing: Vec<&str> = answer.analysis.missing.iter().map(|missing| missing.what.as_str()).collect();
    assert_eq!(missing, ["task_clock_s", "main_cpu_s", "run_queue_wait_s"]);
    for variant in &answer.analysis.variants {
        assert_eq!(variant.wait_share, None);
        assert!(!variant.is_cpu_bound);
        assert!(missing.iter().all(|name| !variant.metrics.contains_key(*name)));
    }
    assert_eq!(answer.verdict("wall_s"), Verdict::Same);
    assert_numbers(&answer);
    let text = crate::common::full_text(&answer);
    for name in missing {
        assert!(known_metric(name).is_some());
        assert!(text.contains("not measured"), "{text}");
    }
}

#[test]
fn short_runs_on_a_ticking_kernel_have_no_user_and_system_time() {
    let answer = Answer::of_pair(World::pair(0.002, 1.0).with_noise(WHITE).with_tick(0.004));
    for variant in &answer.analysis.variants {
        assert_eq!(variant.user_share, None);
        assert_eq!((variant.median("user_s"), variant.median("system_s")), (None, None));
        assert!(variant.median("cpu_s").is_some(), "the sum is right");
    }
    assert!(answer.has("no_split"), "{:?}", answer.kinds());
    assert_numbers(&answer);
}

#[test]
fn long_runs_have_a_pooled_split() {
    let answer = Answer::of_pair(World::pair(0.2, 1.0).with_noise(WHITE).with_tick(0.004));
    assert!(!answer.has("no_split"));
    for variant in &answer.analysis.variants {
        let share = variant.user_share.expect("a share");
        assert!((share.point - 0.9).abs() < 0.03, "{share:?}");
        assert!(share.low.unwrap() <= share.point && share.point <= share.high.unwrap());
        let parts = variant.median("user_s").unwrap() + variant.median("system_s").unwrap();
        assert!((parts / variant.median("cpu_s").unwrap() - 1.0).abs() < 1e-9, "the parts add up");
    }
}

#[test]
fn an_exact_kernel_splits_short_runs_too() {
    let answer = Answer::of_pair(World::pair(0.002, 1.0).with_noise(WHITE));
    let share = answer.analysis.variants[0].user_share.expect("a share");
    assert!((share.point - 0.9).abs() < 1e-9, "{share:?}");
}

#[test]
fn no_cpu_time_gives_no_comparison_of_it() {
    let sleeps = |name| Program::new(name, Cost { blocked_s: 0.05, ..Cost::default() });
    let world = World::default().with_program(sleeps("a")).with_program(sleeps("b")).with_noise(WHITE);
    let answer = Answer::of_pair(world);
    assert_eq!(answer.analysis.comparison(1, "cpu_s"), None);
    assert_eq!(answer.verdict("wall_s"), Verdict::Same);
    assert!(crate::common::quiet_text(&answer).contains("CPU time: unknown"));
    assert_numbers(&answer);
}

#[test]
fn no_cpu_time_on_one_side_gives_no_comparison_of_it() {
    let sleeps = Program::new("b", Cost { blocked_s: 0.05, ..Cost::default() });
    let world = World::default().with_program(Program::new("a", Cost::of_cpu(0.05))).with_program(sleeps);
    let answer = Answer::of_pair(world.with_noise(WHITE));
    assert_eq!(answer.analysis.comparison(1, "cpu_s"), None);
    assert_numbers(&answer);
}

/// No clock gives this, but a recording may come from anywhere.
#[test]
fn no_time_at_all_gives_no_comparison_and_no_nonsense() {
    let nothing = |name| Program::new(name, Cost::default());
    let mut world = World::default().with_program(nothing("a")).with_program(nothing("b"));
    world.overhead_s = 0.01;
    let answer = Answer::of_pair(world);
    assert!(answer.analysis.comparisons.is_empty());
    assert_numbers(&answer);
}

#[test]
fn the_smallest_and_the_largest_times_are_numbers() {
    for seconds in [1e-7, 0.000_1, 3_600.0, 1e7] {
        let answer = Answer::of_pair(World::pair(seconds, 1.0).with_noise(WHITE));
        assert_numbers(&answer);
    }
}

#[test]
fn a_computer_that_sleeps_during_a_run_is_told_of() {
    let sleep = Some(Sleep { after_runs: 12, seconds: 90.0 });
    let answer = Answer::of_pair(World { sleep, ..World::pair(0.05, 1.2).with_noise(WHITE) });
    assert!(answer.has("suspended"), "{:?}", answer.kinds());
    assert_eq!(answer.verdict("wall_s"), Verdict::Slower, "the clock of the runs stood still meanwhile");
    assert!(crate::common::full_text(&answer).contains("suspended during 1 run, for 90"));
    assert!(!Answer::of_pair(World::pair(0.05, 1.2)).has("suspended"));
}
