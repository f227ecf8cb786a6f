use crate::vectors::{assert_relative, items, load, number, numbers};

#[test]
fn dips_of_the_vectors() {
    for case in items(&load("dip")["cases"]) {
        let dip = benchmath::dip(&numbers(&case["x"])).unwrap();
        assert_relative(dip, number(&case["dip"]), 1e-9, &case["kind"].to_string());
    }
}
