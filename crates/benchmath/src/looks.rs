//! Looking at the data several times without fooling oneself.
//!
//! Whoever stops as soon as a 95 % interval excludes 0 is wrong far more often than 5 % of the time. The
//! remedy is a smaller, constant level per look, such that all looks together keep the level (Pocock 1977).
//! Intervals at that level are *repeated confidence intervals* (Jennison and Turnbull): all of them hold at
//! once, whatever made the measuring stop.

use std::f64::consts::PI;

use crate::distributions::normal;

/// No schedule needs more looks than this; it bounds the work for absurd arguments.
const MOST_LOOKS: usize = 1000;

/// The constant two-sided level for each look, so that looking after `looks` values (cumulative sizes, as in
/// `[10, 15, 23]`) keeps the two-sided level `alpha` over all.
///
/// For normal sums with independent increments, by the recursion of Armitage, McPherson and Rowe (1969).
/// Entries that do not exceed an earlier one add no information and are ignored. One look, or none, is
/// `alpha` itself; so is an `alpha` outside of 0 and 1. Beyond 1000 looks the later ones are ignored.
///
/// ```
/// use benchmath::per_look_alpha;
/// assert_eq!(per_look_alpha(&[30], 0.05), 0.05);
/// let alpha = per_look_alpha(&[10, 15, 23, 35, 53, 80, 120, 180], 0.05);
/// assert!((alpha - 0.0099087).abs() < 1e-7);
/// ```
#[must_use]
pub fn per_look_alpha(looks: &[usize], alpha: f64) -> f64 {
    let sizes = increasing(looks);
    if sizes.len() < 2 || !(alpha > 0.0 && alpha < 1.0) {
        return alpha;
    }
    // One look alone needs the smaller bound; splitting alpha evenly (Bonferroni) is always enough.
    let low = -normal::quantile(alpha / 2.0);
    let high = -normal::quantile(alpha / 2.0 / sizes.len() as f64);
    let excess = |bound: f64| (crossing_probability(&sizes, bound) / alpha).ln();
    2.0 * normal::above(root(excess, low, high))
}

/// The sizes at which to look: `first`, then each time `growth` times as many (rounded up), up to `last`.
///
/// Empty when `first` is 0 or exceeds `last`. Every look is at least one larger than the one before, and
/// there are at most 1000.
///
/// ```
/// use benchmath::look_schedule;
/// assert_eq!(look_schedule(10, 1.5, 100), [10, 15, 23, 35, 53, 80]);
/// ```
#[must_use]
pub fn look_schedule(first: usize, growth: f64, last: usize) -> Vec<usize> {
    let next = |&size: &usize| {
        // The last digits of 10 * 1.1 must not turn 11 into 12.
        let grown = (size as f64 * growth * (1.0 - 1e-12)).ceil() as usize;
        Some(grown.max(size.saturating_add(1)))
    };
    std::iter::successors(Some(first), next)
        .take(MOST_LOOKS)
        .take_while(|&size| size > 0 && size <= last)
        .collect()
}

fn increasing(looks: &[usize]) -> Vec<f64> {
    let mut sizes: Vec<f64> = Vec::new();
    for &size in looks.iter().take(MOST_LOOKS) {
        if size as f64 > sizes.last().copied().unwrap_or(0.0) {
            sizes.push(size as f64);
        }
    }
    sizes
}

/// The probability that a sum of standard normal values leaves `±bound * sqrt(size)` at one of the looks.
///
/// The density of the sum among those paths that have not left yet is carried from look to look on the
/// nodes of a quadrature. It is even, so half an axis is enough.
fn crossing_probability(sizes: &[f64], bound: f64) -> f64 {
    let mut crossed = 2.0 * normal::above(bound);
    let mut grid = first_grid(sizes, bound);
    for (look, pair) in sizes.windows(2).enumerate() {
        let spread = (pair[1] - pair[0]).sqrt();
        let edge = bound * pair[1].sqrt();
        crossed += grid.total(|from| leaving(from, edge, spread));
        let after = sizes.get(look + 2).map(|next| next - pair[1]);
        let nodes = half_axis(edge, spread.min(after.unwrap_or(f64::MAX).sqrt()));
        grid = grid.carried(nodes, spread);
    }
    crossed
}

/// The probability to end outside of `±edge` when a normal step of this spread starts at `from`.
fn leaving(from: f64, edge: f64, spread: f64) -> f64 {
    normal::above((edge - from) / spread) + normal::above((edge + from) / spread)
}

/// Points on the positive half axis, their quadrature weights (both halves together) and the density there.
struct Grid {
    nodes: Vec<(f64, f64)>,
    density: Vec<f64>,
}

impl Grid {
    fn total(&self, function: impl Fn(f64) -> f64) -> f64 {
        let parts = self.nodes.iter().zip(&self.density);
        parts.map(|(&(at, weight), density)| weight * density * function(at)).sum()
    }

