use benchmath::multiplicity::{benjamini_hochberg, bonferroni, holm};

use crate::vectors::{assert_relative, items, load, numbers};

#[test]
fn adjusted_p_values() {
    for case in items(&load("multiplicity")["cases"]) {
        let p_values = numbers(&case["p"]);
        let adjusted = [
            ("holm", holm(&p_values)),
            ("bh", benjamini_hochberg(&p_values)),
            ("bonferroni", bonferroni(&p_values)),
        ];
        for (key, got) in adjusted {
            for (got, want) in got.iter().zip(numbers(&case[key])) {
                assert_relative(*got, want, 1e-12, key);
            }
        }
    }
}
