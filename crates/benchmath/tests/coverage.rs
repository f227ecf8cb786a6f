//! How often intervals hold what they promise, on simulated noise with a fixed seed.
//!
//! The bounds leave room for the error of the simulation, about four standard errors, and no more.

use benchmath::bias_corrected::bias_corrected_interval;
use benchmath::mann_whitney::shift_between;
use benchmath::shares::share;
use benchmath::{
    Shift, SplitMix64, Verdict, judge, look_schedule, median_interval, per_look_alpha, share_interval, shift,
};

/// Noise models; all are symmetric around 0 or have a median of 0.
#[derive(Clone, Copy, Debug)]
enum Noise {
    Normal,
    /// Student's t with two degrees of freedom: an infinite variance.
    Heavy,
    /// Two levels, as of a process that lands in one of two memory layouts.
    TwoModes,
}

const ALL: [Noise; 3] = [Noise::Normal, Noise::Heavy, Noise::TwoModes];

fn draw(noise: Noise, random: &mut SplitMix64) -> f64 {
    match noise {
        Noise::Normal => random.normal(),
        Noise::Heavy => random.normal() / exponential(random).sqrt(),
        Noise::TwoModes => 8.0 * random.below(2) as f64 - 4.0 + random.normal(),
    }
}

/// A standard exponential number.
fn exponential(random: &mut SplitMix64) -> f64 {
    -(-random.unit()).ln_1p()
}

fn sample(noise: Noise, count: usize, random: &mut SplitMix64) -> Vec<f64> {
    (0..count).map(|_| draw(noise, random)).collect()
}

/// The share of `repeats` in which the event happens.
fn frequency(repeats: usize, mut happens: impl FnMut() -> bool) -> f64 {
    (0..repeats).filter(|_| happens()).count() as f64 / repeats as f64
}

fn holds(interval: Shift, truth: f64) -> bool {
    interval.low <= truth && truth <= interval.high
}

#[track_caller]
fn assert_between(low: f64, found: f64, high: f64, about: &str) {
    assert!(low <= found && found <= high, "{about}: {found}");
}

#[test]
fn the_signed_rank_interval_is_exact() {
    let mut random = SplitMix64::new(1);
    for noise in ALL {
        for count in [8, 20, 60] {
            let covered =
                frequency(2000, || holds(shift(&sample(noise, count, &mut random), 0.05).unwrap(), 0.0));
            assert_between(0.93, covered, 0.985, &format!("{noise:?} {count}"));
        }
    }
}

#[test]
fn the_interval_between_two_samples_is_exact() {
    let mut random = SplitMix64::new(2);
    for noise in ALL {
        let covered = frequency(2000, || {
            let (first, second) = (sample(noise, 15, &mut random), sample(noise, 25, &mut random));
            holds(shift_between(&first, &second, 0.05).unwrap(), 0.0)
        });
        assert_between(0.93, covered, 0.975, &format!("{noise:?}"));
    }
}

#[test]
fn the_median_interval_covers_at_least() {
    let mut random = SplitMix64::new(3);
    for noise in ALL {
        let covered = frequency(2000, || {
            let found = median_interval(&sample(noise, 25, &mut random), 0.95).unwrap();
            found.low <= 0.0 && 0.0 <= found.high
        });
        assert_between(0.93, covered, 0.99, &format!("{noise:?}"));
    }
}

/// Whether any look at one growing sample claims a difference.
fn claims(values: &[f64], looks: &[usize], alpha: f64) -> bool {
    looks.iter().any(|&look| {
        let interval = shift(&values[..look], alpha).unwrap();
        judge(interval.low, interval.high, 0.0) != Verdict::Undecided
    })
}

#[test]
fn repeated_looks_keep_the_level_and_naive_peeking_does_not() {
    let mut random = SplitMix64::new(4);
    let looks = look_schedule(10, 1.5, 180);
    let alpha = per_look_alpha(&looks, 0.05);
    for noise in ALL {
        let samples: Vec<Vec<f64>> = (0..500).map(|_| sample(noise, 180, &mut random)).collect();
        let mut next = samples.iter();
        let careful = frequency(500, || claims(next.next().unwrap(), &looks, alpha));
        assert_between(0.01, careful, 0.085, &format!("{noise:?} careful"));
        let mut next = samples.iter();
        let naive = frequency(500, || claims(next.next().unwrap(), &looks, 0.05));
        assert_between(0.11, naive, 0.25, &format!("{noise:?} naive"));
    }
}

#[test]
fn shares_of_a_total_are_covered() {
    let mut random = SplitMix64::new(5);
    for noise in [Noise::Normal, Noise::Heavy] {
        let covered = frequency(1000, || {
            let version = sample(noise, 30, &mut random);
            let allocator = sample(noise, 30, &mut random);
            let contributions: Vec<f64> = version.iter().map(|noise| 0.6 + 0.05 * noise).collect();
            let totals: Vec<f64> =
                contributions.iter().zip(allocator).map(|(a, noise)| a + 0.4 + 0.05 * noise).collect();
            holds(share(&contributions, &totals, 0.05).unwrap(), 0.6)
        });
        assert_between(0.90, covered, 0.985, &format!("{noise:?}"));
    }
}

/// Neighbouring runs resemble each other here; single draws would cover far less.
#[test]
fn pooled_shares_of_correlated_runs_are_nearly_covered() {
    let mut random = SplitMix64::new(6);
    let covered = frequency(400, || {
        let mut level = 0.0;
        let part: Vec<f64> = (0..120)
            .map(|_| {
                level = 0.5 * level + random.normal();
                3.0 + 0.5 * level
            })
            .collect();
        holds(share_interval(&part, &[10.0; 120], 0.95, random.next_u64()).unwrap(), 0.3)
    });
    assert_between(0.85, covered, 0.98, "share");
}

#[test]
fn the_corrected_bootstrap_nearly_covers_a_skewed_mean() {
    let mut random = SplitMix64::new(7);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let covered = frequency(400, || {
        let values: Vec<f64> = (0..40).map(|_| exponential(&mut random)).collect();
        let found = bias_corrected_interval(&values, mean, 500, 0.95, random.next_u64()).unwrap();
        found.low <= 1.0 && 1.0 <= found.high
    });
    assert_between(0.88, covered, 0.98, "mean");
}
