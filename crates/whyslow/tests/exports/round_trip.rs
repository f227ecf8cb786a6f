//! What is written for other tools is read back by the readers of their files.

use whyslow::model::{DataSet, Recording, Schedule};
use whyslow::peers::{Options, read};
use whyslow::report::views;

use super::samples::recording;
use super::write;

fn pair() -> Recording {
    recording(&[("old", 0.010), ("grep 'a|b' \"x\"", 0.012)])
}

fn read_back(form: &str, text: &str) -> Vec<DataSet> {
    read(&format!("file.{form}"), text.as_bytes(), &Options::default()).unwrap()
}

/// Measured values of a metric in one variant, in order.
fn values(recording: &Recording, variant: usize, metric: &str) -> Vec<f64> {
    let index = recording.metric_index(metric).unwrap();
    let runs = recording.runs.iter().filter(|run| run.variant == variant && run.block >= 1);
    runs.filter_map(|run| run.values.get(index)).collect()
}

/// The set that holds these values, give or take the rounding of a change of unit.
fn holder<'a>(sets: &'a [DataSet], values: &[f64]) -> Option<&'a DataSet> {
    let is_close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-15 * b.abs();
    sets.iter().find(|set| set.values.len() == values.len() && set.values.iter().zip(values).all(is_close))
}

#[test]
fn every_value_comes_back_under_its_name() {
    let recording = pair();
    for (form, metrics) in [
        ("hyperfine-json", &["wall_s", "peak_rss_bytes"][..]),
        ("hyperfine-json2", &["wall_s", "cpu_s", "user_s", "system_s", "peak_rss_bytes"]),
        ("go", &["wall_s", "cpu_s", "user_s", "system_s", "peak_rss_bytes"]),
    ] {
        let sets = read_back(form, &write(form, &recording));
        for (variant, name) in ["old", "grep"].iter().enumerate() {
            for metric in metrics {
                let of_variant: Vec<DataSet> =
                    sets.iter().filter(|set| set.name.contains(name)).cloned().collect();
                let set = holder(&of_variant, &values(&recording, variant, metric));
                let unit = recording.metric_unit(metric);
                assert_eq!(set.and_then(|set| set.metric.unit), unit, "{form} {name} {metric}: {sets:?}");
            }
        }
    }
}

#[test]
fn the_summary_comes_back_as_what_was_printed() {
    let recording = pair();
    let sets = read_back("csv", &write("csv-summary", &recording));
    let mean = benchmath::summary::mean(&values(&recording, 1, "wall_s"));
    let set = sets.iter().find(|set| set.name == "grep 'a|b' \"x\"").unwrap();
    assert!(set.printed.contains(&("mean".into(), mean)), "{set:?}");
}

#[test]
fn what_comes_back_was_not_taken_side_by_side_as_far_as_its_form_tells() {
    let recording = recording(&[("old", 0.010), ("new", 0.020)]);
    for form in ["hyperfine-json", "hyperfine-json2", "go"] {
        let sets = read_back(form, &write(form, &recording));
        assert!(sets.iter().all(|set| set.schedule != Schedule::Interleaved));
        for row in views::VIEWS {
            let text = (row.show)(&sets, &views::Options::default()).replace(views::UNSAFE, "");
            assert!(!text.contains("faster") && !text.contains("slower"), "{form} {}:\n{text}", row.name);
        }
    }
}

#[test]
fn lines_of_benchmark_pm_come_back_as_times() {
    let recording = pair();
    let options = views::Options { compat: true, ..views::Options::default() };
    let text = views::show_recording(views::view("timestr").unwrap(), &recording, &options);
    let sets = read_back("benchmark-pm", &text);
    let user: f64 = values(&recording, 0, "user_s").iter().sum();
    let times = sets.iter().find(|set| set.name == "old").and_then(|set| set.perl_times).unwrap();
    assert_eq!(times.iterations, 12.0);
    assert!((times.children_user_s - user).abs() <= 0.005, "{times:?}"); // printed with two decimals
}
