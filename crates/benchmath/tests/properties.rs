//! What must hold for every sample, tried on random ones. The seed is fixed: a failure is the same everywhere.

use benchmath::contrasts::{contrast, shapley_weights, total_weights};
use benchmath::distributions::{normal, student};
use benchmath::mann_whitney::{shift_between, u_test};
use benchmath::multiplicity::{benjamini_hochberg, bonferroni, holm};
use benchmath::signed_rank::p_value;
use benchmath::{
    Shift, SplitMix64, bias_corrected_interval, bootstrap, change_points, dip, judge, line_fit, mad, median,
    median_interval, quantile, shift, spearman, steady, summarize, t_tests, trimmed,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

fn config() -> Config {
    Config {
        cases: 128,
        rng_seed: RngSeed::Fixed(20_240_229),
        failure_persistence: None,
        ..Config::default()
    }
}

/// Values on a coarse grid, so that ties are common and shifts and scalings by powers of two are exact.
fn grid(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((-400_i32..400).prop_map(|step| f64::from(step) / 64.0), count)
}

/// Everything a `f64` can be, and lists without NaN and infinity, which get further into every function.
fn anything() -> impl Strategy<Value = Vec<f64>> {
    use prop::num::f64::{ANY, NORMAL, SUBNORMAL, ZERO};
    let few = prop::sample::select(vec![0.0, -0.0, 1.0, f64::MAX, -f64::MAX, f64::MIN_POSITIVE, 5e-324]);
    prop_oneof![
        prop::collection::vec(ANY, 0..40),
        prop::collection::vec(NORMAL | SUBNORMAL | ZERO, 0..80),
        prop::collection::vec(few, 0..80),
        grid(0..80),
    ]
}

fn argument() -> impl Strategy<Value = f64> {
    prop_oneof![prop::num::f64::ANY, 0.0..1.0_f64, prop::sample::select(vec![0.0, 0.05, 0.5, 0.95, 1.0])]
}

fn moved(shift: Shift, factor: f64, offset: f64) -> Shift {
    let point = |value: f64| value * factor + offset;
    Shift { estimate: point(shift.estimate), low: point(shift.low), high: point(shift.high) }
}

fn mapped(values: &[f64], function: impl Fn(f64) -> f64) -> Vec<f64> {
    values.iter().map(|&value| function(value)).collect()
}

fn shuffled(values: &[f64], seed: u64) -> Vec<f64> {
    let mut values = values.to_vec();
    SplitMix64::new(seed).shuffle(&mut values);
    values
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn estimates_move_and_scale_with_the_values(values in grid(1..50), offset in -8_i32..8, power in -3_i32..4) {
        let (offset, factor) = (f64::from(offset), 2.0_f64.powi(power));
        let changed = mapped(&values, |value| value * factor + offset);
        prop_assert_eq!(shift(&changed, 0.05).unwrap(), moved(shift(&values, 0.05).unwrap(), factor, offset));
        prop_assert_eq!(median(&changed).unwrap(), median(&values).unwrap() * factor + offset);
        prop_assert_eq!(mad(&changed).unwrap(), mad(&values).unwrap() * factor);
    }

    #[test]
    fn turning_the_sign_turns_the_interval(values in grid(1..50)) {
        let (there, back) = (shift(&values, 0.05).unwrap(), shift(&mapped(&values, |value| -value), 0.05).unwrap());
        prop_assert_eq!((there.low, there.estimate, there.high), (-back.high, -back.estimate, -back.low));
        prop_assert_eq!(p_value(&values), p_value(&mapped(&values, |value| -value)));
    }

    #[test]
    fn the_order_of_the_values_does_not_matter(values in grid(1..50), seed: u64) {
        let other = shuffled(&values, seed);
        prop_assert_eq!(shift(&values, 0.05), shift(&other, 0.05));
        prop_assert_eq!(median_interval(&values, 0.9), median_interval(&other, 0.9));
        prop_assert_eq!(dip(&values), dip(&other));
        prop_assert_eq!(quantile(&values, 0.3), quantile(&other, 0.3));
    }

    #[test]
    fn more_confidence_never_narrows_an_interval(values in grid(2..50), others in grid(2..30), a in 0.001..0.5, b in 0.001..0.5) {
        let (strict, lax) = if a < b { (a, b) } else { (b, a) };
        let nested = |outer: (f64, f64), inner: (f64, f64)| outer.0 <= inner.0 && inner.1 <= outer.1;
        let ends = |shift: Option<Shift>| shift.map(|shift| (shift.low, shift.high)).unwrap();
        prop_assert!(nested(ends(shift(&values, strict)), ends(shift(&values, lax))));
        prop_assert!(nested(ends(shift_between(&values, &others, strict)), ends(shift_between(&values, &others, lax))));
        let middle = |alpha: f64| median_interval(&values, 1.0 - alpha).map(|found| (found.low, found.high)).unwrap();
        prop_assert!(nested(middle(strict), middle(lax)));
        let welch = |alpha: f64| t_tests::welch(&values, &others, 1.0 - alpha).map(|test| (test.low, test.high)).unwrap();
        prop_assert!(nested(welch(strict), welch(lax)));
    }

    #[test]
    fn an_estimate_lies_within_its_interval(values in grid(1..70), others in grid(1..40), alpha in 0.001..1.0) {
        for found in [shift(&values, alpha).unwrap(), shift_between(&values, &others, alpha).unwrap()] {
            prop_assert!(found.low <= found.estimate && found.estimate <= found.high, "{:?}", found);
        }
    }

    #[test]
    fn the_p_value_agrees_with_the_interval(values in grid(1..80), alpha in 0.001..0.5) {
        let interval = shift(&values, alpha).unwrap();
        let is_claimed = interval.low > 0.0 || interval.high < 0.0;
        prop_assert_eq!(is_claimed, p_value(&values).unwrap() <= alpha);
    }

    #[test]
    fn swapping_two_samples_turns_the_shift(first in grid(1..60), second in grid(1..60)) {
        let (there, back) = (shift_between(&first, &second, 0.05).unwrap(), shift_between(&second, &first, 0.05).unwrap());
        prop_assert_eq!((there.low, there.estimate, there.high), (-back.high, -back.estimate, -back.low));
        let (there, back) = (u_test(&first, &second).unwrap(), u_test(&second, &first).unwrap());
        prop_assert_eq!(there.u + back.u, (first.len() * second.len()) as f64);
        prop_assert!((there.p - back.p).abs() < 1e-12);
    }

    #[test]
    fn the_walsh_median_is_that_of_all_averages(values in grid(1..40)) {
        let averages: Vec<f64> = (0..values.len())
            .flat_map(|i| values[i..].iter().map(|other| (values[i] + other) / 2.0).collect::<Vec<f64>>())
            .collect();
        prop_assert_eq!(shift(&values, 0.05).unwrap().estimate, median(&averages).unwrap());
    }

    #[test]
    fn ranks_ignore_monotone_changes(x in grid(3..30), seed: u64) {
        let y = shuffled(&x, seed);
        let changed = mapped(&y, |value| value.exp());
        prop_assert_eq!(spearman(&x, &y), spearman(&x, &changed));
    }

    #[test]
    fn the_dip_keeps_its_bounds_and_ignores_scale(values in grid(1..60)) {
        let found = dip(&values).unwrap();
        prop_assert!(found >= 0.5 / values.len() as f64 && found <= 0.25_f64.max(0.5 / values.len() as f64));
        prop_assert!((dip(&mapped(&values, |value| 3.0 - 4.0 * value)).unwrap() - found).abs() < 1e-12);
    }

    #[test]
    fn adjusted_p_values_keep_their_order(p_values in prop::collection::vec(0.0..1.0_f64, 1..20)) {
        let (holm, bh, all) = (holm(&p_values), benjamini_hochberg(&p_values), bonferroni(&p_values));
        for place in 0..p_values.len() {
            prop_assert!(p_values[place] <= bh[place] * (1.0 + 1e-12) && bh[place] <= holm[place] * (1.0 + 1e-12));
            prop_assert!(holm[place] <= all[place] && all[place] <= 1.0);
        }
    }

    #[test]
    fn shapley_parts_add_up(cells in prop::collection::vec(-5.0..5.0_f64, 8)) {
        let parts: f64 = (0..3).map(|factor| contrast(&cells, &shapley_weights(3, factor))).sum();
        prop_assert!((parts - contrast(&cells, &total_weights(3))).abs() < 1e-12);
    }

    #[test]
    fn quantiles_invert_tails(p in 1e-12..0.5_f64, freedom in 0.2..500.0_f64) {
        prop_assert!((normal::below(normal::quantile(p)) / p - 1.0).abs() < 1e-12);
        let tail = student::above(-student::quantile(p, freedom), freedom);
        prop_assert!((tail / p - 1.0).abs() < 1e-10, "{} became {}", p, tail);
    }

    /// No input whatever makes a function panic.
    #[test]
    fn nothing_panics(x in anything(), y in anything(), a in argument(), b in argument(), n in 0_usize..60) {
        _ = (shift(&x, a), shift(&x, 0.05), p_value(&x), shift_between(&x, &y, a), u_test(&x, &y));
        _ = (median_interval(&x, a), quantile(&x, a), summarize(&x), mad(&x), dip(&x), spearman(&x, &y));
        _ = (t_tests::welch(&x, &y, a), t_tests::pooled(&x, &y, 0.9), t_tests::equivalence(&x, a));
        _ = (trimmed::yuen(&x, &y, a, b), trimmed::one_sample(&x, 0.2, b), line_fit::fit(&x, &y));
        _ = (bootstrap::share_interval(&x, &x, a, 1), change_points::change_points(&x, a), steady::steady_start(&x));
        _ = (holm(&x), benjamini_hochberg(&x), bonferroni(&x), judge(a, b, a), benchmath::is_precise(a, b, a, b));
        _ = (benchmath::blocks_needed(n, a, b, a, b), benchmath::detectable_effect(&x, a, b));
        _ = (benchmath::signed_rank::critical_k(n, a), benchmath::mann_whitney::critical_k(n, n, a));
        _ = (benchmath::per_look_alpha(&[n, n + 1, 2 * n], a), benchmath::look_schedule(n, a, 100));
        _ = (student::quantile(a, b), student::above(a, b), normal::quantile(a), normal::above(b));
        _ = benchmath::distributions::chi_square::quantile(a, b.abs().min(1e6));
        _ = benchmath::distributions::fisher::above(a, b.abs().min(1e6), a.abs().min(1e6));
        _ = (contrast(&x, &y), benchmath::contrasts::log_mean(a, b), benchmath::shares::share(&x, &y, a));
        _ = benchmath::growth::growth(&x, std::slice::from_ref(&x), &y, a);
        let measured = benchmath::bisect::Measured { commit: n, differences: y.clone() };
        let probabilities = benchmath::bisect::posterior(&x, &[measured], a);
        _ = (benchmath::bisect::next_commit(&probabilities, &[]), benchmath::bisect::credible_set(&probabilities, b));
        _ = bias_corrected_interval(&x, |values| values[0], 20, a, 1);
    }
}
