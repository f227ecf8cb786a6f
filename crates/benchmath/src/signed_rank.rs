//! How large a typical difference is: the Hodges-Lehmann estimate with the signed-rank interval.
//!
//! The input is one difference per block. When the order inside a block is random, the sign of a difference
//! is a fair coin if there is no effect, whatever the drift or the shape of the noise; the signed-rank
//! test needs no more than that. The estimate is the median of all Walsh averages `(d_i + d_j) / 2`, i <= j,
//! and the interval reaches from one Walsh average to another (Hodges and Lehmann 1963; Hollander, Wolfe and
//! Chicken, "Nonparametric Statistical Methods", chapter 3). Ties and zeros need no special case in this
//! form. The averages are never formed all at once, so 10^5 differences are no burden.

use crate::distributions::normal;
use crate::pair_sums::PairSums;

/// Up to this many differences the null distribution is counted out, which costs well under a millisecond.
/// The normal approximation would be good enough from 60 on, but can be one rank too careful (n of 80 or 180).
const MOST_EXACT: usize = 200;

/// An estimate with its interval, in the unit of the values it came from.
///
/// ```
/// let shift = benchmath::shift(&[0.04, 0.05, 0.06, 0.05, 0.07, 0.03], 0.05).unwrap();
/// let ratios = [shift.low, shift.estimate, shift.high].map(f64::exp); // from log ratios
/// assert!(1.03 < ratios[0] && ratios[2] < 1.08);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// The typical size.
    pub estimate: f64,
    /// Lower end of the interval; `-inf` when the number of values cannot support the confidence asked for.
    pub low: f64,
    /// Upper end of the interval; `+inf` when the number of values cannot support the confidence asked for.
    pub high: f64,
}

/// The Hodges-Lehmann estimate of `differences` and its interval at the two-sided level `alpha`
/// (0.05 for 95 % confidence).
///
/// The interval is exact up to 200 differences and uses the normal approximation beyond, as
/// [`critical_k`] says. With too few differences for `alpha` it is infinite ([`fewest_blocks`]).
/// `None` when there is no difference or one is not finite.
///
/// ```
/// use benchmath::shift;
/// let shift = shift(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.05).unwrap();
/// assert_eq!((shift.low, shift.estimate, shift.high), (1.0, 3.5, 6.0));
/// ```
#[must_use]
pub fn shift(differences: &[f64], alpha: f64) -> Option<Shift> {
    let halves = sorted_halves(differences)?;
    let k = critical_k(differences.len(), alpha);
    Some(middle_and_ends(&PairSums::unordered(&halves), k.map(|k| k as u64)))
}

/// The largest `k` with `P(V <= k) <= alpha / 2`, where V is the signed-rank statistic of `n` differences
/// under no effect. The interval at two-sided `alpha` reaches from the `(k + 1)`th smallest to the
/// `(k + 1)`th largest Walsh average.
///
/// Exact for `n` up to 200, then `floor(mean + z sd - 1/2)`. `None` when even `k = 0` is too much, or
/// `alpha` is not within 0 and 1.
///
/// ```
/// use benchmath::signed_rank::critical_k;
/// assert_eq!(critical_k(6, 0.05), Some(0));
/// assert_eq!(critical_k(20, 0.05), Some(52));
/// assert_eq!(critical_k(5, 0.05), None);
/// ```
#[must_use]
pub fn critical_k(n: usize, alpha: f64) -> Option<usize> {
    if n == 0 || !(alpha > 0.0 && alpha <= 1.0) {
        return None;
    }
    if n <= MOST_EXACT { exact_critical_k(n, alpha) } else { normal_critical_k(n, alpha) }
}

/// The two-sided p-value of "no effect", in the form that belongs to [`shift`]: 0 lies outside the
/// interval at level `alpha` exactly when the p-value is at most `alpha`.
///
/// It is twice the null probability of as few Walsh averages on the rarer side of 0, where averages of
/// exactly 0 count on both sides. `None` when there is no difference or one is not finite.
///
/// ```
/// use benchmath::signed_rank::p_value;
/// assert_eq!(p_value(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), Some(2.0 / 64.0));
/// ```
#[must_use]
pub fn p_value(differences: &[f64]) -> Option<f64> {
    let halves = sorted_halves(differences)?;
    let averages = PairSums::unordered(&halves);
    let (negative, not_positive) = averages.count_around(0.0);
    let rarer = not_positive.min(averages.count() - negative);
    Some((2.0 * lower_tail(differences.len(), rarer)).min(1.0))
}

/// The smallest number of blocks whose interval at two-sided `alpha` is finite; `usize::MAX` when no number
/// is enough (`alpha` of 0, or nonsense).
///
/// ```
/// use benchmath::signed_rank::fewest_blocks;
/// assert_eq!(fewest_blocks(0.05), 6);
/// assert_eq!(fewest_blocks(0.01), 8);
/// ```
#[must_use]
pub fn fewest_blocks(alpha: f64) -> usize {
    let most = 100_000; // alpha = 1e-300 needs 1 410
    (1..most).find(|&n| critical_k(n, alpha).is_some()).unwrap_or(usize::MAX)
}

