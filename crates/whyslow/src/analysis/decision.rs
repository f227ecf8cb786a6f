//! The decision: from the log ratios of the blocks to an interval and a verdict. METHODOLOGY.md argues every step.

use benchmath::summary::lag_one_correlation;
use benchmath::{signed_rank, verdict};

use super::{Estimate, Verdict};

/// Above this many blocks, neighbours are averaged first: the interval gains nothing from more units, and its cost
/// grows with their square.
const MOST_UNITS: usize = 1_000;
const AVERAGE_ABOVE: usize = 1_500;

/// With fewer blocks, a correlation of neighbours cannot be told from chance.
const CORRELATION_FROM: usize = 35;

/// What the blocks say about one comparison, on the scale of logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
    pub verdict: Verdict,
    /// Narrow enough to stop.
    pub is_precise: bool,
    /// Blocks after which the interval would decide, if the scatter stays what it is; infinite if never.
    pub blocks_needed: f64,
    /// The effect itself changed slowly during the measurement, so the interval was widened.
    pub is_correlated: bool,
}

impl Decision {
    /// As a ratio. The interval is the repeated one, valid whatever made the run stop, so it carries the confidence of the
    /// whole.
    pub fn ratio(&self, confidence: f64) -> Estimate {
        let bound = |value: f64| value.is_finite().then(|| value.exp());
        Estimate { point: self.estimate.exp(), low: bound(self.low), high: bound(self.high), confidence }
    }
}

/// Judges the log ratios `differences`, in the order of the blocks, at the two-sided error `alpha` against
/// the margin `margin_log`. `None` without any block.
pub fn decide(differences: &[f64], alpha: f64, margin_log: f64) -> Option<Decision> {
    let units = units(differences);
    let plain = signed_rank::shift(&units, alpha)?;
    let correlated = is_correlated(&units);
    let (low, high) =
        if correlated { widened(&units, alpha, (plain.low, plain.high)) } else { (plain.low, plain.high) };
    let estimate = plain.estimate;
    Some(Decision {
        estimate,
        low,
        high,
        verdict: verdict::judge(low, high, margin_log),
        is_precise: verdict::is_precise(estimate, low, high, margin_log),
        blocks_needed: verdict::blocks_needed(differences.len(), estimate, low, high, margin_log),
        is_correlated: correlated,
    })
}

fn units(differences: &[f64]) -> Vec<f64> {
    if differences.len() > AVERAGE_ABOVE {
        benchmath::average_in_groups(differences, MOST_UNITS)
    } else {
        differences.to_vec()
    }
}

/// Random order makes neighbouring log ratios independent when nothing differs; a correlation means that the
/// difference itself comes and goes.
fn is_correlated(units: &[f64]) -> bool {
    // Equal units have no correlation: it is not a number, and no number is above the limit.
    units.len() >= CORRELATION_FROM && lag_one_correlation(units) > 1.65 / (units.len() as f64).sqrt()
}

/// The wider of the intervals from single blocks and from means of two neighbours, and, where those still correlate,
/// of four.
fn widened(units: &[f64], alpha: f64, plain: (f64, f64)) -> (f64, f64) {
    let mut widest = plain;
    for size in [2, 4] {
        let means = benchmath::average_in_groups(units, units.len() / size);
        if let Some(shift) = signed_rank::shift(&means, alpha)
            && shift.low.is_finite()
            && shift.high.is_finite()
        {
            widest = (widest.0.min(shift.low), widest.1.max(shift.high));
        }
        if !is_correlated(&means) {
            break;
        }
    }
    widest
}

#[cfg(test)]
mod tests {
    use super::*;
    use benchmath::random::SplitMix64;

    const MARGIN: f64 = 0.019_802_627;

    fn noisy(n: usize, shift: f64, scatter: f64) -> Vec<f64> {
        let mut random = SplitMix64::new(11);
        (0..n).map(|_| shift + scatter * random.normal()).collect()
    }

    #[test]
    fn a_clear_difference_is_seen_in_both_directions() {
        let slower = decide(&noisy(10, 0.1, 0.01), 0.01, MARGIN).unwrap();
        assert_eq!(slower.verdict, Verdict::Slower);
        let faster = decide(&noisy(10, -0.1, 0.01), 0.01, MARGIN).unwrap();
        assert_eq!(faster.verdict, Verdict::Faster);
    }

    #[test]
    fn equal_is_a_verdict_and_too_little_data_is_not() {
        assert_eq!(decide(&noisy(35, 0.0, 0.01), 0.01, MARGIN).unwrap().verdict, Verdict::Same);
        let few = decide(&noisy(5, 0.5, 0.01), 0.05, MARGIN).unwrap();
        assert_eq!(few.verdict, Verdict::Undecided);
        assert!(few.low.is_infinite() && few.high.is_infinite());
        assert_eq!(decide(&[], 0.05, MARGIN), None);
    }

    #[test]
    fn an_effect_that_comes_and_goes_widens_the_interval() {
        let waves: Vec<f64> = noisy(80, 0.0, 0.002)
            .into_iter()
            .enumerate()
            .map(|(block, noise)| noise + if (block / 10) % 2 == 0 { 0.02 } else { -0.02 })
            .collect();
        let plain = signed_rank::shift(&waves, 0.01).unwrap();
        let decision = decide(&waves, 0.01, MARGIN).unwrap();
        assert!(decision.is_correlated);
        assert!(decision.high - decision.low > plain.high - plain.low);
    }

    #[test]
    fn many_blocks_are_averaged_and_still_decided() {
        let decision = decide(&noisy(10_000, 0.002, 0.05), 0.01, MARGIN).unwrap();
        assert_eq!(decision.verdict, Verdict::Same);
        assert!(decision.low < 0.002 && 0.002 < decision.high);
    }
}
