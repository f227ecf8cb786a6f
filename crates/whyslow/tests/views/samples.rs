//! Data sets and recordings for tests.

use proptest::test_runner::{Config, RngSeed};
use serde_json::json;
use whyslow::model::*;

/// The same cases on every run.
pub fn cases(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(20_150_715), failure_persistence: None, ..Config::default() }
}

/// Plain numbers of which nothing else is known.
pub fn numbers(name: &str, values: &[f64]) -> DataSet {
    DataSet {
        name: name.into(),
        parameters: Vec::new(),
        metric: DataMetric { name: "value".into(), unit: None, better: Direction::Less },
        values: values.to_vec(),
        schedule: Schedule::Unknown,
        printed: Vec::new(),
        perl_times: None,
        origin: Origin { file: name.into(), form: "numbers".into(), line: 1 },
    }
}

/// Seconds of one file that were taken side by side.
pub fn times(name: &str, values: &[f64]) -> DataSet {
    DataSet {
        metric: DataMetric { name: "wall_s".into(), unit: Some(Unit::Seconds), better: Direction::Less },
        schedule: Schedule::Interleaved,
        origin: Origin { file: "one".into(), form: "whyslow".into(), line: 0 },
        ..numbers(name, values)
    }
}

/// What Benchmark.pm keeps: nothing but the sums.
pub fn perl(name: &str, times: PerlTimes) -> DataSet {
    DataSet { perl_times: Some(times), ..numbers(name, &[]) }
}

const METRICS: [&str; 5] = ["wall_s", "cpu_s", "user_s", "system_s", "peak_rss_bytes"];

/// A recording of commands of which each takes the given time, give or take a little, in 12 blocks after one of
/// warm-up.
pub fn recording(commands: &[(&str, f64)]) -> Recording {
    let levels = commands.iter().map(|(name, _)| Level {
        name: (*name).into(),
        edits: vec![Edit::Argv(name.split(' ').map(ByteText::from).collect())],
    });
    let experiment = Experiment {
        name: "test".into(),
        workload: Workload::Command(Launch::default()),
        factors: vec![Factor { name: "command".into(), levels: levels.collect(), role: Role::Asked }],
        metrics: Metric::all_known()
            .into_iter()
            .filter(|metric| METRICS.contains(&metric.name.as_str()))
            .collect(),
        design: Design { runs: RunCount::Exactly(12), seed: 7, ..Design::default() },
        asks_why: false,
        is_joined: false,
    };
    // By way of JSON, where later versions have their defaults.
    let header = serde_json::from_value(json!({
        "tool": "whyslow test",
        "started": "2026-11-30T12:00:00+00:00",
        "experiment": experiment,
        "host": Host {
            architecture: "x86_64".into(),
            cpu_model: Some("A  CPU".into()),
            cpus: 2,
            ..Host::default()
        },
        "floor": null,
        "missing": [],
    }));
    let mut recording = Recording::new(header.unwrap());
    for block in 0..13 {
        for position in 0..commands.len() {
            let variant = (position + block) % commands.len();
            recording.runs.push(run(variant, block, position, commands[variant].1));
        }
    }
    recording.looks = Some(Looks { at: vec![12], alpha_each: 0.05 / (commands.len().max(2) - 1) as f64 });
    recording.end = Some(End { stop: Stop::RunsDone, elapsed_s: 10.0 });
    recording
}

fn run(variant: usize, block: usize, position: usize, time_s: f64) -> Run {
    // A scatter of about one per cent that repeats for ever.
    let noise = 1.0 + 0.01 * f64::from(((block * 7 + position * 5 + variant * 3) % 11) as u32) / 11.0;
    let wall = time_s * noise;
    let run = json!({
        "variant": variant,
        "block": block,
        "position": position,
        "start_s": block as f64 + position as f64 / 10.0,
        "exit": Exit::Code(0),
        "values": [wall, wall * 0.75, wall * 0.5, wall * 0.25, 5_242_880.0],
        "conditions": { "load": 0.5 },
    });
    serde_json::from_value(run).unwrap()
}
