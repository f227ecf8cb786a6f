//! The experiment that shows how much a machine scatters: two programs that are everywhere, each beside itself.

use super::{PlanError, Question, Typed, compose};
use crate::model::Experiment;

/// About 20 ms of nothing but CPU time.
const LOOP: [&str; 3] = ["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"];
/// Little more than being started.
const NOTHING: [&str; 1] = ["true"];

/// Variants of [`yardsticks`]: a program and itself.
pub const CPU_LOOP: (usize, usize) = (0, 1);
pub const JUST_A_START: (usize, usize) = (2, 3);

/// Runs for as long as it may: with a margin that no interval gets into, nothing is ever decided.
pub fn yardsticks(seconds: f64, seed: u64) -> Result<Experiment, PlanError> {
    let words = |words: &[&str]| Typed::Words(words.iter().map(|&word| word.into()).collect());
    let question = Question {
        commands: [&LOOP[..], &LOOP, &NOTHING, &NOTHING].map(words).into(),
        names: ["loop", "same loop", "true", "same true"].map(str::to_owned).into(),
        budget_s: Some(seconds),
        seed,
        ..Question::default()
    };
    let mut experiment = compose(&question)?;
    experiment.design.margin = 1e-9;
    Ok(experiment)
}
