//! Student's t: differences of means with intervals, for one sample and for two.
//!
//! These are here to reproduce the figures of other tools. They take all values as independent, which values
//! measured in two separate series are not on a real machine (drift makes the two-sample tests claim
//! differences that do not exist); for verdicts use blocks and [`shift`](crate::signed_rank::shift).

use crate::distributions::student;
use crate::summary::{mean, variance};

/// A difference with its interval and test.
///
/// ```
/// let test = benchmath::t_tests::welch(&[1.0, 2.0, 3.0], &[2.0, 3.0, 4.0], 0.95).unwrap();
/// assert!(test.low < 0.0 && test.high > 0.0 && test.p > 0.05); // all three say the same
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TTest {
    /// The difference of the means (second minus first), or the mean of one sample, in the unit of the values.
    pub difference: f64,
    /// Lower end of the interval, same unit.
    pub low: f64,
    /// Upper end of the interval, same unit.
    pub high: f64,
    /// The difference in standard errors; infinite when the values do not scatter at all.
    pub t: f64,
    /// The degrees of freedom.
    pub freedom: f64,
    /// The two-sided p-value of "no difference".
    pub p: f64,
}

/// The mean of one sample against 0, with its interval at `confidence` (a share, 0.95 and not 95). For
/// differences of pairs this is the paired t-test (Student 1908).
///
/// `None` below two values, when one is not finite, or `confidence` is not within 0 and 1 (1 excluded).
///
/// ```
/// use benchmath::t_tests::one_sample;
/// let test = one_sample(&[1.0, 2.0, 3.0], 0.95).unwrap();
/// assert_eq!((test.difference, test.freedom), (2.0, 2.0));
/// assert!((test.t - 12.0_f64.sqrt()).abs() < 1e-12);
/// ```
#[must_use]
pub fn one_sample(values: &[f64], confidence: f64) -> Option<TTest> {
    let (mean, squared_error, freedom) = mean_and_error(values)?;
    TTest::from_error(mean, squared_error.sqrt(), freedom, confidence)
}

/// The difference of two means without assuming equal variances (Welch 1947), `second - first`.
///
/// `None` when a sample has fewer than two values, one is not finite, or `confidence` is not within 0 and 1
/// (1 excluded).
///
/// ```
/// use benchmath::t_tests::welch;
/// let test = welch(&[1.0, 2.0, 3.0], &[4.0, 6.0, 8.0], 0.95).unwrap();
/// assert_eq!(test.difference, 4.0);
/// assert!((test.freedom - 50.0 / 17.0).abs() < 1e-12);
/// ```
#[must_use]
pub fn welch(first: &[f64], second: &[f64], confidence: f64) -> Option<TTest> {
    let (mean_1, error_1, freedom_1) = mean_and_error(first)?;
    let (mean_2, error_2, freedom_2) = mean_and_error(second)?;
    let freedom = shared_freedom((error_1, freedom_1), (error_2, freedom_2));
    TTest::from_error(mean_2 - mean_1, (error_1 + error_2).sqrt(), freedom, confidence)
}

/// The difference of two means with one pooled variance (Student), `second - first`: what `ministat` does.
///
/// `None` as for [`welch`].
///
/// ```
/// use benchmath::t_tests::pooled;
/// let test = pooled(&[1.0, 2.0, 3.0], &[4.0, 6.0, 8.0], 0.95).unwrap();
/// assert_eq!((test.difference, test.freedom), (4.0, 4.0));
/// ```
#[must_use]
pub fn pooled(first: &[f64], second: &[f64], confidence: f64) -> Option<TTest> {
    let (mean_1, _, freedom_1) = mean_and_error(first)?;
    let (mean_2, _, freedom_2) = mean_and_error(second)?;
    let scatter = 1.0 / first.len() as f64 + 1.0 / second.len() as f64;
    let error = pooled_deviation(first, second) * scatter.sqrt();
    TTest::from_error(mean_2 - mean_1, error, freedom_1 + freedom_2, confidence)
}

/// The standard deviation around two means together, in the unit of the values; NaN below two values in a sample.
///
/// ```
/// use benchmath::t_tests::pooled_deviation;
/// assert_eq!(pooled_deviation(&[1.0, 2.0, 3.0], &[14.0, 15.0, 16.0]), 1.0);
/// ```
#[must_use]
pub fn pooled_deviation(first: &[f64], second: &[f64]) -> f64 {
    let weighted = |values: &[f64]| variance(values) * (values.len() as f64 - 1.0);
    ((weighted(first) + weighted(second)) / (first.len() as f64 + second.len() as f64 - 2.0)).sqrt()
}

