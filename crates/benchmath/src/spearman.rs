//! Rank correlation: does one quantity rise with another, in whatever shape?

use crate::distributions::student;

/// A correlation and how surprising it would be without one.
///
/// ```
/// let drift = benchmath::spearman(&[1.0, 2.0, 3.0, 4.0], &[9.0, 9.5, 9.7, 9.9]).unwrap();
/// assert!(drift.rho == 1.0 && drift.p < 0.001);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    /// The coefficient, -1 to 1.
    pub rho: f64,
    /// The two-sided p-value of "no correlation", by the t approximation with `n - 2` degrees of freedom.
    pub p: f64,
}

/// Spearman's rank correlation of the pairs `(x[i], y[i])` (Spearman 1904), with ties at their mean rank.
///
/// `None` when the lengths differ, there are fewer than three pairs, a value is NaN, or one side is constant.
///
/// ```
/// use benchmath::spearman;
/// let found = spearman(&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.0, 4.0, 9.0, 25.0, 16.0]).unwrap();
/// assert!((found.rho - 0.9).abs() < 1e-12);
/// assert!((found.p - 0.0373860734).abs() < 1e-9);
/// ```
#[must_use]
pub fn spearman(x: &[f64], y: &[f64]) -> Option<Correlation> {
    let has_nan = x.iter().chain(y).any(|value| value.is_nan());
    if x.len() != y.len() || x.len() < 3 || has_nan {
        return None;
    }
    let rho = correlation(&midranks(x), &midranks(y))?;
    let freedom = (x.len() - 2) as f64;
    let t = rho * (freedom / ((1.0 - rho) * (1.0 + rho))).sqrt();
    Some(Correlation { rho, p: student::two_sided(t, freedom) })
}

/// The rank of every value from 1 up, where equal values share the mean of their ranks.
///
/// NaN ranks beyond infinity.
///
/// ```
/// use benchmath::spearman::midranks;
/// assert_eq!(midranks(&[20.0, 10.0, 20.0]), [2.5, 1.0, 2.5]);
/// ```
#[must_use]
pub fn midranks(values: &[f64]) -> Vec<f64> {
    // With the values themselves, since looking them up for every comparison takes longer than the sorting.
    let mut order: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for tie in order.chunk_by(|a, b| a.0 == b.0) {
        let shared = before as f64 + (tie.len() as f64 + 1.0) / 2.0;
        tie.iter().for_each(|&(_, place)| ranks[place] = shared);
        before += tie.len();
    }
    ranks
}

/// Pearson's coefficient of two equally long lists.
fn correlation(x: &[f64], y: &[f64]) -> Option<f64> {
    let center = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (center_x, center_y) = (center(x), center(y));
    let (mut product, mut square_x, mut square_y) = (0.0, 0.0, 0.0);
    for (a, b) in x.iter().zip(y) {
        let (a, b) = (a - center_x, b - center_y);
        product += a * b;
        square_x += a * a;
        square_y += b * b;
    }
    let scale = (square_x * square_y).sqrt();
    (scale > 0.0).then(|| (product / scale).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perfect_and_impossible_correlations() {
        let up = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(spearman(&up, &[1.0, 8.0, 27.0, 64.0]), Some(Correlation { rho: 1.0, p: 0.0 }));
        assert_eq!(spearman(&up, &[4.0, 3.0, 2.0, 1.0]).map(|found| found.rho), Some(-1.0));
        assert_eq!(spearman(&up, &[2.0; 4]), None);
        assert_eq!(spearman(&up, &[1.0, 2.0, f64::NAN, 3.0]), None);
        assert_eq!(spearman(&up[..2], &up[..2]), None);
        assert_eq!(spearman(&up, &up[..3]), None);
    }

    #[test]
    fn zeros_of_both_signs_are_a_tie() {
        assert_eq!(midranks(&[0.0, -0.0, 1.0]), [1.5, 1.5, 3.0]);
    }
}
