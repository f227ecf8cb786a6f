//! Which commit is the first bad one, when every measurement is noisy.
//!
//! Commits are numbered 0, 1, ... in linear order; a known good state comes before commit 0 and the last commit is
//! known to be bad. Exactly one commit is taken to have brought the whole effect. Each measured commit `m` gives
//! differences of log times against the good end, one per block, and the probability that the first bad commit is
//! `c` follows by Bayes' rule with heavy-tailed noise. Nothing here is final: the suspect must be
//! measured against its own parent before it is accused (probabilistic bisection; Waeber, Frazier and
//! Henderson 2013).

use crate::quantiles::{mad, median};

/// How much one block can say for or against (a factor of `e^2`); keeps one freak run from deciding.
const MOST_EVIDENCE: f64 = 2.0;

/// By how many logarithmic units a suspect sinks when its own experiment shows less than half of the effect.
const PENALTY: f64 = 6.0;

/// What was measured of one commit.
///
/// ```
/// let measured = benchmath::bisect::Measured { commit: 3, differences: vec![0.02, 0.03] };
/// assert_eq!(measured.commit, 3);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The number of the commit.
    pub commit: usize,
    /// `ln(time of the commit) - ln(time of the good end)`, one per block.
    pub differences: Vec<f64>,
}

/// The probability of each commit to be the first bad one, given `prior` weights (uniform, or by the size of the
/// change; any positive scale), what was measured, and the `effect` of the bad end on the log scale.
///
/// The noise is Student's t with three degrees of freedom, scaled by [`noise_scale`]; the evidence of each block is
/// limited to a factor of `e^2`. Measurements of commits outside the range count as the bad end. All NaN when no
/// weight is positive; a weight that is not a positive number counts as 0. Values that are not finite say nothing.
///
/// ```
/// use benchmath::bisect::{posterior, Measured};
/// let good = Measured { commit: 1, differences: vec![0.001, -0.002, 0.0, 0.003, -0.001] };
/// let bad = Measured { commit: 2, differences: vec![0.051, 0.048, 0.05, 0.049, 0.052] };
/// let probability = posterior(&[1.0; 4], &[good, bad], 0.05);
/// assert!(probability[2] > 0.99); // 2 is bad and 1 is not
/// ```
#[must_use]
pub fn posterior(prior: &[f64], measured: &[Measured], effect: f64) -> Vec<f64> {
    let scale = noise_scale(measured).unwrap_or(0.0).max(effect.abs() * 1e-6);
    let mut evidence = vec![0.0; prior.len() + 1];
    for Measured { commit, differences } in measured {
        let place = (*commit).min(prior.len());
        evidence[place] += differences.iter().map(|d| evidence_of_bad(*d, effect, scale)).sum::<f64>();
    }
    // Commit m is bad exactly if the first bad one is m or earlier: c profits from all evidence at c and later.
    let mut ln_weights = vec![0.0; prior.len()];
    let mut later = evidence[prior.len()];
    for commit in (0..prior.len()).rev() {
        later += evidence[commit];
        ln_weights[commit] = later + positive(prior[commit]).ln();
    }
    normalized(&ln_weights)
}

/// The typical size of the noise: 1.4826 times the median absolute deviation of all differences from the median of
/// their own commit, on the log scale. `None` when nothing was measured or a value is NaN.
///
/// ```
/// use benchmath::bisect::{noise_scale, Measured};
/// let measured = [Measured { commit: 0, differences: vec![1.0, 2.0, 3.0] }];
/// assert_eq!(noise_scale(&measured), Some(1.4826));
/// ```
#[must_use]
pub fn noise_scale(measured: &[Measured]) -> Option<f64> {
    let mut residuals = Vec::new();
    for Measured { differences, .. } in measured.iter().filter(|measured| !measured.differences.is_empty()) {
        let center = median(differences)?;
        residuals.extend(differences.iter().map(|difference| difference - center));
    }
    mad(&residuals).map(|mad| 1.4826 * mad)
}

/// The commit to measure next: the one whose probability to be bad is nearest to one half. Among equally good ones
/// a commit that is `built` already wins, then the earlier. `built` may be shorter than the probabilities.
///
/// `None` when there are fewer than two commits (the last is known to be bad) or the probabilities are NaN.
///
/// ```
/// use benchmath::bisect::next_commit;
/// assert_eq!(next_commit(&[0.25, 0.25, 0.25, 0.25], &[]), Some(1));
/// assert_eq!(next_commit(&[0.5, 0.0, 0.5], &[false, true]), Some(1));
/// ```
#[must_use]
pub fn next_commit(probabilities: &[f64], built: &[bool]) -> Option<usize> {
    let mut bad = 0.0;
    let mut best: Option<(f64, bool, usize)> = None;
    let undecided = probabilities.len().saturating_sub(1);
    for (commit, probability) in probabilities[..undecided].iter().enumerate() {
        bad += probability;
        let distance = (bad - 0.5).abs();
        let is_built = built.get(commit).copied().unwrap_or(false);
        let wins = best.is_none_or(|(nearest, nearest_built, _)| {
            distance < nearest - 1e-9 || (distance < nearest + 1e-9 && is_built && !nearest_built)
        });
        if wins && !distance.is_nan() {
            best = Some((distance, is_built, commit));
        }
    }
    best.map(|(_, _, commit)| commit)
}

