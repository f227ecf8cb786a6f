//! Two independent samples by ranks: the Mann-Whitney U test and the Hodges-Lehmann shift.
//!
//! For samples that were really drawn independently. Two series measured one after the other share a drift that
//! these tests take for a difference; for verdicts use blocks and [`shift`](crate::signed_rank::shift).

use crate::distributions::normal;
use crate::pair_sums::PairSums;
use crate::signed_rank::{Shift, middle_and_ends};

/// Up to this many values a side the null distribution is counted out.
const MOST_EXACT: usize = 50;

/// The outcome of a U test.
///
/// ```
/// let test = benchmath::mann_whitney::u_test(&[1.0, 1.0], &[1.0, 2.0]).unwrap();
/// assert!(test.u == 3.0 && !test.exact); // two pairs tied, two above
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UTest {
    /// How many pairs have the second sample's value above the first's; ties count one half.
    pub u: f64,
    /// The two-sided p-value of "both come from the same distribution".
    pub p: f64,
    /// Whether `p` is exact: at most 50 values a side and no ties. Otherwise it is the normal
    /// approximation, corrected for ties and continuity.
    pub exact: bool,
}

/// Test whether the values of one sample tend to be larger (Wilcoxon 1945; Mann and Whitney 1947).
///
/// `None` when a sample is empty or a value is not finite.
///
/// ```
/// use benchmath::mann_whitney::u_test;
/// let test = u_test(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap();
/// assert_eq!((test.u, test.exact), (9.0, true));
/// assert!((test.p - 0.1).abs() < 1e-15); // 2 of 20 arrangements are as extreme
/// ```
#[must_use]
pub fn u_test(first: &[f64], second: &[f64]) -> Option<UTest> {
    let (negated, ascending) = sorted_sides(first, second)?;
    let differences = PairSums::all(&negated, &ascending);
    let (not_above, not_below) = differences.count_around(0.0);
    let ties = (not_below - not_above) as f64;
    let u = (differences.count() - not_below) as f64 + ties / 2.0;
    let tie_term = tie_term(&negated, &ascending);
    let exact = tie_term == 0.0 && first.len().max(second.len()) <= MOST_EXACT;
    let rarer = u.min(differences.count() as f64 - u);
    let (m, n) = (first.len(), second.len());
    let tail =
        if exact { lower_tail(m, n, rarer as u64) } else { approximate_tail(m, n, rarer, tie_term, 0.5) };
    Some(UTest { u, p: (2.0 * tail).min(1.0), exact })
}

/// The two-sided p-value by the normal approximation with ties corrected, with or without the
/// continuity correction, whatever the sample sizes. `None` as for [`u_test`].
///
/// ```
/// use benchmath::mann_whitney::approximate_p;
/// let p = approximate_p(&[1.0, 2.0, 2.0], &[2.0, 3.0, 3.0], true).unwrap();
/// assert!(p > 0.05 && p < 0.5);
/// ```
#[must_use]
pub fn approximate_p(first: &[f64], second: &[f64], continuity: bool) -> Option<f64> {
    let u = u_test(first, second)?.u;
    let (negated, ascending) = sorted_sides(first, second)?;
    let (m, n) = (first.len(), second.len());
    let rarer = u.min(m as f64 * n as f64 - u);
    let correction = if continuity { 0.5 } else { 0.0 };
    let tail = approximate_tail(m, n, rarer, tie_term(&negated, &ascending), correction);
    Some((2.0 * tail).min(1.0))
}

/// The median of all differences `second[j] - first[i]` and its interval at the two-sided level `alpha`
/// (Hodges and Lehmann 1963), in the unit of the values.
///
/// The ends are order statistics of the differences, by the exact null distribution up to 50 values a side and
/// by the normal approximation beyond; ties make the interval a little wider than it need be. The differences
/// are never formed all at once. The interval is infinite when the samples are too small for `alpha`.
/// `None` when a sample is empty or a value is not finite.
///
/// ```
/// use benchmath::mann_whitney::shift_between;
/// let shift = shift_between(&[1.0, 2.0, 3.0, 4.0], &[3.0, 4.0, 5.0, 6.0], 0.1).unwrap();
/// assert_eq!((shift.low, shift.estimate, shift.high), (0.0, 2.0, 4.0));
/// ```
#[must_use]
pub fn shift_between(first: &[f64], second: &[f64], alpha: f64) -> Option<Shift> {
    let (negated, ascending) = sorted_sides(first, second)?;
    let k = critical_k(first.len(), second.len(), alpha);
    Some(middle_and_ends(&PairSums::all(&negated, &ascending), k))
}

/// The largest `k` with `P(U <= k) <= alpha / 2` for samples of `m` and `n` values without a difference.
///
/// Exact up to 50 values a side, the normal approximation beyond. `None` when even `k = 0` is too much, a
/// sample is empty, or `alpha` is not within 0 and 1.
///
/// ```
/// use benchmath::mann_whitney::critical_k;
/// assert_eq!(critical_k(5, 5, 0.05), Some(2));
/// assert_eq!(critical_k(3, 3, 0.05), None);
/// ```
#[must_use]
pub fn critical_k(m: usize, n: usize, alpha: f64) -> Option<u64> {
    if m == 0 || n == 0 || !(alpha > 0.0 && alpha <= 1.0) {
        return None;
    }
    if m.max(n) <= MOST_EXACT {
        let within = null_tails(m, n).partition_point(|&tail| tail <= alpha / 2.0);
        return within.checked_sub(1).map(|k| k as u64);
    }
    let (mean, deviation) = null_moments(m, n, 0.0);
    let k = (mean + normal::quantile(alpha / 2.0) * deviation - 0.5).floor();
    (k >= 0.0).then_some(k as u64)
}

