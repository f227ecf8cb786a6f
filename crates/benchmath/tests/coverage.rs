//! How often intervals hold what they promise, on simulated noise with a fixed seed.
//!
//! The bounds leave room for the error of the simulation, about four standard errors, and no more.

use benchmath::bias_corrected::bias_corrected_interval;
use benchmath::mann_whitney::shift_between;
use benchmath::median_interval::{MedianInterval, median_interval_of_series};
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

/// Each value keeps so much of the one before it.
fn series(kept: f64, count: usize, random: &mut SplitMix64) -> Vec<f64> {
    let mut level = random.normal();
    let mut next = || {
        let now = level;
        level = kept * level + (1.0 - kept * kept).sqrt() * random.normal();
        now
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn the_median_interval_of_a_series_nearly_covers_where_neighbours_resemble_each_other() {
    let mut random = SplitMix64::new(8);
    for (kept, least) in [(0.0, 0.93), (0.3, 0.92), (0.6, 0.90), (0.9, 0.80)] {
        let (mut plain, mut wide) = (0, 0);
        for _ in 0..1000 {
            let values = series(kept, 100, &mut random);
            let holds = |found: MedianInterval| usize::from(found.low <= 0.0 && 0.0 <= found.high);
            plain += holds(median_interval(&values, 0.95).unwrap());
            wide += holds(median_interval_of_series(&values, 0.95).unwrap());
        }
        assert_between(least, wide as f64 / 1000.0, 0.985, &format!("{kept}"));
        assert!(plain <= wide && (kept < 0.5 || plain < 860), "{kept}: {plain} as if independent, {wide}");
    }
}

/// Whether the interval holds the median, 0, when the level is added and its width ends the series.
fn holds_when_narrow(values: &[f64], looks: &[usize], interval: impl Fn(&[f64]) -> MedianInterval) -> bool {
    let at = looks.iter().map(|&look| interval(&values[..look]));
    let is_narrow = |found: &MedianInterval| found.high - found.low <= 0.02;
    let found = at.clone().find(is_narrow).or(at.last()).unwrap();
    found.low <= 0.0 && 0.0 <= found.high
}

/// `--nocapture` prints the table of METHODOLOGY.md.
#[test]
fn a_series_that_its_width_ends_is_covered_with_care_and_not_without() {
    let mut random = SplitMix64::new(9);
    let looks = look_schedule(10, 1.5, 405);
    let careful_at = 1.0 - per_look_alpha(&looks, 0.05);
    for (kept, scatter, least) in [(0.0, 0.03, 0.97), (0.3, 0.03, 0.94), (0.6, 0.02, 0.92), (0.9, 0.03, 0.78)]
    {
        let (mut naive, mut careful) = (0, 0);
        for _ in 0..1000 {
            let values: Vec<f64> =
                series(kept, 405, &mut random).iter().map(|value| scatter * value).collect();
            let plain = |values: &[f64]| median_interval(values, 0.95).unwrap();
            let wide = |values: &[f64]| median_interval_of_series(values, careful_at).unwrap();
            naive += usize::from(holds_when_narrow(&values, &looks, plain));
            careful += usize::from(holds_when_narrow(&values, &looks, wide));
        }
        let (naive, careful) = (naive as f64 / 1000.0, careful as f64 / 1000.0);
        println!("neighbours {kept}: {naive} without care, {careful} with");
        assert_between(least, careful, 1.0, &format!("{kept}"));
        assert!(naive < careful);
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
