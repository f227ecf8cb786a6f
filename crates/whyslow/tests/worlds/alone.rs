//! One command by itself: its interval holds the truth, narrow ones end it early, and what is short of it is told.

use whyslow::analysis::{Alone, Forecast, analyze};
use whyslow::machine::simulated::{Cost, Failure, How, Interrupt, Noise, Program, When, World};
use whyslow::model::{FailurePolicy, Stop};
use whyslow::plan::Question;

use crate::common::{Answer, WHITE, ask, full_text, quiet_text};

const TRUTH_S: f64 = 0.05;

fn question() -> Question {
    Question { may_be_alone: true, ..ask(&["a"]) }
}

fn program() -> Program {
    Program::new("a", Cost::of_cpu(TRUTH_S))
}

fn answer(noise: Noise, question: &Question) -> Answer {
    Answer::of(World::default().with_program(program()).with_noise(noise), question)
}

fn alone(answer: &Answer) -> &Alone {
    answer.analysis.alone.as_ref().expect("values of the metric")
}

#[test]
fn a_quiet_machine_ends_it_at_the_first_look() {
    let answer = answer(Noise::White { scatter: 0.002 }, &question());
    assert_eq!((answer.analysis.stop, answer.analysis.blocks), (Some(Stop::Decided), 10));
    let found = alone(&answer);
    assert!(found.is_narrow && found.half_width.unwrap() <= 0.01 && found.forecast.is_none());
    let (low, high) = found.interval.unwrap();
    assert!(low < TRUTH_S && TRUTH_S < high && low <= found.median && found.median <= high);
    assert!(low <= found.quartiles.1 && found.quartiles.0 <= high);
    assert!(answer.kinds().is_empty() && answer.analysis.comparisons.is_empty(), "{:?}", answer.kinds());
    assert_eq!(answer.analysis.margin, 0.01);
}

#[test]
fn no_noise_at_all_is_no_trouble() {
    let answer = answer(Noise::None, &question());
    let (low, high) = alone(&answer).interval.unwrap();
    assert!((low - TRUTH_S).abs() < 1e-9 && (high - TRUTH_S).abs() < 1e-9);
    assert_eq!(answer.analysis.stop, Some(Stop::Decided));
}

/// Symmetric noise, so that the truth is the median; the bounds leave room for 200 worlds.
#[test]
fn the_interval_holds_the_truth_as_often_as_it_says_although_its_width_ends_it() {
    let wandering = Noise::Autoregressive { scatter: 0.01, wander: 0.01, memory: 0.5 };
    let models = [Noise::White { scatter: 0.02 }, Noise::HeavyTail { scale: 0.02, limit: 10.0 }, wandering];
    for noise in models {
        let held = (0..200).filter(|&seed| {
            let world = World { seed, ..World::default().with_program(program()).with_noise(noise) };
            let (low, high) = alone(&Answer::of(world, &question())).interval.unwrap();
            low <= TRUTH_S && TRUTH_S <= high
        });
        let share = held.count() as f64 / 200.0;
        assert!(share >= 0.95, "{noise:?}: {share}");
    }
}

#[test]
fn a_spent_budget_tells_how_narrow_it_got_and_what_would_do() {
    let noisy = Noise::White { scatter: 0.1 };
    let answer = answer(noisy, &Question { budget_s: Some(3.0), ..question() });
    assert_eq!(answer.analysis.stop, Some(Stop::BudgetSpent));
    let found = alone(&answer);
    assert!(!found.is_narrow && matches!(found.forecast, Some(Forecast::MoreBlocks(100..))), "{found:?}");
    for text in [full_text(&answer), quiet_text(&answer)] {
        assert!(text.contains("known to ±") && text.contains("not to 1 %"), "{text}");
        assert!(text.contains("more runs would"), "{text}");
    }
}

#[test]
fn a_wider_margin_takes_fewer_runs() {
    let runs = |margin: f64| answer(WHITE, &Question { margin: Some(margin), ..question() }).analysis.blocks;
    assert!(runs(5.0) < runs(0.5), "{} and {}", runs(5.0), runs(0.5));
}

#[test]
fn so_many_runs_as_asked_for_whatever_they_show() {
    let runs = |count: usize| answer(WHITE, &Question { runs: Some(count), ..question() });
    for count in [1, 5] {
        let few = runs(count);
        assert_eq!((few.analysis.blocks, few.analysis.stop), (count, Some(Stop::RunsDone)));
        assert_eq!(alone(&few).interval, None);
        assert!(few.has("too_few_blocks"));
    }
    assert!(alone(&runs(6)).interval.is_some() && !runs(6).has("too_few_blocks"));
    assert_eq!(runs(40).analysis.blocks, 40);
    let most = answer(Noise::White { scatter: 0.3 }, &Question { max_runs: Some(12), ..question() });
    assert_eq!((most.analysis.blocks, most.analysis.stop), (12, Some(Stop::RunsDone)));
}