/// The first sample negated, so that its sums with the second are the differences; both ascending.
fn sorted_sides(first: &[f64], second: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    if first.is_empty() || second.is_empty() || first.iter().chain(second).any(|value| !value.is_finite()) {
        return None;
    }
    let mut negated: Vec<f64> = first.iter().map(|value| -value).collect();
    let mut ascending = second.to_vec();
    negated.sort_unstable_by(f64::total_cmp);
    ascending.sort_unstable_by(f64::total_cmp);
    Some((negated, ascending))
}

/// The sum of `t^3 - t` over all groups of `t` equal values of both samples, by merging them.
fn tie_term(negated: &[f64], ascending: &[f64]) -> f64 {
    let mut first = negated.iter().rev().map(|value| -value).peekable();
    let mut second = ascending.iter().copied().peekable();
    let mut sum = 0.0;
    while let Some(value) = smaller(first.peek(), second.peek()) {
        let mut tied = 0.0;
        while first.next_if(|&next| next == value).is_some()
            || second.next_if(|&next| next == value).is_some()
        {
            tied += 1.0;
        }
        sum += tied * tied * tied - tied;
    }
    sum
}

fn smaller(first: Option<&f64>, second: Option<&f64>) -> Option<f64> {
    match (first, second) {
        (Some(a), Some(b)) => Some(a.min(*b)),
        (one, other) => one.or(other).copied(),
    }
}

/// Mean and standard deviation of U without a difference.
fn null_moments(m: usize, n: usize, tie_term: f64) -> (f64, f64) {
    let (m, n) = (m as f64, n as f64);
    let all = m + n;
    let spread = (all + 1.0) - tie_term / (all * (all - 1.0));
    (m * n / 2.0, (m * n / 12.0 * spread).sqrt())
}

/// `P(U <= rarer)` by the normal approximation; one half when all values are equal.
fn approximate_tail(m: usize, n: usize, rarer: f64, tie_term: f64, correction: f64) -> f64 {
    let (mean, deviation) = null_moments(m, n, tie_term);
    let distance = rarer + correction - mean;
    if distance >= 0.0 || deviation == 0.0 { 0.5 } else { normal::below(distance / deviation) }
}

/// `P(U <= u)` for `u` up to the middle.
fn lower_tail(m: usize, n: usize, u: u64) -> f64 {
    null_tails(m, n)[u as usize]
}

/// `P(U <= u)` for u of 0, 1, 2, ... up to the middle, from the number of arrangements: either the largest
/// of all values is the first sample's, and exceeds all `n` of the second, or it is the second's.
fn null_tails(m: usize, n: usize) -> Vec<f64> {
    let middle = m * n / 2;
    let mut only_second = vec![0.0; middle + 1];
    only_second[0] = 1.0;
    let mut ways = vec![only_second; n + 1];
    for _ in 1..=m {
        for from_second in 1..=n {
            let (fewer, rest) = ways.split_at_mut(from_second);
            let counts = &mut rest[0];
            counts.rotate_right(from_second.min(middle + 1));
            counts[..from_second.min(middle + 1)].fill(0.0);
            for (count, without) in counts.iter_mut().zip(&fewer[from_second - 1]) {
                *count += without;
            }
        }
    }
    running_shares(ways.swap_remove(n), arrangements(m, n))
}

fn running_shares(counts: Vec<f64>, all: f64) -> Vec<f64> {
    let mut total = 0.0;
    let share = |count: f64| {
        total += count;
        total / all
    };
    counts.into_iter().map(share).collect()
}

/// In how many orders the values of the two samples can interleave.
fn arrangements(m: usize, n: usize) -> f64 {
    (1..=m).map(|i| (n + i) as f64 / i as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_null_distribution_by_enumeration() {
        // Two of {1, 2, 3, 4} are the first sample's: U is 0, 1, 2, 2, 3, 4.
        let tails = null_tails(2, 2);
        assert_eq!(tails.len(), 3);
        for (tail, ways) in tails.iter().zip([1.0, 2.0, 4.0]) {
            assert!((tail - ways / 6.0).abs() < 1e-15);
        }
    }

    #[test]
    fn all_values_equal() {
        let test = u_test(&[1.0, 1.0], &[1.0, 1.0, 1.0]).unwrap();
        assert_eq!((test.u, test.p), (3.0, 1.0));
        assert_eq!(shift_between(&[1.0; 9], &[1.0; 9], 0.05).unwrap().high, 0.0);
    }

    #[test]
    fn nonsense_gives_none() {
        assert_eq!(u_test(&[], &[1.0]), None);
        assert_eq!(u_test(&[f64::NAN], &[1.0]), None);
        assert_eq!(shift_between(&[1.0], &[f64::INFINITY], 0.05), None);
        assert_eq!(approximate_p(&[1.0], &[], true), None);
        assert_eq!(critical_k(0, 5, 0.05), None);
        assert_eq!(shift_between(&[1.0], &[2.0], 0.05).unwrap().low, f64::NEG_INFINITY);
    }
}
