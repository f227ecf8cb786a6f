//! What a round of what-ifs shows: how much of the gap each of them removes, and how much it opens on the fast side.

use benchmath::shares::share;
use benchmath::{Shift, quantiles};
use serde::Serialize;

use crate::analysis::{Estimate, Samples};
use crate::model::{Recording, StagePlan, WhatIf};

/// What closes surely more than this makes the slow side faster than the fast one.
pub const OVERSHOOT: f64 = 1.1;
/// What an edit does to both sides is the same to both if the difference is a smaller part of it.
const ALIKE: f64 = 0.1;

/// A part of the gap with its interval: 1 is all of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    pub point: f64,
    /// `None`: there are too few runs to say.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

impl Share {
    /// Surely more than the whole gap, and by so much that a share no longer tells anything.
    pub fn is_more_than_all(&self) -> bool {
        self.point > OVERSHOOT && self.low > Some(1.0)
    }

    /// What is left of the gap; below 0, nothing is.
    pub fn rest_text(&self) -> String {
        let none = |end: f64| end.max(0.0);
        let rest = Share { point: none(self.point), low: self.low.map(none), high: self.high.map(none) };
        rest.text()
    }

    /// "76 % [75, 79]".
    pub fn text(&self) -> String {
        // Without the sign of a zero.
        let percent = |value: f64| format!("{:.0}", (100.0 * value).round() + 0.0);
        match (self.low, self.high) {
            (Some(low), Some(high)) if low < high => {
                format!("{} % [{}, {}]", percent(self.point), percent(low), percent(high))
            }
            _ => format!("{} %", percent(self.point)),
        }
    }
}

/// What one what-if showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// How much of the gap goes with it: 1 - ln(gap after) / ln(gap before).
    pub removed: Share,
    /// How much of the gap it opens on the fast side: ln(fast with it / fast) / ln(slow / fast).
    pub added: Option<Share>,
    /// The part of the additional seconds that goes with it.
    pub seconds: f64,
    /// The slow side without it over what that is compared with: the fast side, with the same edit if that may act on it.
    pub left: Estimate,
    /// The fast side with the edit over the fast side as it is; `None` where no run tells.
    pub fast_with: Option<Estimate>,
    /// The edit speeds up both sides, and what it does to one and the other differs by little beside that.
    pub is_common: bool,
}

/// Why there is no effect to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEffect {
    /// With the edit, the command fails.
    Fails,
    /// The gap itself is gone in this round: something that the what-ifs did stays.
    GapGone,
    TooFewRuns,
}

/// The values of one metric in the blocks of a stage.
pub struct StageValues<'a> {
    samples: Samples<'a>,
    plan: &'a StagePlan,
    metric: &'a str,
    alpha: f64,
}

impl<'a> StageValues<'a> {
    /// `recording` is the stage as a recording; `alpha` is the chance of an interval that misses, two-sided.
    pub fn new(
        recording: &'a Recording,
        plan: &'a StagePlan,
        variants: usize,
        metric: &'a str,
        alpha: f64,
    ) -> Self {
        StageValues { samples: Samples::collect(recording, variants), plan, metric, alpha }
    }

    pub fn effect(&self, what_if: &WhatIf) -> Result<Effect, NoEffect> {
        if self.samples.runs(what_if.removed).count() == 0 || self.samples.runs(what_if.beside).count() == 0 {
            return Err(NoEffect::Fails);
        }
        let variants = [self.plan.fast, self.plan.slow, what_if.removed, what_if.beside];
        let blocks = block_values(&self.samples, &variants, self.metric);
        let totals: Vec<f64> = blocks.iter().map(|block| (block[1] / block[0]).ln()).collect();
        let removed: Vec<f64> =
            blocks.iter().map(|block| (block[1] / block[0]).ln() - (block[2] / block[3]).ln()).collect();
        let whole = benchmath::shift(&totals, self.alpha).ok_or(NoEffect::TooFewRuns)?;
        if !whole.low.is_finite() {
            return Err(NoEffect::TooFewRuns);
        }
        if whole.low <= 0.0 {
            return Err(NoEffect::GapGone);
        }
        let gain = benchmath::shift(&removed, self.alpha).ok_or(NoEffect::TooFewRuns)?.estimate;
        let left = self.times(&[what_if.beside, what_if.removed]).ok_or(NoEffect::TooFewRuns)?;
        let removed = share(&removed, &totals, self.alpha).ok_or(NoEffect::GapGone)?;
        let is_on_both = what_if.beside != self.plan.fast;
        let mirror = if is_on_both { Some(what_if.beside) } else { what_if.added };
        let fast_with = mirror.and_then(|mirror| self.times(&[self.plan.fast, mirror]));
        let fast_gain = fast_with.filter(|_| is_on_both).map_or(0.0, |ratio| -ratio.point.ln());
        let seconds: Vec<f64> =
            blocks.iter().map(|block| 1.0 - (block[2] - block[3]) / (block[1] - block[0])).collect();
        Ok(Effect {
            removed: as_share(removed),
            added: what_if.added.and_then(|added| self.added(added)),
            seconds: quantiles::median(&seconds).unwrap_or(0.0),
            left,
            fast_with,
            is_common: gain < ALIKE * fast_gain,
        })
    }

    /// The second variant over the first one.
    fn times(&self, variants: &[usize; 2]) -> Option<Estimate> {
        let blocks = block_values(&self.samples, variants, self.metric);
        let ratios: Vec<f64> = blocks.iter().map(|block| (block[1] / block[0]).ln()).collect();
        benchmath::shift(&ratios, self.alpha).map(|logarithm| as_ratio(logarithm, self.alpha))
    }

    fn added(&self, added: usize) -> Option<Share> {
        let blocks = block_values(&self.samples, &[self.plan.fast, self.plan.slow, added], self.metric);
        let totals: Vec<f64> = blocks.iter().map(|block| (block[1] / block[0]).ln()).collect();
        let opened: Vec<f64> = blocks.iter().map(|block| (block[2] / block[0]).ln()).collect();
        share(&opened, &totals, self.alpha).map(as_share)
    }
}

/// Values of these variants in the blocks in which all of them succeeded and used any time.
pub fn block_values(samples: &Samples<'_>, variants: &[usize], metric: &str) -> Vec<Vec<f64>> {
    let columns: Vec<Vec<Option<f64>>> =
        variants.iter().map(|&variant| samples.by_block(variant, metric)).collect();
    let count = columns.iter().map(Vec::len).min().unwrap_or(0);
    let block = |index: usize| -> Option<Vec<f64>> {
        columns.iter().map(|column| column[index].filter(|value| *value > 0.0)).collect()
    };
    (0..count).filter_map(block).collect()
}

/// From logarithms.
pub fn as_ratio(logarithm: Shift, alpha: f64) -> Estimate {
    let finite = |value: f64| Some(value.exp()).filter(|end| end.is_finite() && *end > 0.0);
    Estimate {
        point: logarithm.estimate.exp(),
        low: finite(logarithm.low),
        high: finite(logarithm.high),
        confidence: 1.0 - alpha,
    }
}

pub fn as_share(shift: Shift) -> Share {
    let finite = |value: f64| value.is_finite().then_some(value);
    Share { point: shift.estimate, low: finite(shift.low), high: finite(shift.high) }
}
