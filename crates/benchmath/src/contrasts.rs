//! Which factor accounts for how much: contrasts over all combinations of the factors.
//!
//! With `k` factors, each either as in "from" or as in "to", a block holds `2^k` log times, one per cell. Bit
//! `f` of the number of a cell says whether factor `f` is as in "to": cell 0 is "from", the last cell is "to".
//! A contrast is a weighted sum of the cells of one block, and the contrasts of many blocks go through
//! [`shift`](crate::signed_rank::shift) like any difference. A contrast that is `c` means a factor of `exp(c)`.
//!
//! Two questions about one factor have two different answers, and both are right: what putting it back alone
//! would change ([`what_if_weights`]), and its fair part of the whole ([`shapley_weights`]).

/// More cells than that are no experiment; the functions here answer with no weights at all beyond.
const MOST_FACTORS: usize = 16;

/// The weighted sum of the cells of one block; NaN when there are not as many weights as cells.
///
/// ```
/// use benchmath::contrasts::{contrast, total_weights};
/// assert_eq!(contrast(&[1.0, 1.5, 1.25, 2.0], &total_weights(2)), 1.0);
/// ```
#[must_use]
pub fn contrast(block: &[f64], weights: &[f64]) -> f64 {
    if block.len() != weights.len() || block.is_empty() {
        return f64::NAN;
    }
    // Cells of weight 0 play no part, even where one could not be measured.
    let parts = block.iter().zip(weights).filter(|&(_, &weight)| weight != 0.0);
    parts.map(|(value, weight)| value * weight).sum()
}

/// [`contrast`] of every block.
///
/// ```
/// use benchmath::contrasts::{contrasts, total_weights};
/// assert_eq!(contrasts(&[[1.0, 3.0], [2.0, 5.0]], &total_weights(1)), [2.0, 3.0]);
/// ```
#[must_use]
pub fn contrasts(blocks: &[impl AsRef<[f64]>], weights: &[f64]) -> Vec<f64> {
    blocks.iter().map(|block| contrast(block.as_ref(), weights)).collect()
}

/// The whole difference: "to" minus "from". Empty for more than 16 factors, like all weights here.
///
/// ```
/// assert_eq!(benchmath::contrasts::total_weights(2), [-1.0, 0.0, 0.0, 1.0]);
/// ```
#[must_use]
pub fn total_weights(factors: usize) -> Vec<f64> {
    let mut weights = no_weights(factors);
    if let [first, .., last] = &mut weights[..] {
        (*first, *last) = (-1.0, 1.0);
    }
    weights
}

/// What one factor does at the end: "to" minus "to with this factor put back". Empty when there is no such factor.
///
/// ```
/// assert_eq!(benchmath::contrasts::what_if_weights(2, 0), [0.0, 0.0, -1.0, 1.0]);
/// ```
#[must_use]
pub fn what_if_weights(factors: usize, factor: usize) -> Vec<f64> {
    let mut weights = no_weights_for(factors, factor);
    if let Some(last) = weights.len().checked_sub(1) {
        weights[last] = 1.0;
        weights[last & !(1 << factor)] = -1.0;
    }
    weights
}

/// One factor's fair part: its effect averaged over all orders of switching the factors one by one (Shapley
/// 1953). The parts of all factors add up to the whole. Empty when there is no such factor.
///
/// ```
/// assert_eq!(benchmath::contrasts::shapley_weights(2, 1), [-0.5, -0.5, 0.5, 0.5]);
/// ```
#[must_use]
pub fn shapley_weights(factors: usize, factor: usize) -> Vec<f64> {
    let mut weights = no_weights_for(factors, factor);
    for cell in without(factor, weights.len()) {
        // The share of the orders in which just the factors of this cell come before.
        let before = cell.count_ones() as usize;
        let share = 1.0 / (factors as f64 * choose(factors - 1, before));
        weights[cell | 1 << factor] = share;
        weights[cell] = -share;
    }
    weights
}

/// How much more two factors do together than one by one, averaged over the settings of all others. Empty when
/// there are no two such factors.
///
/// ```
/// assert_eq!(benchmath::contrasts::interaction_weights(2, 0, 1), [1.0, -1.0, -1.0, 1.0]);
/// ```
#[must_use]
pub fn interaction_weights(factors: usize, first: usize, second: usize) -> Vec<f64> {
    if first == second || second >= factors {
        return Vec::new();
    }
    let mut weights = no_weights_for(factors, first);
    let size = 4.0 / weights.len().max(4) as f64;
    for (cell, weight) in weights.iter_mut().enumerate() {
        let agree = (cell >> first & 1) == (cell >> second & 1);
        *weight = if agree { size } else { -size };
    }
    weights
}

