//! Trimmed means with intervals: Yuen's test.
//!
//! The mean of the middle of the sample, with a standard error that accounts for the trimming through the
//! winsorised variance (Yuen 1974; Wilcox, "Introduction to Robust Estimation and Hypothesis Testing").

use crate::summary::{mean, variance};
use crate::t_tests::{TTest, shared_freedom};

/// The trimmed mean of one sample (as the `difference`) with its interval and its test against 0.
///
/// `trim` is the share left out at each end, rounded down to whole values (0.2 is usual); `confidence` is a
/// share, 0.95 and not 95. `None` when fewer than two values are left, one is not finite, `trim` is not within
/// 0 and 1/2 or `confidence` not within 0 and 1 (upper ends excluded).
///
/// ```
/// use benchmath::trimmed::one_sample;
/// let test = one_sample(&[0.9, 1.0, 1.1, 1.2, 50.0], 0.2, 0.95).unwrap();
/// assert!((test.difference - 1.1).abs() < 1e-12);
/// assert_eq!(test.freedom, 2.0);
/// ```
#[must_use]
pub fn one_sample(values: &[f64], trim: f64, confidence: f64) -> Option<TTest> {
    let middle = Middle::of(values, trim)?;
    TTest::from_error(middle.mean, middle.squared_error.sqrt(), middle.freedom, confidence)
}

/// Yuen's difference of two trimmed means, `second - first`, with its interval and test.
///
/// Arguments and `None` as for [`one_sample`].
///
/// ```
/// use benchmath::trimmed::yuen;
/// let test = yuen(&[1.0, 2.0, 3.0, 4.0, 5.0], &[3.0, 4.0, 5.0, 6.0, 70.0], 0.2, 0.95).unwrap();
/// assert_eq!(test.difference, 2.0);
/// ```
#[must_use]
pub fn yuen(first: &[f64], second: &[f64], trim: f64, confidence: f64) -> Option<TTest> {
    let (first, second) = (Middle::of(first, trim)?, Middle::of(second, trim)?);
    let squares = [first.squared_error, second.squared_error];
    let freedom = shared_freedom((squares[0], first.freedom), (squares[1], second.freedom));
    let error = (squares[0] + squares[1]).sqrt();
    TTest::from_error(second.mean - first.mean, error, freedom, confidence)
}

/// What is left of a sample after trimming.
struct Middle {
    mean: f64,
    squared_error: f64,
    freedom: f64,
}

impl Middle {
    fn of(values: &[f64], trim: f64) -> Option<Self> {
        if values.iter().any(|value| !value.is_finite()) || !(0.0..0.5).contains(&trim) {
            return None;
        }
        let count = values.len();
        let cut = (count as f64 * trim) as usize;
        let left = count.checked_sub(2 * cut).filter(|&left| left >= 2)?;
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let mean = mean(&sorted[cut..cut + left]);
        let (lowest, highest) = (sorted[cut], sorted[cut + left - 1]);
        sorted.iter_mut().for_each(|value| *value = value.clamp(lowest, highest));
        let squared_error = (count - 1) as f64 * variance(&sorted) / (left * (left - 1)) as f64;
        Some(Self { mean, squared_error, freedom: (left - 1) as f64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_trimming_is_the_t_test() {
        let (first, second) = ([1.0, 2.0, 4.0, 5.0], [3.0, 3.5, 9.0]);
        let untrimmed = yuen(&first, &second, 0.0, 0.95).unwrap();
        let welch = crate::t_tests::welch(&first, &second, 0.95).unwrap();
        assert!((untrimmed.p - welch.p).abs() < 1e-12);
    }

    #[test]
    fn nonsense_gives_none() {
        assert_eq!(one_sample(&[], 0.2, 0.95), None);
        assert_eq!(one_sample(&[1.0, 2.0, 3.0], 0.45, 0.95), None);
        assert_eq!(one_sample(&[1.0, 2.0, 3.0], 0.5, 0.95), None);
        assert_eq!(yuen(&[1.0, 2.0], &[f64::NAN, 1.0], 0.2, 0.95), None);
    }
}
