//! The figures that FreeBSD's `ministat` prints, digit for digit.
//!
//! It is Student's t-test with a pooled variance, from a printed table: three decimals, the normal row beyond
//! 100 degrees of freedom, and a column labelled 99.5 % that really holds the values of 99.8 %. Reproduced as it
//! is, for comparing with old results; [`t_tests::pooled`](crate::t_tests::pooled) is the exact form.

use crate::distributions::{normal, student};
use crate::summary::mean;
use crate::t_tests::{pooled, pooled_deviation};

/// The largest number of degrees of freedom in the table.
const LARGEST_ROW: f64 = 100.0;

/// What `ministat` says about a sample against a reference.
///
/// ```
/// let found = benchmath::ministat::ministat(&[1.0, 2.0, 3.0], &[1.0, 2.0, 4.0], 95.0).unwrap();
/// assert!(!found.is_different && found.error > found.difference);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ministat {
    /// Whether it prints "Difference at ... confidence" and not "No difference proven".
    pub is_different: bool,
    /// The difference of the means, in the unit of the values.
    pub difference: f64,
    /// What it prints after `+/-`, in the unit of the values.
    pub error: f64,
    /// The difference in percent of the mean of the reference.
    pub difference_percent: f64,
    /// Its error in percent of the mean of the reference (that mean counts as exact).
    pub error_percent: f64,
    /// The pooled standard deviation, in the unit of the values.
    pub pooled_deviation: f64,
}

/// Compare `other` with `reference` at one of the levels of its option `-c`: 80, 90, 95, 98, 99 or 99.5 percent.
///
/// `None` for another level, below three values a side, or when a value is not finite.
///
/// ```
/// let found = benchmath::ministat::ministat(&[1.0, 1.1, 1.2], &[1.3, 1.5, 1.4], 95.0).unwrap();
/// assert!(found.is_different);
/// assert_eq!(format!("{:.6} {:.4}", found.error, found.error_percent), "0.226659 20.6054");
/// ```
#[must_use]
pub fn ministat(reference: &[f64], other: &[f64], level_percent: f64) -> Option<Ministat> {
    let tail = tail_of(level_percent)?;
    if reference.len().min(other.len()) < 3 {
        return None;
    }
    let test = pooled(reference, other, 0.5)?;
    let pooled_deviation = pooled_deviation(reference, other);
    let scatter = 1.0 / reference.len() as f64 + 1.0 / other.len() as f64;
    let error = table_value(tail, test.freedom) * pooled_deviation * scatter.sqrt();
    let percent = 100.0 / mean(reference);
    Some(Ministat {
        is_different: test.difference.abs() > error,
        difference: test.difference,
        error,
        difference_percent: test.difference * percent,
        error_percent: error * percent,
        pooled_deviation,
    })
}

/// The one-sided tail behind each label of the table.
fn tail_of(level_percent: f64) -> Option<f64> {
    let labels = [(80.0, 0.1), (90.0, 0.05), (95.0, 0.025), (98.0, 0.01), (99.0, 0.005), (99.5, 0.001)];
    labels.into_iter().find(|(label, _)| *label == level_percent).map(|(_, tail)| tail)
}

fn table_value(tail: f64, freedom: f64) -> f64 {
    let exact = if freedom > LARGEST_ROW { normal::quantile(tail) } else { student::quantile(tail, freedom) };
    (-exact * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_would_refuse() {
        let values = [1.0, 2.0, 3.0];
        assert_eq!(ministat(&values, &values, 97.0), None);
        assert_eq!(ministat(&values, &values, f64::NAN), None);
        assert_eq!(ministat(&values[..2], &values, 95.0), None);
        assert_eq!(ministat(&[1.0, 2.0, f64::INFINITY], &values, 95.0), None);
    }

    #[test]
    fn the_mislabelled_column() {
        assert_eq!(table_value(tail_of(99.5).unwrap(), 18.0), 3.610);
    }
}
