//! Every way in which a measurement ends, and what is left of it.

use whyslow::analysis::{Forecast, Verdict};
use whyslow::machine::simulated::{Cost, Failure, How, Interrupt, Program, Simulated, When, World};
use whyslow::model::{Exit, Stop};
use whyslow::plan::{Question, compose};
use whyslow::session::{Event, SessionError, Watcher, WatcherError, measure};

use crate::common::{Answer, WHITE, ask, stamp, with_timeout};

fn pair_with(failure: Failure) -> World {
    let failing = Program::new("b", Cost::of_cpu(0.05)).with_failure(failure);
    World::default()
        .with_program(Program::new("a", Cost::of_cpu(0.05)))
        .with_program(failing)
        .with_noise(WHITE)
}

#[test]
fn a_run_that_fails_ends_it_and_is_named() {
    let message = Some("first line\nno such table: users\n".to_owned());
    let failure = Failure { when: When::Every(5), message, ..Failure::always(How::Exit(22)) };
    let answer = Answer::of_pair(pair_with(failure));
    assert_eq!(answer.analysis.stop, Some(Stop::Failed));
    let failure = answer.analysis.failure.as_ref().expect("a failure");
    assert_eq!((failure.variant, failure.block, failure.is_warmup), (1, 3, false));
    assert_eq!(failure.exit, Exit::Code(22));
    assert!(failure.stderr_tail.ends_with("no such table: users"));
    assert_eq!(answer.analysis.variants[1].failed, 1);
    assert_eq!(answer.analysis.blocks, 3, "the whole blocks before it are kept");
}

#[test]
fn a_failure_in_the_warm_up_is_one_too() {
    let answer = Answer::of_pair(pair_with(Failure::always(How::Signal(11))));
    let failure = answer.analysis.failure.as_ref().expect("a failure");
    assert!(failure.is_warmup);
    assert_eq!(failure.exit, Exit::Signal(11));
    assert!(answer.analysis.comparisons.is_empty());
}

#[test]
fn only_the_end_of_a_long_complaint_is_kept() {
    let message = Some(format!("{}the end", "x".repeat(100_000)));
    let answer = Answer::of_pair(pair_with(Failure { message, ..Failure::always(How::Exit(1)) }));
    let tail = &answer.analysis.failure.as_ref().unwrap().stderr_tail;
    assert!(tail.len() <= 2_000 && tail.ends_with("the end"), "{} bytes", tail.len());
}

#[test]
fn an_unknown_program_is_a_failure_that_says_so() {
    let answer = Answer::of(World::pair(0.05, 1.0), &ask(&["a", "nowhere"]));
    assert_eq!(answer.analysis.stop, Some(Stop::Failed));
    let failure = answer.analysis.failure.as_ref().unwrap();
    assert_eq!(failure.exit, Exit::NotStarted { errno: libc::ENOENT, step: "exec".into() });
    assert_eq!(answer.analysis.variants[failure.variant].name, "nowhere");
}

#[test]
fn a_run_over_its_time_ends_it() {
    let world = World::default()
        .with_program(Program::new("a", Cost::of_cpu(0.05)))
        .with_program(Program::new("b", Cost::of_cpu(0.05)).hanging());
    let answer = Answer::to(world, with_timeout(&ask(&["a", "b"]), 2.0));
    assert_eq!(answer.analysis.stop, Some(Stop::Failed));
    assert_eq!(answer.analysis.failure.as_ref().unwrap().exit, Exit::TimedOut);
}

#[test]
fn a_time_limit_that_nobody_reaches_changes_nothing() {
    let world = || World::pair(0.05, 1.1).with_noise(WHITE);
    let limited = Answer::to(world(), with_timeout(&ask(&["a", "b"]), 2.0));
    assert_eq!(limited.analysis, Answer::of_pair(world()).analysis);
}

#[test]
fn an_interrupt_keeps_what_was_measured() {
    let world = World::pair(0.05, 1.2).with_noise(WHITE).with_interrupt(Interrupt::AfterRuns(21));
    let answer = Answer::of_pair(world);
    assert_eq!(answer.analysis.stop, Some(Stop::Interrupted));
    assert_eq!(answer.analysis.failure, None, "nobody failed");
    assert_eq!(answer.analysis.blocks, 9);
    assert_eq!(answer.recording.runs.last().unwrap().exit, Exit::Interrupted);
    assert_eq!(answer.verdict("wall_s"), Verdict::Slower);
}

#[test]
fn an_interrupt_between_two_runs_leaves_no_run_behind() {
    let between = 0.05 + 0.000_25;
    let world = World::pair(0.05, 1.0).with_interrupt(Interrupt::AtSecond(between));
    let answer = Answer::of_pair(world);
    assert_eq!(answer.analysis.stop, Some(Stop::Interrupted));
    assert_eq!(answer.recording.runs.len(), 1);
    assert!(answer.analysis.comparisons.is_empty());
}

/// Stops noticing after some runs, as a recorder on a full disk does.
struct Tires {
    runs_left: usize,
}

impl Watcher for Tires {
    fn notice(&mut self, event: Event<'_>) -> Result<(), WatcherError> {
        if !matches!(event, Event::Ran(_)) {
            return Ok(());
        }
        match self.runs_left.checked_sub(1) {
            Some(left) => self.runs_left = left,
            None => return Err(WatcherError { what: "the disk is full".into(), source: None }),
        }
        Ok(())
    }
}

#[test]
fn a_watcher_that_fails_costs_no_run() {
    let experiment = compose(&ask(&["a", "b"])).unwrap();
    let mut machine = Simulated::new(World::pair(0.05, 1.2).with_noise(WHITE));
    let measured = measure(experiment, &mut machine, &mut Tires { runs_left: 12 }, stamp());
    assert!(matches!(measured.trouble, Some(SessionError::Watcher(_))));
    assert_eq!(measured.recording.runs.len(), 13, "the run that could not be written was measured");
    let analysis = whyslow::analysis::analyze(&measured.recording);
    assert_eq!((analysis.stop, analysis.blocks), (None, 5));
}

/// A machine that gives up is no result of the commands.
#[test]
fn a_machine_that_fails_is_trouble_and_keeps_the_runs() {
    let world = pair_with(Failure { when: When::From(4), ..Failure::always(How::Hang) });
    let experiment = compose(&ask(&["a", "b"])).unwrap();
    let measured = measure(experiment, &mut Simulated::new(world), &mut crate::common::Nobody, stamp());
    assert!(matches!(measured.trouble, Some(SessionError::Machine(_))));
    assert!(measured.recording.runs.len() >= 6);
}

#[test]
fn a_budget_that_is_spent_leaves_the_question_open_with_a_forecast() {
    let noise = whyslow::machine::simulated::Noise::White { scatter: 0.2 };
    let question = Question { budget_s: Some(3.0), ..ask(&["a", "b"]) };
    let answer = Answer::of(World::pair(0.05, 1.03).with_noise(noise), &question);
    assert_eq!(answer.analysis.stop, Some(Stop::BudgetSpent));
    assert_eq!(answer.verdict("wall_s"), Verdict::Undecided);
    assert!(matches!(
        answer.comparison("wall_s").forecast,
        Some(Forecast::MoreBlocks(1..) | Forecast::OutOfReach)
    ));
}
