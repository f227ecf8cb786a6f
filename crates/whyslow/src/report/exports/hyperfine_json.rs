//! JSON as hyperfine 1.x exports it, with its keys in its order.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::series::{self, Series, exit_code};
use crate::analysis::Analysis;
use crate::model::Recording;

#[derive(Serialize)]
struct File {
    results: Vec<Entry>,
}

/// Seconds throughout; what hyperfine has a number for and this recording does not is null.
#[derive(Serialize)]
struct Entry {
    command: String,
    mean: f64,
    stddev: Option<f64>,
    median: f64,
    user: Option<f64>,
    system: Option<f64>,
    min: f64,
    max: f64,
    times: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    memory_usage_byte: Vec<u64>,
    exit_codes: Vec<Option<i32>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<String, String>,
}

pub fn hyperfine_json(recording: &Recording, _: &Analysis, file: &mut dyn Write) -> io::Result<()> {
    let results = series::all(recording).iter().filter_map(|series| entry(recording, series)).collect();
    super::whyslow_json::pretty(file, &File { results })
}

fn entry(recording: &Recording, series: &Series) -> Option<Entry> {
    let wall = series.figures(recording, "wall_s")?;
    let mean = |metric| series.figures(recording, metric).map(|figures| figures.mean);
    Some(Entry {
        command: series.name.clone(),
        mean: wall.mean,
        stddev: wall.deviation,
        median: wall.median,
        user: mean("user_s"),
        system: mean("system_s"),
        min: wall.min,
        max: wall.max,
        times: series.values(recording, "wall_s"),
        memory_usage_byte: memory(recording, series),
        exit_codes: series.runs.iter().map(|run| exit_code(&run.exit)).collect(),
        parameters: series.parameters.iter().cloned().collect(),
    })
}

/// One for each run, or nothing: readers take it as a list beside the times.
fn memory(recording: &Recording, series: &Series) -> Vec<u64> {
    let values = series.values(recording, "peak_rss_bytes");
    if values.len() == series.runs.len() {
        values.iter().map(|&value| value as u64).collect()
    } else {
        Vec::new()
    }
}
