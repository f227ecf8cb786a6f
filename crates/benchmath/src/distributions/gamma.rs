//! The gamma function's logarithm, its ratios, and the incomplete gamma function.
//!
//! Ratios of gamma functions at neighbouring arguments are computed as such: the difference of two
//! logarithms of size 10^10 would have no correct digit left after the sixth.

/// From here on Stirling's series with the terms below is exact to rounding.
const STIRLING_FROM: f64 = 20.0;

/// `ln Γ(a)` for `a > 0`.
pub(crate) fn ln_gamma(a: f64) -> f64 {
    // Γ(a) = Γ(a + 1) / a, applied until the series holds.
    let (mut shifted, mut product) = (a, 1.0);
    while shifted < STIRLING_FROM {
        product *= shifted;
        shifted += 1.0;
    }
    let half_ln_tau = 0.5 * std::f64::consts::TAU.ln();
    (shifted - 0.5) * shifted.ln() - shifted + half_ln_tau + stirling_rest(shifted) - product.ln()
}

/// `ln B(a, b)` for positive arguments, without cancellation when one is much larger than the other.
pub(crate) fn ln_beta(a: f64, b: f64) -> f64 {
    let (small, large) = (a.min(b), a.max(b));
    ln_gamma(small) - ln_gamma_rise(large, small)
}

/// `ln Γ(a + rise) - ln Γ(a)`.
fn ln_gamma_rise(a: f64, rise: f64) -> f64 {
    let (mut shifted, mut factor) = (a, 1.0);
    while shifted < STIRLING_FROM {
        factor *= shifted / (shifted + rise);
        shifted += 1.0;
    }
    let high = shifted + rise;
    let powers = (shifted - 0.5) * (rise / shifted).ln_1p() + rise * high.ln() - rise;
    powers + stirling_rest(high) - stirling_rest(shifted) + factor.ln()
}

/// What Stirling's formula leaves of `ln Γ(a)`: the sum of `B_2k / (2k (2k - 1) a^(2k - 1))`.
fn stirling_rest(a: f64) -> f64 {
    const TERMS: [f64; 7] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    let square = 1.0 / (a * a);
    TERMS.iter().rev().fold(0.0, |sum, term| sum * square + term) / a
}

/// The upper regularised incomplete gamma function `Q(a, x) = Γ(a, x) / Γ(a)`, for `a > 0` and `x >= 0`.
pub(crate) fn upper_share(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        1.0
    } else if x == f64::INFINITY {
        0.0
    } else if x < a + 1.0 {
        1.0 - lower_series(a, x)
    } else {
        upper_fraction(a, x)
    }
}

/// The lower regularised incomplete gamma function `P(a, x) = 1 - Q(a, x)`, for `a > 0` and `x >= 0`.
pub(crate) fn lower_share(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        0.0
    } else if x < a + 1.0 {
        lower_series(a, x)
    } else {
        1.0 - upper_share(a, x)
    }
}

/// `x^a e^-x / Γ(a)`.
fn density_factor(a: f64, x: f64) -> f64 {
    if a < STIRLING_FROM {
        return (a * x.ln() - x - ln_gamma(a)).exp();
    }
    // Around x = a the three large terms cancel; with Stirling inserted only their difference is left.
    let excess = (x - a) / a;
    let exponent = a * (excess.ln_1p() - excess) - stirling_rest(a);
    (a / std::f64::consts::TAU).sqrt() * exponent.exp()
}

/// The power series of P (Abramowitz and Stegun 6.5.29).
fn lower_series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum) = (1.0 / a, 1.0 / a);
    let mut denominator = a;
    while term > sum * 1e-17 {
        denominator += 1.0;
        term *= x / denominator;
        sum += term;
    }
    (sum * density_factor(a, x)).min(1.0)
}

/// The continued fraction of Q (Abramowitz and Stegun 6.5.31, even part), by Lentz's method.
fn upper_fraction(a: f64, x: f64) -> f64 {
    let mut partial = x + 1.0 - a;
    let (mut numerators, mut denominators) = (f64::MAX, 1.0 / partial);
    let mut value = denominators;
    for step in 1..1_000_000 {
        let step = f64::from(step);
        let factor = step * (a - step);
        partial += 2.0;
        denominators = 1.0 / nonzero(partial + factor * denominators);
        numerators = nonzero(partial + factor / numerators);
        let change = numerators * denominators;
        value *= change;
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value * density_factor(a, x)
}

/// Lentz's method divides by these; a zero is replaced by something too small to matter.
pub(crate) fn nonzero(value: f64) -> f64 {
    if value.abs() < 1e-300 { 1e-300 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(got: f64, want: f64, relative: f64) {
        assert!((got - want).abs() <= relative * want.abs(), "got {got}, want {want}");
    }

    #[test]
    fn known_values() {
        assert_close(ln_gamma(0.5), 0.5 * std::f64::consts::PI.ln(), 1e-14);
        assert_close(ln_gamma(11.0), 3_628_800_f64.ln(), 1e-14);
        assert_close(ln_beta(2.0, 3.0), (1.0_f64 / 12.0).ln(), 1e-14);
        assert_close(upper_share(1.0, 3.0), (-3.0_f64).exp(), 1e-14);
        assert_close(lower_share(1.0, 0.5), 1.0 - (-0.5_f64).exp(), 1e-14);
    }

    #[test]
    fn a_rise_by_one_half_at_a_huge_argument_keeps_its_digits() {
        // Γ(a + 1/2) / Γ(a) = sqrt(a) (1 - 1/(8a) + ...)
        let a = 5e8;
        assert_close(ln_gamma_rise(a, 0.5), 0.5 * f64::ln(a) - 1.0 / (8.0 * a), 1e-15);
    }
}
