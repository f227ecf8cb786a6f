//! Where the level of a history of results changes.
//!
//! For logarithms of results from many occasions, each best taken relative to a fixed calibrator that was measured
//! on the same occasion. Only ranks are compared, so a spike is one odd rank and not a step. What is found are
//! candidates: occasions resemble their neighbours, which no method here can tell from a change, so a candidate
//! becomes a regression only by an interleaved experiment on the two commits.

use crate::quantiles::median;
use crate::spearman::midranks;

/// The fewest values on either side of a change.
const LEAST_SEGMENT: usize = 4;

/// By number of values: what the largest standardised rank sum exceeds in at most 0.2 % of random orders.
/// Simulated with 60 000 to 1 000 000 shuffles of `SplitMix64` each and rounded up. Fewer than 14 values have too
/// few orders for that level.
const CRITICAL: [(f64, f64); 16] = [
    (14.0, 3.003),
    (15.0, 3.065),
    (16.0, 3.123),
    (17.0, 3.176),
    (18.0, 3.204),
    (19.0, 3.246),
    (20.0, 3.274),
    (25.0, 3.390),
    (30.0, 3.465),
    (40.0, 3.571),
    (60.0, 3.696),
    (100.0, 3.799),
    (200.0, 3.913),
    (500.0, 4.030),
    (1000.0, 4.108),
    (3000.0, 4.188),
];

/// A place where the level changes.
///
/// ```
/// let mut history = vec![1.0; 20];
/// history.extend([2.0; 20]);
/// let changes = benchmath::change_points::change_points(&history, 0.1).unwrap();
/// assert_eq!(changes[0].after - changes[0].before, 1.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// The number of the first value of the new level.
    pub index: usize,
    /// The median from the change before to here, in the unit of the values.
    pub before: f64,
    /// The median from here to the next change.
    pub after: f64,
    /// The standardised rank sum at the split: about how many standard deviations from chance.
    pub statistic: f64,
}

/// Find the changes of level of at least `margin` in `values`, in the order of the series.
///
/// Binary segmentation by the largest standardised rank CUSUM (the two-sample rank test at every possible
/// split), with at least four values on each side and a permutation level of 0.2 % per segment; then the smallest
/// steps below the margin are merged away one by one. `margin` is in the unit of the values: for logarithms,
/// `ln 1.02` is 2 %; 0 keeps all. `None` when a value is NaN.
///
/// ```
/// use benchmath::change_points::change_points;
/// let mut history = [0.01, 0.02, 0.00, 0.03, 0.01].repeat(4);
/// history.extend([0.11, 0.12, 0.10, 0.13, 0.11].repeat(4));
/// let changes = change_points(&history, 0.02).unwrap();
/// assert_eq!(changes.len(), 1);
/// assert_eq!((changes[0].index, changes[0].before, changes[0].after), (20, 0.01, 0.11));
/// ```
#[must_use]
pub fn change_points(values: &[f64], margin: f64) -> Option<Vec<ChangePoint>> {
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let mut splits = all_splits(values);
    loop {
        let changes = with_levels(values, &splits);
        let step = |change: &ChangePoint| (change.after - change.before).abs();
        let smallest = changes.iter().enumerate().min_by(|(_, a), (_, b)| step(a).total_cmp(&step(b)));
        match smallest {
            Some((place, change)) if step(change) < margin => _ = splits.remove(place),
            _ => return Some(changes),
        }
    }
}

/// The most standardised rank sum of a series and the split where it stands (the second part starts there).
///
/// `None` below eight values or when a value is NaN.
///
/// ```
/// use benchmath::change_points::best_split;
/// let (split, statistic) = best_split(&[1.0, 2.0, 3.0, 4.0, 11.0, 12.0, 13.0, 14.0]).unwrap();
/// assert_eq!(split, 4);
/// assert!((statistic - 8.0 / 12.0_f64.sqrt()).abs() < 1e-12);
/// ```
#[must_use]
pub fn best_split(values: &[f64]) -> Option<(usize, f64)> {
    if values.len() < 2 * LEAST_SEGMENT || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let count = values.len() as f64;
    let mut sum = 0.0;
    let mut best = (0, -1.0);
    for (place, rank) in midranks(values).into_iter().enumerate().take(values.len() - LEAST_SEGMENT) {
        sum += rank - (count + 1.0) / 2.0;
        let left = place as f64 + 1.0;
        let statistic = sum.abs() / (left * (count - left) * (count + 1.0) / 12.0).sqrt();
        if place + 1 >= LEAST_SEGMENT && statistic > best.1 {
            best = (place + 1, statistic);
        }
    }
    Some(best)
}

