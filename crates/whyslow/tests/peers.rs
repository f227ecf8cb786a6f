//! Files of other tools, made by the tools themselves where a README beside them says so, and what is read of them.

#[path = "peers/fuzz.rs"]
mod fuzz;
#[path = "peers/malformed.rs"]
mod malformed;
#[path = "peers/plain.rs"]
mod plain;

use std::path::{Path, PathBuf};

use whyslow::model::{DataSet, Direction, PerlTimes, Schedule, Unit};
use whyslow::peers::{self, Options};

pub fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/peers")
}

pub fn bytes(file: &str) -> Vec<u8> {
    std::fs::read(directory().join(file)).unwrap()
}

fn read(file: &str) -> Vec<DataSet> {
    peers::read(file, &bytes(file), &Options::default()).unwrap()
}

fn find<'a>(sets: &'a [DataSet], name: &str, metric: &str) -> &'a DataSet {
    let mut found = sets.iter().filter(|set| set.name == name && set.metric.name == metric);
    let set = found.next().unwrap_or_else(|| panic!("no {metric} of {name} in {sets:#?}"));
    assert!(found.next().is_none(), "{metric} of {name} is there twice");
    set
}

fn printed(set: &DataSet, name: &str) -> f64 {
    set.printed
        .iter()
        .find(|(printed, _)| printed == name)
        .unwrap_or_else(|| panic!("no {name} in {set:?}"))
        .1
}

fn parameters(set: &DataSet) -> Vec<(&str, &str)> {
    set.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn names(sets: &[DataSet]) -> Vec<(&str, &str)> {
    sets.iter().map(|set| (set.name.as_str(), set.metric.name.as_str())).collect()
}

/// Every fixture is told by its content, in the form that its name begins with.
#[test]
fn forms_are_told_by_content() {
    for (file, form) in [
        ("hyperfine-1.15-parameters.json", "hyperfine-json"),
        ("hyperfine-1.20.json", "hyperfine-json"),
        ("hyperfine-2.json", "hyperfine-json"),
        ("hyperfine-1.15-parameters.csv", "hyperfine-csv"),
        ("hyperfine-2.csv", "hyperfine-csv"),
        ("go.txt", "go"),
        ("go-in-turns.txt", "go"),
        ("pyperf.json", "pyperf"),
        ("pyperf-one.json", "pyperf"),
        ("pyperf-memory.json", "pyperf"),
        ("pytest-data.json", "pytest-benchmark"),
        ("pytest-summary.json", "pytest-benchmark"),
        ("google-benchmark.json", "google-benchmark"),
        ("google-benchmark-old.json", "google-benchmark"),
        ("jmh.json", "jmh"),
        ("criterion/sort/10/new/sample.json", "criterion"),
        ("criterion/sort/10/new/estimates.json", "criterion"),
        ("perf-stat.json", "perf-stat"),
        ("perf-stat-repeated.json", "perf-stat"),
        ("perf-stat-per-cpu.json", "perf-stat"),
        ("perf-stat-repeated.csv", "perf-stat"),
        ("perf-stat-appended.csv", "perf-stat"),
        ("perf-stat-intervals.csv", "perf-stat"),
        ("perf-stat-semicolons.csv", "perf-stat"),
        ("benchmark-pm.txt", "benchmark-pm"),
        ("benchmark-pm-hires.txt", "benchmark-pm"),
        ("benchmark-pm-negative.txt", "benchmark-pm"),
        ("numbers-iguana.txt", "numbers"),
    ] {
        let sets = read(file);
        assert!(
            sets.iter().all(|set| set.origin.form == form && set.origin.file == file),
            "{file}: {sets:#?}"
        );
        let forced = Options { form: Some(form.to_owned()), ..Options::default() };
        let again = peers::read(file, &bytes(file), &forced).unwrap();
        assert_eq!(format!("{again:?}"), format!("{sets:?}"), "{file}");
    }
}

#[test]
fn names_and_titles_of_forms_are_there_once() {
    let names = peers::form_names();
    let distinct: std::collections::HashSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len());
    assert!(peers::forms().iter().all(|form| !form.title.is_empty()));
}

