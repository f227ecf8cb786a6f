//! Whether a difference is luck of layout: both sides again, each time with the stack, and what follows from it, in another
//! place. What changes nothing but addresses must not change which side is faster.

use benchmath::quantiles;

use super::shares::{Share, block_values};
use super::stages::Originals;
use crate::analysis::Samples;
use crate::model::{Edit, Level, Recording, SidePair, Stage, StagePlan};

/// A round over layouts accuses nobody of anything but luck.
const ALPHA: f64 = 0.05;
/// What goes with this part of the gap left, or less, is luck.
const LUCK: f64 = 0.5;
/// Lengths of a variable that nobody reads, over a page in steps that are no multiple of a cache line.
const PADDINGS: [usize; 8] = [16, 608, 1136, 1680, 2208, 2736, 3280, 3808];
pub const PADDING: &str = "WHYSLOW_PADDING";

/// The difference over several layouts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layouts {
    count: usize,
    /// Slow over fast, in the middle of the layouts, with its interval.
    ratio: f64,
    low: f64,
    high: f64,
    /// The part of the gap that other layouts do not have.
    pub luck: Share,
}

impl Layouts {
    pub fn is_luck(&self) -> bool {
        self.luck.low.is_some_and(|low| low > LUCK)
    }

    pub fn text(&self) -> String {
        let is = match (self.is_luck(), self.low > 1.0) {
            (true, _) => "the difference is one of layout",
            (false, true) => "it does not depend on the layout",
            (false, false) => "not enough to tell it from luck of layout",
        };
        let Layouts { count, ratio, low, high, .. } = self;
        format!("{ratio:.2}x [{low:.2}, {high:.2}] over {count} other layouts of memory: {is}")
    }
}

/// So many runs of each side in one block.
pub const PAIRS: f64 = PADDINGS.len() as f64;

/// A round with both sides in every layout.
pub fn plan(originals: &Originals<'_>, mut round: StagePlan) -> StagePlan {
    let levels = &mut round.experiment.factors[0].levels;
    let mut add = |edits: &[Edit], side: &str, bytes: usize| {
        let padded = Edit::SetEnv(PADDING.into(), "x".repeat(bytes).as_str().into());
        let edits = edits.iter().cloned().chain([padded]).collect();
        levels.push(Level { name: format!("{side}, {bytes} bytes further"), edits });
        levels.len() - 1
    };
    round.layouts = PADDINGS
        .iter()
        .map(|&bytes| SidePair {
            fast: add(&originals.fast_edits, "fast", bytes),
            slow: add(&originals.slow_edits, "slow", bytes),
        })
        .collect();
    round
}

/// What the round showed.
pub fn layouts(recording: &Recording, stage: &Stage, metric: &str) -> Option<Layouts> {
    let part = stage.recording(recording);
    let samples =
        Samples::collect_of(&part, stage.plan.experiment.factors[0].levels.len(), |name| name == metric);
    let gap = |fast: usize, slow: usize| {
        let blocks = block_values(&samples, &[fast, slow], metric);
        let logs: Vec<f64> = blocks.iter().map(|block| (block[1] / block[0]).ln()).collect();
        quantiles::median(&logs)
    };
    let whole = gap(stage.plan.fast, stage.plan.slow).filter(|gap| *gap > 0.0)?;
    let gaps: Vec<f64> = stage.plan.layouts.iter().filter_map(|pair| gap(pair.fast, pair.slow)).collect();
    let middle = benchmath::shift(&gaps, ALPHA).filter(|shift| shift.low.is_finite())?;
    let gone = |left: f64| 1.0 - left / whole;
    Some(Layouts {
        count: gaps.len(),
        ratio: middle.estimate.exp(),
        low: middle.low.exp(),
        high: middle.high.exp(),
        luck: Share {
            point: gone(middle.estimate),
            low: Some(gone(middle.high)),
            high: Some(gone(middle.low)),
        },
    })
}
