//! The ministat view against what Debian's ministat (20150715) printed, and against the program itself.

use std::process::Command;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;
use whyslow::model::DataSet;
use whyslow::report::views::{MINISTAT_LEVELS, Options, ministat};

use super::samples::{cases, numbers};

const PROGRAM: &str = "/usr/bin/ministat";

fn compat(percent: f64) -> Options {
    Options { compat: true, confidence: percent / 100.0, ..Options::default() }
}

fn values(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn the_recorded_outputs_are_reproduced() {
    let vectors: Value = serde_json::from_str(include_str!("../data/views/ministat.json")).unwrap();
    let results = vectors["results"].as_array().unwrap();
    assert_eq!(results.len(), 42);
    for result in results {
        let set = &vectors["sets"][result["set"].as_str().unwrap()];
        let sets = [numbers("x", &values(&set["x"])), numbers("y", &values(&set["y"]))];
        let percent: f64 = result["confidence"].as_str().unwrap().parse().unwrap();
        let options = Options { separate_bars: true, ..compat(percent) };
        assert_eq!(
            ministat(&sets, &options),
            result["stdout_n"].as_str().unwrap(),
            "{} {percent}",
            result["set"]
        );
    }
}

#[test]
fn the_manuals_example_at_another_width() {
    let sets = [
        numbers("iguana", &[50.0, 200.0, 150.0, 400.0, 750.0, 400.0, 150.0]),
        numbers("chameleon", &[150.0, 400.0, 720.0, 500.0, 930.0]),
    ];
    let options = Options { separate_bars: true, width: 60, ..compat(80.0) };
    let text = ministat(&sets, &options);
    assert!(text.contains("\n|             |________________M__A___________________|      |\n"), "{text}");
    assert!(
        text.ends_with("\t240 +/- 212.215\n\t80% +/- 70.7384%\n\t(Student's t, pooled s = 264.159)\n"),
        "{text}"
    );
}

#[derive(Clone, Debug)]
struct Case {
    sets: Vec<Vec<f64>>,
    level: usize,
    width: usize,
    flags: [bool; 3],
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (-20..60_i32).prop_map(|k| f64::from(k) / 10.0),
        2 => 0.001..1000.0_f64,
        1 => (0..1000_i32).prop_map(|k| 1e9 + f64::from(k) / 10.0),
        1 => Just(0.0),
        1 => (-5.0..9.0_f64).prop_map(|power| 10f64.powf(power)),
    ]
}

fn set() -> impl Strategy<Value = Vec<f64>> {
    let of = |values: BoxedStrategy<f64>| {
        prop_oneof![
            4 => prop::collection::vec(values.clone(), 3..12),
            2 => prop::collection::vec(values.clone(), 12..60),
            1 => prop::collection::vec(values, 60..130),
        ]
    };
    let around = (1..8_i32)
        .prop_map(f64::from)
        .prop_flat_map(move |centre| of((-9..10_i32).prop_map(move |k| centre + f64::from(k) / 8.0).boxed()));
    prop_oneof![3 => around, 2 => of(value().boxed()), 1 => (value(), 3..6_usize).prop_map(|(v, n)| vec![v; n])]
}

fn case() -> impl Strategy<Value = Case> {
    (prop::collection::vec(set(), 1..8), 0..6_usize, 2..120_usize, any::<[bool; 3]>())
        .prop_map(|(sets, level, width, flags)| Case { sets, level, width, flags })
}

