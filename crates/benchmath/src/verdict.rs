//! What an interval of a log ratio says: slower, faster, the same within a margin, or nothing yet.
//!
//! One interval answers all questions, so two figures of one report can never contradict each other.
//! Everything here is on the log scale: 0 is "no difference" and a margin of 2 % is `ln 1.02`.

/// What can be claimed about the second of two things compared.
///
/// ```
/// use benchmath::{judge, Verdict};
/// let text = match judge(0.04, 0.06, 0.02) {
///     Verdict::Slower => "slower",
///     Verdict::Faster => "faster",
///     Verdict::Same => "no difference",
///     Verdict::Undecided => "undecided",
/// };
/// assert_eq!(text, "slower");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It takes less: the whole interval lies below 0.
    Faster,
    /// It takes more: the whole interval lies above 0.
    Slower,
    /// No difference larger than the margin: the whole interval lies within it (it may exclude 0).
    Same,
    /// The interval allows a difference of either kind; more blocks are needed.
    Undecided,
}

/// The verdict of the interval `low` to `high` (log ratios) against 0 and against `margin_log`.
///
/// A small difference that is certain but lies wholly within the margin is [`Verdict::Same`]. Equivalence by
/// inclusion of the two-sided interval is the stricter form of Schuirmann's two one-sided tests (1987).
/// NaN anywhere gives [`Verdict::Undecided`].
///
/// ```
/// use benchmath::{judge, Verdict};
/// let margin = 1.02_f64.ln();
/// assert_eq!(judge(0.03, 0.05, margin), Verdict::Slower);
/// assert_eq!(judge(-0.05, -0.03, margin), Verdict::Faster);
/// assert_eq!(judge(0.002, 0.01, margin), Verdict::Same);
/// assert_eq!(judge(-0.01, 0.05, margin), Verdict::Undecided);
/// ```
#[must_use]
pub fn judge(low: f64, high: f64, margin_log: f64) -> Verdict {
    if low.is_nan() || high.is_nan() || margin_log.is_nan() {
        Verdict::Undecided
    } else if is_within_margin(low, high, margin_log) {
        Verdict::Same
    } else if low > 0.0 {
        Verdict::Slower
    } else if high < 0.0 {
        Verdict::Faster
    } else {
        Verdict::Undecided
    }
}

/// Whether measuring on would hardly sharpen the figure: the interval lies within the margin, or its half
/// width is at most the larger of the margin and a fifth of the estimate. All are log ratios.
///
/// ```
/// use benchmath::is_precise;
/// assert!(is_precise(0.50, 0.41, 0.59, 0.02)); // half width 0.09, a fifth of 0.5 is 0.1
/// assert!(!is_precise(0.05, 0.01, 0.09, 0.02));
/// ```
#[must_use]
pub fn is_precise(estimate: f64, low: f64, high: f64, margin_log: f64) -> bool {
    let half_width = (high - low) / 2.0;
    is_within_margin(low, high, margin_log) || half_width <= margin_log.max(estimate.abs() / 5.0)
}

/// About how many blocks in all will give a verdict, judged from the interval after `n` blocks.
///
/// Interval widths shrink with the square root of the number of blocks; the answer is the smaller of what a
/// claim of a difference and what a claim of equivalence needs, and infinite when neither can come (an
/// infinite interval, or an estimate of 0 with a margin of 0). It is a forecast and is often wrong by a
/// factor of two or more: print one digit.
///
/// ```
/// use benchmath::blocks_needed;
/// assert_eq!(blocks_needed(20, 0.01, -0.01, 0.03, 0.0), 80.0); // the half width must halve
/// assert!(blocks_needed(3, 0.01, f64::NEG_INFINITY, f64::INFINITY, 0.02).is_infinite());
/// ```
#[must_use]
pub fn blocks_needed(n: usize, estimate: f64, low: f64, high: f64, margin_log: f64) -> f64 {
    let half_width = (high - low) / 2.0;
    let distance = estimate.abs().max(margin_log - estimate.abs());
    if !half_width.is_finite() || distance.is_nan() || distance <= 0.0 {
        return f64::INFINITY;
    }
    n as f64 * (half_width / distance).powi(2)
}

fn is_within_margin(low: f64, high: f64, margin_log: f64) -> bool {
    -margin_log <= low && high <= margin_log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_decides_nothing() {
        assert_eq!(judge(f64::NAN, 0.1, 0.02), Verdict::Undecided);
        assert_eq!(judge(0.1, 0.2, f64::NAN), Verdict::Undecided);
        assert!(!is_precise(f64::NAN, f64::NAN, f64::NAN, f64::NAN));
        assert!(blocks_needed(10, f64::NAN, 0.0, 1.0, 0.02).is_infinite());
    }

    #[test]
    fn the_nearer_of_the_two_claims_sets_the_need() {
        // Half width 0.04 around 0.005: equivalence within 0.02 is nearer (0.015) than a difference.
        let need = blocks_needed(10, 0.005, -0.035, 0.045, 0.02);
        assert!((need - 10.0 * (0.04f64 / 0.015).powi(2)).abs() < 1e-9);
    }
}
