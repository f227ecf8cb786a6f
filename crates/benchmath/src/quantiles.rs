//! Quantiles, the median and the median absolute deviation, by selection.
//!
//! Selection is linear in the number of values, so that a sample of ten million stays cheap. Values are
//! copied and never reordered in place.

/// The median: the middle value, or the mean of the two middle ones. In the unit of the values.
///
/// `None` when there is no value or one is NaN.
///
/// ```
/// use benchmath::median;
/// assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
/// assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
/// assert_eq!(median(&[]), None);
/// ```
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The `p` quantile by linear interpolation between order statistics: type 7 of Hyndman and Fan,
/// "Sample quantiles in statistical packages" (1996), the default of R and NumPy.
///
/// `None` when there is no value, a value is NaN, or `p` is not within 0 and 1.
///
/// ```
/// use benchmath::quantile;
/// assert_eq!(quantile(&[10.0, 20.0, 30.0, 40.0], 0.25), Some(17.5));
/// assert_eq!(quantile(&[10.0, 20.0], 1.0), Some(20.0));
/// ```
#[must_use]
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    quantile_in(&mut values.to_vec(), p)
}

/// The median absolute deviation from the median, raw: for normal noise it is 0.6745 standard deviations.
/// In the unit of the values. `None` when there is no value or one is NaN.
///
/// ```
/// use benchmath::mad;
/// assert_eq!(mad(&[1.0, 2.0, 3.0, 4.0, 100.0]), Some(1.0));
/// ```
#[must_use]
pub fn mad(values: &[f64]) -> Option<f64> {
    mad_around(values, median(values)?)
}

/// [`mad`] for callers that know the median already.
///
/// ```
/// use benchmath::quantiles::{mad, mad_around};
/// assert_eq!(mad_around(&[1.0, 2.0, 4.0], 2.0), mad(&[1.0, 2.0, 4.0]));
/// ```
#[must_use]
pub fn mad_around(values: &[f64], median: f64) -> Option<f64> {
    let mut distances: Vec<f64> = values.iter().map(|value| (value - median).abs()).collect();
    quantile_in(&mut distances, 0.5)
}

/// [`quantile`] that may reorder what it is given, for callers that own a copy already.
pub(crate) fn quantile_in(values: &mut [f64], p: f64) -> Option<f64> {
    if values.is_empty() || !(0.0..=1.0).contains(&p) || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let position = p * (values.len() - 1) as f64;
    let (_, &mut below, rest) = values.select_nth_unstable_by(position.floor() as usize, f64::total_cmp);
    let above = rest.iter().copied().reduce(f64::min).unwrap_or(below);
    Some(between(below, above, position.fract()))
}

/// The type 7 quantile of values that are in ascending order already; NaN when there are none.
pub(crate) fn quantile_of_sorted(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let position = (p * last as f64).clamp(0.0, last as f64);
    let below = sorted[position.floor() as usize];
    let above = sorted[position.ceil() as usize];
    between(below, above, position.fract())
}

/// The point at `fraction` of the way, without the overflow of `above - below` and exact at equal ends.
fn between(below: f64, above: f64, fraction: f64) -> f64 {
    if fraction == 0.0 || below == above {
        return below;
    }
    below * (1.0 - fraction) + above * fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_has_no_quantile() {
        assert_eq!(quantile(&[1.0], f64::NAN), None);
        assert_eq!(quantile(&[1.0], 1.1), None);
        assert_eq!(median(&[1.0, f64::NAN]), None);
        assert_eq!(mad(&[]), None);
    }

    #[test]
    fn the_ends_of_the_number_range_are_ordinary_values() {
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
        assert_eq!(median(&[f64::MAX, -f64::MAX]), Some(0.0));
        assert_eq!(median(&[f64::INFINITY, 1.0, 2.0]), Some(2.0));
    }

    #[test]
    fn selection_agrees_with_sorting() {
        let mut random = crate::SplitMix64::new(5);
        let mut values: Vec<f64> = (0..101).map(|_| random.below(40) as f64).collect();
        let selected: Vec<f64> =
            (0..=20).map(|step| quantile(&values, f64::from(step) / 20.0).unwrap()).collect();
        values.sort_by(f64::total_cmp);
        for (step, value) in selected.iter().enumerate() {
            assert_eq!(*value, quantile_of_sorted(&values, step as f64 / 20.0));
        }
    }
}
