//! The tables of benchstat and the blocks of hyperfine.

use whyslow::model::{DataSet, Origin, Schedule};
use whyslow::report::views::{Options, benchstat, hyperfine};

use super::samples::times;

fn of_file(file: &str, name: &str, values: &[f64]) -> DataSet {
    DataSet {
        schedule: Schedule::Blocked,
        origin: Origin { file: file.into(), form: "go".into(), line: 1 },
        ..times(name, values)
    }
}

fn around(centre: f64) -> Vec<f64> {
    (0..10).map(|k| centre * (1.0 + 0.01 * f64::from((k * 7) % 5 - 2))).collect()
}

#[test]
fn files_are_columns_and_only_matched_rows_make_the_mean() {
    let sets = [
        of_file("old.txt", "Encode", &around(0.010)),
        of_file("old.txt", "Decode", &around(0.020)),
        of_file("old.txt", "Gone", &around(5.0)),
        of_file("new.txt", "Encode", &around(0.005)),
        of_file("new.txt", "Decode", &around(0.020)),
        of_file("new.txt", "New", &around(7.0)),
    ];
    let text = benchstat(&sets, &Options::default());
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap_or_default().to_owned();
    assert!(line("Encode").contains("-50.00% (p=0.000 n=10)"), "{text}");
    assert!(line("Decode").contains("~ (p=1.000 n=10)"), "{text}");
    assert!(line("geomean").contains("14.1 ms") && line("geomean").contains("10.0 ms"), "{text}");
    assert!(line("geomean").contains("-29.29%"), "{text}");
    assert!(
        text.contains("over the 2 rows that every column has, above zero; without Gone, New\n"),
        "{text}"
    );
    assert!(text.contains("unsafe against drift: cannot say faster or slower"), "{text}");
    assert!(!line("Encode").contains("faster"), "{text}");
}

#[test]
fn sets_taken_side_by_side_are_columns_and_get_a_verdict() {
    let text = benchstat(&[times("old", &around(0.010)), times("new", &around(0.012))], &Options::default());
    assert!(text.lines().next().unwrap().starts_with("wall_s  │ old"), "{text}");
    assert!(text.contains("+20.00% (p=0.002 n=10)  slower"), "{text}");
}

#[test]
fn files_of_plain_numbers_are_compared_with_each_other() {
    let sets =
        [super::samples::numbers("a.txt", &around(1.0)), super::samples::numbers("b.txt", &around(2.0))];
    let text = benchstat(&sets, &Options::default());
    assert!(text.contains("│ a.txt") && text.contains("+100.00% (p=0.000 n=10)  unsafe ¹"), "{text}");
}

#[test]
fn a_drop_to_zero_is_a_hundred_per_cent_and_a_rise_from_zero_none() {
    let down = benchstat(&[times("old", &[5.0; 10]), times("new", &[0.0; 10])], &Options::default());
    assert!(down.contains("-100.00%"), "{down}");
    let up = benchstat(&[times("old", &[0.0; 10]), times("new", &[5.0; 10])], &Options::default());
    assert!(up.contains("? (p=0.000 n=10)"), "{up}");
}

#[test]
fn equal_values_are_called_equal() {
    let text = benchstat(&[times("old", &[5.0; 10]), times("new", &[5.0; 10])], &Options::default());
    assert!(text.contains("~ (p=1.000 n=10) ¹  identical\n¹ all values are equal\n"), "{text}");
}

#[test]
fn blocks_look_like_hyperfines() {
    let user = |name: &str, values: &[f64]| {
        let mut set = times(name, values);
        set.metric.name = "user_s".into();
        set
    };
    let system = |name: &str, values: &[f64]| {
        let mut set = times(name, values);
        set.metric.name = "system_s".into();
        set
    };
    let sets = [
        times("sleep 0.02", &[0.0198, 0.0206, 0.0214]),
        times("sleep 1", &[1.011]),
        user("sleep 0.02", &[0.0012]),
        system("sleep 0.02", &[0.0002]),
        user("sleep 1", &[0.001]),
        system("sleep 1", &[0.0]),
    ];
    let text = hyperfine(&sets, &Options { compat: true, ..Options::default() });
    let expected = "\
Benchmark 1: sleep 0.02
  Time (mean ± σ):      20.6 ms ±   0.8 ms    [User: 1.2 ms, System: 0.2 ms]
  Range (min … max):    19.8 ms …  21.4 ms    3 runs
 
Benchmark 2: sleep 1
  Time (abs ≡):         1.011 s               [User: 0.001 s, System: 0.000 s]
 
Summary
  sleep 0.02 ran
   49.08 times faster than sleep 1
";
    assert_eq!(text, expected);
}

#[test]
fn the_summary_holds_verdicts_instead_of_deviations() {
    let sets = [times("old", &around(0.010)), times("new", &around(0.008))];
    let text = hyperfine(&sets, &Options::default());
    assert!(text.ends_with("\n  new: 1.25 [1.25, 1.25] times as fast as old: faster\n"), "{text}");
    assert!(!text.contains("times faster than"), "{text}");
    let one_after_the_other = [of_file("f", "old", &around(0.010)), of_file("f", "new", &around(0.008))];
    let text = hyperfine(&one_after_the_other, &Options::default());
    assert!(text.contains("unsafe against drift"), "{text}");
}
