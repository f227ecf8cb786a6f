//! The chi-square distribution, for any positive number of degrees of freedom.

use super::gamma::{lower_share, upper_share};

/// `P(X > x)` with `freedom` degrees of freedom; NaN when `freedom` is not positive or `x` is NaN.
///
/// ```
/// use benchmath::distributions::chi_square::above;
/// assert!((above(3.841458820694124, 1.0) - 0.05).abs() < 1e-14);
/// ```
#[must_use]
pub fn above(x: f64, freedom: f64) -> f64 {
    if is_nonsense(x, freedom) { f64::NAN } else { upper_share(freedom / 2.0, x / 2.0) }
}

/// `P(X < x)`; NaN as in [`above`].
///
/// ```
/// use benchmath::distributions::chi_square::below;
/// assert!((below(2.0, 2.0) - (1.0 - (-1.0_f64).exp())).abs() < 1e-15);
/// ```
#[must_use]
pub fn below(x: f64, freedom: f64) -> f64 {
    if is_nonsense(x, freedom) { f64::NAN } else { lower_share(freedom / 2.0, x / 2.0) }
}

/// The `x` with `P(X < x) = p`; NaN when `p` is not within 0 and 1 or `freedom` is not positive.
///
/// ```
/// use benchmath::distributions::chi_square::quantile;
/// assert!((quantile(0.95, 1.0) - 3.841458820694124).abs() < 1e-12);
/// ```
#[must_use]
pub fn quantile(p: f64, freedom: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || is_nonsense(1.0, freedom) {
        return f64::NAN;
    } else if p == 1.0 {
        return f64::INFINITY;
    }
    // Each half is searched by its own tail, so that neither is a difference from 1.
    let is_too_small = |x: f64| if p < 0.5 { below(x, freedom) < p } else { above(x, freedom) > 1.0 - p };
    let mut high = 1.0;
    while is_too_small(high) && high < 1e300 {
        high *= 2.0;
    }
    while !is_too_small(high / 2.0) && high > 1e-300 {
        high /= 2.0;
    }
    bisect(is_too_small, high / 2.0, high)
}

/// The smallest number between the two that is large enough.
fn bisect(is_too_small: impl Fn(f64) -> bool, mut low: f64, mut high: f64) -> f64 {
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return high;
        }
        if is_too_small(middle) { low = middle } else { high = middle }
    }
}

fn is_nonsense(x: f64, freedom: f64) -> bool {
    x.is_nan() || freedom.is_nan() || freedom <= 0.0 || freedom.is_infinite()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_nonsense() {
        assert_eq!((above(0.0, 2.0), below(0.0, 2.0)), (1.0, 0.0));
        assert_eq!((above(f64::INFINITY, 2.0), below(f64::INFINITY, 2.0)), (0.0, 1.0));
        assert!(above(1.0, 0.0).is_nan() && quantile(2.0, 1.0).is_nan());
        assert_eq!(quantile(1.0, 3.0), f64::INFINITY);
        assert!(quantile(0.0, 3.0) < 1e-298);
    }
}
