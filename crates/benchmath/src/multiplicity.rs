//! Many comparisons at once: p-values adjusted so that the usual thresholds keep their meaning.
//!
//! The order of the p-values is kept, and an adjusted value is compared with the level as a plain one would be.
//! NaN stays NaN and still counts as a comparison made.

/// Holm's step-down adjustment (1979): the chance of even one false claim stays below the level.
///
/// ```
/// use benchmath::multiplicity::holm;
/// assert_eq!(holm(&[0.01, 0.04]), [0.02, 0.04]);
/// ```
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut adjusted = p_values.to_vec();
    let mut largest: f64 = 0.0;
    for (rank, place) in ascending(p_values).into_iter().enumerate() {
        let scaled = p_values[place] * (p_values.len() - rank) as f64;
        largest = largest.max(scaled.min(1.0));
        adjusted[place] = largest;
    }
    adjusted
}

/// Benjamini and Hochberg's step-up adjustment (1995): the expected share of false claims among the claims stays
/// below the level, for comparisons that are independent or rise together.
///
/// ```
/// use benchmath::multiplicity::benjamini_hochberg;
/// assert_eq!(benjamini_hochberg(&[0.01, 0.04]), [0.02, 0.04]);
/// assert_eq!(benjamini_hochberg(&[0.04, 0.04]), [0.04, 0.04]);
/// ```
#[must_use]
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let mut adjusted = p_values.to_vec();
    let mut smallest: f64 = 1.0;
    for (rank, place) in ascending(p_values).into_iter().enumerate().rev() {
        let scaled = p_values[place] * (p_values.len() as f64 / (rank + 1) as f64);
        smallest = smallest.min(scaled);
        adjusted[place] = smallest;
    }
    adjusted
}

/// Bonferroni's adjustment: every p-value times the number of comparisons. Weaker than [`holm`], but the only
/// one that agrees with intervals at `alpha / m`.
///
/// ```
/// use benchmath::multiplicity::bonferroni;
/// assert_eq!(bonferroni(&[0.25, 0.75]), [0.5, 1.0]);
/// ```
#[must_use]
pub fn bonferroni(p_values: &[f64]) -> Vec<f64> {
    let count = p_values.len() as f64;
    let adjust = |&p: &f64| if p.is_nan() { p } else { (p * count).min(1.0) };
    p_values.iter().map(adjust).collect()
}

/// The places of all numbers in ascending order of their values.
fn ascending(p_values: &[f64]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..p_values.len()).filter(|&place| !p_values[place].is_nan()).collect();
    places.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_stays_and_counts() {
        assert!(holm(&[f64::NAN, 0.1])[0].is_nan());
        assert_eq!(holm(&[f64::NAN, 0.1])[1], 0.2);
        assert!(benjamini_hochberg(&[0.1, f64::NAN])[1].is_nan());
        assert!(bonferroni(&[f64::NAN])[0].is_nan());
        assert!(holm(&[]).is_empty() && benjamini_hochberg(&[]).is_empty());
    }
}
