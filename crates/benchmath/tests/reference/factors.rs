use benchmath::contrasts::{contrasts, interaction_weights, shapley_weights, total_weights, what_if_weights};
use benchmath::shares::share;
use benchmath::t_tests::one_sample;
use benchmath::{line_fit, shift};

use crate::vectors::{assert_relative, items, load, number, numbers};

fn log_blocks(file: &str) -> Vec<Vec<f64>> {
    let times = load(file);
    items(&times["times"]).iter().map(|block| numbers(block).into_iter().map(f64::ln).collect()).collect()
}

#[test]
fn contrasts_of_a_two_by_two_design() {
    let blocks = log_blocks("factorial_2x2");
    let wanted = load("factorial_2x2");
    let weights = [
        ("version_shapley", shapley_weights(2, 1)),
        ("malloc_shapley", shapley_weights(2, 0)),
        ("total", total_weights(2)),
        ("interaction", interaction_weights(2, 0, 1)),
    ];
    for (name, weights) in weights {
        let want = &wanted["per_block_contrasts"][name];
        assert_eq!(weights, numbers(&want["weights"]), "{name}");
        let values = contrasts(&blocks, &weights);
        let ranks = shift(&values, 0.05).unwrap();
        let t = one_sample(&values, 0.95).unwrap();
        let got = [t.difference, t.low, t.high, ranks.estimate, ranks.low, ranks.high];
        for (key, got) in ["mean", "t_lo", "t_hi", "hl", "sr_lo", "sr_hi"].into_iter().zip(got) {
            assert_relative(got, number(&want[key]), 1e-9, &format!("{name} {key}"));
        }
    }
}

/// Fieller's interval of the same share of means is of the same size here, where nothing is heavy-tailed.
#[test]
fn a_share_near_fiellers() {
    let blocks = log_blocks("factorial_2x2");
    let wanted = load("factorial_2x2");
    let total = contrasts(&blocks, &total_weights(2));
    let share = share(&contrasts(&blocks, &shapley_weights(2, 0)), &total, 0.05).unwrap();
    for (key, got) in [("share", share.estimate), ("lo", share.low), ("hi", share.high)] {
        assert_relative(got, number(&wanted["malloc_share_fieller"][key]), 0.01, key);
    }
}

/// Python 3.8 with malloc against 3.12 with its own allocator, really measured.
#[test]
fn shares_of_a_real_matrix() {
    let blocks = log_blocks("matrix_python");
    let total = contrasts(&blocks, &total_weights(2));
    let whole = shift(&total, 0.05).unwrap();
    assert!((whole.estimate.exp() - 1.253).abs() < 0.002, "{whole:?}");
    let version = share(&contrasts(&blocks, &shapley_weights(2, 1)), &total, 0.05).unwrap();
    assert!((version.estimate - 0.61).abs() < 0.01, "{version:?}");
    assert!(version.low > 0.56 && version.high < 0.65, "{version:?}");
    let allocator = share(&contrasts(&blocks, &shapley_weights(2, 0)), &total, 0.05).unwrap();
    assert!((allocator.estimate + version.estimate - 1.0).abs() < 0.01, "{allocator:?}");
    let interaction = shift(&contrasts(&blocks, &interaction_weights(2, 0, 1)), 0.05).unwrap();
    assert!((interaction.estimate.exp() - 1.064).abs() < 0.002, "{interaction:?}");
    let what_if = share(&contrasts(&blocks, &what_if_weights(2, 1)), &total, 0.05).unwrap();
    assert!(what_if.estimate > version.estimate);
}

#[test]
fn a_line_through_logarithms() {
    let wanted = load("loglog_fit");
    let ln = |key: &str| numbers(&wanted[key]).into_iter().map(f64::ln).collect::<Vec<f64>>();
    let line = line_fit::fit(&ln("n"), &ln("t")).unwrap();
    let check = |got: f64, want: &serde_json::Value| assert_relative(got, number(want), 1e-9, "line");
    check(line.slope, &wanted["slope"]);
    check(line.intercept, &wanted["intercept"]);
    check(line.slope_error, &wanted["se_slope"]);
    check(line.intercept_error, &wanted["se_intercept"]);
    check(line.deviation, &wanted["sigma"]);
    check(line.r_squared, &wanted["r2"]);
    let at = 640_000_f64.ln();
    let intervals = [
        (line.slope_interval(0.95), &wanted["slope_lo"], &wanted["slope_hi"]),
        (line.intercept_interval(0.95), &wanted["intercept_lo"], &wanted["intercept_hi"]),
        (line.interval_at(at, 0.95), &wanted["pred_at_640000"]["lo"], &wanted["pred_at_640000"]["hi"]),
        (
            line.new_value_interval_at(at, 0.95),
            &wanted["pred_interval_at_640000"]["lo"],
            &wanted["pred_interval_at_640000"]["hi"],
        ),
    ];
    for ((low, high), want_low, want_high) in intervals {
        check(low, want_low);
        check(high, want_high);
    }
}
