//! The regularised incomplete beta function, behind Student's t and Fisher's F.

use super::gamma::{ln_beta, nonzero};

/// `I_x(a, b)` for positive `a` and `b`, with `x` and its complement `y = 1 - x` both given, so that
/// neither end loses digits.
pub(crate) fn share(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 {
        0.0
    } else if y <= 0.0 {
        1.0
    } else if x <= (a + 1.0) / (a + b + 2.0) {
        tail(a, b, x, y)
    } else {
        1.0 - tail(b, a, y, x)
    }
}

/// The continued fraction (Abramowitz and Stegun 26.5.8), which converges fast below the mean.
fn tail(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let ln_factor = a * ln_of(x, y) + b * ln_of(y, x) - ln_beta(a, b);
    ln_factor.exp() / a * fraction(a, b, x)
}

/// `ln x`, from the complement when that is the smaller and so the more exact of the two.
fn ln_of(x: f64, complement: f64) -> f64 {
    if x > 0.5 { (-complement).ln_1p() } else { x.ln() }
}

fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let mut denominators = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let (mut numerators, mut value) = (1.0, denominators);
    for step in 1..1_000_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for factor in [even, odd] {
            denominators = 1.0 / nonzero(1.0 + factor * denominators);
            numerators = nonzero(1.0 + factor / numerators);
            change = numerators * denominators;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uniform_and_a_cubic() {
        assert!((share(1.0, 1.0, 0.3, 0.7) - 0.3).abs() < 1e-15);
        assert!((share(3.0, 1.0, 0.5, 0.5) - 0.125).abs() < 1e-15);
        assert_eq!(share(2.0, 2.0, 0.0, 1.0), 0.0);
        assert_eq!(share(2.0, 2.0, 1.0, 0.0), 1.0);
    }
}
