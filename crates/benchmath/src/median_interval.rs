//! The median of one sample with its exact distribution-free interval.
//!
//! The interval runs from one order statistic to another; how often it covers the true median follows from
//! coin tosses alone. It takes the values as independent, which times measured one after another are not:
//! [`median_interval_of_series`] is wider where neighbours resemble each other. Both describe a sample; use the
//! paired [`shift`](crate::signed_rank::shift) to compare two.

use std::f64::consts::PI;

use crate::distributions::normal;
use crate::quantiles::{median, quantile_in};

/// Shorter series are taken as they are: their correlations are mostly chance.
const CORRELATION_FROM: usize = 10;
/// What goes on for longer than this is no noise that an interval could hold.
const FARTHEST_LAG: usize = 100;

/// A median with its interval, in the unit of the values.
///
/// ```
/// let interval = benchmath::median_interval(&[5.0, 7.0, 6.0], 0.95).unwrap();
/// assert!(interval.low.is_infinite() && interval.achieved == 1.0); // three values promise nothing
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MedianInterval {
    /// The median.
    pub estimate: f64,
    /// Lower end; `-inf` when there are too few values for the confidence asked for.
    pub low: f64,
    /// Upper end; `+inf` when there are too few values for the confidence asked for.
    pub high: f64,
    /// The confidence that the interval really has: the smallest possible one not below that asked for, and
    /// 1 for an infinite interval.
    pub achieved: f64,
}

/// The median of `values` with the shortest symmetric order-statistic interval of at least `confidence`
/// (a share, 0.95 and not 95).
///
/// `None` when there is no value, one is NaN, or `confidence` is not within 0 and 1 (1 excluded).
/// Six values are the fewest with a finite 95 % interval.
///
/// ```
/// use benchmath::median_interval;
/// let interval = median_interval(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.95).unwrap();
/// assert_eq!((interval.low, interval.estimate, interval.high), (1.0, 3.5, 6.0));
/// assert_eq!(interval.achieved, 1.0 - 2.0 / 64.0);
/// ```
#[must_use]
pub fn median_interval(values: &[f64], confidence: f64) -> Option<MedianInterval> {
    median_interval_in(&mut values.to_vec(), confidence)
}

/// [`median_interval`] that may reorder what it is given, for callers that own a copy already.
///
/// ```
/// use benchmath::median_interval::{median_interval, median_interval_in};
/// let mut values = [3.0, 1.0, 2.0];
/// assert_eq!(median_interval_in(&mut values, 0.5), median_interval(&[1.0, 2.0, 3.0], 0.5));
/// ```
#[must_use]
pub fn median_interval_in(values: &mut [f64], confidence: f64) -> Option<MedianInterval> {
    let estimate = quantile_in(values, 0.5)?;
    if !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let allowed = (1.0 - confidence) / 2.0;
    let Some((k, tail)) = largest_tail(values.len(), allowed) else {
        let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
        return Some(MedianInterval { estimate, low, high, achieved: 1.0 });
    };
    // The median has its place by now: no value before it is larger, none behind it is smaller.
    let middle = (values.len() - 1) / 2;
    let low = order_statistic(&mut values[..=middle], k);
    let upper = &mut values[middle..];
    let high = order_statistic(upper, upper.len() - 1 - k);
    Some(MedianInterval { estimate, low, high, achieved: 1.0 - 2.0 * tail })
}

/// [`median_interval`] of values in the order in which they were measured, wider where neighbours resemble each
/// other: so many values tell as much as fewer independent ones, [`inflation`] says how many times fewer.
///
/// Where independent values would have a finite interval this one is finite too, at most from the least value to
/// the largest; `achieved` is then what it would be for independent values.
///
/// ```
/// use benchmath::median_interval::{median_interval, median_interval_of_series};
/// let by_turns: Vec<f64> = (0..40).map(|run| f64::from(run % 2) + 0.01 * f64::from(run)).collect();
/// assert_eq!(median_interval_of_series(&by_turns, 0.95), median_interval(&by_turns, 0.95));
/// let rising: Vec<f64> = (0..40).map(f64::from).collect();
/// let (plain, wide) = (median_interval(&rising, 0.95).unwrap(), median_interval_of_series(&rising, 0.95).unwrap());
/// assert!(wide.high - wide.low > 1.5 * (plain.high - plain.low));
/// ```
#[must_use]
pub fn median_interval_of_series(values: &[f64], confidence: f64) -> Option<MedianInterval> {
    let plain = median_interval(values, confidence)?;
    let inflation = inflation(values);
    if inflation <= 1.0 || plain.low.is_infinite() {
        return Some(plain);
    }
    // The number of values below the median scatters so much more than that of heads.
    let bound = -normal::quantile((1.0 - confidence) / 2.0) * inflation.sqrt();
    let wide = median_interval(values, (1.0 - 2.0 * normal::above(bound)).min(1.0 - f64::EPSILON))?;
    let end = |value: f64, extreme: fn(f64, f64) -> f64| match value.is_finite() {
        true => value,
        false => values.iter().copied().fold(plain.estimate, extreme),
    };
    Some(MedianInterval { low: end(wide.low, f64::min), high: end(wide.high, f64::max), ..wide })
}

