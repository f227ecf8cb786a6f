//! No view prints what is not a number, and none panics, whatever the data.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use whyslow::model::DataSet;
use whyslow::report::views::{Options, VIEWS};

use super::samples::{cases, numbers, times};

fn assert_readable(text: &str) {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let wrong: Vec<String> =
        words.filter(|word| ["nan", "inf", "infinity"].contains(&word.as_str())).collect();
    assert!(wrong.is_empty(), "{wrong:?} in\n{text}");
}

fn show_all(sets: &[DataSet]) -> Vec<String> {
    let texts: Vec<String> = VIEWS.iter().map(|view| (view.show)(sets, &Options::default())).collect();
    texts.iter().for_each(|text| assert_readable(text));
    texts
}

const SAMPLES: [&[f64]; 8] = [
    &[],
    &[1.5],
    &[1.0, 2.0],
    &[3.0; 10],
    &[0.0; 10],
    &[-1.0, 0.0, 1.0, 2.0, -2.0, 0.0, 0.0],
    &[1e-9, 1e-9, 2e-9, 1e-9, 3e-9, 1e-9, 1e-9],
    &[1e9, 3e9, 2e9, 4e9, 1e9, 1e9, 7e9],
];

#[test]
fn any_two_samples_can_be_shown() {
    show_all(&[]);
    for first in SAMPLES {
        show_all(&[numbers("x", first)]);
        show_all(&[times("x", first)]);
        for second in SAMPLES {
            show_all(&[numbers("x", first), numbers("y", second)]);
            show_all(&[times("x", first), times("y", second)]);
        }
    }
}

#[test]
fn random_samples_can_be_shown() {
    let value = prop_oneof![
        Just(0.0),
        Just(1.0),
        prop::sample::select(vec![f64::NAN, f64::INFINITY, -f64::INFINITY, f64::MAX, f64::MIN_POSITIVE]),
        -1e6..1e6_f64,
        1e-12..1e-6_f64,
        1e6..1e15_f64
    ];
    let sets = prop::collection::vec(prop::collection::vec(value, 0..12), 0..5);
    let strategy = (sets, any::<bool>());
    let outcome = TestRunner::new(cases(200)).run(&strategy, |(sets, interleaved)| {
        let set = |(place, values): (usize, &Vec<f64>)| {
            let name = format!("s{place}");
            if interleaved { times(&name, values) } else { numbers(&name, values) }
        };
        let sets: Vec<DataSet> = sets.iter().enumerate().map(set).collect();
        for view in VIEWS {
            (view.show)(&sets, &Options::default());
        }
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn too_few_runs_and_equal_runs_are_called_that() {
    let few = show_all(&[times("a", &[1.0, 1.1, 1.2]), times("b", &[2.0, 2.1, 2.2])]);
    assert!(few.iter().filter(|text| text.contains("not enough runs")).count() >= 4, "{few:?}");
    let equal = show_all(&[times("a", &[2.0; 8]), times("b", &[2.0; 8])]);
    assert!(equal.iter().filter(|text| text.contains("identical")).count() >= 4, "{equal:?}");
    let zero = show_all(&[times("a", &[0.0; 8]), times("b", &[0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0])]);
    assert!(
        zero.iter().filter(|text| text.contains("no ratio") || text.contains("identical")).count() >= 3,
        "{zero:?}"
    );
}
