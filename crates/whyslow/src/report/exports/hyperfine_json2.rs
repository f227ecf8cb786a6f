//! JSON as hyperfine 2.x exports it: schema version 2, one object for every run.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

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
struct File<'a> {
    schema_version: u32,
    metadata: Metadata,
    primary_metric: &'static str,
    results: Vec<Entry<'a>>,
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
struct Entry<'a> {
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    measurements: Vec<Measurement<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<&'a str, Parameter<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    environment: BTreeMap<String, String>,
    summary: BTreeMap<&'static str, Summary>,
}

#[derive(Serialize)]
struct Parameter<'a> {
    value: &'a str,
}

/// One run. Its object is made while it is written: a million of them would fill the memory.
struct Measurement<'a> {
    run: &'a Run,
    columns: &'a [Column],
}

/// A metric that the recording has.
struct Column {
    index: usize,
    name: &'static str,
    unit: &'static str,
}

#[derive(Serialize)]
struct Quantity {
    unit: &'static str,
    value: Number,
}

/// Sizes are whole numbers.
#[derive(Serialize)]
#[serde(untagged)]
enum Number {
    Whole(u64),
    Real(f64),
}

impl Serialize for Measurement<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("exit_code", &exit_code(&self.run.exit))?;
        for Column { index, name, unit } in self.columns {
            if let Some(value) = value(self.run, Some(*index)) {
                let value = if *unit == "byte" { Number::Whole(value as u64) } else { Number::Real(value) };
                map.serialize_entry(name, &Quantity { unit, value })?;
            }
        }
        map.end()
    }
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

pub fn hyperfine_json2(recording: &Recording, _: &Analysis, file: &mut dyn Write) -> io::Result<()> {
    let header = &recording.header;
    let metadata = Metadata {
        hyperfine_version: "2.0.0",
        start_time: header.started.clone(),
        platform: Platform { os: "linux", architecture: header.host.architecture.clone() },
    };
    let (series, columns) = (series::all(recording), columns(recording));
    let results = series.iter().map(|series| entry(recording, series, &columns)).collect();
    super::whyslow_json::pretty(
        file,
        &File { schema_version: 2, metadata, primary_metric: "time_wall_clock", results },
    )
}

/// In the order of their names, as the keys of hyperfine's own files.
fn columns(recording: &Recording) -> Vec<Column> {
    let column = |(ours, name): &(&str, &'static str)| {
        Some(Column { index: recording.metric_index(ours)?, name, unit: unit(recording, ours) })
    };
    let mut columns: Vec<Column> = METRICS.iter().filter_map(column).collect();
    columns.sort_by_key(|column| column.name);
    columns
}

fn entry<'a>(recording: &Recording, series: &'a Series, columns: &'a [Column]) -> Entry<'a> {
    let words = series.launch.argv.iter().map(|word| word.lossy().into_owned());
    let command = shell_words::join(words);
    let set = |(name, value): &(crate::model::ByteText, Option<crate::model::ByteText>)| {
        Some((name.lossy().into_owned(), value.as_ref()?.lossy().into_owned()))
    };
    Entry {
        name: (series.name != command).then(|| series.name.clone()),
        command,
        measurements: series.runs.iter().map(|run| Measurement { run, columns }).collect(),
        parameters: series
            .parameters
            .iter()
            .map(|(name, value)| (name.as_str(), Parameter { value }))
            .collect(),
        environment: series.launch.env.iter().filter_map(set).collect(),
        summary: METRICS.iter().filter_map(|metric| summary(recording, series, metric)).collect(),
    }
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