/// The same command twice: nothing in the file says that the second was not measured on a slower machine.
#[test]
fn a_command_measured_against_itself_is_blocked() {
    for file in ["split_1", "sort_2", "iso_split_3"] {
        let sets = read(&format!("hyperfine-same-twice-{file}.json"));
        assert_eq!(sets.len(), 2);
        assert!(sets.iter().all(|set| set.schedule == Schedule::Blocked && set.values.len() >= 10));
    }
    let sets = read("hyperfine-same-twice-sort_2.json");
    assert_eq!(names(&sets), [("sort w/sort.txt", "time"), ("sort sort.txt", "time")]);
}

#[test]
fn hyperfine_1_json() {
    let sets = read("hyperfine-1.15-parameters.json");
    assert_eq!(names(&sets), [("sh -c \"exit 0 # 1\"", "time"), ("sh -c \"exit 0 # 2\"", "time")]);
    assert_eq!(sets[0].values, [0.004820957000000001, 0.0009272320000000001, 0.00081645, 0.000807345]);
    assert_eq!((sets[0].metric.unit, sets[0].metric.better), (Some(Unit::Seconds), Direction::Less));
    assert_eq!(parameters(&sets[1]), [("n", "2")]);
    assert_eq!(printed(&sets[1], "mean"), 0.0022519610000000002);
    assert_eq!(printed(&sets[1], "user"), 0.000645);

    let one_run = read("hyperfine-1.15-one-run.json");
    assert_eq!(one_run[0].values, [0.000849619]);
    assert!(one_run[0].printed.iter().all(|(name, _)| name != "stddev"), "it is null");

    let failing = read("hyperfine-1.15-failing.json");
    assert_eq!(failing[0].name, "a, \"quoted\" name");
    assert_eq!(printed(&failing[0], "exit codes not 0"), 3.0);
}

#[test]
fn hyperfine_1_20_json_has_memory_too() {
    let sets = read("hyperfine-1.20.json");
    assert_eq!(find(&sets, "true", "time").values.len(), 3);
    let memory = find(&sets, "true", "memory_usage_byte");
    assert_eq!((memory.metric.unit, memory.values.as_slice()), (Some(Unit::Bytes), &[2957312.0; 3][..]));
    assert!(memory.printed.is_empty());
}

#[test]
fn hyperfine_2_json() {
    let sets = read("hyperfine-2.json");
    assert_eq!(sets.len(), 10);
    let wall = find(&sets, "one 1", "time_wall_clock");
    assert_eq!(&sets[0], wall, "the main metric is first");
    assert_eq!(wall.values, [0.0011145430000000002, 0.001006911, 0.006821298000000001]);
    assert_eq!(parameters(wall), [("n", "1"), ("A", "1")]);
    assert_eq!(printed(wall, "mean"), 0.002980917333333334);
    assert_eq!(printed(wall, "count"), 3.0);
    let memory = find(&sets, "one 2", "memory_peak_resident");
    assert_eq!((memory.metric.unit, memory.values[0]), (Some(Unit::Bytes), 3366912.0));
    let failing = read("hyperfine-2-failing.json");
    assert_eq!(printed(find(&failing, "false", "time_cpu"), "exit codes not 0"), 2.0);
}

#[test]
fn hyperfine_csv_is_a_summary_without_values() {
    let sets = read("hyperfine-1.15-parameters.csv");
    let set = find(&sets, "sh -c \"exit 0 # 2\"", "time");
    assert!(set.values.is_empty());
    assert_eq!((set.printed.len(), printed(set, "median"), set.origin.line), (7, 0.0019196115, 3));
    assert_eq!(parameters(set), [("n", "2")]);

    let sets = read("hyperfine-2.csv");
    let memory = find(&sets, "one 2", "memory_peak_resident");
    assert_eq!((memory.metric.unit, printed(memory, "mean")), (Some(Unit::Bytes), 3366912.0));
    let wall = find(&sets, "one 1", "time_wall_clock");
    assert_eq!((wall.metric.unit, wall.printed.len()), (Some(Unit::Seconds), 5));
}

