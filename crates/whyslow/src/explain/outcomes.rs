//! What came of each what-if, and what that makes of the suspect.

use super::diagnosis::{ALPHA, LEAST_SHARE};
use super::shares::{Effect, NoEffect, StageValues};
use super::tried::whole_round;
use crate::model::{Recording, Stage, WhatIf};
use crate::plan;

/// Whoever looks again after each of several rounds is wrong more often, so each of those looks gets a part.
const LATER_LOOKS: f64 = 4.0;

/// One what-if and what came of it.
pub struct Outcome<'a> {
    pub stage: usize,
    pub what_if: &'a WhatIf,
    pub effect: Result<Effect, NoEffect>,
}

impl Outcome<'_> {
    /// It carries a part of the gap.
    pub fn is_guilty(&self) -> bool {
        let Ok(effect) = self.effect else { return false };
        self.what_if.no_effect.is_none()
            && !effect.is_common
            && effect.removed.point >= LEAST_SHARE
            && effect.removed.low.is_some_and(|low| low > 0.0)
            && effect.seconds > LEAST_SHARE / 2.0
    }

    pub fn is_innocent(&self) -> bool {
        let Ok(effect) = self.effect else { return false };
        self.what_if.no_effect.is_none() && effect.removed.high.is_some_and(|high| high < LEAST_SHARE)
    }

    /// It closes nothing and yet opens a part of the gap on the fast side: something else on the slow side may hide it.
    pub fn may_be_hidden(&self) -> bool {
        let Ok(effect) = self.effect else { return false };
        let opens = effect.added.and_then(|added| added.low).is_some_and(|low| low > LEAST_SHARE);
        self.what_if.no_effect.is_none() && self.what_if.is_experiment && opens && !self.is_guilty()
    }

    /// Several suspects were removed together.
    pub fn is_joint(&self) -> bool {
        self.what_if.suspects.len() > 1
    }

    /// What it swaps is swapped there too, with more.
    pub fn is_part_of(&self, joint: &Outcome<'_>) -> bool {
        let swapped = &self.what_if.differences;
        let is_there = |title: &String| joint.what_if.differences.contains(title);
        !self.is_joint() && !swapped.is_empty() && swapped.iter().all(is_there)
    }

    /// How much of the gap goes with it; none where that could not be told.
    pub fn share(&self) -> f64 {
        self.effect.map_or(0.0, |effect| effect.removed.point)
    }
}

pub fn outcomes<'a>(
    recording: &Recording,
    number: usize,
    stage: &'a Stage,
    metric: &str,
) -> Vec<Outcome<'a>> {
    // What goes on in the next round is told there.
    let Some(part) = whole_round(recording, number) else { return Vec::new() };
    let variants = plan::variants(&stage.plan.experiment).len();
    let is_later = part.runs.len() > stage.runs.len();
    let alpha = if is_later { ALPHA / LATER_LOOKS } else { ALPHA };
    let values = StageValues::new(&part, &stage.plan, variants, metric, alpha);
    stage
        .plan
        .what_ifs
        .iter()
        .map(|what_if| Outcome { stage: number, what_if, effect: values.effect(what_if) })
        .collect()
}