/// Two one-sided t-tests that a mean lies within a margin (Schuirmann 1987).
///
/// ```
/// let test = benchmath::t_tests::equivalence(&[0.01, 0.012, 0.008], 0.02).unwrap();
/// assert!(test.p_lower < test.p_upper && test.p == test.p_upper); // nearer to the upper margin
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Equivalence {
    /// The p-value of "the mean is at or below minus the margin".
    pub p_lower: f64,
    /// The p-value of "the mean is at or above the margin".
    pub p_upper: f64,
    /// The p-value of "the mean lies outside of the margin": the larger of the two.
    pub p: f64,
}

/// Test that the mean of `values` lies within `-margin..margin`, both in the same unit.
///
/// `None` below two values, when one is not finite, or the margin is negative or NaN.
///
/// ```
/// use benchmath::t_tests::equivalence;
/// let near_zero = [0.001, -0.002, 0.001, 0.0, 0.002];
/// assert!(equivalence(&near_zero, 0.02).unwrap().p < 0.001);
/// assert!(equivalence(&near_zero, 0.0005).unwrap().p > 0.05);
/// ```
#[must_use]
pub fn equivalence(values: &[f64], margin: f64) -> Option<Equivalence> {
    let (mean, squared_error, freedom) = mean_and_error(values)?;
    if margin.is_nan() || margin < 0.0 {
        return None;
    }
    let against = |distance: f64| student::above(in_errors(distance, squared_error.sqrt()), freedom);
    let (p_lower, p_upper) = (against(mean + margin), against(margin - mean));
    Some(Equivalence { p_lower, p_upper, p: p_lower.max(p_upper) })
}

impl TTest {
    pub(crate) fn from_error(difference: f64, error: f64, freedom: f64, confidence: f64) -> Option<Self> {
        if !(0.0..1.0).contains(&confidence) {
            return None;
        }
        let t = in_errors(difference, error);
        let half_width =
            if error == 0.0 { 0.0 } else { -error * student::quantile((1.0 - confidence) / 2.0, freedom) };
        let (low, high) = (difference - half_width, difference + half_width);
        Some(Self { difference, low, high, t, freedom, p: student::two_sided(t, freedom) })
    }
}

/// Welch's and Satterthwaite's degrees of freedom of a sum of two squared errors, each with its own.
/// Without any scatter there is nothing to weigh, and they simply add.
pub(crate) fn shared_freedom(first: (f64, f64), second: (f64, f64)) -> f64 {
    let sum = first.0 + second.0;
    if sum == 0.0 {
        return first.1 + second.1;
    }
    let (share_1, share_2) = (first.0 / sum, second.0 / sum);
    1.0 / (share_1 * share_1 / first.1 + share_2 * share_2 / second.1)
}

/// The mean, its squared standard error and the degrees of freedom.
fn mean_and_error(values: &[f64]) -> Option<(f64, f64, f64)> {
    if values.len() < 2 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let count = values.len() as f64;
    Some((mean(values), variance(values) / count, count - 1.0))
}

/// No distance is no evidence, even where nothing scatters.
fn in_errors(distance: f64, error: f64) -> f64 {
    if distance == 0.0 { 0.0 } else { distance / error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_without_scatter() {
        let different = welch(&[1.0, 1.0], &[2.0, 2.0], 0.95).unwrap();
        assert_eq!((different.p, different.low, different.high), (0.0, 1.0, 1.0));
        let same = pooled(&[1.0, 1.0], &[1.0, 1.0], 0.95).unwrap();
        assert_eq!((same.p, same.t), (1.0, 0.0));
        assert_eq!(equivalence(&[0.0, 0.0], 0.1).unwrap().p, 0.0);
    }

    #[test]
    fn nonsense_gives_none() {
        assert_eq!(one_sample(&[1.0], 0.95), None);
        assert_eq!(one_sample(&[1.0, f64::NAN], 0.95), None);
        assert_eq!(welch(&[1.0, 2.0], &[], 0.95), None);
        assert_eq!(pooled(&[1.0, 2.0], &[1.0, 2.0], 95.0), None);
        assert_eq!(equivalence(&[1.0, 2.0], -0.1), None);
    }
}
