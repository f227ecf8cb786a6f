//! Whether a sample has more than one mode: the dip statistic of J. A. and P. M. Hartigan (1985).
//!
//! The dip is the smallest possible greatest distance between the empirical distribution function and any
//! unimodal one. A unimodal distribution function is convex up to its mode and concave after it, so the best
//! fit hugs the greatest convex minorant on the left and the least concave majorant on the right. The
//! search narrows the interval that holds the mode as described by P. M. Hartigan (algorithm AS 217, 1985).

/// The dip of `values`: 0 to 1/4, without unit, at least `1 / (2 n)`.
///
/// `None` when there is no value or one is not finite. For scale: `sqrt(n) * dip > 0.61` is rare for
/// samples with one mode (below 1 % for common shapes with n of 30 and more).
///
/// ```
/// use benchmath::dip;
/// let two_heaps = [1.0, 1.1, 1.2, 1.3, 9.0, 9.1, 9.2, 9.3];
/// let one_heap = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
/// assert!(dip(&two_heaps).unwrap() > 0.2);
/// assert_eq!(dip(&one_heap), Some(1.0 / 16.0));
/// ```
#[must_use]
pub fn dip(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    // Halved, so that no difference of two of them can overflow; the dip has no unit.
    let mut sorted: Vec<f64> = values.iter().map(|value| value / 2.0).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(dip_in_steps(&sorted) / (2.0 * sorted.len() as f64))
}

/// Twice the dip, counted in steps of the distribution function. The mode is sought in `low..=high`.
fn dip_in_steps(sorted: &[f64]) -> f64 {
    let (mut low, mut high) = (0, sorted.len() - 1);
    let mut dip = 1.0_f64;
    loop {
        let convex = hull(sorted, low, high, Side::Below);
        let concave = hull(sorted, low, high, Side::Above);
        let widest = widest_gap(sorted, &convex, &concave);
        if sorted[low] == sorted[high] || widest.gap <= dip {
            return dip;
        }
        let left = convex.iter().copied().filter(|&knot| knot <= widest.low);
        let right = concave.iter().copied().filter(|&knot| knot >= widest.high);
        dip = dip.max(distance(sorted, left, Side::Below)).max(distance(sorted, right, Side::Above));
        if (low, high) == (widest.low, widest.high) {
            return dip;
        }
        (low, high) = (widest.low, widest.high);
    }
}

/// On which side of the steps a hull lies.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Below,
    Above,
}

/// The knots of the greatest convex minorant or the least concave majorant of the points
/// `(sorted[i], i)`, `low <= i <= high`.
fn hull(sorted: &[f64], low: usize, high: usize, side: Side) -> Vec<usize> {
    let mut knots: Vec<usize> = Vec::new();
    for next in low..=high {
        while let [.., first, middle] = knots[..] {
            if turns_towards(sorted, [first, middle, next], side) {
                break;
            }
            knots.pop();
        }
        knots.push(next);
    }
    knots
}

/// Whether the slope really changes at the middle knot in the direction that the hull needs.
fn turns_towards(sorted: &[f64], [first, middle, next]: [usize; 3], side: Side) -> bool {
    let before = (middle - first) as f64 * (sorted[next] - sorted[middle]);
    let after = (next - middle) as f64 * (sorted[middle] - sorted[first]);
    if side == Side::Below { before < after } else { before > after }
}

/// The greatest vertical gap between the two hulls, and the interval that must hold the mode.
struct Widest {
    gap: f64,
    low: usize,
    high: usize,
}

/// Both hulls are straight between knots, so the gap is greatest at a knot of one of them. The steps'
/// lower corners carry the convex hull and the upper ones the concave: one step more.
fn widest_gap(sorted: &[f64], convex: &[usize], concave: &[usize]) -> Widest {
    let mut widest = Widest { gap: 0.0, low: convex[0], high: concave[concave.len() - 1] };
    for &knot in convex {
        let after = concave.partition_point(|&other| other < knot);
        let gap = height(sorted, concave, after, knot) - knot as f64 + 1.0;
        if gap > widest.gap {
            widest = Widest { gap, low: knot, high: concave[after] };
        }
    }
    for &knot in concave {
        let after = convex.partition_point(|&other| other < knot);
        let gap = knot as f64 - height(sorted, convex, after, knot) + 1.0;
        if gap > widest.gap {
            let before = convex.partition_point(|&other| other <= knot) - 1;
            widest = Widest { gap, low: convex[before], high: knot };
        }
    }
    widest
}

/// The height of a hull at a point, where `after` is the first knot not left of it.
fn height(sorted: &[f64], knots: &[usize], after: usize, at: usize) -> f64 {
    let right = knots[after];
    let left = knots[after.saturating_sub(1)];
    line(sorted, left, right, at)
}

/// The line through two points, at a third.
fn line(sorted: &[f64], left: usize, right: usize, at: usize) -> f64 {
    let width = sorted[right] - sorted[left];
    if width <= 0.0 {
        return right as f64;
    }
    left as f64 + (right - left) as f64 * ((sorted[at] - sorted[left]) / width)
}

/// The greatest distance between the steps and the part of a hull that these knots make up.
fn distance(sorted: &[f64], knots: impl Iterator<Item = usize>, side: Side) -> f64 {
    let knots: Vec<usize> = knots.collect();
    let mut greatest = 1.0_f64;
    for pair in knots.windows(2) {
        if sorted[pair[0]] == sorted[pair[1]] {
            continue;
        }
        for at in pair[0]..=pair[1] {
            let excess = at as f64 - line(sorted, pair[0], pair[1], at);
            greatest = greatest.max(1.0 + if side == Side::Below { excess } else { -excess });
        }
    }
    greatest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degenerate_samples() {
        assert_eq!(dip(&[]), None);
        assert_eq!(dip(&[f64::NAN, 1.0]), None);
        assert_eq!(dip(&[4.0]), Some(0.5));
        assert_eq!(dip(&[4.0; 10]), Some(0.05));
    }

    #[test]
    fn two_far_points_are_the_extreme() {
        let mut values = vec![0.0; 50];
        values.extend([1.0; 50]);
        let dip = dip(&values).unwrap();
        assert!((dip - 0.25).abs() < 1e-12, "{dip}");
    }

    #[test]
    fn extreme_values_end() {
        assert!(dip(&[f64::MAX, -f64::MAX, 0.0, f64::MIN_POSITIVE, 1.0]).is_some());
    }
}
