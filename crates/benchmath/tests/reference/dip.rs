use benchmath::{SplitMix64, quantile};

use crate::vectors::{assert_relative, entries, items, load, number, numbers};

#[test]
fn dips_of_the_vectors() {
    for case in items(&load("dip")["cases"]) {
        let dip = benchmath::dip(&numbers(&case["x"])).unwrap();
        assert_relative(dip, number(&case["dip"]), 1e-9, &case["kind"].to_string());
    }
}

/// The table was simulated with 4000 samples a size; so is this, from other random numbers.
#[test]
fn dips_of_uniform_samples() {
    let mut random = SplitMix64::new(1);
    for (count, row) in entries(&load("dip")["critical"]) {
        let count: usize = count.parse().unwrap();
        let mut dip = || benchmath::dip(&(0..count).map(|_| random.unit()).collect::<Vec<f64>>()).unwrap();
        let dips: Vec<f64> = (0..4000).map(|_| dip()).collect();
        for (key, p, tolerance) in [("q95", 0.95, 0.03), ("q99", 0.99, 0.06)] {
            assert_relative(
                quantile(&dips, p).unwrap(),
                number(&row[key]),
                tolerance,
                &format!("{count} {key}"),
            );
        }
    }
}
