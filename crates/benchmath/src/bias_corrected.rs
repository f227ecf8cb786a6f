//! The bias-corrected and accelerated bootstrap interval, for any figure of one sample.
//!
//! Efron, "Better bootstrap confidence intervals" (1987). The percentiles of the resampled figures are moved for
//! the bias of the figure and for how its scatter depends on its size. It needs independent values and more than
//! a dozen of them; for typical differences of blocks [`shift`](crate::signed_rank::shift) is exact instead.

use crate::distributions::normal;
use crate::quantiles::quantile_of_sorted;
use crate::random::SplitMix64;
use crate::summary::mean;

/// A figure with its bootstrap intervals, in the unit of the figure.
///
/// ```
/// let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
/// let found = benchmath::bias_corrected_interval(&[1.0, 2.0, 3.0, 9.0], largest, 200, 0.95, 1).unwrap();
/// assert!(found.estimate == 9.0 && found.high <= 9.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BiasCorrected {
    /// The figure of the sample itself.
    pub estimate: f64,
    /// Lower end of the corrected interval.
    pub low: f64,
    /// Upper end of the corrected interval.
    pub high: f64,
    /// Lower end of the plain percentile interval.
    pub percentile_low: f64,
    /// Upper end of the plain percentile interval.
    pub percentile_high: f64,
    /// The bias correction, in standard normal units; 0 when half of the resamples lie below the estimate.
    pub bias: f64,
    /// The acceleration; 0 when the scatter does not depend on the size.
    pub acceleration: f64,
}

/// The figure `statistic` of `values` with its BCa interval at `confidence` (a share, 0.95 and not 95).
///
/// Each of the `resamples` (2000 is usual) draws `n` values with the generator [`SplitMix64`] from `seed`, one
/// after the other, so that the interval can be reproduced to the last digit.
///
/// `None` below two values, for no resample, when `confidence` is not within 0 and 1 (1 excluded), or when
/// the figure of the sample or of a resample is not finite. Where all resamples lie on one side of the
/// estimate, the interval runs to their end.
///
/// ```
/// use benchmath::bias_corrected_interval;
/// let values = [3.0, 5.0, 4.0, 6.0, 5.5, 4.5, 3.5, 7.0, 5.2, 4.1];
/// let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
/// let interval = bias_corrected_interval(&values, mean, 2000, 0.95, 1).unwrap();
/// assert!(4.0 < interval.low && interval.low < 4.78 && interval.high < 6.0);
/// ```
#[must_use]
pub fn bias_corrected_interval(
    values: &[f64],
    statistic: impl Fn(&[f64]) -> f64,
    resamples: usize,
    confidence: f64,
    seed: u64,
) -> Option<BiasCorrected> {
    if values.len() < 2 || resamples == 0 || !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let estimate = statistic(values);
    let sorted = sorted_figures(resampled(values, &statistic, resamples, seed))?;
    let (bias, acceleration) = (bias(&sorted, estimate), acceleration(values, &statistic));
    if !(estimate.is_finite() && acceleration.is_finite()) {
        return None;
    }
    let tails = [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0];
    let [percentile_low, percentile_high] = tails.map(|tail| quantile_of_sorted(&sorted, tail));
    let [low, high] = tails.map(|tail| quantile_of_sorted(&sorted, corrected(tail, bias, acceleration)));
    Some(BiasCorrected { estimate, low, high, percentile_low, percentile_high, bias, acceleration })
}

/// The figures of all resamples, in the order drawn.
///
/// ```
/// use benchmath::bias_corrected::resampled;
/// let means = resampled(&[1.0, 2.0, 3.0], |values| values.iter().sum::<f64>() / 3.0, 5, 42);
/// assert_eq!(means.len(), 5);
/// assert!(means.iter().all(|mean| (1.0..=3.0).contains(mean)));
/// ```
#[must_use]
pub fn resampled(values: &[f64], statistic: impl Fn(&[f64]) -> f64, resamples: usize, seed: u64) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    let mut resample = vec![0.0; values.len()];
    let mut draw = |_| {
        for place in &mut resample {
            *place = values[random.below(values.len() as u64) as usize];
        }
        statistic(&resample)
    };
    (0..resamples).map(&mut draw).collect()
}

fn sorted_figures(mut figures: Vec<f64>) -> Option<Vec<f64>> {
    if figures.iter().any(|figure| !figure.is_finite()) {
        return None;
    }
    figures.sort_unstable_by(f64::total_cmp);
    Some(figures)
}

/// The normal deviate of the share of resamples below the estimate, where ties count half.
fn bias(sorted: &[f64], estimate: f64) -> f64 {
    let below = sorted.partition_point(|&figure| figure < estimate) as f64;
    let not_above = sorted.partition_point(|&figure| figure <= estimate) as f64;
    normal::quantile((below + not_above) / 2.0 / sorted.len() as f64)
}

/// From the skewness of the figures with one value left out each (the jackknife).
fn acceleration(values: &[f64], statistic: &impl Fn(&[f64]) -> f64) -> f64 {
    let mut left = values[1..].to_vec();
    let mut figures = vec![statistic(&left)];
    for (place, &value) in values[..values.len() - 1].iter().enumerate() {
        left[place] = value; // now all but the next one
        figures.push(statistic(&left));
    }
    let center = mean(&figures);
    let sum = |power: i32| figures.iter().map(|figure| (center - figure).powi(power)).sum::<f64>();
    let squares = sum(2);
    if squares == 0.0 { 0.0 } else { sum(3) / (6.0 * squares.powf(1.5)) }
}

/// Which quantile of the resamples takes the place of the nominal one.
fn corrected(tail: f64, bias: f64, acceleration: f64) -> f64 {
    let moved = bias + normal::quantile(tail);
    if !moved.is_finite() {
        return if moved < 0.0 { 0.0 } else { 1.0 };
    }
    let stretched = 1.0 - acceleration * moved;
    normal::below(bias + moved / stretched.max(f64::MIN_POSITIVE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_gives_none() {
        let first = |values: &[f64]| values[0];
        assert_eq!(bias_corrected_interval(&[1.0], first, 100, 0.95, 1), None);
        assert_eq!(bias_corrected_interval(&[1.0, 2.0], first, 0, 0.95, 1), None);
        assert_eq!(bias_corrected_interval(&[1.0, 2.0], first, 100, 1.0, 1), None);
        assert_eq!(bias_corrected_interval(&[1.0, f64::NAN], first, 100, 0.95, 1), None);
        assert!(resampled(&[], |_| 0.0, 3, 1).len() == 3);
    }

    #[test]
    fn a_figure_that_never_varies() {
        let interval = bias_corrected_interval(&[2.0; 5], |values| values[0], 50, 0.95, 1).unwrap();
        assert_eq!((interval.low, interval.high), (2.0, 2.0));
    }

    #[test]
    fn all_resamples_on_one_side() {
        let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max) + values.len() as f64;
        let values: Vec<f64> = (0..30).map(f64::from).collect();
        assert!(bias_corrected_interval(&values, largest, 200, 0.95, 1).is_some());
    }
}
