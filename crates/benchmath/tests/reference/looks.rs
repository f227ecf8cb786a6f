use benchmath::distributions::normal;
use benchmath::{look_schedule, per_look_alpha};

use crate::vectors::{assert_relative, entries, items, load, number};

/// The table's bounds were searched to four decimals, from the careful side; the levels follow from them.
#[test]
fn the_table_of_levels_per_look() {
    for (_, row) in entries(&load("group_sequential_pocock")["table"]) {
        let looks: Vec<usize> = items(&row["looks"]).iter().map(|look| number(look) as usize).collect();
        assert_eq!(look_schedule(10, 1.5, *looks.last().unwrap()), looks);
        for (alpha, bound) in entries(&row["bounds"]) {
            let got = per_look_alpha(&looks, alpha.parse().unwrap());
            let about = format!("{} looks at {alpha}", looks.len());
            let z = -normal::quantile(got / 2.0);
            assert!((z - number(&bound[0])).abs() < 1e-4, "{about}: z {z}");
            assert_relative(got, number(&bound[1]), 2e-4, &about);
        }
    }
}

/// Pocock's published constants for equally spaced looks at 5 %.
#[test]
fn equally_spaced_looks() {
    for (count, published) in [(2, 2.178), (3, 2.289), (4, 2.361), (5, 2.413), (10, 2.555)] {
        let looks: Vec<usize> = (1..=count).map(|look| look * 20).collect();
        let z = -normal::quantile(per_look_alpha(&looks, 0.05) / 2.0);
        assert!((z - published).abs() < 6e-4, "{count} looks: {z}");
    }
}
