//! What criterion (the Rust library) saves under `target/criterion/BENCHMARK/new/`, in nanoseconds: `sample.json`
//! with iterations and their total time, from which the time of one iteration is the value, and `estimates.json` with
//! the summary. Neither names the benchmark. `benchmark.json` beside them does: [`name`] reads it for whoever has the
//! directory; without it the directories in the name of the file are the name.

use serde::Deserialize;

use crate::model::DataSet;

use super::Format;
use super::error::Fault;
use super::glimpse::{Glimpse, Shape};
use super::json::{self, Number, Pairs};
use super::source::{Source, time};

pub(super) const FORMAT: Format =
    Format { name: "criterion", title: "a saved file of criterion", detect, read };

fn detect(glimpse: &Glimpse<'_>) -> bool {
    let any = [&["iters", "times"], &["mean", "std_dev"], &["group_id", "full_id"]];
    glimpse.shape == Shape::Object && any.iter().any(|keys| glimpse.has(*keys))
}

/// The full name of a benchmark, from the bytes of its `benchmark.json`.
pub fn name(benchmark_json: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Benchmark {
        full_id: String,
    }
    json::parse::<Benchmark>(benchmark_json).ok().map(|benchmark| benchmark.full_id)
}

fn read(source: &Source<'_>) -> Result<Vec<DataSet>, Fault> {
    let keys = json::parse::<Pairs<serde::de::IgnoredAny>>(source.bytes)?;
    let mut set = source.data_set(name_by_path(source.file), time("time"));
    if keys.get("iters").is_some() {
        set.values = sample(source)?;
    } else if keys.get("full_id").is_some() {
        return Err(Fault::new("it only names a benchmark; the numbers are in sample.json beside it"));
    } else {
        set.printed = estimates(source)?;
    }
    Ok(vec![set])
}

#[derive(Deserialize)]
struct Sample {
    iters: Vec<Number>,
    times: Vec<Number>,
}

fn sample(source: &Source<'_>) -> Result<Vec<f64>, Fault> {
    let sample: Sample = json::parse(source.bytes)?;
    if sample.iters.len() != sample.times.len() {
        let (iterations, times) = (sample.iters.len(), sample.times.len());
        return Err(Fault::new(format!("there are {iterations} iterations and {times} times")));
    }
    let pairs = sample.iters.iter().zip(&sample.times);
    Ok(pairs.map(|(iterations, time)| time.0 / iterations.0 / 1e9).collect())
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: Number,
    standard_error: Option<Number>,
    confidence_interval: Option<Interval>,
}

#[derive(Deserialize)]
struct Interval {
    lower_bound: Number,
    upper_bound: Number,
}

/// `slope` is null where iterations were not increased step by step.
fn estimates(source: &Source<'_>) -> Result<Vec<(String, f64)>, Fault> {
    let estimates: Pairs<Option<Estimate>> = json::parse(source.bytes)?;
    let known = estimates.0.iter().filter_map(|(name, estimate)| Some((name, estimate.as_ref()?)));
    Ok(known.flat_map(|(name, estimate)| printed(name, estimate)).collect())
}

fn printed(name: &str, estimate: &Estimate) -> Vec<(String, f64)> {
    let interval = estimate.confidence_interval.as_ref();
    let numbers = [
        ("", Some(estimate.point_estimate)),
        (" standard error", estimate.standard_error),
        (" low", interval.map(|interval| interval.lower_bound)),
        (" high", interval.map(|interval| interval.upper_bound)),
    ];
    numbers.iter().filter_map(|(what, value)| Some((format!("{name}{what} [ns]"), (*value)?.0))).collect()
}

/// `target/criterion/sort/10/new/sample.json` is `sort/10`; a bare file is called by its own name.
fn name_by_path(file: &str) -> String {
    let mut parts: Vec<&str> = file.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
    let start = parts.iter().rposition(|part| *part == "criterion").map_or(0, |place| place + 1);
    parts.drain(..start);
    let saved = parts.len() >= 3;
    if saved {
        parts.truncate(parts.len() - 2);
    }
    if saved { parts.join("/") } else { file.to_owned() }
}