    fn carried(&self, nodes: Vec<(f64, f64)>, spread: f64) -> Self {
        let arriving = |to: f64, from: f64| {
            let (here, there) = ((to - from) / spread, (to + from) / spread);
            (normal::density(here) + normal::density(there)) / (2.0 * spread)
        };
        let density = nodes.iter().map(|&(to, _)| self.total(|from| arriving(to, from))).collect();
        Self { nodes, density }
    }
}

fn first_grid(sizes: &[f64], bound: f64) -> Grid {
    let spread = sizes[0].sqrt();
    let nodes = half_axis(bound * spread, spread.min((sizes[1] - sizes[0]).sqrt()));
    let density = nodes.iter().map(|&(at, _)| normal::density(at / spread) / spread).collect();
    Grid { nodes, density }
}

/// Gauss-Legendre nodes of `-edge..edge`, folded onto the positive half. The integrands are no sharper than
/// a normal density of the given spread, which sets how many nodes are needed.
fn half_axis(edge: f64, spread: f64) -> Vec<(f64, f64)> {
    let half = (12.0 + 1.6 * edge / spread).min(400.0) as usize;
    legendre_half(half).into_iter().map(|(at, weight)| (at * edge, 2.0 * weight * edge)).collect()
}

/// The positive nodes and the weights of the Gauss-Legendre rule with `2 * half` points, by Newton's
/// method from Tricomi's approximation of the roots.
fn legendre_half(half: usize) -> Vec<(f64, f64)> {
    let degree = 2 * half;
    let node = |place: usize| {
        let mut x = (PI * (place as f64 + 0.75) / (degree as f64 + 0.5)).cos();
        for _ in 0..10 {
            let (value, slope) = legendre(degree, x);
            let step = value / slope;
            x -= step;
            if step.abs() < 1e-15 {
                break;
            }
        }
        let (_, slope) = legendre(degree, x);
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..half).map(node).collect()
}

/// The Legendre polynomial and its derivative, by the three-term recurrence.
fn legendre(degree: usize, x: f64) -> (f64, f64) {
    let (mut before, mut value) = (1.0, x);
    for n in 2..=degree {
        let n = n as f64;
        (before, value) = (value, ((2.0 * n - 1.0) * x * value - (n - 1.0) * before) / n);
    }
    (value, degree as f64 * (x * value - before) / (x * x - 1.0))
}

/// Where the falling `function` is 0 between `low` and `high`: false position with the Illinois
/// correction, which is quick because the logarithm of a tail is nearly straight.
fn root(function: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let (mut at_low, mut at_high) = (function(low), function(high));
    let mut last_side = 0;
    for _ in 0..60 {
        if at_low <= 0.0 || high - low < 1e-12 {
            return low;
        }
        if at_high >= 0.0 {
            return high;
        }
        let middle = low + (high - low) * at_low / (at_low - at_high);
        let value = function(middle);
        if value.abs() < 1e-11 {
            return middle;
        }
        let side = if value > 0.0 { 1 } else { -1 };
        let again = side == last_side;
        if value > 0.0 {
            (low, at_low) = (middle, value);
            at_high /= if again { 2.0 } else { 1.0 };
        } else {
            (high, at_high) = (middle, value);
            at_low /= if again { 2.0 } else { 1.0 };
        }
        last_side = side;
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quadrature_of_2n_points_is_exact_for_high_powers() {
        let total: f64 = legendre_half(6).iter().map(|&(x, weight)| 2.0 * weight * x.powi(20)).sum();
        assert!((total - 2.0 / 21.0).abs() < 1e-14);
    }

    #[test]
    fn looks_that_add_nothing_cost_nothing() {
        assert_eq!(per_look_alpha(&[10, 15], 0.05), per_look_alpha(&[0, 10, 10, 15, 12], 0.05));
        assert_eq!(per_look_alpha(&[], 0.05), 0.05);
        assert!(per_look_alpha(&[10, 15], f64::NAN).is_nan());
    }

    #[test]
    fn close_and_many_looks_stay_between_the_two_bounds() {
        let every: Vec<usize> = (10..60).collect();
        for looks in [vec![180, 181], vec![10, 1000, 1001], every, vec![1, usize::MAX]] {
            let alpha = per_look_alpha(&looks, 0.05);
            assert!(alpha <= 0.05 && alpha >= 0.05 / looks.len() as f64, "{looks:?}: {alpha}");
        }
    }

    #[test]
    fn schedules_of_nonsense_end() {
        assert_eq!(look_schedule(0, 1.5, 100), []);
        assert_eq!(look_schedule(10, f64::NAN, 12), [10, 11, 12]);
        assert_eq!(look_schedule(10, f64::INFINITY, 12), [10]);
        assert_eq!(look_schedule(10, 1.1, 11), [10, 11]);
        assert!(look_schedule(1, 0.0, usize::MAX).len() <= MOST_LOOKS);
        assert_eq!(look_schedule(usize::MAX, 2.0, usize::MAX).first(), Some(&usize::MAX));
    }
}
