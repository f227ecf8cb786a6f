use benchmath::mann_whitney::{approximate_p, critical_k, shift_between, u_test};
use benchmath::ministat::ministat;
use benchmath::ratio_of_means::ratio_of_means;
use benchmath::t_tests::{TTest, equivalence, one_sample, pooled, welch};
use benchmath::trimmed;
use serde_json::Value;

use crate::vectors::{assert_relative, entries, items, load, number, numbers};

fn each_case(check: impl Fn(&str, &Value, &[f64], &[f64])) {
    for (name, case) in entries(&load("two_sample_tests")["cases"]) {
        check(name, case, &numbers(&case["x"]), &numbers(&case["y"]));
    }
}

fn assert_test(got: TTest, want: &Value, name: &str) {
    for (key, value) in [("t", got.t), ("df", got.freedom), ("p", got.p)] {
        assert_relative(value, number(&want[key]), 1e-9, &format!("{name} {key}"));
    }
    let scale = number(&want["hi"]) - number(&want["lo"]);
    for (key, value) in [("lo", got.low), ("hi", got.high)] {
        assert!((value - number(&want[key])).abs() <= 1e-9 * scale, "{name} {key}: {value}");
    }
}

#[test]
fn welch_and_pooled_t() {
    each_case(|name, case, x, y| {
        assert_test(welch(x, y, 0.95).unwrap(), &case["welch"], name);
        assert_test(pooled(x, y, 0.95).unwrap(), &case["pooled"], name);
        assert_relative(welch(x, y, 0.99).unwrap().low, number(&case["welch"]["lo99"]), 1e-9, name);
    });
}

#[test]
fn ratios_of_means() {
    each_case(|name, case, x, y| {
        let want = &case["fieller_ratio_of_means"];
        let ratio = ratio_of_means(x, y, 0.95).unwrap();
        for (key, got) in [("ratio", ratio.estimate), ("lo", ratio.low), ("hi", ratio.high)] {
            assert_relative(got, number(&want[key]), 1e-9, &format!("{name} {key}"));
        }
    });
}

/// To the six digits that it prints.
#[test]
fn what_ministat_prints() {
    let vectors = load("ministat");
    for case in items(&vectors["results"]) {
        let set = &vectors["sets"][case["set"].as_str().unwrap()];
        let got = ministat(&numbers(&set["x"]), &numbers(&set["y"]), number(&case["confidence"])).unwrap();
        let about = format!("{} {}", case["set"], case["confidence"]);
        assert_eq!(got.is_different, case["difference"].as_bool().unwrap(), "{about}");
        if got.is_different {
            assert_relative(got.difference, number(&case["diff"]), 5e-6, &about);
            assert_relative(got.error, number(&case["err"]), 5e-6, &about);
            assert_relative(got.difference_percent, number(&case["pct"]), 5e-6, &about);
            assert_relative(got.error_percent, number(&case["pct_err"]), 5e-6, &about);
            assert_relative(got.pooled_deviation, number(&case["pooled_s"]), 5e-6, &about);
        }
    }
}

#[test]
fn yuen() {
    each_case(|name, case, x, y| {
        let test = trimmed::yuen(x, y, 0.2, 0.95).unwrap();
        assert_relative(test.difference, number(&case["yuen20"]["diff"]), 1e-9, name);
        assert_test(test, &case["yuen20"], name);
    });
    for case in items(&load("signed_rank")["cases"]) {
        let test = trimmed::one_sample(&numbers(&case["d"]), 0.2, 0.95).unwrap();
        assert_relative(test.t, number(&case["yuen20_one_sample"]["t"]), 1e-9, "one sample");
        assert_relative(test.low, number(&case["yuen20_one_sample"]["lo"]), 1e-9, "one sample");
    }
}

#[test]
fn mann_whitney() {
    each_case(|name, case, x, y| {
        let test = u_test(x, y).unwrap();
        assert_relative(test.u, number(&case["mwu_normal_cc"]["U_y"]), 1e-12, name);
        let with = approximate_p(x, y, true).unwrap();
        assert_relative(with, number(&case["mwu_normal_cc"]["p"]), 1e-9, name);
        let without = approximate_p(x, y, false).unwrap();
        assert_relative(without, number(&case["mwu_normal_nocc"]["p"]), 1e-9, name);
        assert_eq!(test.exact, case.get("mwu_exact").is_some());
        if let Some(exact) = case.get("mwu_exact") {
            assert_relative(test.p, number(&exact["p"]), 1e-9, name);
        }
    });
}

#[test]
fn shifts_between_two_samples() {
    each_case(|name, case, x, y| {
        let shift = shift_between(x, y, 0.05).unwrap();
        assert_relative(shift.estimate, number(&case["hl_median_of_differences"]), 1e-9, name);
        if let Some(exact) = case.get("mwu_exact") {
            assert_relative(shift.low, number(&exact["lo"]), 1e-9, name);
            assert_relative(shift.high, number(&exact["hi"]), 1e-9, name);
        }
    });
}

#[test]
fn mann_whitney_quantiles() {
    for row in items(&load("quantiles")["mwu_quantile"]) {
        let [m, n, p, u, tail] = ["m", "n", "p", "U", "cdf_at"].map(|key| number(&row[key]));
        let k = critical_k(m as usize, n as usize, 2.0 * p).map_or(-1.0, |k| k as f64);
        assert_eq!(k, if tail <= p { u } else { u - 1.0 }, "{row}");
    }
}

#[test]
fn paired_differences() {
    each_case(|name, case, _, _| {
        let Some(paired) = case.get("paired_log") else { return };
        let differences = numbers(&paired["d"]);
        assert_test(one_sample(&differences, 0.95).unwrap(), &paired["t"], name);
        for (key, margin) in [("tost_1", 1.01_f64), ("tost_2", 1.02), ("tost_5", 1.05)] {
            let test = equivalence(&differences, margin.ln()).unwrap();
            let want = &paired[key];
            assert_relative(test.p_lower, number(&want["p_lower"]), 1e-9, name);
            assert_relative(test.p_upper, number(&want["p_upper"]), 1e-9, name);
            assert_relative(test.p, number(&want["p"]), 1e-9, name);
        }
    });
}

#[test]
fn paired_signed_ranks() {
    each_case(|name, case, _, _| {
        let Some(paired) = case.get("paired_log") else { return };
        let differences = numbers(&paired["d"]);
        for (key, alpha) in
            [("signed_rank_exact_90", 0.1), ("signed_rank_exact_95", 0.05), ("signed_rank_exact_99", 0.01)]
        {
            let shift = benchmath::shift(&differences, alpha).unwrap();
            assert_relative(shift.estimate, number(&paired["hl_median_of_walsh"]), 1e-9, name);
            if let Some(exact) = paired.get(key) {
                assert_relative(shift.low, number(&exact["lo"]), 1e-9, name);
                assert_relative(shift.high, number(&exact["hi"]), 1e-9, name);
            }
        }
    });
}