/// How many times more values of this series, in the order in which they were measured, it takes than independent
/// ones to know the median as well; 1 where neighbours do not resemble each other, and below 10 values.
///
/// The variance of the number of values above the median over that of independent values: 1 plus twice the
/// autocorrelations of being above or below, up to the first that is not positive.
///
/// ```
/// use benchmath::median_interval::inflation;
/// assert_eq!(inflation(&[1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]), 1.0);
/// assert!(inflation(&[1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0]) > 2.0);
/// ```
#[must_use]
pub fn inflation(values: &[f64]) -> f64 {
    let Some(median) = median(values).filter(|_| values.len() >= CORRELATION_FROM) else { return 1.0 };
    let sides: Vec<i8> =
        values.iter().map(|&value| i8::from(value > median) - i8::from(value < median)).collect();
    // There may be a million values, and a hundred lags: narrow integers are summed many at a time.
    let product = |lag: usize| -> i32 {
        sides.iter().zip(&sides[lag..]).map(|(one, other)| i32::from(one * other)).sum()
    };
    let farthest = (values.len() / 4).min(FARTHEST_LAG);
    let products = (1..=farthest).map(product).take_while(|&product| product > 0);
    1.0 + 2.0 * products.map(f64::from).sum::<f64>() / f64::from(product(0).max(1))
}

fn order_statistic(values: &mut [f64], place: usize) -> f64 {
    *values.select_nth_unstable_by(place, f64::total_cmp).1
}

/// The largest `k` with `P(X <= k) <= allowed` for `n` fair coins, with that probability.
fn largest_tail(n: usize, allowed: f64) -> Option<(usize, f64)> {
    let rising = lower_half(n);
    let lowest = n.div_ceil(2) - rising.len();
    let mut total = 0.0;
    let mut largest = None;
    for (offset, probability) in rising.into_iter().enumerate() {
        total += probability;
        if total > allowed {
            break;
        }
        largest = Some((lowest + offset, total));
    }
    // What lies below the first probability that counts is no interval end: the tail there is 0.
    largest.or((lowest > 0).then(|| (lowest - 1, 0.0)))
}

/// The probabilities of the numbers of heads below the middle, rising, without those too small to matter.
fn lower_half(n: usize) -> Vec<f64> {
    let mut heads = n.div_ceil(2);
    let mut probability = middle_probability(n);
    let mut falling = Vec::new();
    while heads > 0 && probability > 1e-300 {
        probability *= heads as f64 / (n - heads + 1) as f64;
        heads -= 1;
        falling.push(probability);
    }
    falling.reverse();
    falling
}

/// The probability of `ceil(n / 2)` heads of `n`: the central binomial coefficient over `4^m`.
fn middle_probability(n: usize) -> f64 {
    let m = n.div_ceil(2);
    if m <= 500 {
        return (1..=m).map(|i| (2 * i - 1) as f64 / (2 * i) as f64).product();
    }
    let inverse = 1.0 / m as f64;
    let series = 1.0 - inverse / 8.0 * (1.0 - inverse / 16.0 * (1.0 + inverse * 5.0 / 8.0));
    series / (PI * m as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomial_tails_by_counting() {
        // 10 coins: P(X <= 1) = 11 / 1024, P(X <= 2) = 56 / 1024
        assert_eq!(largest_tail(10, 0.025), Some((1, 11.0 / 1024.0)));
        assert_eq!(largest_tail(5, 0.025), None);
        assert_eq!(largest_tail(1, 0.5), Some((0, 0.5)));
        assert_eq!(largest_tail(7, 0.5).map(|(k, _)| k), Some(3));
    }

    #[test]
    fn the_series_continues_the_product() {
        for n in [999, 1000] {
            let m = n / 2 + 1;
            let product: f64 = (1..=m).map(|i| (2 * i - 1) as f64 / (2 * i) as f64).product();
            let series = middle_probability(2 * m);
            assert!((series / product - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn tails_of_large_samples_follow_the_normal_distribution() {
        let (k, tail) = largest_tail(1_000_000, 0.025).unwrap();
        assert_eq!(k, 499_019); // n/2 - 1.96 sqrt(n)/2 - 1/2, rounded down
        assert!(tail <= 0.025 && tail > 0.0249);
    }

    #[test]
    fn nonsense_gives_none() {
        assert_eq!(median_interval(&[], 0.95), None);
        assert_eq!(median_interval(&[f64::NAN], 0.95), None);
        assert_eq!(median_interval(&[1.0], 1.0), None);
        assert_eq!(median_interval(&[1.0], f64::NAN), None);
        let interval = median_interval(&[1.0, 2.0], 0.95).unwrap();
        assert_eq!((interval.low, interval.high), (f64::NEG_INFINITY, f64::INFINITY));
    }
}
