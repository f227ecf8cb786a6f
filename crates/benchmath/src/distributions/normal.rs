//! The standard normal distribution, with tails down to the smallest numbers there are.

use super::gamma::{lower_share, upper_share};

/// `P(Z > z)`. NaN for NaN.
///
/// ```
/// use benchmath::distributions::normal::above;
/// assert_eq!(above(0.0), 0.5);
/// assert!((above(37.0) / 5.725571222524576e-300 - 1.0).abs() < 1e-11);
/// ```
#[must_use]
pub fn above(z: f64) -> f64 {
    if z.is_nan() {
        return f64::NAN;
    }
    let both = z * z / 2.0; // erfc(z / sqrt 2) is the incomplete gamma function of this
    if z > 0.0 { 0.5 * upper_share(0.5, both) } else { 0.5 + 0.5 * lower_share(0.5, both) }
}

/// `P(Z < z)`. NaN for NaN.
///
/// ```
/// use benchmath::distributions::normal::below;
/// assert!((below(1.959963984540054) - 0.975).abs() < 1e-15);
/// ```
#[must_use]
pub fn below(z: f64) -> f64 {
    above(-z)
}

/// The density at `z`.
///
/// ```
/// use benchmath::distributions::normal::density;
/// assert!((density(0.0) - 0.3989422804014327).abs() < 1e-16);
/// ```
#[must_use]
pub fn density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt()
}

/// The `z` with `P(Z < z) = p`; infinite at 0 and 1, NaN outside.
///
/// ```
/// use benchmath::distributions::normal::quantile;
/// assert!((quantile(0.025) + 1.959963984540054).abs() < 1e-14);
/// assert!((quantile(1e-300) + 37.0471).abs() < 1e-4);
/// ```
#[must_use]
pub fn quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        f64::NAN
    } else if p > 0.5 {
        upper_quantile(1.0 - p)
    } else {
        -upper_quantile(p)
    }
}

/// The `z >= 0` with `P(Z > z) = p`, for `p` up to one half: Newton's method on `ln P`, which is nearly a
/// parabola, so that it closes in from any start.
fn upper_quantile(p: f64) -> f64 {
    if p == 0.0 {
        return f64::INFINITY;
    }
    let target = p.ln();
    let mut z = (-2.0 * (2.0 * p).ln()).max(0.0).sqrt(); // P(Z > z) <= exp(-z^2/2) / 2
    for _ in 0..50 {
        let tail = above(z);
        let step = (tail.ln() - target) * tail / density(z);
        z = (z + step).max(0.0);
        if step.abs() <= 1e-15 * z {
            break;
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_nonsense() {
        assert_eq!(above(f64::INFINITY), 0.0);
        assert_eq!(below(f64::INFINITY), 1.0);
        assert!(above(f64::NAN).is_nan());
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0), f64::INFINITY);
        assert_eq!(quantile(0.5), 0.0);
        assert!(quantile(-0.1).is_nan());
    }

    #[test]
    fn the_quantile_inverts_the_tail() {
        for exponent in 1..300 {
            let p = 0.3_f64 * 10.0_f64.powi(-exponent);
            let again = below(quantile(p));
            assert!((again / p - 1.0).abs() < 1e-11, "p {p} became {again}");
        }
    }
}
