//! Google Benchmark's JSON. Repetitions of a benchmark are its sample, with a data set for `real_time`, `cpu_time` and
//! every counter. Aggregates (mean, median, stddev, cv) are not values: they are kept as printed. Fits of a complexity and
//! runs that failed have no time and are left out. The order of repetitions is not in the file, not even where
//! they were interleaved at random.

use std::collections::HashSet;

use serde::{Deserialize, de};
use serde_json::Value;

use crate::model::{DataMetric, DataSet, Direction};

use super::Format;
use super::error::Fault;
use super::gather::Gathering;
use super::glimpse::{Glimpse, Shape};
use super::json::{self, Pairs};
use super::source::{Source, metric};
use super::units::Measure;

pub(super) const FORMAT: Format =
    Format { name: "google-benchmark", title: "JSON of Google Benchmark", detect, read };

fn detect(glimpse: &Glimpse<'_>) -> bool {
    glimpse.shape == Shape::Object && glimpse.has(&["context", "benchmarks"])
}

#[derive(Deserialize)]
struct File {
    benchmarks: Vec<Entry>,
}

fn read(source: &Source<'_>) -> Result<Vec<DataSet>, Fault> {
    let mut file: File = json::parse(source.bytes)?;
    tell_old_aggregates(&mut file.benchmarks);
    let mut samples = Gathering::default();
    for entry in &file.benchmarks {
        add(source, &mut samples, entry);
    }
    Ok(samples.finish())
}

/// A run or an aggregate of runs.
#[derive(Deserialize)]
#[serde(try_from = "Pairs<Value>")]
struct Entry {
    name: String,
    /// `mean` and the like.
    aggregate: Option<String>,
    /// Whether the aggregate is a share of the mean and has no unit.
    percentage: bool,
    time_unit: String,
    threads: Option<String>,
    label: Option<String>,
    /// Times and counters in the order of the file.
    numbers: Vec<(String, f64)>,
}

impl TryFrom<Pairs<Value>> for Entry {
    type Error = serde_json::Error;

    fn try_from(pairs: Pairs<Value>) -> Result<Self, Self::Error> {
        let text = |key| pairs.get(key).and_then(Value::as_str);
        let name = text("run_name").or(text("name"));
        let name = name.ok_or_else(|| <serde_json::Error as de::Error>::custom("a benchmark has no name"))?;
        let threads = pairs.get("threads").map(json::plain_text).filter(|count| count != "1");
        Ok(Entry {
            name: name.to_owned(),
            aggregate: text("aggregate_name").map(str::to_owned),
            percentage: text("aggregate_unit") == Some("percentage"),
            time_unit: text("time_unit").unwrap_or("ns").to_owned(),
            threads,
            label: text("label").map(str::to_owned),
            numbers: measurements(&pairs)?,
        })
    }
}

/// Nothing where the run failed or there is no time, as in a fit.
fn measurements<E: de::Error>(pairs: &Pairs<Value>) -> Result<Vec<(String, f64)>, E> {
    let failed = ["error_occurred", "skipped"].iter().any(|key| pairs.get(key) == Some(&Value::Bool(true)));
    if failed || pairs.get("real_time").is_none() {
        return Ok(Vec::new());
    }
    let measured = pairs.0.iter().filter(|(key, value)| is_time(key) || is_counter(key, value));
    measured.map(|(key, value)| Ok((key.clone(), json::required_number(Some(value), key)?))).collect()
}

fn is_time(key: &str) -> bool {
    matches!(key, "real_time" | "cpu_time")
}

/// Everything with a number that is not about how the benchmark was run.
fn is_counter(key: &str, value: &Value) -> bool {
    const ABOUT: [&str; 7] = [
        "family_index",
        "per_family_instance_index",
        "repetitions",
        "repetition_index",
        "threads",
        "iterations",
        "skipped",
    ];
    let number =
        value.is_number() || matches!(value.as_str(), Some("NaN" | "Infinity" | "-Infinity" | "nan" | "inf"));
    number && !ABOUT.contains(&key)
}

/// Before 1.4.2 an aggregate was told only by the end of its name.
fn tell_old_aggregates(entries: &mut [Entry]) {
    let names: HashSet<String> = entries.iter().map(|entry| entry.name.clone()).collect();
    for entry in entries.iter_mut().filter(|entry| entry.aggregate.is_none()) {
        let Some((base, end)) = entry.name.rsplit_once('_') else { continue };
        if matches!(end, "mean" | "median" | "stddev" | "cv") && names.contains(base) {
            (entry.aggregate, entry.name) = (Some(end.to_owned()), base.to_owned());
        }
    }
}

fn add(source: &Source<'_>, samples: &mut Gathering, entry: &Entry) {
    samples.turn(&entry.name);
    for (name, value) in &entry.numbers {
        let measure = if is_time(name) { Measure::of(&entry.time_unit) } else { counter(name) };
        let key = format!("{}\n{name}\n{:?}", entry.name, entry.threads);
        let set = samples.entry(key, || data_set(source, entry, metric(name.as_str(), &measure)));
        match &entry.aggregate {
            Some(aggregate) => set.printed.push((printed_name(aggregate, name, entry), *value)),
            None => set.values.push(measure.convert(*value)),
        }
    }
}

fn data_set(source: &Source<'_>, entry: &Entry, metric: DataMetric) -> DataSet {
    let mut set = source.data_set(&entry.name, metric);
    let threads = entry.threads.iter().map(|count| ("threads".to_owned(), count.clone()));
    let label = entry.label.iter().map(|label| ("label".to_owned(), label.clone()));
    set.parameters = threads.chain(label).collect();
    set
}

/// Counters may be rates or not and the file does not say; those that the library itself makes are.
fn counter(name: &str) -> Measure {
    let rate = name.ends_with("_per_second") || name.ends_with("/s");
    Measure::less(None).better(if rate { Direction::More } else { Direction::Less })
}

fn printed_name(aggregate: &str, metric: &str, entry: &Entry) -> String {
    match is_time(metric) && !entry.percentage && aggregate != "cv" {
        true => format!("{aggregate} [{}]", entry.time_unit),
        false => aggregate.to_owned(),
    }
}
