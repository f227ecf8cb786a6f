//! From which iteration on a repeated measurement inside one process is steady.
//!
//! Caches fill, compilers compile and frequencies settle: early iterations are slower (or faster) than what
//! follows. There are three honest answers: steady from some point on, never steady, or too short to say.
//! Iterations of one process are no replicates of each other: summarise the steady part by its median and take
//! the process as the unit.

use crate::quantiles::{mad, median};

/// The least relative change of level that counts.
const LEAST_CHANGE: f64 = 0.02;
/// The least number of values in a window.
const LEAST_WINDOW: usize = 10;
/// How many standard errors two medians may differ.
const MOST_ERRORS: f64 = 4.0;

/// What can be said about the end of the warm-up.
///
/// ```
/// use benchmath::steady::{steady_start, Steadiness};
/// let jump: Vec<f64> = (0..100).map(|i| if i < 80 { 1.0 } else { 2.0 }).collect();
/// assert_eq!(steady_start(&jump), Steadiness::Never { before: 1.0, after: 2.0 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Steadiness {
    /// Steady from the value with this number on (0: there is no warm-up).
    From {
        /// How many values to leave out as warm-up.
        start: usize,
        /// The median of the second half of all values, in their unit.
        level: f64,
    },
    /// The level still changes in the second half: no steady state was reached.
    Never {
        /// The median of the third quarter of all values.
        before: f64,
        /// The median of the last quarter.
        after: f64,
    },
    /// Fewer than 40 values, or values that are not finite.
    Unknown,
}

/// Find where the series of iteration times `values` (any unit, in the order measured) becomes steady.
///
/// The second half is the reference: if its own halves differ in level, the answer is [`Steadiness::Never`].
/// Otherwise windows of one fortieth of the values (at least ten) are taken backwards from the middle for as long
/// as their median agrees with the reference. Levels agree when they differ by less than 2 %, or by less than
/// four standard errors of a median of that many values (1.25 s / sqrt n, with s from the median absolute
/// deviation).
///
/// ```
/// use benchmath::steady::{steady_start, Steadiness};
/// let mut times = vec![5.0; 30];
/// times.extend([1.0, 1.01, 0.99].repeat(100));
/// let Steadiness::From { start, level } = steady_start(&times) else { panic!() };
/// assert!((25..=40).contains(&start));
/// assert_eq!(level, 1.0);
/// ```
#[must_use]
pub fn steady_start(values: &[f64]) -> Steadiness {
    if values.len() < 4 * LEAST_WINDOW || values.iter().any(|value| !value.is_finite()) {
        return Steadiness::Unknown;
    }
    let (head, tail) = values.split_at(values.len() / 2);
    let (third, last) = tail.split_at(tail.len() / 2);
    let reference = Level::of(tail);
    let (before, after) = (Level::of(third), Level::of(last));
    if !reference.allows(before.median - after.median, last.len()) {
        return Steadiness::Never { before: before.median, after: after.median };
    }
    let window = LEAST_WINDOW.max(values.len() / 40);
    let agreeing = head
        .rchunks(window)
        .take_while(|&chunk| reference.allows(Level::of(chunk).median - reference.median, chunk.len()));
    let start = head.len() - agreeing.map(<[f64]>::len).sum::<usize>();
    Steadiness::From { start, level: reference.median }
}

/// A level and the scatter around it.
struct Level {
    median: f64,
    deviation: f64,
}

impl Level {
    fn of(values: &[f64]) -> Self {
        let figure = |found: Option<f64>| found.unwrap_or(f64::NAN);
        Self { median: figure(median(values)), deviation: 1.4826 * figure(mad(values)) }
    }

    /// Whether a difference between medians of `count` values is within what this scatter explains.
    fn allows(&self, difference: f64, count: usize) -> bool {
        let error = 1.25 * self.deviation / (count as f64).sqrt();
        difference.abs() <= (LEAST_CHANGE * self.median.abs()).max(MOST_ERRORS * error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_that_keeps_rising_is_never_steady() {
        let rising: Vec<f64> = (0..400).map(|i| 1.0 + f64::from(i) / 400.0).collect();
        assert!(matches!(steady_start(&rising), Steadiness::Never { .. }));
    }

    #[test]
    fn a_constant_series_has_no_warm_up() {
        assert_eq!(steady_start(&[3.0; 100]), Steadiness::From { start: 0, level: 3.0 });
    }

    #[test]
    fn short_or_broken_series() {
        assert_eq!(steady_start(&[1.0; 39]), Steadiness::Unknown);
        assert_eq!(steady_start(&[f64::NAN; 100]), Steadiness::Unknown);
        assert_eq!(steady_start(&[]), Steadiness::Unknown);
    }
}
