use benchmath::growth::{Growth, exponent_difference, growth};
use benchmath::steady::{Steadiness, steady_start};

use crate::vectors::{entries, items, load, numbers};

/// The first size of each program is 0: the floor.
fn measured_growth(program: &str) -> Growth {
    let vectors = load("growth_perl");
    let sizes = numbers(&vectors[format!("{program}_sizes")]);
    let rows: Vec<Vec<f64>> = items(&vectors[program]).iter().map(numbers).collect();
    let floors: Vec<f64> = rows.iter().map(|row| row[0]).collect();
    let blocks: Vec<&[f64]> = rows.iter().map(|row| &row[1..]).collect();
    growth(&sizes[1..], &blocks, &floors, 0.05).unwrap()
}

#[test]
fn exponents_of_real_programs() {
    for (program, exponent) in [("concat", 0.990), ("prepend", 1.934), ("sort", 1.181)] {
        let got = measured_growth(program);
        println!("{program}: {got:?}");
        assert!((got.exponent.estimate - exponent).abs() < 0.03, "{program}: {got:?}");
        assert!(got.exponent.high - got.exponent.low < 0.1);
    }
    let difference = exponent_difference(&measured_growth("concat"), &measured_growth("prepend"), 0.05);
    let difference = difference.unwrap();
    assert!(difference.low > 0.9 && difference.high < 1.0, "{difference:?}");
}

#[test]
fn warm_ups_of_real_interpreters() {
    let vectors = load("warm_up");
    let mut never = Vec::new();
    for (name, values) in entries(&vectors).filter(|(name, _)| *name != "provenance") {
        let found = steady_start(&numbers(values));
        println!("{name}: {found:?}");
        match found {
            Steadiness::From { .. } => {}
            Steadiness::Never { .. } => never.push(name),
            Steadiness::Unknown => panic!("{name} is long enough"),
        }
    }
    assert_eq!(never.len(), 2, "{never:?}");
}