/// What [`best_split`] must exceed among `count` values to be a change at the level of 0.2 %.
///
/// ```
/// use benchmath::change_points::critical_value;
/// assert_eq!(critical_value(100), 3.799);
/// assert!(critical_value(13).is_infinite());
/// ```
#[must_use]
pub fn critical_value(count: usize) -> f64 {
    let count = count as f64;
    let above = CRITICAL.partition_point(|&(size, _)| size < count);
    if count < CRITICAL[0].0 {
        return f64::INFINITY;
    } else if above == 0 {
        return CRITICAL[0].1;
    }
    // The values grow almost straight with the logarithm of the size, also beyond the table.
    let right = above.min(CRITICAL.len() - 1);
    let ((small, low), (large, high)) = (CRITICAL[right - 1], CRITICAL[right]);
    low + (high - low) * ((count / small).ln() / (large / small).ln())
}

/// All splits found by cutting until nothing is significant, in ascending order.
fn all_splits(values: &[f64]) -> Vec<(usize, f64)> {
    let mut open = vec![(0, values.len())];
    let mut splits = Vec::new();
    while let Some((start, end)) = open.pop() {
        let Some((offset, statistic)) = best_split(&values[start..end]) else { continue };
        if statistic > critical_value(end - start) {
            splits.push((start + offset, statistic));
            open.extend([(start, start + offset), (start + offset, end)]);
        }
    }
    splits.sort_unstable_by_key(|&(split, _)| split);
    splits
}

fn with_levels(values: &[f64], splits: &[(usize, f64)]) -> Vec<ChangePoint> {
    let starts = std::iter::once(0).chain(splits.iter().map(|&(split, _)| split));
    let ends = splits.iter().map(|&(split, _)| split).chain([values.len()]);
    let level = |(start, end): (usize, usize)| median(&values[start..end]).unwrap_or(f64::NAN);
    let levels: Vec<f64> = starts.zip(ends).map(level).collect();
    let change = |(&(index, statistic), pair): (&(usize, f64), &[f64])| ChangePoint {
        index,
        before: pair[0],
        after: pair[1],
        statistic,
    };
    splits.iter().zip(levels.windows(2)).map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    /// Occasions that scatter by 1 %, with a spike of 20 % in 6 % of them.
    fn history(length: usize, step: f64, seed: u64) -> Vec<f64> {
        let mut random = SplitMix64::new(seed);
        let mut occasion = |place: usize| {
            let spike = if random.unit() < 0.06 { 0.2 } else { 0.0 };
            0.01 * random.normal() + spike + if place >= length / 2 { step } else { 0.0 }
        };
        (0..length).map(&mut occasion).collect()
    }

    #[test]
    fn a_step_of_two_sigma_is_found_where_it_is() {
        let is_found = |seed: &u64| {
            let changes = change_points(&history(120, 0.02, *seed), 0.01).unwrap();
            changes.len() == 1 && changes[0].index.abs_diff(60) <= 6
        };
        let found = (0..60).filter(is_found).count();
        assert!(found >= 50, "{found} of 60");
    }

    #[test]
    fn histories_without_a_step_raise_few_alarms() {
        let alarms = |length: usize| -> usize {
            (0..400).map(|seed| change_points(&history(length, 0.0, seed), 0.0).unwrap().len()).sum()
        };
        for length in [14, 20, 120] {
            assert!(alarms(length) <= 6, "{} alarms in 400 series of {length}", alarms(length));
        }
    }

    #[test]
    fn steps_below_the_margin_are_merged() {
        let mut values = history(100, 0.0, 1);
        values.iter_mut().enumerate().for_each(|(place, value)| *value += if place < 40 { 0.0 } else { 0.1 });
        assert_eq!(change_points(&values, 0.02).unwrap().len(), 1);
        assert!(change_points(&values, 0.2).unwrap().is_empty());
    }

    #[test]
    fn nonsense_has_no_changes() {
        assert_eq!(change_points(&[f64::NAN], 0.1), None);
        assert_eq!(change_points(&[], 0.1), Some(vec![]));
        assert_eq!(change_points(&[1.0; 50], f64::NAN), Some(vec![]));
        assert_eq!(best_split(&[1.0; 7]), None);
        assert!(critical_value(1_000_000) > 4.188);
    }
}
