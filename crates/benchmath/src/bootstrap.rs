//! Intervals by resampling, for quantities that have no interval of their own.
//!
//! A resample draws from the values that were measured; the spread of a figure over many resamples stands for
//! its uncertainty (Efron 1979). All draws come from a seed: the same seed gives the same interval.

use crate::quantiles::quantile_of_sorted;
use crate::random::SplitMix64;
use crate::signed_rank::Shift;

/// Enough for the ends of a 95 % interval to be steady to a few percent of its width.
const RESAMPLES: usize = 2000;

/// The share `sum(part) / sum(whole)` with a moving-block bootstrap interval of the given `confidence`
/// (a share, 0.95 and not 95).
///
/// For quantities that mean nothing in a single run, such as the system share of a CPU time that is split by
/// sampling. Neighbouring runs are correlated, so blocks of about `n^(1/3)` neighbours are drawn together
/// (Künsch 1989); the ends are percentiles of 2000 resamples. `part[i]` and `whole[i]` belong together.
///
/// `None` when the lengths differ, there is no value, one is not finite, the sum of the whole is 0, or
/// `confidence` is not within 0 and 1 (1 excluded). With one value the interval is infinite. Resamples whose
/// whole is 0 have no share and are passed over.
///
/// ```
/// use benchmath::share_interval;
/// let system = [1.0, 0.0, 2.0, 1.0, 0.0, 1.0, 2.0, 1.0];
/// let total = [4.0, 4.0, 5.0, 4.0, 4.0, 4.0, 5.0, 4.0];
/// let share = share_interval(&system, &total, 0.95, 1).unwrap();
/// assert_eq!(share.estimate, 8.0 / 34.0);
/// assert!(0.0 < share.low && share.low < share.estimate && share.estimate < share.high);
/// ```
#[must_use]
pub fn share_interval(part: &[f64], whole: &[f64], confidence: f64, seed: u64) -> Option<Shift> {
    let finite = part.iter().chain(whole).all(|value| value.is_finite());
    if part.len() != whole.len() || !finite || !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let estimate = part.iter().sum::<f64>() / whole.iter().sum::<f64>();
    if !estimate.is_finite() {
        return None;
    }
    let mut shares = resampled_shares(part, whole, seed);
    if part.len() < 2 || shares.is_empty() {
        return Some(Shift { estimate, low: f64::NEG_INFINITY, high: f64::INFINITY });
    }
    shares.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    let [low, high] = [tail, 1.0 - tail].map(|p| quantile_of_sorted(&shares, p));
    Some(Shift { estimate, low, high })
}

fn resampled_shares(part: &[f64], whole: &[f64], seed: u64) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    let (part, whole) = (running_sums(part), running_sums(whole));
    let share = |_| {
        let blocks = block_resample(part.len() - 1, &mut random);
        let (mut part_sum, mut whole_sum) = (0.0, 0.0);
        for (start, end) in blocks {
            part_sum += part[end] - part[start];
            whole_sum += whole[end] - whole[start];
        }
        part_sum / whole_sum
    };
    (0..RESAMPLES).map(share).filter(|share| share.is_finite()).collect()
}

/// Sums of the first 0, 1, 2, ... values, so that the sum of a block is one difference.
fn running_sums(values: &[f64]) -> Vec<f64> {
    let mut total = 0.0;
    let mut sums = vec![0.0];
    sums.extend(values.iter().map(|value| {
        total += value;
        total
    }));
    sums
}

/// Random runs of neighbours `start..end` that add up to `n` places; the last is cut short where needed.
fn block_resample(n: usize, random: &mut SplitMix64) -> Vec<(usize, usize)> {
    let length = (n as f64).cbrt().round().clamp(1.0, n.max(1) as f64) as usize;
    (0..n)
        .step_by(length)
        .map(|filled| {
            let start = random.below((n - length + 1) as u64) as usize;
            (start, start + length.min(n - filled))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides() {
        let part: Vec<f64> = (0..40).map(|i| f64::from(i % 7)).collect();
        let whole = vec![10.0; 40];
        let interval = |seed| share_interval(&part, &whole, 0.95, seed);
        assert_eq!(interval(1), interval(1));
        assert_ne!(interval(1), interval(2));
    }

    #[test]
    fn nonsense_gives_none() {
        assert_eq!(share_interval(&[], &[], 0.95, 1), None);
        assert_eq!(share_interval(&[1.0], &[0.0], 0.95, 1), None);
        assert_eq!(share_interval(&[1.0], &[1.0, 2.0], 0.95, 1), None);
        assert_eq!(share_interval(&[1.0], &[f64::NAN], 0.95, 1), None);
        assert_eq!(share_interval(&[1.0], &[1.0], 95.0, 1), None);
    }

    #[test]
    fn one_value_supports_no_interval() {
        let share = share_interval(&[1.0], &[4.0], 0.95, 1).unwrap();
        assert_eq!((share.estimate, share.high), (0.25, f64::INFINITY));
    }

    #[test]
    fn resamples_have_the_length_of_the_sample() {
        let mut random = SplitMix64::new(1);
        for n in 1..40 {
            let blocks = block_resample(n, &mut random);
            assert_eq!(blocks.iter().map(|(start, end)| end - start).sum::<usize>(), n);
            assert!(blocks.iter().all(|&(_, end)| end <= n));
        }
    }
}
