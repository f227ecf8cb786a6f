use benchmath::summarize;
use benchmath::summary::lag_one_correlation;

use crate::vectors::{assert_relative, items, load, number, numbers};

/// The certified values are those of the decimal numbers. Two sets (a scatter of 0.1 on a level of 10^6 and
/// 10^7) lose digits already when those are read as binary numbers, which bounds what any program can get.
#[test]
fn certified_univariate_summaries() {
    for set in items(&load("nist_univariate")["sets"]) {
        let values = numbers(&set["data"]);
        let summary = summarize(&values).unwrap();
        let name = set["name"].to_string();
        let level = summary.mean.abs() / summary.deviation;
        let tolerance = 1e-13 + level * f64::EPSILON;
        let want = |key: &str| number(&set["recomputed_50_digits"][key]);
        assert_relative(summary.mean, want("mean"), 1e-14, &name);
        assert_relative(summary.deviation, want("sd"), tolerance, &name);
        let correlation = lag_one_correlation(&values);
        assert!((correlation - want("r1")).abs() < 10.0 * tolerance, "{name}: {correlation}");
    }
}
