//! The figures that describe one sample.

use crate::quantiles::{mad, median};

/// What one sample looks like. All but the counts are in the unit of the values.
///
/// ```
/// let summary = benchmath::summarize(&[2.0, 2.0, 2.1, 9.0]).unwrap();
/// assert!(summary.mean > summary.median && summary.count == 4);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// How many values there are.
    pub count: usize,
    /// The smallest value: the least disturbed run, and no basis for a verdict.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The standard deviation with `n - 1` in the denominator; NaN for one value.
    pub deviation: f64,
    /// The median.
    pub median: f64,
    /// The median absolute deviation from the median, raw.
    pub mad: f64,
}

/// Describe `values`. `None` when there is no value or one is NaN.
///
/// ```
/// let summary = benchmath::summarize(&[1.0, 2.0, 3.0, 4.0, 10.0]).unwrap();
/// assert_eq!((summary.min, summary.median, summary.mean, summary.max), (1.0, 3.0, 4.0, 10.0));
/// assert_eq!(summary.deviation, 12.5_f64.sqrt());
/// assert_eq!(summary.mad, 1.0);
/// ```
#[must_use]
pub fn summarize(values: &[f64]) -> Option<Summary> {
    let median = median(values)?;
    let mad = mad(values).unwrap_or(f64::NAN); // infinite values have no distances
    Some(Summary {
        count: values.len(),
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        mean: mean(values),
        deviation: variance(values).sqrt(),
        median,
        mad,
    })
}

/// The arithmetic mean; NaN for no value. Corrected once by the mean of the remainders, which removes the
/// rounding of the first sum.
///
/// ```
/// use benchmath::summary::mean;
/// assert_eq!(mean(&[1.0, 2.0, 6.0]), 3.0);
/// assert!(mean(&[]).is_nan());
/// ```
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let rough = values.iter().sum::<f64>() / count;
    if rough.is_nan() {
        return rough;
    } else if rough.is_infinite() {
        // The sum may overflow where the mean does not.
        return values.iter().map(|value| value / count).sum();
    }
    rough + values.iter().map(|value| value - rough).sum::<f64>() / count
}

/// The variance with `n - 1` in the denominator, in squared units of the values; NaN below two values.
///
/// Two passes: the differences from the mean first, so that a large common level costs no digits.
///
/// ```
/// use benchmath::summary::variance;
/// assert_eq!(variance(&[10_000_001.0, 10_000_003.0, 10_000_002.0]), 1.0);
/// ```
#[must_use]
pub fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

/// The correlation of each value with the next, -1 to 1: whether neighbouring runs resemble each other.
/// NaN when there is none (no value, all values equal).
///
/// ```
/// use benchmath::summary::lag_one_correlation;
/// assert!(lag_one_correlation(&[1.0, 1.0, 1.0, 9.0, 9.0, 9.0]) > 0.4);
/// assert!(lag_one_correlation(&[1.0, 9.0, 1.0, 9.0, 1.0, 9.0]) < -0.8);
/// ```
#[must_use]
pub fn lag_one_correlation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let products: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    products / values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
}

/// The mean of what is left when the share `trim` of the values (rounded down) is left out at each end.
///
/// `None` when there is no value, one is NaN, or `trim` is not within 0 and 1/2 (1/2 excluded).
///
/// ```
/// use benchmath::summary::trimmed_mean;
/// assert_eq!(trimmed_mean(&[1.0, 2.0, 3.0, 4.0, 100.0], 0.2), Some(3.0));
/// ```
#[must_use]
pub fn trimmed_mean(values: &[f64], trim: f64) -> Option<f64> {
    if values.is_empty() || values.iter().any(|value| value.is_nan()) || !(0.0..0.5).contains(&trim) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let cut = (values.len() as f64 * trim) as usize;
    Some(mean(&sorted[cut..sorted.len() - cut]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_has_no_summary() {
        assert_eq!(summarize(&[]), None);
        assert_eq!(summarize(&[f64::NAN, 1.0]), None);
        assert!(variance(&[1.0]).is_nan());
        assert!(lag_one_correlation(&[]).is_nan());
        assert_eq!(trimmed_mean(&[1.0], 0.5), None);
    }

    #[test]
    fn the_ends_of_the_number_range() {
        assert_eq!(mean(&[f64::MAX, f64::MAX]), f64::MAX);
        assert_eq!(mean(&[f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(summarize(&[f64::INFINITY, f64::INFINITY]).is_some());
    }
}