/// When cells are missing: the weights of every single step of one factor that lies on a path from "from" to
/// "to" through the cells `present`. The range of their contrasts is all that can be said about its part.
///
/// Empty when there is no such step or `present` does not have `2^factors` entries.
///
/// ```
/// use benchmath::contrasts::steps_on_paths;
/// // Without the cell 1 only the path 0, 2, 3 is left.
/// assert_eq!(steps_on_paths(2, 0, &[true, false, true, true]), [[0.0, 0.0, -1.0, 1.0]]);
/// assert_eq!(steps_on_paths(2, 1, &[true, false, true, true]), [[-1.0, 0.0, 1.0, 0.0]]);
/// ```
#[must_use]
pub fn steps_on_paths(factors: usize, factor: usize, present: &[bool]) -> Vec<Vec<f64>> {
    let none = no_weights_for(factors, factor);
    if none.is_empty() || present.len() != none.len() {
        return Vec::new();
    }
    let reached = reached(present, factors, |cell| cell);
    let leads_on = reached_from_the_end(present, factors);
    let step = |cell: usize| {
        let mut weights = none.clone();
        (weights[cell], weights[cell | 1 << factor]) = (-1.0, 1.0);
        weights
    };
    let on_path = |&cell: &usize| reached[cell] && leads_on[cell | 1 << factor];
    without(factor, none.len()).filter(on_path).map(step).collect()
}

/// The logarithmic mean, which turns a log contrast into units: `ln(a / b) * log_mean(a, b) = a - b`.
///
/// A part `c` of the log difference between `a` and `b` seconds is `c * log_mean(a, b)` seconds, and the parts
/// add up (the LMDI decomposition of Ang). NaN unless both are positive and finite.
///
/// ```
/// use benchmath::contrasts::log_mean;
/// assert!((2.0_f64.ln() * log_mean(6.0, 3.0) - 3.0).abs() < 1e-15);
/// assert_eq!(log_mean(5.0, 5.0), 5.0);
/// ```
#[must_use]
pub fn log_mean(a: f64, b: f64) -> f64 {
    let usable = |value: f64| value > 0.0 && value.is_finite();
    if !usable(a) || !usable(b) {
        return f64::NAN;
    }
    let ratio = (a - b) / b;
    if ratio.abs() < 1e-8 { b + (a - b) / 2.0 } else { b * (ratio / ratio.ln_1p()) }
}

fn no_weights(factors: usize) -> Vec<f64> {
    if factors > MOST_FACTORS { Vec::new() } else { vec![0.0; 1 << factors] }
}

fn no_weights_for(factors: usize, factor: usize) -> Vec<f64> {
    if factor < factors { no_weights(factors) } else { Vec::new() }
}

/// All cells in which the factor is as in "from".
fn without(factor: usize, cells: usize) -> impl Iterator<Item = usize> {
    (0..cells).filter(move |cell| cell >> factor & 1 == 0)
}

fn choose(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product::<f64>().round()
}

/// Which cells can be reached from cell 0 by switching one factor at a time through present cells. Cells are
/// looked up through `name`, and a cell's predecessors always have smaller numbers.
fn reached(present: &[bool], factors: usize, name: impl Fn(usize) -> usize) -> Vec<bool> {
    let mut reached = vec![false; present.len()];
    for cell in 0..present.len() {
        let came = |factor: usize| cell >> factor & 1 == 1 && reached[cell & !(1 << factor)];
        reached[cell] = present[name(cell)] && (cell == 0 || (0..factors).any(came));
    }
    reached
}

/// Which cells lead to the last one: the same walk with every factor turned round.
fn reached_from_the_end(present: &[bool], factors: usize) -> Vec<bool> {
    let last = present.len() - 1;
    let mut turned = reached(present, factors, |cell| last - cell);
    turned.reverse();
    turned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapley_parts_add_up_to_the_total() {
        for factors in 1..6 {
            let parts = (0..factors).map(|factor| shapley_weights(factors, factor));
            let mut sum = no_weights(factors);
            for part in parts {
                sum.iter_mut().zip(part).for_each(|(sum, weight)| *sum += weight);
            }
            for (got, want) in sum.iter().zip(total_weights(factors)) {
                assert!((got - want).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn an_interaction_ignores_additive_effects() {
        let additive: Vec<f64> =
            (0..8).map(|cell: u32| f64::from(cell & 1) + 3.0 * f64::from(cell >> 1)).collect();
        assert!(contrast(&additive, &interaction_weights(3, 0, 2)).abs() < 1e-12);
    }

    #[test]
    fn all_steps_when_nothing_is_missing() {
        assert_eq!(steps_on_paths(3, 1, &[true; 8]).len(), 4);
        assert!(steps_on_paths(3, 1, &[false; 8]).is_empty());
        assert!(steps_on_paths(3, 1, &[true; 4]).is_empty());
    }

    #[test]
    fn nonsense_has_no_weights() {
        assert!(total_weights(99).is_empty() && what_if_weights(2, 2).is_empty());
        assert!(shapley_weights(0, 0).is_empty() && interaction_weights(3, 1, 1).is_empty());
        assert_eq!(total_weights(0), [0.0]);
        assert!(contrast(&[1.0], &[]).is_nan() && contrast(&[], &[]).is_nan());
        assert!(log_mean(0.0, 1.0).is_nan());
    }
}
