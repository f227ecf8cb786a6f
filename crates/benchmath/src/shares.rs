//! How large a part of a whole difference one contribution is, with an interval.

use crate::groups::average_in_groups;
use crate::signed_rank::{Shift, critical_k, shift};

/// All pairs are formed here, so longer series are averaged in groups first.
const MOST_UNITS: usize = 1000;

/// The share that `contributions` have in `totals` (one of each per block), with its interval at two-sided
/// `alpha`. 0.6 means 60 %.
///
/// The Walsh averages of [`shift`] become ratios `(c_i + c_j) / (t_i + t_j)`, i <= j: their median is the
/// share, and the same order statistics are the ends. Simulated coverage is near the nominal one, and under
/// heavy tails the interval is several times narrower than Fieller's. More than 1000 blocks are averaged in
/// groups. A pair whose totals cancel counts as infinite.
///
/// `None` when the lengths differ, there is no block, a value is not finite, or the interval of the totals does
/// not exclude 0: of a whole that may be nothing there are no shares. Where a contribution has the other sign
/// than the total, shares are true but mislead; give factors instead.
///
/// ```
/// use benchmath::shares::share;
/// let totals = [0.50, 0.52, 0.49, 0.51, 0.50, 0.53, 0.50, 0.48];
/// let contributions = [0.30, 0.31, 0.30, 0.31, 0.29, 0.32, 0.30, 0.29];
/// let share = share(&contributions, &totals, 0.05).unwrap();
/// assert!((share.estimate - 0.6).abs() < 0.01 && share.low > 0.55 && share.high < 0.65);
/// ```
#[must_use]
pub fn share(contributions: &[f64], totals: &[f64], alpha: f64) -> Option<Shift> {
    if contributions.len() != totals.len() || contributions.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let whole = shift(totals, alpha)?;
    if whole.low <= 0.0 && whole.high >= 0.0 {
        return None;
    }
    let contributions = average_in_groups(contributions, MOST_UNITS);
    let totals = average_in_groups(totals, MOST_UNITS);
    let mut ratios = pair_ratios(&contributions, &totals);
    ratios.sort_unstable_by(f64::total_cmp);
    let estimate = crate::quantiles::quantile_of_sorted(&ratios, 0.5);
    let (low, high) = critical_k(totals.len(), alpha)
        .map_or((f64::NEG_INFINITY, f64::INFINITY), |k| (ratios[k], ratios[ratios.len() - 1 - k]));
    Some(Shift { estimate, low, high })
}

fn pair_ratios(contributions: &[f64], totals: &[f64]) -> Vec<f64> {
    let count = totals.len();
    let mut ratios = Vec::with_capacity(count * (count + 1) / 2);
    for i in 0..count {
        for j in i..count {
            let ratio = (contributions[i] + contributions[j]) / (totals[i] + totals[j]);
            ratios.push(if ratio.is_nan() { f64::INFINITY } else { ratio });
        }
    }
    ratios
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_shares_of_nothing() {
        assert_eq!(share(&[], &[], 0.05), None);
        assert_eq!(share(&[1.0; 8], &[1.0; 7], 0.05), None);
        assert_eq!(share(&[f64::NAN; 8], &[1.0; 8], 0.05), None);
        assert_eq!(share(&[0.1; 8], &[-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0], 0.05), None);
        assert_eq!(share(&[0.1; 3], &[1.0; 3], 0.05), None); // three blocks exclude nothing
    }

    #[test]
    fn a_constant_share_is_found_exactly_and_in_long_series() {
        let totals: Vec<f64> = (0..2500).map(|i| 1.0 + f64::from(i % 7)).collect();
        let contributions: Vec<f64> = totals.iter().map(|total| total / 4.0).collect();
        let share = share(&contributions, &totals, 0.05).unwrap();
        assert_eq!((share.low, share.estimate, share.high), (0.25, 0.25, 0.25));
    }
}
