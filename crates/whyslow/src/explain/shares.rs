//! What a round of what-ifs shows: how much of the gap each of them removes, and how much it opens on the fast side.

use benchmath::shares::share;
use benchmath::{Shift, quantiles};
use serde::Serialize;

use crate::analysis::Samples;
use crate::model::{Recording, StagePlan, WhatIf};

/// A part of the gap with its interval: 1 is all of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    pub point: f64,
    /// `None`: there are too few runs to say.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

impl Share {
    /// "76 % [75, 79]".
    pub fn text(&self) -> String {
        let percent = |value: f64| format!("{:.0}", 100.0 * value);
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
        let removed = share(&removed, &totals, self.alpha).ok_or(NoEffect::GapGone)?;
        let seconds: Vec<f64> =
            blocks.iter().map(|block| 1.0 - (block[2] - block[3]) / (block[1] - block[0])).collect();
        Ok(Effect {
            removed: as_share(removed),
            added: what_if.added.and_then(|added| self.added(added)),
            seconds: quantiles::median(&seconds).unwrap_or(0.0),
        })
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

pub fn as_share(shift: Shift) -> Share {
    let finite = |value: f64| value.is_finite().then_some(value);
    Share { point: shift.estimate, low: finite(shift.low), high: finite(shift.high) }
}
