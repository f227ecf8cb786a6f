//! How small a difference an experiment would have found.

use crate::distributions::normal;
use crate::signed_rank::shift;

/// The smallest true difference that as many blocks as in `differences` would claim with probability `power` (0.8
/// is usual) at the two-sided level `alpha`, judged from the scatter of these differences; in their unit.
///
/// The half width of the interval stands for `z(1 - alpha / 2)` standard errors, and a true difference must exceed
/// it by `z(power)` more. Infinite when there are too few differences for `alpha`. `None` when there is none, one is
/// not finite, or `alpha` or `power` is not between 0 and 1.
///
/// ```
/// use benchmath::detectable_effect;
/// let differences = [0.01, -0.01, 0.02, -0.02, 0.0, 0.015, -0.015, 0.005, -0.005, 0.0];
/// let effect = detectable_effect(&differences, 0.05, 0.8).unwrap();
/// assert!(0.01 < effect && effect < 0.02);
/// ```
#[must_use]
pub fn detectable_effect(differences: &[f64], alpha: f64, power: f64) -> Option<f64> {
    let between = |share: f64| share > 0.0 && share < 1.0;
    if !between(alpha) || !between(power) {
        return None;
    }
    let interval = shift(differences, alpha)?;
    let half_width = interval.high / 2.0 - interval.low / 2.0;
    let standard_errors = -normal::quantile(alpha / 2.0);
    Some(half_width * (1.0 + normal::quantile(power) / standard_errors).max(0.0))
}

/// About how many blocks would find a true difference of `effect` with probability `power`: the scatter shrinks with
/// the square root of the number. Infinite for an effect of 0; `None` as for [`detectable_effect`].
///
/// ```
/// use benchmath::detectable::blocks_to_detect;
/// let differences = [0.01, -0.01, 0.02, -0.02, 0.0, 0.015, -0.015, 0.005, -0.005, 0.0];
/// assert!(blocks_to_detect(&differences, 0.05, 0.8, 0.001).unwrap() > 1000.0);
/// ```
#[must_use]
pub fn blocks_to_detect(differences: &[f64], alpha: f64, power: f64, effect: f64) -> Option<f64> {
    let now = detectable_effect(differences, alpha, power)?;
    if effect.is_nan() {
        return None;
    } else if effect == 0.0 {
        return Some(f64::INFINITY);
    }
    Some(differences.len() as f64 * (now / effect).powi(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    #[test]
    fn nonsense_gives_none() {
        assert_eq!(detectable_effect(&[], 0.05, 0.8), None);
        assert_eq!(detectable_effect(&[1.0; 9], 0.0, 0.8), None);
        assert_eq!(detectable_effect(&[1.0; 9], 0.05, 1.0), None);
        assert_eq!(detectable_effect(&[1.0; 3], 0.05, 0.8), Some(f64::INFINITY));
        assert_eq!(blocks_to_detect(&[1.0, 2.0], 0.05, 0.8, 0.0), Some(f64::INFINITY));
    }

    #[test]
    fn the_promised_power_is_about_right() {
        let mut random = SplitMix64::new(8);
        let mut draw = |effect: f64| (0..40).map(|_| effect + random.normal()).collect::<Vec<f64>>();
        let effect = (0..20).filter_map(|_| detectable_effect(&draw(0.0), 0.05, 0.8)).sum::<f64>() / 20.0;
        let found =
            (0..500).filter(|_| shift(&draw(effect), 0.05).is_some_and(|shift| shift.low > 0.0)).count();
        assert!((360..=450).contains(&found), "{found} of 500 with an effect of {effect}");
    }
}
