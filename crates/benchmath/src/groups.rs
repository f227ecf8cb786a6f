//! Averaging consecutive values, so that a long series becomes a manageable number of units.

/// The means of consecutive groups of equal size, so that at most `most` remain, in the order of the values.
///
/// The last group may be smaller; nothing is left out. Fewer than `most` values come back unchanged, and
/// `most` of 0 counts as 1. A group mean of differences keeps the random sign of its members, so a
/// signed-rank interval of the group means is as valid as one of the differences.
///
/// ```
/// use benchmath::average_in_groups;
/// assert_eq!(average_in_groups(&[1.0, 3.0, 5.0, 7.0, 9.0], 3), [2.0, 6.0, 9.0]);
/// assert_eq!(average_in_groups(&[1.0, 3.0], 3), [1.0, 3.0]);
/// ```
#[must_use]
pub fn average_in_groups(values: &[f64], most: usize) -> Vec<f64> {
    let size = values.len().div_ceil(most.max(1)).max(1);
    values.chunks(size).map(|group| group.iter().sum::<f64>() / group.len() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_more_groups_than_asked_for() {
        for length in 0..60 {
            let values = vec![1.5; length];
            for most in 0..12 {
                let groups = average_in_groups(&values, most);
                assert!(groups.len() <= most.max(1));
                assert!(groups.iter().all(|&mean| mean == 1.5));
            }
        }
    }
}
