//! Which of the variants is the slow one, and whether there is anything to explain.

use crate::analysis::{Analysis, Comparison, Estimate, Verdict};

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

/// The base and the variant that differs most from it. Wall time decides where it can; a difference in CPU time that the
/// load hides in the wall time is one as well.
pub fn find(analysis: &Analysis) -> Option<Pair> {
    let real = analysis.comparisons.iter().filter(|comparison| is_real(comparison));
    let weight = |comparison: &&Comparison| {
        let is_wall = comparison.metric == "wall_s";
        (is_wall, comparison.ratio.point.ln().abs())
    };
    let strongest = real.max_by(|one, other| {
        let (one, other) = (weight(one), weight(other));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    let comparison = strongest.or_else(|| analysis.comparisons.first())?;
    Some(oriented(comparison, strongest.is_some()))
}

fn is_real(comparison: &Comparison) -> bool {
    matches!(comparison.metric.as_str(), "wall_s" | "cpu_s")
        && matches!(comparison.verdict, Verdict::Slower | Verdict::Faster)
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
