use benchmath::distributions::{chi_square, fisher, normal, student};

use crate::vectors::{assert_relative, items, load, number};

fn each(file: &str, table: &str, check: impl Fn(&dyn Fn(&str) -> f64, &str)) {
    let rows = load(file);
    for row in items(&rows[table]) {
        check(&|key| number(&row[key]), &row.to_string());
    }
}

#[test]
fn normal_quantiles() {
    each("quantiles", "normal", |get, about| {
        assert_relative(normal::quantile(get("p")), get("z"), 1e-9, about);
    });
}

#[test]
fn normal_tails() {
    each("quantiles", "normal_cdf", |get, about| {
        assert_relative(normal::above(get("z")), get("upper"), 1e-9, about);
        // R printed the far lower tail as 0.
        let lower = normal::below(get("z"));
        assert!(lower < 1e-300 || (lower / get("p") - 1.0).abs() < 1e-9, "{about}: {lower:e}");
    });
}

#[test]
fn student_quantiles() {
    each("quantiles", "student_t_quantile", |get, about| {
        assert_relative(student::quantile(get("p"), get("df")), get("t"), 1e-8, about);
    });
}

/// Where SciPy itself gave up (3 to 10 degrees of freedom at 1e-300) there is nothing to compare with.
#[test]
fn extreme_student_quantiles() {
    for row in items(&load("t_extreme_scipy")["t_ppf"]) {
        if !row["t"].is_null() {
            let got = student::quantile(number(&row["p"]), number(&row["df"]));
            assert_relative(got, number(&row["t"]), 1e-8, &row.to_string());
        }
    }
}

#[test]
fn student_tails() {
    each("quantiles", "student_t_cdf", |get, about| {
        let got = student::above(-get("t"), get("df"));
        assert!(got < 1e-300 || (got / get("p") - 1.0).abs() < 1e-9, "{about}: {got:e}");
    });
}

#[test]
fn chi_square_quantiles() {
    each("quantiles", "chisq_quantile", |get, about| {
        assert_relative(chi_square::quantile(get("p"), get("df")), get("x"), 1e-9, about);
    });
}

#[test]
fn fisher_tails() {
    each("quantiles", "f_cdf", |get, about| {
        assert_relative(fisher::above(get("x"), get("df1"), get("df2")), get("upper"), 1e-9, about);
    });
}
