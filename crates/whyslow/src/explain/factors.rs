//! Factors that the user varies already: the gap between two corners of a matrix, shared out between the factors in which
//! the corners differ.

use benchmath::contrasts::{contrasts, shapley_weights, total_weights, what_if_weights};
use benchmath::shares::share;
use benchmath::signed_rank::shift;
use serde::Serialize;

use super::carriers::{Carrier, carriers};
use super::case::{Case, Gap};
use super::diagnosis::{ALPHA, LEAST_SHARE, looks_at};
use super::shares::{Share, as_ratio, as_share};
use crate::analysis::{Estimate, Samples};
use crate::model::{Recording, Variant};

/// What one factor does between the corners.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactorShare {
    pub factor: String,
    /// Names of its levels on the fast and the slow corner.
    pub fast: String,
    pub slow: String,
    /// Its fair part of the gap (Shapley value).
    pub share: Share,
    /// What putting it back alone removes from the slow corner.
    pub removed: Share,
    /// What it alone opens on the fast corner.
    pub added: Share,
    /// How many times as long its slow level takes, with the other factors as in the fast corner, and as in the slow one.
    pub beside_fast: Estimate,
    pub beside_slow: Estimate,
    /// What its slow level has more of, with the other factors as in the slow corner.
    pub counts: Vec<Carrier>,
}

/// Of more, the combinations are too many to be measured.
const MOST_FACTORS: usize = 6;
/// Parts of the gap that are so close are the same to whoever has to choose.
const LEAST_APART: f64 = 0.1;

impl FactorShare {
    /// It does another thing beside the other factors than alone.
    pub fn interacts(&self) -> bool {
        let apart = |one: &Share, other: &Share| {
            one.low.zip(other.high).is_some_and(|(low, high)| low > high)
                || one.high.zip(other.low).is_some_and(|(high, low)| high < low)
        };
        let is_much = (self.removed.point - self.added.point).abs() > LEAST_APART;
        is_much && apart(&self.removed, &self.added)
    }
}

/// One share for each factor in which the corners differ, if they differ in more than one and every combination of those
/// was measured. The largest first.
pub fn factor_shares(
    recording: &Recording,
    variants: &[Variant],
    (fast, slow): (usize, usize),
    gap: Gap,
) -> Vec<FactorShare> {
    let (one, other) = (&variants[fast], &variants[slow]);
    let Some((differing, cells)) = matrix(variants, one, other) else { return Vec::new() };
    let blocks = log_blocks(recording, variants.len(), &cells, gap.metric);
    let mut shares: Vec<FactorShare> = (0..differing.len())
        .filter_map(|place| {
            let known = &recording.header.experiment.factors[differing[place]];
            let name = |variant: &Variant| known.levels[variant.levels[differing[place]]].name.clone();
            let part = |weights: &[f64]| part(&blocks, weights, differing.len());
            Some(FactorShare {
                factor: known.name.clone(),
                fast: name(one),
                slow: name(other),
                share: part(&shapley_weights(differing.len(), place))?,
                removed: part(&what_if_weights(differing.len(), place))?,
                added: part(&alone(differing.len(), place))?,
                beside_fast: times(&blocks, &alone(differing.len(), place))?,
                beside_slow: times(&blocks, &what_if_weights(differing.len(), place))?,
                counts: counts(recording, variants, (without(&cells, place), slow), gap),
            })
        })
        .collect();
    shares.sort_by(|one, other| other.share.point.total_cmp(&one.share.point));
    shares
}

/// The slow corner with each of the factors as in the fast one, which tells them apart; none where there is no such matrix.
pub fn neighbours(variants: &[Variant], (fast, slow): (usize, usize)) -> Vec<usize> {
    let Some((differing, cells)) = matrix(variants, &variants[fast], &variants[slow]) else {
        return Vec::new();
    };
    (0..differing.len()).map(|place| without(&cells, place)).collect()
}

/// The slow corner with one factor as in the fast one.
fn without(cells: &[usize], place: usize) -> usize {
    cells[(cells.len() - 1) ^ (1 << place)]
}

fn counts(
    recording: &Recording,
    variants: &[Variant],
    (fast, slow): (usize, usize),
    gap: Gap,
) -> Vec<Carrier> {
    let looks = |variant| looks_at(recording, None, variant);
    let case = Case::new(recording, variants, (fast, looks(fast)), (slow, looks(slow)));
    let mut counts = carriers(&case);
    // A malloc within the program is not counted, and only a look at it tells that there is one.
    let are_known = case.fast.loading().is_some() && case.slow.loading().is_some();
    counts.retain(|carrier| carrier.unit != "s" && (are_known || carrier.kind != "memory"));
    counts.retain(|carrier| carrier.seconds >= LEAST_SHARE * gap.seconds);
    counts.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    counts
}

fn part(blocks: &[Vec<f64>], weights: &[f64], factors: usize) -> Option<Share> {
    share(&contrasts(blocks, weights), &contrasts(blocks, &total_weights(factors)), ALPHA).map(as_share)
}

fn times(blocks: &[Vec<f64>], weights: &[f64]) -> Option<Estimate> {
    shift(&contrasts(blocks, weights), ALPHA).map(|logarithm| as_ratio(logarithm, ALPHA))
}

/// From the fast corner to the fast corner with this factor as in the slow one.
fn alone(factors: usize, factor: usize) -> Vec<f64> {
    let mut weights = vec![0.0; 1 << factors];
    (weights[0], weights[1 << factor]) = (-1.0, 1.0);
    weights
}

/// The factors in which the corners differ, if there are several, and the variants at all combinations of their levels.
fn matrix(variants: &[Variant], fast: &Variant, slow: &Variant) -> Option<(Vec<usize>, Vec<usize>)> {
    let differs = |&factor: &usize| fast.levels[factor] != slow.levels[factor];
    let differing: Vec<usize> = (0..fast.levels.len()).filter(differs).collect();
    let cells =
        (2..=MOST_FACTORS).contains(&differing.len()).then(|| cells(variants, fast, slow, &differing))??;
    Some((differing, cells))
}

/// The variants at all combinations: bit `f` says whether the `f`th differing factor is as in the slow corner.
fn cells(variants: &[Variant], fast: &Variant, slow: &Variant, differing: &[usize]) -> Option<Vec<usize>> {
    (0..1_usize << differing.len())
        .map(|cell| {
            let mut levels = fast.levels.clone();
            for (bit, &factor) in differing.iter().enumerate() {
                if cell & (1 << bit) != 0 {
                    levels[factor] = slow.levels[factor];
                }
            }
            variants.iter().position(|variant| variant.levels == levels)
        })
        .collect()
}

/// Logarithms of the values in the blocks in which all cells have one.
fn log_blocks(recording: &Recording, variants: usize, cells: &[usize], metric: &str) -> Vec<Vec<f64>> {
    let samples = Samples::collect(recording, variants);
    let columns: Vec<Vec<Option<f64>>> = cells.iter().map(|&cell| samples.by_block(cell, metric)).collect();
    let count = columns.iter().map(Vec::len).min().unwrap_or(0);
    (0..count)
        .filter_map(|block| {
            columns.iter().map(|column| column[block].filter(|value| *value > 0.0).map(f64::ln)).collect()
        })
        .collect()
}
