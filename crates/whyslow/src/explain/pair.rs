//! Which two variants are to be explained, which of them is the slow one, and whether there is anything to explain.

use crate::analysis::{Analysis, Comparison, Estimate, Samples, Verdict, decide};
use crate::model::Recording;

/// A fast and a slow variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    pub fast: usize,
    pub slow: usize,
    pub metric: String,
    /// Slow over fast.
    pub ratio: Estimate,
    pub blocks: usize,
    pub is_real: bool,
    pub largest_difference: Option<f64>,
}

/// The slowest and the fastest of all variants, where the comparisons with the base tell them apart. Wall time decides
/// where it can; a difference in CPU time that the load hides in the wall time is one as well.
pub fn find(recording: &Recording, analysis: &Analysis) -> Option<Pair> {
    let wall = extremes(analysis, "wall_s");
    let (metric, extremes) = match wall {
        Some(found) => ("wall_s", Some(found)),
        None => ("cpu_s", extremes(analysis, "cpu_s")),
    };
    let Some((fast, slow)) = extremes else {
        return analysis.comparisons.first().map(|first| oriented(first, false));
    };
    match analysis.comparisons.iter().find(|one| one.is_between(fast, slow, metric)) {
        Some(comparison) => Some(oriented(comparison, true)),
        None => apart(recording, analysis, (fast, slow), metric),
    }
}

/// The variants furthest from the base in either direction; the base itself where there is none in one of them.
fn extremes(analysis: &Analysis, metric: &str) -> Option<(usize, usize)> {
    let furthest = |verdict: Verdict| {
        let real = analysis.comparisons.iter().filter(|c| c.metric == metric && c.verdict == verdict);
        real.max_by(|one, other| one.ratio.point.ln().abs().total_cmp(&other.ratio.point.ln().abs()))
            .map(|c| c.other)
    };
    let (slow, fast) = (furthest(Verdict::Slower), furthest(Verdict::Faster));
    (slow.is_some() || fast.is_some()).then(|| (fast.unwrap_or(analysis.base), slow.unwrap_or(analysis.base)))
}

/// Two variants that were compared with the base only.
fn apart(
    recording: &Recording,
    analysis: &Analysis,
    (fast, slow): (usize, usize),
    metric: &str,
) -> Option<Pair> {
    let samples = Samples::collect_of(recording, analysis.variants.len(), |name| name == metric);
    let differences = samples.differences(fast, slow, metric);
    let decision = decide(&differences, 1.0 - analysis.confidence, analysis.margin.ln_1p())?;
    Some(Pair {
        fast,
        slow,
        metric: metric.to_owned(),
        ratio: decision.ratio(analysis.confidence),
        blocks: differences.len(),
        is_real: decision.verdict == Verdict::Slower,
        largest_difference: None,
    })
}

fn oriented(comparison: &Comparison, is_real: bool) -> Pair {
    let ratio = comparison.ratio;
    let is_slower = ratio.point >= 1.0;
    let inverse = Estimate {
        point: 1.0 / ratio.point,
        low: ratio.high.map(|high| 1.0 / high),
        high: ratio.low.map(|low| 1.0 / low),
        ..ratio
    };
    let (fast, slow) =
        if is_slower { (comparison.base, comparison.other) } else { (comparison.other, comparison.base) };
    Pair {
        fast,
        slow,
        metric: comparison.metric.clone(),
        ratio: if is_slower { ratio } else { inverse },
        blocks: comparison.blocks,
        is_real,
        largest_difference: comparison.largest_difference(),
    }
}
