//! How time grows with size: the exponent of a power law, with the cost of doing nothing taken off first.
//!
//! Every block holds one time per size, in random order, and one of size 0. What size 0 costs (start-up) is the
//! floor; without subtracting it, quadratic growth looks like an exponent of 1.5. A power law is all that is
//! fitted: `n ln n` shows as 1.05 to 1.25, and [`Growth::local`] shows where the regime changes.

use crate::line_fit;
use crate::quantiles::median;
use crate::signed_rank::{Shift, shift};

/// Sizes whose time above the floor is a smaller part of the floor than this are mostly start-up noise.
const LEAST_ABOVE_FLOOR: f64 = 0.2;

/// The growth of one variant.
///
/// ```
/// let times = [[1.0, 8.0, 64.0]; 6]; // sizes double, times grow eightfold
/// let growth = benchmath::growth::growth(&[1.0, 2.0, 4.0], &times, &[], 0.05).unwrap();
/// assert!((growth.local[0] - 3.0).abs() < 1e-12 && growth.per_block.len() == 6);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// The exponent: 1 is linear, 2 quadratic. No unit.
    pub exponent: Shift,
    /// The slopes between neighbouring used sizes, from the medians over all blocks.
    pub local: Vec<f64>,
    /// What was subtracted: the median time of size 0, in the unit of the times; 0 if there was none.
    pub floor: f64,
    /// For every size, whether it rose far enough above the floor to be used.
    pub used: Vec<bool>,
    /// The exponent of each block; NaN where noise put a used size at or below the floor. Those blocks have no
    /// part in `exponent`.
    pub per_block: Vec<f64>,
}

/// Fit the growth: `blocks[b][i]` is the time at `sizes[i]`, `floors` the times at size 0 (may be empty), `alpha`
/// the two-sided level of the interval.
///
/// Sizes at which the median time above the floor is less than 20 % of the floor are not used. Each block gives
/// the least-squares slope of `ln(time - floor)` on `ln size`, and these go through [`shift`].
///
/// `None` when fewer than two sizes can be used, a block has not one time per size, a number is not finite, a
/// size is not positive, sizes do not ascend, or no block can be fitted.
///
/// ```
/// use benchmath::growth::growth;
/// let sizes = [100.0, 200.0, 400.0, 800.0];
/// let blocks: Vec<[f64; 4]> = (0..6).map(|_| sizes.map(|n: f64| 5.0 + 1e-3 * n * n)).collect();
/// let growth = growth(&sizes, &blocks, &[5.0, 5.0, 5.0], 0.05).unwrap();
/// assert!((growth.exponent.estimate - 2.0).abs() < 1e-12);
/// assert_eq!(growth.used, [true, true, true, true]);
/// ```
#[must_use]
pub fn growth(sizes: &[f64], blocks: &[impl AsRef<[f64]>], floors: &[f64], alpha: f64) -> Option<Growth> {
    let floor = if floors.is_empty() { 0.0 } else { median(floors)? };
    let medians = medians_by_size(sizes, blocks)?;
    let used: Vec<bool> = medians.iter().map(|time| rises_above(*time, floor)).collect();
    let ln_sizes = kept(&used, sizes, f64::ln);
    let local = slopes(&ln_sizes, &kept(&used, &medians, |time| (time - floor).ln()));
    let exponent_of = |block: &[f64]| {
        let ln_times = kept(&used, block, |time| (time - floor).ln());
        line_fit::fit(&ln_sizes, &ln_times).map_or(f64::NAN, |line| line.slope)
    };
    let per_block: Vec<f64> = blocks.iter().map(|block| exponent_of(block.as_ref())).collect();
    let exponent = shift(&fitted(per_block.iter().copied()), alpha)?;
    Some(Growth { exponent, local, floor, used, per_block })
}

/// The difference of two exponents measured in the same blocks, `second - first`, at the two-sided level `alpha`.
///
/// "The same exponent" is a verdict within a margin, 0.1 for instance. `None` when no block was fitted for both.
///
/// ```
/// use benchmath::growth::{exponent_difference, growth};
/// let sizes = [1.0, 2.0, 4.0];
/// let linear = growth(&sizes, &[sizes; 6], &[], 0.05).unwrap();
/// let square = growth(&sizes, &[[1.0, 4.0, 16.0]; 6], &[], 0.05).unwrap();
/// assert!((exponent_difference(&linear, &square, 0.05).unwrap().estimate - 1.0).abs() < 1e-12);
/// ```
#[must_use]
pub fn exponent_difference(first: &Growth, second: &Growth, alpha: f64) -> Option<Shift> {
    let pairs = first.per_block.iter().zip(&second.per_block);
    shift(&fitted(pairs.map(|(first, second)| second - first)), alpha)
}

fn medians_by_size(sizes: &[f64], blocks: &[impl AsRef<[f64]>]) -> Option<Vec<f64>> {
    let ascend = sizes.windows(2).all(|pair| pair[0] < pair[1]);
    let usable = |block: &[f64]| block.len() == sizes.len() && block.iter().all(|time| time.is_finite());
    let positive = sizes.iter().all(|&size| size > 0.0 && size.is_finite());
    if !ascend || !positive || !blocks.iter().all(|block| usable(block.as_ref())) {
        return None;
    }
    let column = |place: usize| blocks.iter().map(|block| block.as_ref()[place]).collect::<Vec<f64>>();
    (0..sizes.len()).map(|place| median(&column(place))).collect()
}

fn rises_above(time: f64, floor: f64) -> bool {
    time > floor && time - floor >= LEAST_ABOVE_FLOOR * floor
}

fn kept(used: &[bool], values: &[f64], transform: impl Fn(f64) -> f64) -> Vec<f64> {
    used.iter().zip(values).filter(|&(&used, _)| used).map(|(_, &value)| transform(value)).collect()
}

fn slopes(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.windows(2).zip(y.windows(2)).map(|(x, y)| (y[1] - y[0]) / (x[1] - x[0])).collect()
}

fn fitted(exponents: impl Iterator<Item = f64>) -> Vec<f64> {
    exponents.filter(|exponent| exponent.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_hidden_in_the_floor_are_left_out() {
        let growth = growth(&[1.0, 10.0, 100.0], &[[10.5, 15.0, 60.0]; 6], &[10.0], 0.05).unwrap();
        assert_eq!(growth.used, [false, true, true]);
        assert!((growth.exponent.estimate - 1.0).abs() < 1e-12);
        assert_eq!(growth.local.len(), 1);
    }

    #[test]
    fn a_block_below_the_floor_is_marked_and_left_out() {
        let mut blocks = vec![[12.0, 14.0]; 8];
        blocks[3] = [9.0, 14.0];
        let growth = growth(&[1.0, 2.0], &blocks, &[10.0], 0.05).unwrap();
        assert!(growth.per_block[3].is_nan());
        assert!((growth.exponent.high - 1.0).abs() < 1e-12);
    }

    #[test]
    fn nonsense_gives_none() {
        let none: [[f64; 2]; 0] = [];
        assert_eq!(growth(&[1.0, 2.0], &none, &[], 0.05), None);
        assert_eq!(growth(&[2.0, 1.0], &[[1.0, 2.0]], &[], 0.05), None);
        assert_eq!(growth(&[1.0, 2.0], &[[1.0, f64::NAN]], &[], 0.05), None);
        assert_eq!(growth(&[1.0, 2.0], &[[1.0, 1.1]], &[1.0], 0.05), None);
        assert_eq!(growth(&[], &[[0.0; 0]], &[], 0.05), None);
    }
}
