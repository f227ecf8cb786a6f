//! Factors that the user varies already: the gap between two corners of a matrix, shared out between the factors in which
//! the corners differ.

use benchmath::contrasts::{contrasts, shapley_weights, total_weights, what_if_weights};
use benchmath::shares::share;
use benchmath::signed_rank::shift;
use serde::Serialize;

use super::diagnosis::ALPHA;
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
}

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
    metric: &str,
) -> Vec<FactorShare> {
    let (one, other) = (&variants[fast], &variants[slow]);
    let differing: Vec<usize> =
        (0..one.levels.len()).filter(|&factor| one.levels[factor] != other.levels[factor]).collect();
    if differing.len() < 2 || differing.len() > 6 {
        return Vec::new();
    }
    let Some(cells) = cells(variants, one, other, &differing) else { return Vec::new() };
    let blocks = log_blocks(recording, variants.len(), &cells, metric);
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
            })
        })
        .collect();
    shares.sort_by(|one, other| other.share.point.total_cmp(&one.share.point));
    shares
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