#[test]
fn go_text() {
    let sets = read("go.txt");
    let time = find(&sets, "Sort/n=10", "ns/op");
    assert_eq!(time.values, [243e-9, 251.5e-9, 248e-9]);
    assert_eq!(
        (time.metric.unit, time.schedule, time.origin.line),
        (Some(Unit::Seconds), Schedule::Blocked, 5)
    );
    let expected = [
        ("goos", "linux"),
        ("goarch", "amd64"),
        ("pkg", "example.org/sorting"),
        ("cpu", "Some CPU @ 2.60GHz"),
        ("gomaxprocs", "8"),
    ];
    assert_eq!(parameters(time), expected);
    assert_eq!(find(&sets, "Sort/n=10", "B/op").metric.unit, Some(Unit::Bytes));
    assert_eq!(find(&sets, "Sort/n=10", "allocs/op").values, [1.0; 3]);
    let speed = find(&sets, "Copy", "MB/s");
    assert_eq!((speed.metric.unit, speed.metric.better), (None, Direction::More));
    assert_eq!(speed.values, [1071.23, 1093.06]);

    let latency = find(&sets, "Serve", "p99-ns/op");
    assert_eq!((latency.metric.unit, latency.values[0]), (Some(Unit::Seconds), 9041e-9));
    assert!(parameters(latency).contains(&("pkg", "example.org/server")));
    assert_eq!(find(&sets, "Serve", "requests/s").metric.better, Direction::More);
    assert_eq!(find(&sets, "Serve", "misses/op").values, [0.25, 0.5]);
}

#[test]
fn go_lines_in_turns_are_not_taken_for_a_random_order() {
    let sets = read("go-in-turns.txt");
    assert!(sets.iter().all(|set| set.schedule == Schedule::Unknown));
    assert_eq!(find(&sets, "Old", "ns/op").values, [2e-6, 2.1e-6, 1.9e-6]);
    let new = &find(&sets, "New", "ns/op").values;
    assert!(new.len() == 3 && new[1].is_nan());
    assert_eq!(find(&sets, "New", "score").metric.better, Direction::More);
    assert_eq!(find(&sets, "New", "requests/s").metric.better, Direction::Less);
}

#[test]
fn pyperf_values_without_warmups() {
    let sets = read("pyperf.json");
    assert_eq!(names(&sets), [("sort", "value"), ("reverse", "value")]);
    assert_eq!(sets[0].values.len(), 6);
    assert_eq!(sets[0].values[3], 2.3777817382795996e-06);
    assert_eq!(sets[0].metric.unit, Some(Unit::Seconds));
    assert_eq!(names(&read("pyperf-one.json")), [("one", "value")]);
    let memory = read("pyperf-memory.json");
    assert_eq!(
        (memory[0].metric.unit, memory[0].values.as_slice()),
        (Some(Unit::Bytes), &[12742656.0, 12705792.0][..])
    );
}

#[test]
fn pytest_benchmark_rounds_or_summary() {
    let sets = read("pytest-data.json");
    assert_eq!(names(&sets), [("test_sort[10]", "time"), ("test_sort[100]", "time"), ("test_sum", "time")]);
    assert_eq!(sets.iter().map(|set| set.values.len()).collect::<Vec<_>>(), [5, 5, 4]);
    assert_eq!(parameters(&sets[1]), [("n", "100")]);
    assert_eq!(printed(&sets[0], "mean"), 3.673599985631881e-07);
    assert_eq!(printed(&sets[0], "rounds"), 5.0);
    let sets = read("pytest-summary.json");
    assert!(sets.iter().all(|set| set.values.is_empty() && set.printed.len() > 10));
}