fn real(case: &Case) -> String {
    let directory = tempfile::tempdir().unwrap();
    let mut command = Command::new(PROGRAM);
    command.current_dir(directory.path());
    command.args(["-c", &MINISTAT_LEVELS[case.level].to_string(), "-w", &case.width.to_string()]);
    let flags = ["-s", "-A", "-n"].iter().zip(case.flags);
    command.args(flags.filter(|(_, is_set)| *is_set).map(|(flag, _)| flag));
    for (place, values) in case.sets.iter().enumerate() {
        let text: String = values.iter().map(|value| format!("{value}\n")).collect();
        std::fs::write(directory.path().join(format!("s{place}")), text).unwrap();
        command.arg(format!("s{place}"));
    }
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

fn ours(case: &Case) -> String {
    let sets: Vec<DataSet> =
        case.sets.iter().enumerate().map(|(place, values)| numbers(&format!("s{place}"), values)).collect();
    let [separate_bars, no_plot, only_statistics] = case.flags;
    let options = Options {
        width: case.width,
        separate_bars,
        plot: !no_plot,
        only_statistics,
        ..compat(MINISTAT_LEVELS[case.level])
    };
    ministat(&sets, &options)
}

#[test]
fn random_sets_look_as_the_program_shows_them() {
    if !std::path::Path::new(PROGRAM).exists() {
        return;
    }
    let mut runner = TestRunner::new(cases(200));
    let outcome = runner.run(&case(), |mut case| {
        // Two of three cases show everything.
        case.flags[1] &= case.width % 3 == 0;
        case.flags[2] &= case.width % 3 == 0;
        prop_assert_eq!(ours(&case), real(&case));
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn exact_arithmetic_is_the_default_and_notes_tell_where_it_matters() {
    let text =
        ministat(&[numbers("x", &[1.0, 2.0, 3.0, 4.0]), numbers("y", &[5.0, 6.0, 7.0])], &Options::default());
    assert!(
        text.contains("x   4             1             4           2.5           2.5     1.2909944\n"),
        "{text}"
    );
    assert!(text.contains(
        "note: for an even number of values the original calls the upper middle one the median: x 3\n"
    ));

    let large = ministat(&[numbers("x", &[1e9 + 0.1, 1e9 + 0.2, 1e9 + 0.3])], &Options::default());
    assert!(large.contains("   0.099999964\n"), "{large}"); // as exact as these numbers are
    assert!(large.contains("note: the original loses the digits of the deviation here: x -nan\n"), "{large}");
}

#[test]
fn the_last_confidence_level_is_what_it_says() {
    let values = |centre: f64| (0..20).map(|k| centre + f64::from(k % 5)).collect::<Vec<f64>>();
    let sets = [numbers("x", &values(10.0)), numbers("y", &values(20.0))];
    let options = Options { confidence: 0.995, ..Options::default() };
    let error = |text: &str| -> f64 {
        let line = text.lines().find(|line| line.contains("+/-")).unwrap();
        line.split("+/- ").nth(1).unwrap().parse().unwrap()
    };
    let (exact, original) = (ministat(&sets, &options), ministat(&sets, &compat(99.5)));
    assert!((error(&original) / error(&exact) - 3.319 / 2.980).abs() < 1e-3);
    assert!(exact.contains("because its column for 99.5% holds the values of 99.8%"), "{exact}");
}

#[test]
fn plain_numbers_never_say_faster_or_slower() {
    let sets = [numbers("x", &[1.0, 1.1, 1.2, 1.1, 1.0]), numbers("y", &[2.0, 2.1, 2.2, 2.1, 2.0])];
    let text = ministat(&sets, &Options::default());
    assert!(
        text.contains(
            "y: 1.91 [1.75, 2.10] times x, but not taken side by side; unsafe against drift: cannot say"
        ),
        "{text}"
    );
}

#[test]
fn quiet_leaves_out_names_and_header_and_an_eighth_set_is_mentioned() {
    let sets: Vec<DataSet> = (0..8).map(|k| numbers(&format!("s{k}"), &[1.0, 2.0, f64::from(k)])).collect();
    let options = Options { quiet: true, plot: false, ..Options::default() };
    let text = ministat(&sets, &options);
    assert!(text.starts_with("x   3"), "{text}");
    assert!(text.contains("note: 1 more sets are not shown\n"), "{text}");
}
