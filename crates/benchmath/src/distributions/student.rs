//! Student's t distribution, for any positive number of degrees of freedom.

use super::{beta, normal};

/// From here on the expansion in [`nearly_normal`] is exact to rounding, and the incomplete beta function
/// begins to lose digits.
const NEARLY_NORMAL_FROM: f64 = 1e4;

/// `P(T > t)` with `freedom` degrees of freedom; NaN when `freedom` is not positive or `t` is NaN.
///
/// ```
/// use benchmath::distributions::student::above;
/// assert!((above(1.0, 1.0) - 0.25).abs() < 1e-15);
/// assert!((above(12.706204736174698, 1.0) - 0.025).abs() < 1e-14);
/// ```
#[must_use]
pub fn above(t: f64, freedom: f64) -> f64 {
    if t.is_nan() || freedom.is_nan() || freedom <= 0.0 {
        f64::NAN
    } else if freedom > NEARLY_NORMAL_FROM {
        normal::above(nearly_normal(t, freedom))
    } else if t < 0.0 {
        1.0 - above(-t, freedom)
    } else {
        let (outer, inner) = shares(t, freedom);
        0.5 * beta::share(freedom / 2.0, 0.5, outer, inner)
    }
}

/// The two-sided p-value `P(|T| > |t|)`; NaN as in [`above`].
///
/// ```
/// use benchmath::distributions::student::two_sided;
/// assert!((two_sided(-2.2281388519862744, 10.0) - 0.05).abs() < 1e-14);
/// ```
#[must_use]
pub fn two_sided(t: f64, freedom: f64) -> f64 {
    2.0 * above(t.abs(), freedom)
}

/// `freedom / (freedom + t^2)` and its complement, each without cancellation or overflow.
fn shares(t: f64, freedom: f64) -> (f64, f64) {
    let ratio = (t / freedom.sqrt()).powi(2);
    if ratio.is_infinite() {
        // t^2 is beyond the number range, the share is not: take the root last.
        let root = freedom.sqrt() / t;
        return (root * root, 1.0);
    }
    (1.0 / (1.0 + ratio), ratio / (1.0 + ratio))
}

/// The normal deviate with the same tail: the expansion in `1 / freedom` of G. W. Hill, algorithm 395 (1970).
fn nearly_normal(t: f64, freedom: f64) -> f64 {
    let a = freedom - 0.5;
    let b = 48.0 * a * a;
    let square = a * (t / freedom.sqrt()).powi(2).ln_1p();
    let second = ((-0.4 * square - 3.3) * square - 24.0) * square - 85.5;
    let scale = (second / (0.8 * square * square + 100.0 + b) + square + 3.0) / b + 1.0;
    t.signum() * scale * square.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_nonsense() {
        assert_eq!(above(f64::INFINITY, 3.0), 0.0);
        assert_eq!(above(f64::NEG_INFINITY, 3.0), 1.0);
        assert_eq!(above(0.0, 3.0), 0.5);
        assert!(above(1.0, 0.0).is_nan());
        assert!(above(f64::NAN, 3.0).is_nan());
    }

    #[test]
    fn continuous_where_the_expansion_takes_over() {
        for t in [0.01, 0.5, 2.0, -2.0, 10.0, 30.0, 37.0] {
            let exact = above(t, NEARLY_NORMAL_FROM);
            let expanded = normal::above(nearly_normal(t, NEARLY_NORMAL_FROM));
            assert!((exact / expanded - 1.0).abs() < 1e-11, "t {t}: {exact} {expanded}");
        }
    }
}