/// `P(V <= statistic)` for the signed-rank statistic V of `n` differences under no effect; exact for `n` up
/// to 200, the normal approximation with continuity correction beyond.
///
/// ```
/// use benchmath::signed_rank::lower_tail;
/// assert_eq!(lower_tail(3, 1), 2.0 / 8.0); // no positive rank, or only rank 1
/// ```
#[must_use]
pub fn lower_tail(n: usize, statistic: u64) -> f64 {
    if n > MOST_EXACT {
        let (mean, deviation) = null_moments(n);
        return normal::below((statistic as f64 + 0.5 - mean) / deviation);
    }
    let most = (n * (n + 1) / 2) as u64;
    if statistic <= most / 2 {
        return null_tails(n)[statistic as usize];
    }
    let other = most.saturating_sub(statistic).checked_sub(1);
    1.0 - other.map_or(0.0, |other| lower_tail(n, other))
}

/// Halved before adding, so that the sum of two halves is the average and cannot overflow.
fn sorted_halves(differences: &[f64]) -> Option<Vec<f64>> {
    if differences.is_empty() || differences.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut halves: Vec<f64> = differences.iter().map(|value| value / 2.0).collect();
    halves.sort_unstable_by(f64::total_cmp);
    Some(halves)
}

/// The median of all sums, and those with `k` sums outside of them; infinite ends without `k`.
pub(crate) fn middle_and_ends(sums: &PairSums, k: Option<u64>) -> Shift {
    let last = sums.count() - 1;
    let ranks = [k.unwrap_or(last / 2), last / 2, last.div_ceil(2), last - k.unwrap_or(last / 2)];
    let selected = sums.select(&ranks);
    let estimate = if last.is_multiple_of(2) { selected[1] } else { selected[1] / 2.0 + selected[2] / 2.0 };
    let is_finite = k.is_some();
    Shift {
        estimate,
        low: if is_finite { selected[0] } else { f64::NEG_INFINITY },
        high: if is_finite { selected[3] } else { f64::INFINITY },
    }
}

fn exact_critical_k(n: usize, alpha: f64) -> Option<usize> {
    null_tails(n).partition_point(|&tail| tail <= alpha / 2.0).checked_sub(1)
}

fn normal_critical_k(n: usize, alpha: f64) -> Option<usize> {
    let (mean, deviation) = null_moments(n);
    let mut k = (mean + normal::quantile(alpha / 2.0) * deviation - 0.5).floor();
    // The p-value is computed the other way round; where rounding would let the two disagree, it decides.
    if k >= 0.0 && lower_tail(n, k as u64) > alpha / 2.0 {
        k -= 1.0;
    } else if k >= -1.0 && lower_tail(n, (k + 1.0) as u64) <= alpha / 2.0 {
        k += 1.0;
    }
    (k >= 0.0).then_some(k as usize)
}

/// Mean and standard deviation of the statistic under no effect.
fn null_moments(n: usize) -> (f64, f64) {
    let n = n as f64;
    (n * (n + 1.0) / 4.0, (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt())
}

/// `P(V <= v)` for v of 0, 1, 2, ... up to the middle, from the number of sign patterns in which the positive
/// ranks have each sum: a rank is either absent or adds itself.
fn null_tails(n: usize) -> Vec<f64> {
    let middle = n * (n + 1) / 4;
    let mut counts = vec![0.0; middle + 1];
    counts[0] = 1.0;
    let mut before = counts.clone();
    for rank in 1..=n.min(middle) {
        before.copy_from_slice(&counts);
        for (count, without) in counts[rank..].iter_mut().zip(&before) {
            *count += without;
        }
    }
    let patterns = 2.0_f64.powi(n as i32);
    let mut ways = 0.0;
    for count in &mut counts {
        ways += *count;
        *count = ways / patterns;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_say_about_nothing() {
        assert_eq!(shift(&[], 0.05), None);
        assert_eq!(shift(&[1.0, f64::NAN], 0.05), None);
        assert_eq!(p_value(&[f64::INFINITY]), None);
        assert_eq!(critical_k(0, 0.05), None);
        assert_eq!(critical_k(10, f64::NAN), None);
        assert_eq!(fewest_blocks(0.0), usize::MAX);
    }

    #[test]
    fn too_few_differences_give_an_infinite_interval() {
        let shift = shift(&[1.0, 2.0, 3.0], 0.05).unwrap();
        assert_eq!((shift.low, shift.estimate, shift.high), (f64::NEG_INFINITY, 2.0, f64::INFINITY));
    }

    #[test]
    fn tiny_levels_need_many_blocks_but_not_infinitely_many() {
        let n = fewest_blocks(1e-300);
        assert!(critical_k(n, 1e-300).is_some() && critical_k(n - 1, 1e-300).is_none(), "{n}");
    }

    #[test]
    fn the_p_value_and_the_interval_never_disagree() {
        let mut random = crate::SplitMix64::new(11);
        for n in (1..30).chain([59, 75, 199, 200, 201, 202, 230]) {
            for _ in 0..20 {
                let values: Vec<f64> = (0..n).map(|_| random.below(9) as f64 - 2.5).collect();
                let p = p_value(&values).unwrap();
                for alpha in [p * 0.999_999, p.min(0.99), (p * 1.000_001).min(0.99), 0.05, 0.01] {
                    let interval = shift(&values, alpha).unwrap();
                    let outside = interval.low > 0.0 || interval.high < 0.0;
                    assert_eq!(outside, p <= alpha, "n {n} alpha {alpha} p {p}");
                }
            }
        }
    }

    #[test]
    fn huge_differences_do_not_overflow() {
        let shift = shift(&[f64::MAX; 8], 0.05).unwrap();
        assert_eq!((shift.low, shift.estimate, shift.high), (f64::MAX, f64::MAX, f64::MAX));
    }
}