/// The fewest commits that together have at least `confidence` of the probability, the likeliest first.
///
/// ```
/// use benchmath::bisect::credible_set;
/// assert_eq!(credible_set(&[0.1, 0.6, 0.28, 0.02], 0.95), [1, 2, 0]);
/// ```
#[must_use]
pub fn credible_set(probabilities: &[f64], confidence: f64) -> Vec<usize> {
    let mut commits: Vec<usize> = (0..probabilities.len()).filter(|&c| probabilities[c] > 0.0).collect();
    commits.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    let mut total = 0.0;
    let needed = commits.iter().take_while(|&&commit| {
        let is_needed = total < confidence;
        total += probabilities[commit];
        is_needed
    });
    needed.copied().collect()
}

/// Lower the prior weight of a suspect whose own experiment against its parent showed less than half of the effect,
/// by a factor of `e^6`. A commit outside the range changes nothing.
///
/// ```
/// let mut prior = vec![1.0, 1.0];
/// benchmath::bisect::penalize(&mut prior, 1);
/// assert!(prior[1] < 0.003);
/// ```
pub fn penalize(prior: &mut [f64], suspect: usize) {
    if let Some(weight) = prior.get_mut(suspect) {
        *weight *= (-PENALTY).exp();
    }
}

/// The log likelihood ratio of one difference with the effect against without, under t noise with three degrees of
/// freedom (density proportional to `(1 + x^2 / 3)^-2`).
fn evidence_of_bad(difference: f64, effect: f64, scale: f64) -> f64 {
    let surprise = |center: f64| 2.0 * (((difference - center) / scale).powi(2) / 3.0).ln_1p();
    let evidence = surprise(0.0) - surprise(effect);
    if evidence.is_nan() { 0.0 } else { evidence.clamp(-MOST_EVIDENCE, MOST_EVIDENCE) }
}

fn positive(weight: f64) -> f64 {
    if weight > 0.0 && weight.is_finite() { weight } else { 0.0 }
}

/// Probabilities from logarithms of weights, through the largest so that none overflows.
fn normalized(ln_weights: &[f64]) -> Vec<f64> {
    let largest = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = ln_weights.iter().map(|weight| (weight - largest).exp()).sum();
    ln_weights.iter().map(|weight| (weight - largest).exp() / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    /// Search with five blocks a step until one commit has 95 %, as the caller will.
    fn search(commits: usize, first_bad: usize, effect: f64, noise: f64, seed: u64) -> (usize, usize) {
        let mut random = SplitMix64::new(seed);
        let prior = vec![1.0; commits];
        let mut measured = Vec::new();
        for step in 0..200 {
            let probabilities = posterior(&prior, &measured, effect);
            let likeliest =
                (0..commits).max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b])).unwrap();
            if probabilities[likeliest] >= 0.95 {
                return (likeliest, step);
            }
            let commit = next_commit(&probabilities, &[]).unwrap();
            let level = if commit >= first_bad { effect } else { 0.0 };
            let spike = |random: &mut SplitMix64| if random.below(20) == 0 { 0.2 } else { 0.0 };
            let differences = (0..5).map(|_| level + noise * random.normal() + spike(&mut random)).collect();
            measured.push(Measured { commit, differences });
        }
        (commits, 200)
    }

    #[test]
    fn finds_the_planted_commit_in_few_steps() {
        let mut right = 0;
        for seed in 0..50 {
            let first_bad = SplitMix64::new(seed + 1000).below(64) as usize;
            let (found, steps) = search(64, first_bad, 0.05, 0.02, seed);
            right += usize::from(found == first_bad);
            assert!(steps < 60, "{steps} steps");
        }
        assert!(right >= 46, "{right} of 50");
    }

    #[test]
    fn noise_free_measurements_are_no_special_case() {
        assert_eq!(search(16, 5, 0.1, 0.0, 1).0, 5);
    }

    #[test]
    fn nonsense_says_nothing() {
        assert!(posterior(&[], &[], 0.05).is_empty());
        assert!(posterior(&[0.0, f64::NAN], &[], 0.05)[0].is_nan());
        let odd = Measured { commit: 99, differences: vec![f64::NAN, 1.0, f64::INFINITY] };
        assert!(posterior(&[1.0, 1.0], &[odd], 0.0).iter().all(|&p| p == 0.5));
        assert_eq!(next_commit(&[1.0], &[]), None);
        assert_eq!(next_commit(&[f64::NAN, f64::NAN], &[]), None);
        assert!(credible_set(&[f64::NAN], 0.95).is_empty());
        penalize(&mut [], 3);
    }

    #[test]
    fn a_penalized_suspect_gives_way() {
        let mut prior = vec![1.0; 3];
        penalize(&mut prior, 1);
        let probabilities = posterior(&prior, &[], 0.05);
        assert!(probabilities[1] < 0.01 && (probabilities[0] - probabilities[2]).abs() < 1e-12);
    }
}
