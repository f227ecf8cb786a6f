//! What is different between the looks of a probe at two variants: absolute amounts, with an interval where there are
//! several looks, or where the samples themselves tell how much they scatter. No verdict on time comes from these.

mod merge;
mod modules;
mod symbols;

use benchmath::t_tests::{one_sample, welch};

pub use merge::mean_profile;
pub use modules::pair_modules;
pub use symbols::{
    Fate, SymbolDifference, compare_modules, compare_symbols, is_same_but_for_the_compiler, own_by_module,
};

/// Chance that an interval of one row holds the truth.
pub const ROW_CONFIDENCE: f64 = 0.95;
/// Standard errors on either side that make the same interval for counts.
const POISSON_WIDTH: f64 = 1.96;

/// One quantity in both variants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Means of the looks.
    pub base: f64,
    pub other: f64,
    /// Of `other - base`; `None` where a single look at an exact quantity tells nothing about scatter.
    pub interval: Option<(f64, f64)>,
}

impl Difference {
    /// The values of each look, in the order in which they were made. `grain` is what one sample stands for; 0 for exact
    /// quantities.
    pub fn of(base: &[f64], other: &[f64], grain: f64) -> Option<Difference> {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        if base.is_empty() || other.is_empty() {
            return None;
        }
        let means = (mean(base), mean(other));
        // A few looks may agree by chance, so samples scatter at least as any count does.
        let interval = match (scatter(base, other), sampling(means, grain)) {
            (Some(seen), Some(least)) => Some((seen.0.min(least.0), seen.1.max(least.1))),
            (seen, least) => seen.or(least),
        };
        Some(Difference { base: means.0, other: means.1, interval })
    }

    pub fn amount(&self) -> f64 {
        self.other - self.base
    }

    /// Nothing is different, as far as was seen.
    pub fn is_nothing(&self) -> bool {
        self.amount() == 0.0
    }

    /// Looks at one variant differ as much as this.
    pub fn is_within_scatter(&self) -> bool {
        self.interval.is_some_and(|(low, high)| low <= 0.0 && high >= 0.0 && low < high)
    }
}

/// From several looks; those of both variants were taken in turns.
fn scatter(base: &[f64], other: &[f64]) -> Option<(f64, f64)> {
    let test = if base.len() == other.len() {
        let pairs: Vec<f64> = base.iter().zip(other).map(|(base, other)| other - base).collect();
        one_sample(&pairs, ROW_CONFIDENCE)?
    } else {
        welch(base, other, ROW_CONFIDENCE)?
    };
    Some((test.low, test.high))
}

/// From a single look: the number of samples in a function scatters like any count of rare things.
fn sampling((base, other): (f64, f64), grain: f64) -> Option<(f64, f64)> {
    let width = POISSON_WIDTH * ((base + other) * grain).sqrt();
    (grain > 0.0).then_some((other - base - width, other - base + width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_quantities_differ_by_anything_and_samples_only_beyond_their_scatter() {
        let exact = Difference::of(&[10.0], &[11.0], 0.0).unwrap();
        assert_eq!((exact.amount(), exact.interval, exact.is_within_scatter()), (1.0, None, false));
        // Samples of a millisecond: 100 against 110 of them is chance, 100 against 200 is not.
        assert!(Difference::of(&[0.100], &[0.110], 0.001).unwrap().is_within_scatter());
        assert!(!Difference::of(&[0.100], &[0.200], 0.001).unwrap().is_within_scatter());
        assert_eq!(Difference::of(&[], &[1.0], 0.0), None);
    }

    #[test]
    fn several_looks_tell_their_scatter_themselves() {
        let noisy = Difference::of(&[10.0, 20.0, 15.0], &[12.0, 19.0, 16.0], 0.0).unwrap();
        assert!(noisy.is_within_scatter(), "{noisy:?}");
        let clear = Difference::of(&[10.0, 10.1, 10.2], &[20.0, 20.2, 20.1], 0.0).unwrap();
        assert!(!clear.is_within_scatter() && clear.interval.unwrap().0 > 9.0, "{clear:?}");
        let same = Difference::of(&[5.0, 5.0], &[5.0, 5.0], 0.0).unwrap();
        assert!(same.is_nothing() && !same.is_within_scatter());
    }
}
