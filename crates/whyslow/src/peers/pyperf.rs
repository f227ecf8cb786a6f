//! pyperf's JSON. A benchmark has runs (processes) with a few values each; all of them are the sample, in order.
//! Warm-ups and the run that only calibrates the loop count are not values. The unit is that of the metadata of the
//! benchmark, or of the file; a second where neither says it. Metadata itself (dates, load, versions) is not read.

use serde::Deserialize;

use crate::model::DataSet;

use super::Format;
use super::error::Fault;
use super::glimpse::{Glimpse, Shape};
use super::json::{self, Number};
use super::source::{Source, metric};
use super::units::Measure;

pub(super) const FORMAT: Format = Format { name: "pyperf", title: "JSON of pyperf", detect, read };

/// Two other tools call their list the same.
fn detect(glimpse: &Glimpse<'_>) -> bool {
    let others = glimpse.has(&["context"]) || glimpse.has(&["machine_info"]) || glimpse.has(&["commit_info"]);
    glimpse.shape == Shape::Object && glimpse.has(&["benchmarks"]) && !others
}

#[derive(Deserialize)]
struct Suite {
    benchmarks: Vec<Benchmark>,
    #[serde(default, deserialize_with = "json::null_as_default")]
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Benchmark {
    #[serde(default, deserialize_with = "json::null_as_default")]
    metadata: Metadata,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    #[serde(default, deserialize_with = "json::null_as_default")]
    metadata: Metadata,
    #[serde(default, deserialize_with = "json::null_as_default")]
    values: Vec<Number>,
}

#[derive(Default, Deserialize)]
struct Metadata {
    name: Option<String>,
    unit: Option<String>,
}

fn read(source: &Source<'_>) -> Result<Vec<DataSet>, Fault> {
    let suite: Suite = json::parse(source.bytes)?;
    Ok(suite.benchmarks.iter().map(|benchmark| data_set(source, &suite.metadata, benchmark)).collect())
}

/// What all benchmarks share stands in the metadata of the file, what all runs share in that of the benchmark.
fn data_set(source: &Source<'_>, shared: &Metadata, benchmark: &Benchmark) -> DataSet {
    let first_run = benchmark.runs.first().map(|run| &run.metadata);
    let nearest = [first_run, Some(&benchmark.metadata), Some(shared)];
    let nearest = || nearest.iter().copied().flatten();
    let name = nearest().find_map(|metadata| metadata.name.as_deref()).unwrap_or(source.file);
    let measure = Measure::of(nearest().find_map(|metadata| metadata.unit.as_deref()).unwrap_or("second"));
    let mut set = source.data_set(name, metric("value", &measure));
    set.values =
        benchmark.runs.iter().flat_map(|run| &run.values).map(|value| measure.convert(value.0)).collect();
    set
}