#[test]
fn long_runs_are_made_six_times() {
    let world = World::default().with_program(Program::new("a", Cost::of_cpu(60.0))).with_noise(WHITE);
    let answer = Answer::of(world, &question());
    assert_eq!(answer.analysis.blocks, 6);
    assert!(alone(&answer).interval.is_some());
}

#[test]
fn any_metric_may_decide_and_one_that_is_not_there_is_told() {
    let by = |metric: &str| {
        answer(WHITE, &Question { leading: Some(metric.into()), max_runs: Some(50), ..question() })
    };
    for metric in ["cpu", "page_faults", "peak_rss"] {
        let found = by(metric);
        assert!(alone(&found).metric.starts_with(metric) && alone(&found).is_narrow, "{metric}");
    }
    let none = by("major_faults");
    assert_eq!(none.analysis.alone.as_ref().map(|alone| alone.half_width), Some(Some(0.0)), "always 0");
}

/// A drift, two groups, neighbours that are alike: what a comparison knows of two is asked of one.
#[test]
fn the_machine_is_named_where_it_moved() {
    let runs = |count: usize| Question { runs: Some(count), ..question() };
    let drifting = answer(Noise::drift_over(100), &runs(100));
    assert!(drifting.has("drift") && drifting.has("correlated"), "{:?}", drifting.kinds());
    assert!(!full_text(&drifting).contains("verdict"), "{}", full_text(&drifting));
    let groups = answer(Noise::Bimodal { scatter: 0.01, step: 0.5, chance: 0.4 }, &runs(100));
    assert!(groups.has("two_modes"), "{:?}", groups.kinds());
    let plain = answer(WHITE, &runs(100));
    assert!(plain.kinds().is_empty(), "{:?}", plain.kinds());
    let (wide, narrow) = (alone(&drifting).half_width.unwrap(), alone(&plain).half_width.unwrap());
    assert!(wide > 2.0 * narrow, "{wide} and {narrow}");
}

#[test]
fn a_first_run_that_takes_longer_is_told() {
    let cold = |runs: usize| {
        let program = program().with_cold_start(runs, Cost::of_cpu(0.2));
        Answer::of(World::default().with_program(program).with_noise(WHITE), &question())
    };
    assert!(!cold(0).has("first_run"));
    let (warmed, measured) = (full_text(&cold(1)), full_text(&cold(2)));
    assert!(warmed.contains("first warm-up run, which is not counted, took 5.0"), "{warmed}");
    assert!(measured.contains("the first run took 5.0"), "{measured}");
}

#[test]
fn failures_are_counted_by_kind_or_end_it() {
    let world = || {
        let failure = Failure { when: When::Every(5), ..Failure::always(How::Exit(3)) };
        World::default().with_program(program().with_failure(failure)).with_noise(WHITE)
    };
    let counted = Question { failures: FailurePolicy::CountAll, runs: Some(40), ..question() };
    let text = full_text(&Answer::of(world(), &counted));
    assert!(text.contains("* 8 of 40 runs failed (8 with status 3)"), "{text}");
    let ended = Answer::of(world(), &question());
    assert_eq!(ended.analysis.stop, Some(Stop::Failed));
    assert!(full_text(&ended).contains("a exited with status 3 in run "), "{}", full_text(&ended));
    let never = World::default().with_program(program().with_failure(Failure::always(How::Exit(1))));
    let never = Answer::of(never, &Question { runs: None, ..counted });
    assert_eq!((never.analysis.stop, never.analysis.alone), (Some(Stop::NeverSucceeded), None));
}

#[test]
fn an_interrupt_keeps_what_was_measured() {
    let world = World::default()
        .with_program(program())
        .with_noise(Noise::White { scatter: 0.1 })
        .with_interrupt(Interrupt::AfterRuns(21));
    let answer = Answer::of(world, &question());
    assert_eq!((answer.analysis.stop, answer.analysis.blocks), (Some(Stop::Interrupted), 20));
    assert!(full_text(&answer).starts_with("interrupted: "), "{}", full_text(&answer));
}

/// There is nothing to check it against but itself.
#[test]
fn output_that_is_not_the_same_in_every_run_is_told_also_quietly() {
    let world = World::default().with_program(program().with_output(7)).with_noise(WHITE);
    let mut answer = Answer::of(world, &Question { digest_output: true, ..question() });
    assert!(!answer.has("output_varies"));
    answer.recording.runs[5].output_digest = Some(8);
    answer.analysis = analyze(&answer.recording);
    for text in [full_text(&answer), quiet_text(&answer)] {
        assert!(text.contains("* the output is not the same in every run"), "{text}");
    }
}
