//! What the user asked to have tried, and what came of it. It may take several rounds until that is told from nothing:
//! rounds that are the same are counted as one.

use serde::Serialize;

use super::diagnosis::{Investigation, LEAST_SHARE};
use super::outcomes::Outcome;
use super::shares::NoEffect;
use super::words::{self, no_result};
use crate::model::{Recording, StagePlan};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// Name of the finding about it.
    pub suspect: String,
    /// In a sentence.
    pub outcome: String,
}

pub fn tried(investigation: &Investigation<'_>) -> Vec<Tried> {
    let asked = investigation.outcomes.iter().filter(|one| one.what_if.is_asked);
    let told = |one: &Outcome<'_>| Tried {
        suspect: one.what_if.suspects.first().cloned().unwrap_or_default(),
        outcome: outcome(one),
    };
    asked.map(told).collect()
}

/// More blocks would say nothing else.
pub fn is_told(outcome: &Outcome<'_>) -> bool {
    let cannot_be = outcome.what_if.no_effect.is_some() || outcome.effect == Err(NoEffect::Fails);
    let low = outcome.effect.ok().and_then(|effect| effect.removed.low);
    let is_sure = outcome.is_guilty() && low >= Some(LEAST_SHARE);
    cannot_be || is_sure || outcome.is_innocent() || slows_both(outcome)
}

/// The ratio of the sides is a smaller one, and yet none of the additional time is gone: both take more of it.
fn slows_both(outcome: &Outcome<'_>) -> bool {
    let of = outcome.effect.ok().filter(|effect| !effect.is_common && !outcome.is_guilty());
    of.is_some_and(|effect| {
        effect.removed.point >= LEAST_SHARE && effect.removed.low.is_some_and(|low| low > 0.0)
    })
}

fn outcome(outcome: &Outcome<'_>) -> String {
    let title = &outcome.what_if.title;
    let Some(effect) = outcome.effect.ok().filter(|_| outcome.what_if.no_effect.is_none()) else {
        return no_result(outcome);
    };
    let part = format!("{} of the gap", effect.removed.text());
    let high = effect.removed.high.unwrap_or(f64::INFINITY);
    if outcome.is_guilty() {
        title.clone() + &words::closing(&effect.removed, Some(&effect.left), effect.fast_with.as_ref())
    } else if effect.is_common && !outcome.is_innocent() {
        no_result(outcome)
    } else if slows_both(outcome) {
        format!(
            "{title} closes nothing: both sides take more time, and only so their ratio is smaller, by {part}"
        )
    } else if high < -LEAST_SHARE {
        format!("{title} closes nothing, it makes the gap larger: {part}")
    } else if outcome.is_innocent() {
        format!("{title} closes nothing, at most {:.0} % of the gap", 100.0 * high.max(0.0))
    } else {
        format!("{title} is not told from nothing, {part}: too few runs, more time by --budget")
    }
}

/// The round with the runs of the same rounds before it; `None` where the next one goes on with it.
pub fn whole_round(recording: &Recording, number: usize) -> Option<Recording> {
    let stages = &recording.stages;
    if stages.get(number + 1).is_some_and(|next| goes_on(&stages[number].plan, &next.plan)) {
        return None;
    }
    let mut first = number;
    while first > 0 && goes_on(&stages[first - 1].plan, &stages[first].plan) {
        first -= 1;
    }
    let mut whole = stages[first].recording(recording);
    for stage in &stages[first + 1..=number] {
        let warmup = stage.plan.experiment.design.warmup;
        let begin = whole.runs.last().map_or(0, |run| run.block + 1);
        let counted = stage.runs.iter().filter(|run| run.block >= warmup).cloned();
        whole.runs.extend(counted.map(|mut run| {
            run.block = run.block - warmup + begin;
            run
        }));
    }
    Some(whole)
}

fn goes_on(round: &StagePlan, next: &StagePlan) -> bool {
    let titles = |plan: &StagePlan| plan.what_ifs.iter().map(|one| one.title.clone()).collect::<Vec<_>>();
    let is_asked = next.what_ifs.iter().any(|one| one.is_asked);
    is_asked && round.experiment.factors == next.experiment.factors && titles(round) == titles(next)
}
