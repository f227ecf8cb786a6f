//! JSON as hyperfine 2.x exports it: schema version 2, one object for every run.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::series::{self, Series, exit_code, value};
use crate::analysis::Analysis;
use crate::model::{Recording, Run, Unit};

/// hyperfine's names for what both measure.
const METRICS: [(&str, &str); 5] = [
    ("wall_s", "time_wall_clock"),
    ("cpu_s", "time_cpu"),
    ("user_s", "time_user"),
    ("system_s", "time_system"),
    ("peak_rss_bytes", "memory_peak_resident"),
];

#[derive(Serialize)]
struct File {
    schema_version: u32,
    metadata: Metadata,
    primary_metric: &'static str,
    results: Vec<Entry>,
}

#[derive(Serialize)]
struct Metadata {
    /// The version whose form this is.
    hyperfine_version: &'static str,
    start_time: String,
    platform: Platform,
}

#[derive(Serialize)]
struct Platform {
    os: &'static str,
    architecture: String,
}

#[derive(Serialize)]
struct Entry {
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    measurements: Vec<BTreeMap<&'static str, Value>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<String, Value>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    environment: BTreeMap<String, String>,
    summary: BTreeMap<&'static str, Summary>,
}

#[derive(Serialize)]
struct Summary {
    unit: &'static str,
    count: usize,
    mean: f64,
    stddev: Option<f64>,
    median: f64,
    min: f64,
    max: f64,
}

pub fn hyperfine_json2(recording: &Recording, _: &Analysis) -> String {
    let header = &recording.header;
    let metadata = Metadata {
        hyperfine_version: "2.0.0",
        start_time: header.started.clone(),
        platform: Platform { os: "linux", architecture: header.host.architecture.clone() },
    };
    let results = series::all(recording).iter().map(|series| entry(recording, series)).collect();
    super::whyslow_json::pretty(&File {
        schema_version: 2,
        metadata,
        primary_metric: "time_wall_clock",
        results,
    })
}

fn entry(recording: &Recording, series: &Series) -> Entry {
    let words = series.launch.argv.iter().map(|word| word.lossy().into_owned());
    let command = shell_words::join(words);
    let set = |(name, value): &(crate::model::ByteText, Option<crate::model::ByteText>)| {
        Some((name.lossy().into_owned(), value.as_ref()?.lossy().into_owned()))
    };
    Entry {
        name: (series.name != command).then(|| series.name.clone()),
        command,
        measurements: series.runs.iter().map(|run| measurement(recording, run)).collect(),
        parameters: series
            .parameters
            .iter()
            .map(|(name, value)| (name.clone(), json!({ "value": value })))
            .collect(),
        environment: series.launch.env.iter().filter_map(set).collect(),
        summary: METRICS.iter().filter_map(|metric| summary(recording, series, metric)).collect(),
    }
}

fn measurement(recording: &Recording, run: &Run) -> BTreeMap<&'static str, Value> {
    let metric = |(ours, theirs): &(&str, &'static str)| {
        let value = value(run, recording.metric_index(ours))?;
        Some((
            *theirs,
            json!({ "value": number(value, unit(recording, ours)), "unit": unit(recording, ours) }),
        ))
    };
    let mut measurement: BTreeMap<_, _> = METRICS.iter().filter_map(metric).collect();
    measurement.insert("exit_code", json!(exit_code(&run.exit)));
    measurement
}

/// Sizes are whole numbers.
fn number(value: f64, unit: &str) -> Value {
    if unit == "byte" { json!(value as u64) } else { json!(value) }
}

fn unit(recording: &Recording, metric: &str) -> &'static str {
    match recording.metric_unit(metric) {
        Some(Unit::Bytes) => "byte",
        _ => "second",
    }
}

fn summary(
    recording: &Recording,
    series: &Series,
    (ours, theirs): &(&str, &'static str),
) -> Option<(&'static str, Summary)> {
    let figures = series.figures(recording, ours)?;
    let summary = Summary {
        unit: unit(recording, ours),
        count: figures.count,
        mean: figures.mean,
        stddev: figures.deviation,
        median: figures.median,
        min: figures.min,
        max: figures.max,
    };
    Some((theirs, summary))
}
