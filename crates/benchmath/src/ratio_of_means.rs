//! The ratio of two means with an interval that holds for ratios: Fieller's.
//!
//! It takes the values as independent; for verdicts use blocks and [`shift`](crate::signed_rank::shift) of log
//! times, whose exponential is a ratio too.

use crate::distributions::student;
use crate::signed_rank::Shift;
use crate::summary::{mean, variance};

/// `mean(second) / mean(first)` with Fieller's interval (1954) at `confidence` (a share, 0.95 and not 95), without
/// unit.
///
/// Variances are not pooled, the two means are taken as independent, and there are `n1 + n2 - 2` degrees of freedom.
/// When the mean of `first` is not certain to differ from 0, every ratio is possible and the interval is
/// infinite (the estimate is not a number when that mean is 0). `None` below two values a side, when one is not finite, or `confidence` is not within 0 and 1
/// (1 excluded).
///
/// ```
/// use benchmath::ratio_of_means::ratio_of_means;
/// let ratio = ratio_of_means(&[2.0, 2.1, 1.9], &[4.0, 4.2, 3.8], 0.95).unwrap();
/// assert!((ratio.estimate - 2.0).abs() < 1e-12 && ratio.low < 1.9 && ratio.high > 2.1);
/// ```
#[must_use]
pub fn ratio_of_means(first: &[f64], second: &[f64], confidence: f64) -> Option<Shift> {
    let finite = first.iter().chain(second).all(|value| value.is_finite());
    if first.len().min(second.len()) < 2 || !finite || !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let freedom = (first.len() + second.len() - 2) as f64;
    let t = -student::quantile((1.0 - confidence) / 2.0, freedom);
    let (base, estimate) = (mean(first), mean(second) / mean(first));
    let relative_error = |values: &[f64]| variance(values) / values.len() as f64 / (base * base);
    let (error_1, error_2) = (relative_error(first), relative_error(second));
    let g = t * t * error_1;
    // Written so that NaN, from a mean of 0, is not certain either.
    let is_certain = g < 1.0;
    if !is_certain {
        return Some(Shift { estimate, low: f64::NEG_INFINITY, high: f64::INFINITY });
    }
    let half_width = t * (error_2 + estimate * estimate * error_1 - g * error_2).sqrt();
    let end = |sign: f64| (estimate + sign * half_width) / (1.0 - g);
    Some(Shift { estimate, low: end(-1.0), high: end(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_to_nothing_have_no_ends() {
        assert_eq!(ratio_of_means(&[-1.0, 1.0], &[1.0, 2.0], 0.95).unwrap().low, f64::NEG_INFINITY);
        assert_eq!(ratio_of_means(&[1.0, 5.0], &[1.0, 2.0], 0.95).unwrap().high, f64::INFINITY);
        assert_eq!(ratio_of_means(&[1.0], &[1.0, 2.0], 0.95), None);
        assert_eq!(ratio_of_means(&[1.0, 2.0], &[1.0, f64::NAN], 0.95), None);
    }
}
