//! hyperfine's `--export-json`, both versions: version 1 has a list `times` per result, version 2 a list
//! `measurements` with several metrics per run. Times are in seconds in both. Exit codes other than 0 are counted
//! among what is printed, since such a run did other work than the rest.

use serde::{Deserialize, de};
use serde_json::Value;

use crate::model::{DataSet, Unit};

use super::Format;
use super::error::Fault;
use super::glimpse::{Glimpse, Shape};
use super::json::{self, Number, Pairs};
use super::source::{Source, metric, time};
use super::units::Measure;

pub(super) const FORMAT: Format = Format { name: "hyperfine-json", title: "JSON of hyperfine", detect, read };

fn detect(glimpse: &Glimpse<'_>) -> bool {
    glimpse.shape == Shape::Object && glimpse.has(&["results"])
}

fn read(source: &Source<'_>) -> Result<Vec<DataSet>, Fault> {
    match json::parse::<Version>(source.bytes)?.schema_version {
        None | Some(1) => read_first(source),
        Some(2) => read_second(source),
        Some(newer) => Err(Fault::new(format!("version {newer} of the form is not known"))),
    }
}

#[derive(Deserialize)]
struct Version {
    schema_version: Option<u64>,
}

#[derive(Deserialize)]
struct Results<T> {
    results: Vec<T>,
}

fn read_first(source: &Source<'_>) -> Result<Vec<DataSet>, Fault> {
    let file: Results<FirstResult> = json::parse(source.bytes)?;
    Ok(file.results.iter().flat_map(|result| first_sets(source, result)).collect())
}

#[derive(Deserialize)]
struct FirstResult {
    command: String,
    mean: Option<Number>,
    stddev: Option<Number>,
    median: Option<Number>,
    user: Option<Number>,
    system: Option<Number>,
    min: Option<Number>,
    max: Option<Number>,
    #[serde(default, deserialize_with = "json::null_as_default")]
    times: Vec<Number>,
    #[serde(default, deserialize_with = "json::null_as_default")]
    memory_usage_byte: Vec<Number>,
    #[serde(default, deserialize_with = "json::null_as_default")]
    exit_codes: Vec<Option<i64>>,
    #[serde(default, deserialize_with = "json::null_as_default")]
    parameters: Pairs<Value>,
}

/// The time, and the memory where it was measured.
fn first_sets(source: &Source<'_>, result: &FirstResult) -> Vec<DataSet> {
    let mut time = source.data_set(&result.command, time("time"));
    time.parameters = json::settings(&result.parameters);
    let mut memory = DataSet {
        metric: metric("memory_usage_byte", &Measure::less(Some(Unit::Bytes))),
        values: values(&result.memory_usage_byte),
        ..time.clone()
    };
    time.values = values(&result.times);
    time.printed = first_summary(result);
    let failed = failures(result.exit_codes.iter().copied());
    time.printed.extend(failed.clone());
    memory.printed.extend(failed.filter(|_| !memory.values.is_empty()));
    vec![time, memory]
}

fn values(numbers: &[Number]) -> Vec<f64> {
    numbers.iter().map(|number| number.0).collect()
}

fn first_summary(result: &FirstResult) -> Vec<(String, f64)> {
    let summary = [
        ("mean", result.mean),
        ("stddev", result.stddev),
        ("median", result.median),
        ("user", result.user),
        ("system", result.system),
        ("min", result.min),
        ("max", result.max),
    ];
    summary.iter().filter_map(|(name, value)| Some(((*name).to_owned(), (*value)?.0))).collect()
}

/// How many runs did not end with 0; `None` for no exit code means a signal.
fn failures(codes: impl Iterator<Item = Option<i64>>) -> Option<(String, f64)> {
    let count = codes.filter(|code| *code != Some(0)).count();
    (count > 0).then(|| ("exit codes not 0".to_owned(), count as f64))
}

fn read_second(source: &Source<'_>) -> Result<Vec<DataSet>, Fault> {
    let file: Results<SecondResult> = json::parse(source.bytes)?;
    Ok(file.results.iter().flat_map(|result| second_sets(source, result)).collect())
}

#[derive(Deserialize)]
struct SecondResult {
    command: String,
    name: Option<String>,
    measurements: Vec<SecondRun>,
    #[serde(default, deserialize_with = "json::null_as_default")]
    parameters: Pairs<Value>,
    #[serde(default, deserialize_with = "json::null_as_default")]
    environment: Pairs<Value>,
    #[serde(default, deserialize_with = "json::null_as_default")]
    summary: Pairs<Pairs<Value>>,
}

/// One run: its metrics and its exit code.
#[derive(Deserialize)]
#[serde(try_from = "Pairs<Value>")]
struct SecondRun {
    metrics: Vec<(String, Measured)>,
    exit_code: Option<i64>,
}

struct Measured {
    value: f64,
    unit: Option<String>,
}

impl TryFrom<Pairs<Value>> for SecondRun {
    type Error = serde_json::Error;

    fn try_from(pairs: Pairs<Value>) -> Result<Self, Self::Error> {
        let exit_code = pairs.get("exit_code").and_then(Value::as_i64);
        let metrics = pairs.0.into_iter().filter(|(name, _)| name != "exit_code");
        let metrics = metrics.map(|(name, value)| measured(&name, &value).map(|found| (name, found)));
        Ok(SecondRun { metrics: metrics.collect::<Result<_, _>>()?, exit_code })
    }
}

fn measured<E: de::Error>(name: &str, value: &Value) -> Result<Measured, E> {
    let unit = value.get("unit").and_then(Value::as_str).map(str::to_owned);
    Ok(Measured { value: json::required_number(value.get("value"), &format!("the value of {name}"))?, unit })
}

/// A data set per metric, in the order of the first run.
fn second_sets(source: &Source<'_>, result: &SecondResult) -> Vec<DataSet> {
    let mut sets: Vec<DataSet> = Vec::new();
    for (name, found) in result.measurements.iter().flat_map(|run| &run.metrics) {
        let measure = measure(found.unit.as_deref());
        let place = sets.iter().position(|set| set.metric.name == *name).unwrap_or_else(|| {
            sets.push(second_set(source, result, name, &measure));
            sets.len() - 1
        });
        sets[place].values.push(measure.convert(found.value));
    }
    sets
}

/// Counters have no unit.
fn measure(unit: Option<&str>) -> Measure {
    unit.map_or(Measure::less(Some(Unit::Count)), Measure::of)
}

fn second_set(source: &Source<'_>, result: &SecondResult, metric_name: &str, measure: &Measure) -> DataSet {
    let name = result.name.as_ref().unwrap_or(&result.command);
    let mut set = source.data_set(name, metric(metric_name, measure));
    set.parameters = settings(&result.parameters).chain(settings(&result.environment)).collect();
    let summary = result.summary.get(metric_name);
    set.printed = summary.map(json::numbers).unwrap_or_default();
    set.printed.extend(failures(result.measurements.iter().map(|run| run.exit_code)));
    set
}

/// Parameters are objects with a `value`, variables of the environment are strings.
fn settings(pairs: &Pairs<Value>) -> impl Iterator<Item = (String, String)> {
    pairs.0.iter().map(|(name, value)| (name.clone(), json::plain_text(value.get("value").unwrap_or(value))))
}
