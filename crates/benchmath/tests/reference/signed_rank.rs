use benchmath::shift;
use benchmath::signed_rank::{critical_k, lower_tail, p_value};

use crate::vectors::{assert_relative, entries, items, load, number, numbers};

#[test]
fn critical_values() {
    for row in items(&load("signed_rank")["critical_k"]) {
        let alpha = number(&row["alpha"]);
        for (n, k) in entries(&row["k"]) {
            let got = critical_k(n.parse().unwrap(), alpha).map_or(-1.0, |k| k as f64);
            assert_eq!(got, number(k), "n {n} alpha {alpha}");
        }
    }
}

#[test]
fn estimates_and_intervals() {
    for case in items(&load("signed_rank")["cases"]) {
        let differences = numbers(&case["d"]);
        for (alpha, interval) in entries(&case["ci"]) {
            let got = shift(&differences, alpha.parse().unwrap()).unwrap();
            let about = format!("{} at {alpha}", case["name"]);
            assert_relative(got.estimate, number(&case["hl"]), 1e-9, &about);
            assert_relative(got.low, number(&interval["lo"]), 1e-9, &about);
            assert_relative(got.high, number(&interval["hi"]), 1e-9, &about);
        }
    }
}

/// Without averages of exactly 0 there is only one p-value. With them the vectors count each as half on both
/// sides, which can contradict the interval; ours counts them on both sides and so is never the smaller.
#[test]
fn p_values() {
    for case in items(&load("signed_rank")["cases"]) {
        let got = p_value(&numbers(&case["d"])).unwrap();
        let want = number(&case["p_exact_walsh_floor"]);
        if case["name"] == "ties_zeros" {
            assert!(got > want);
        } else {
            assert_relative(got, want, 1e-12, &case["name"].to_string());
        }
    }
}

/// R's exact quantiles: the smallest V with `P(<= V) >= p`.
#[test]
fn exact_tails() {
    for row in items(&load("quantiles")["signed_rank_quantile"]) {
        let [n, p, v] = ["n", "p", "V"].map(|key| number(&row[key]));
        let about = row.to_string();
        assert_relative(lower_tail(n as usize, v as u64), number(&row["cdf_at"]), 1e-9, &about);
        let k = critical_k(n as usize, 2.0 * p).map_or(-1.0, |k| k as f64);
        let reached = number(&row["cdf_at"]) <= p;
        assert_eq!(k, if reached { v } else { v - 1.0 }, "{about}");
    }
}