#[test]
fn google_benchmark_repetitions_and_aggregates() {
    let sets = read("google-benchmark.json");
    let time = find(&sets, "BM_Sort/1024", "real_time");
    assert_eq!(time.values, [10.25e-6, 10.5e-6, 10e-6]);
    assert_eq!((printed(time, "mean [us]"), printed(time, "cv")), (10.25, 0.024390243902439025));
    let rate = find(&sets, "BM_Sort/1024", "items_per_second");
    assert_eq!((rate.metric.better, rate.values.len()), (Direction::More, 3));
    assert!(printed(rate, "cv").is_nan());
    assert!(sets.iter().all(|set| set.name != "BM_Broken" && set.name != "BM_Sort"));
    let shared = find(&sets, "BM_Shared/threads:4", "waits");
    assert_eq!(
        (shared.values.as_slice(), parameters(shared)),
        (&[12.5][..], vec![("threads", "4"), ("label", "spin")])
    );

    let old = read("google-benchmark-old.json");
    let time = find(&old, "BM_Copy", "real_time");
    assert_eq!((time.values.as_slice(), printed(time, "mean [ns]")), (&[100e-9, 102e-9][..], 101.0));
    assert_eq!(find(&old, "BM_geometric_mean", "cpu_time").values, [7e-9]);
}

#[test]
fn jmh_raw_data_of_all_forks() {
    let sets = read("jmh.json");
    let time = find(&sets, "org.example.Sorting.quick", "us/op");
    assert_eq!(time.values, [12e-6, 12.5e-6, 13e-6, 12.25e-6, 12.75e-6, 12.5e-6]);
    assert_eq!(parameters(time), [("size", "1000"), ("kind", "random"), ("mode", "avgt")]);
    assert!(printed(time, "score error [us/op]").is_nan());
    assert_eq!(printed(time, "percentile 50.0 [us/op]"), 12.5);
    let rate = find(&sets, "org.example.Sorting.quick", "ops/s");
    assert_eq!((rate.metric.unit, rate.metric.better), (None, Direction::More));
    assert_eq!(parameters(rate), [("mode", "thrpt"), ("threads", "4")]);
    let memory = find(&sets, "org.example.Sorting.quick", "·gc.alloc.rate.norm");
    assert_eq!((memory.metric.unit, memory.values.as_slice()), (Some(Unit::Bytes), &[4016.0; 2][..]));
    assert_eq!(find(&sets, "org.example.Sorting.quick", "·gc.alloc.rate").metric.better, Direction::Less);
    let sampled = find(&sets, "org.example.Sorting.single", "ms/op");
    assert_eq!((sampled.values.len(), printed(sampled, "score [ms/op]")), (0, 0.5));
}

#[test]
fn criterion_samples_estimates_and_names() {
    let sets = read("criterion/sort/10/new/sample.json");
    assert_eq!(names(&sets), [("sort/10", "time")]);
    assert_eq!(sets[0].values, [100.5e-9, 99.5e-9, 101e-9, 100e-9]);
    let sets = read("criterion/sort/10/new/estimates.json");
    assert!(sets[0].values.is_empty());
    assert_eq!(printed(&sets[0], "slope [ns]"), 100.21);
    assert_eq!(printed(&sets[0], "mean low [ns]"), 99.8);
    let about = bytes("criterion/sort/10/new/benchmark.json");
    assert_eq!(peers::criterion::name(&about).as_deref(), Some("sort/10"));
}

