//! Fisher's F distribution, for any positive degrees of freedom.

use super::beta;

/// `P(F > x)` with `first` and `second` degrees of freedom (of the numerator and the denominator); NaN when
/// one is not positive or `x` is NaN.
///
/// ```
/// use benchmath::distributions::fisher::above;
/// assert!((above(4.9646027437307145, 1.0, 10.0) - 0.05).abs() < 1e-14);
/// ```
#[must_use]
pub fn above(x: f64, first: f64, second: f64) -> f64 {
    let positive = |freedom: f64| freedom > 0.0 && freedom.is_finite();
    if x.is_nan() || !positive(first) || !positive(second) {
        return f64::NAN;
    } else if x <= 0.0 {
        return 1.0;
    }
    let (denominator, numerator) = (second / x, first);
    let sum = denominator + numerator;
    beta::share(second / 2.0, first / 2.0, denominator / sum, numerator / sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_nonsense() {
        assert_eq!(above(0.0, 2.0, 3.0), 1.0);
        assert_eq!(above(f64::INFINITY, 2.0, 3.0), 0.0);
        assert!(above(1.0, 0.0, 3.0).is_nan() && above(f64::NAN, 2.0, 3.0).is_nan());
    }

    #[test]
    fn a_square_of_students_t() {
        let both = super::super::student::two_sided(2.5, 7.0);
        assert!((above(6.25, 1.0, 7.0) - both).abs() < 1e-14);
    }
}
