//! Each variant against the base, metric by metric, and what wall and CPU time mean together.

use serde::Serialize;

use super::at_once::of_each;
use super::looks::paid_for;
use super::{Decision, Estimate, Samples, Verdict, decide, judged_metrics};
use crate::model::{Direction, Looks, Recording, Unit};

/// A forecast above this many times the blocks that the budget pays for is out of reach.
const REACH: f64 = 50.0;

/// One variant against the base on one metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    pub base: usize,
    pub other: usize,
    pub metric: String,
    /// Value of the other over value of the base.
    pub ratio: Estimate,
    /// Slower is worse and faster is better, also where the metric is no time.
    #[serde(skip)]
    pub verdict: Verdict,
    #[serde(skip)]
    pub unit: Unit,
    pub margin: f64,
    /// Blocks that went into it.
    pub blocks: usize,
    /// Set where the verdict is undecided.
    #[serde(skip)]
    pub forecast: Option<Forecast>,
    /// The difference came and went during the measurement; the interval is widened for it.
    pub is_correlated: bool,
}

/// What it would take to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forecast {
    /// About so many more blocks, to one significant digit.
    MoreBlocks(u64),
    OutOfReach,
}

/// What wall and CPU time say together about where the difference lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Slower, but no more work on the CPU: waiting for a disk, a lock, another process.
    Waiting,
    /// More work on the CPU; the load of the machine hides it in the wall time.
    HiddenByLoad,
    /// More work on the CPU without more time: it runs beside something else.
    ParallelSlack,
    /// Faster for more CPU time, or slower for less: another degree of parallelism.
    Parallelism,
}

/// All comparisons that the recording allows.
pub fn compare(recording: &Recording, samples: &Samples, variants: usize, looks: &Looks) -> Vec<Comparison> {
    let design = &recording.header.experiment.design;
    let base = design.base;
    let paid_for = paid_for(design, looks, samples, variants);
    let others = (0..variants).filter(|&other| other != base);
    let pairs: Vec<(usize, &str)> = others
        .flat_map(|other| judged_metrics(design).into_iter().map(move |metric| (other, metric)))
        .collect();
    let compare = |pair: usize| comparison(recording, samples, (looks, paid_for), pairs[pair]);
    of_each(pairs.len(), recording.runs.len(), compare).into_iter().flatten().collect()
}

fn comparison(
    recording: &Recording,
    samples: &Samples,
    (looks, paid_for): (&Looks, f64),
    (other, metric): (usize, &str),
) -> Option<Comparison> {
    let design = &recording.header.experiment.design;
    let differences = samples.differences(design.base, other, metric);
    let decision = decide(&differences, looks.alpha_each, design.margin.ln_1p())?;
    let known = &recording.header.experiment.metrics[recording.metric_index(metric)?];
    Some(Comparison {
        base: design.base,
        other,
        metric: metric.to_owned(),
        ratio: decision.ratio(design.confidence),
        verdict: for_direction(decision.verdict, known.better),
        unit: known.unit,
        margin: design.margin,
        blocks: differences.len(),
        forecast: (decision.verdict == Verdict::Undecided)
            .then(|| forecast(&decision, differences.len(), looks, paid_for)),
        is_correlated: decision.is_correlated,
    })
}

/// The decision is about larger and smaller; which of them is the better one is the metric's.
fn for_direction(verdict: Verdict, better: Direction) -> Verdict {
    match (verdict, better) {
        (Verdict::Slower, Direction::More) => Verdict::Faster,
        (Verdict::Faster, Direction::More) => Verdict::Slower,
        (verdict, _) => verdict,
    }
}

fn forecast(decision: &Decision, blocks: usize, looks: &Looks, paid_for: f64) -> Forecast {
    if decision.low.is_infinite() || decision.high.is_infinite() {
        let fewest = benchmath::signed_rank::fewest_blocks(looks.alpha_each);
        return Forecast::MoreBlocks(fewest.saturating_sub(blocks).max(1) as u64);
    }
    outlook(decision.blocks_needed, blocks, paid_for)
}

/// From the blocks that it takes in all, those that there are, and those that the budget pays for.
pub(super) fn outlook(needed: f64, blocks: usize, paid_for: f64) -> Forecast {
    if needed.is_infinite() || needed > REACH * paid_for {
        return Forecast::OutOfReach;
    }
    Forecast::MoreBlocks(one_digit((needed - blocks as f64).max(1.0)))
}

/// Rounds up to one significant digit: the forecast is worth no more.
fn one_digit(value: f64) -> u64 {
    let magnitude = 10f64.powf(value.log10().floor());
    ((value / magnitude).ceil() * magnitude) as u64
}

impl Comparison {
    /// Whether it is of these two variants on this metric, whichever is the base.
    pub fn is_between(&self, one: usize, other: usize, metric: &str) -> bool {
        let sides = [self.base, self.other];
        self.metric == metric && sides.contains(&one) && sides.contains(&other)
    }

    /// The largest difference that the interval leaves open, as a share: 0.015 is 1.5 %.
    pub fn largest_difference(&self) -> Option<f64> {
        let (low, high) = self.ratio.low.zip(self.ratio.high)?;
        Some(high.max(1.0 / low) - 1.0)
    }

    /// Whether the interval leaves out "no difference at all", also where the difference is within the margin.
    pub fn is_resolved(&self) -> bool {
        self.ratio.low.is_some_and(|low| low > 1.0) || self.ratio.high.is_some_and(|high| high < 1.0)
    }
}

/// Reads wall and CPU verdicts together; `None` where they agree or say nothing.
pub fn read_together(wall: Verdict, cpu: Verdict) -> Option<Reading> {
    use Verdict::{Faster, Same, Slower, Undecided};
    Some(match (wall, cpu) {
        (Slower | Faster, Same) => Reading::Waiting,
        (Undecided, Slower | Faster) => Reading::HiddenByLoad,
        (Same, Slower | Faster) => Reading::ParallelSlack,
        (Slower, Faster) | (Faster, Slower) => Reading::Parallelism,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forecasts_have_one_digit_and_are_never_below_the_need() {
        let cases = [(1.0, 1), (9.2, 10), (11.0, 20), (101.0, 200), (4_321.0, 5_000)];
        for (needed, shown) in cases {
            assert_eq!(one_digit(needed), shown, "{needed}");
        }
    }

    #[test]
    fn wall_and_cpu_are_read_together() {
        assert_eq!(read_together(Verdict::Slower, Verdict::Same), Some(Reading::Waiting));
        assert_eq!(read_together(Verdict::Undecided, Verdict::Slower), Some(Reading::HiddenByLoad));
        assert_eq!(read_together(Verdict::Same, Verdict::Faster), Some(Reading::ParallelSlack));
        assert_eq!(read_together(Verdict::Faster, Verdict::Slower), Some(Reading::Parallelism));
        assert_eq!(read_together(Verdict::Slower, Verdict::Slower), None);
        assert_eq!(read_together(Verdict::Slower, Verdict::Undecided), None);
    }
}