#[test]
fn perf_stat_counts() {
    let sets = read("perf-stat.json");
    let clock = find(&sets, "perf-stat.json", "task-clock");
    assert_eq!((clock.metric.unit, clock.schedule), (Some(Unit::Seconds), Schedule::Unknown));
    assert!(clock.values.len() == 1 && clock.values[0] > 1e-4 && clock.values[0] < 1e-2);
    assert!(sets.iter().all(|set| set.metric.name != "cycles"), "not supported there");

    let appended = read("perf-stat-appended.csv");
    assert_eq!(find(&appended, "perf-stat-appended.csv", "page-faults").values, [49.0, 48.0, 49.0]);
    assert_eq!(
        find(&appended, "perf-stat-appended.csv", "task-clock").values,
        [0.72, 0.77, 0.69].map(|milliseconds| milliseconds / 1e3)
    );

    for file in ["perf-stat-repeated.csv", "perf-stat-repeated.json"] {
        let sets = read(file);
        let faults = find(&sets, file, "page-faults");
        assert!(faults.values.is_empty() && printed(faults, "mean") > 40.0);
        assert!(printed(find(&sets, file, "task-clock"), "variance [%]") > 0.0);
        assert!(printed(find(&sets, file, "task-clock"), "mean [msec]") > 0.1);
    }
    let per_cpu = read("perf-stat-per-cpu.json");
    let faults = per_cpu.iter().filter(|set| set.metric.name == "page-faults");
    assert_eq!(faults.map(|set| set.parameters[0].1.clone()).collect::<Vec<_>>(), ["0", "1"]);
    let nanoseconds = read("perf-stat-semicolons.csv");
    assert_eq!(
        find(&nanoseconds, "perf-stat-semicolons.csv", "duration_time").metric.unit,
        Some(Unit::Seconds)
    );
    let intervals = read("perf-stat-intervals.csv");
    assert!(find(&intervals, "perf-stat-intervals.csv", "task-clock").values.len() >= 2);
}

#[test]
fn benchmark_pm_lines() {
    let sets = read("benchmark-pm.txt");
    let sort = find(&sets, "sort", "CPU");
    assert_eq!(sort.values, [0.31 / 8063.0]);
    let times = PerlTimes { real_s: 0.0, user_s: 0.31, iterations: 8063.0, ..PerlTimes::default() };
    assert_eq!(sort.perl_times, Some(times));
    assert_eq!((printed(sort, "rate [/s]"), printed(sort, "warning: too few iterations")), (26009.68, 1.0));
    assert_eq!(
        find(&sets, "tiny", "CPU").values,
        [0.0],
        "no rate and no iterations where the clock did not tick"
    );
    let children = find(&sets, "children", "CPU");
    assert_eq!(
        (children.values.as_slice(), children.perl_times.unwrap().children_user_s),
        (&[0.02][..], 0.04)
    );
    assert_eq!(find(&sets, "only children", "CPU").values, [0.02]);
    assert_eq!(find(&sets, "the code took", "CPU").values, [0.0]);
    assert!(sets.iter().all(|set| set.metric.name == "CPU" && set.schedule == Schedule::Blocked));
}

#[test]
fn benchmark_pm_with_parts_of_seconds_has_wall_times() {
    let sets = read("benchmark-pm-hires.txt");
    let wall = find(&sets, "two: with colon", "wallclock");
    assert_eq!(wall.values, [0.212688 / 3000.0, 0.205288 / 3000.0, 0.198542 / 3000.0]);
    let cpu = find(&sets, "two: with colon", "CPU");
    assert_eq!((cpu.values.len(), cpu.perl_times.unwrap().iterations), (3, 9000.0));
    assert!(sets.iter().all(|set| set.schedule == Schedule::Unknown), "they took turns");
}

#[test]
fn benchmark_pm_lines_with_a_minus_sign_stay() {
    let sets = read("benchmark-pm-negative.txt");
    let negative = find(&sets, "neg", "CPU");
    assert_eq!(negative.values, [-0.01 / 1000.0, 0.01 / 1000.0]);
    let times = negative.perl_times.unwrap();
    assert_eq!((times.real_s, times.system_s, times.iterations), (-1.0, -0.01, 2000.0));
    let unnamed = find(&sets, "benchmark-pm-negative.txt", "CPU");
    assert_eq!(unnamed.values, [5.09 / 250000.0]);
    assert_eq!(find(&sets, "nop", "CPU").values, [4.09 / 250000.0]);
}
