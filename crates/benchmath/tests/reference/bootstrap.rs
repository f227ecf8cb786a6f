use benchmath::bias_corrected::{bias_corrected_interval, resampled};
use benchmath::median;
use benchmath::summary::trimmed_mean;

use crate::vectors::{assert_relative, items, load, number, numbers};

#[test]
fn bias_corrected_intervals() {
    for case in items(&load("bca")["cases"]) {
        let set = case["data_set"].as_str().unwrap();
        let values = numbers(&load("two_sample_tests")["cases"][set]["paired_log"]["d"]);
        let name = case["stat"].as_str().unwrap();
        let statistic = |values: &[f64]| match name {
            "mean" => values.iter().sum::<f64>() / values.len() as f64,
            "median" => median(values).unwrap(),
            _ => trimmed_mean(values, 0.2).unwrap(),
        };
        let (resamples, seed) = (number(&case["B"]) as usize, number(&case["seed"]) as u64);
        let first = resampled(&values, statistic, 5, seed);
        for (got, want) in first.iter().zip(numbers(&case["first_5"])) {
            assert_relative(*got, want, 1e-12, name);
        }
        let got = bias_corrected_interval(&values, statistic, resamples, 0.95, seed).unwrap();
        let want = ["estimate", "lo", "hi", "percentile_lo", "percentile_hi", "z0", "a"];
        let got = [
            got.estimate,
            got.low,
            got.high,
            got.percentile_low,
            got.percentile_high,
            got.bias,
            got.acceleration,
        ];
        for (key, got) in want.into_iter().zip(got) {
            let want = number(&case[key]);
            assert!((got - want).abs() <= 1e-9 * want.abs() + 1e-15, "{set} {name} {key}: {got} {want}");
        }
    }
}
