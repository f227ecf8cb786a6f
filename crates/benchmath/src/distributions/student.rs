//! Student's t distribution, for any positive number of degrees of freedom.

use super::gamma::ln_beta;
use super::{beta, normal};

/// From here on the expansion in [`nearly_normal`] is exact to rounding, and the incomplete beta function
/// begins to lose digits.
const NEARLY_NORMAL_FROM: f64 = 1e4;

/// In units of the square root of the degrees of freedom: the next term of the tail is smaller by the square.
const FAR: f64 = 1e12;

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
    } else if t > FAR * freedom.sqrt() {
        far_tail(t, freedom)
    } else {
        let ratio = (t / freedom.sqrt()).powi(2);
        0.5 * beta::share(freedom / 2.0, 0.5, 1.0 / (1.0 + ratio), ratio / (1.0 + ratio))
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

/// The `t` with `P(T < t) = p`; infinite at `p` of 0 and 1, NaN for other `p` outside and when `freedom` is not
/// positive.
///
/// ```
/// use benchmath::distributions::student::quantile;
/// assert!((quantile(0.975, 1.0) - 12.706204736174698).abs() < 1e-12);
/// assert!((quantile(1e-300, 1.0) / -3.183098861837907e299 - 1.0).abs() < 1e-12);
/// ```
#[must_use]
pub fn quantile(p: f64, freedom: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || freedom.is_nan() || freedom <= 0.0 {
        f64::NAN
    } else if p > 0.5 {
        upper_quantile(1.0 - p, freedom)
    } else {
        -upper_quantile(p, freedom)
    }
}

/// The `t >= 0` with `P(T > t) = p`, for `p` up to one half.
///
/// Newton's method for `ln P` as a function of `ln t`: that curve is concave and straightens out in the tail,
/// so from the normal quantile, which is always too small, it overshoots once and then descends safely.
fn upper_quantile(p: f64, freedom: f64) -> f64 {
    if p == 0.0 || p == 0.5 {
        return if p == 0.0 { f64::INFINITY } else { 0.0 };
    }
    let target = p.ln();
    let mut ln_t = (-normal::quantile(p)).ln();
    for _ in 0..100 {
        let t = ln_t.exp();
        let tail = above(t, freedom);
        let step = (tail.ln() - target) * tail / (ln_t + ln_density(t, freedom)).exp();
        if !step.is_finite() {
            break;
        }
        ln_t += step;
        if step.abs() < 1e-15 {
            break;
        }
    }
    ln_t.exp()
}

fn ln_density(t: f64, freedom: f64) -> f64 {
    let root = t / freedom.sqrt();
    let ln_ratio = if root > FAR { 2.0 * root.ln() } else { (root * root).ln_1p() };
    -0.5 * (freedom + 1.0) * ln_ratio - 0.5 * freedom.ln() - ln_beta(0.5, freedom / 2.0)
}

/// The leading term of the tail, exact to rounding from [`FAR`] standard units on, where the square of `t` may
/// leave the range of numbers.
fn far_tail(t: f64, freedom: f64) -> f64 {
    let ln_share = -freedom * (t / freedom.sqrt()).ln() - (freedom / 2.0).ln();
    0.5 * (ln_share - ln_beta(freedom / 2.0, 0.5)).exp()
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
        assert_eq!(quantile(0.5, 3.0), 0.0);
        assert_eq!(quantile(0.0, 3.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0, 3.0), f64::INFINITY);
        assert!(quantile(0.1, -1.0).is_nan());
    }

    #[test]
    fn the_quantile_inverts_the_tail() {
        for freedom in [0.1, 0.5, 1.0, 2.5, 17.3, 100.0, 9_999.0, 10_001.0, 1e9, 1e300] {
            for p in [1e-300, 1e-100, 1e-10, 0.01, 0.3, 0.4999] {
                let t = upper_quantile(p, freedom);
                let again = above(t, freedom);
                assert!(t.is_infinite() || (again / p - 1.0).abs() < 1e-10, "{freedom} {p}: {t} {again}");
            }
        }
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
