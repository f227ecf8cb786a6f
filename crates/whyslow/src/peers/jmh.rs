//! JMH's `-rf json`. The raw data of all forks is the sample, in order. The unit of the score (`us/op`, `ops/s`) is the name
//! of the metric and says which way is better; secondary metrics are called by their names. In the mode that samples single
//! calls there is a histogram instead of raw data, and only the summary is kept.

use serde::Deserialize;
use serde_json::Value;

use crate::model::{DataSet, Direction};

use super::Format;
use super::error::Fault;
use super::glimpse::{Glimpse, Shape};
use super::json::{self, Number, Pairs};
use super::source::{Source, metric};
use super::units::Measure;

pub(super) const FORMAT: Format = Format { name: "jmh", title: "JSON of JMH", detect, read };

fn detect(glimpse: &Glimpse<'_>) -> bool {
    glimpse.shape == Shape::List && glimpse.has(&["benchmark", "primaryMetric"])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Benchmark {
    benchmark: String,
    mode: Option<String>,
    threads: Option<u64>,
    #[serde(default, deserialize_with = "json::null_as_default")]
    params: Pairs<Value>,
    primary_metric: Score,
    #[serde(default, deserialize_with = "json::null_as_default")]
    secondary_metrics: Pairs<Score>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Score {
    score: Option<Number>,
    score_error: Option<Number>,
    #[serde(default, deserialize_with = "json::null_as_default")]
    score_confidence: Vec<Number>,
    #[serde(default, deserialize_with = "json::null_as_default")]
    score_percentiles: Pairs<Number>,
    score_unit: String,
    /// Forks of iterations.
    #[serde(default, deserialize_with = "json::null_as_default")]
    raw_data: Vec<Vec<Number>>,
}

fn read(source: &Source<'_>) -> Result<Vec<DataSet>, Fault> {
    let benchmarks: Vec<Benchmark> = json::parse(source.bytes)?;
    Ok(benchmarks.iter().flat_map(|benchmark| data_sets(source, benchmark)).collect())
}

fn data_sets(source: &Source<'_>, benchmark: &Benchmark) -> Vec<DataSet> {
    let primary = &benchmark.primary_metric;
    let measure = Measure::of(&primary.score_unit);
    let mut sets = vec![data_set(source, benchmark, &primary.score_unit, primary, &measure)];
    for (name, score) in &benchmark.secondary_metrics.0 {
        sets.push(data_set(source, benchmark, name, score, &secondary(name, score)));
    }
    sets
}

/// What the garbage collector does is a cost, also where it is given as a rate. Its names began with a dot once.
fn secondary(name: &str, score: &Score) -> Measure {
    let measure = Measure::of(&score.score_unit);
    match name.trim_start_matches('·').starts_with("gc.") {
        true => measure.better(Direction::Less),
        false => measure,
    }
}

fn data_set(
    source: &Source<'_>,
    benchmark: &Benchmark,
    metric_name: &str,
    score: &Score,
    measure: &Measure,
) -> DataSet {
    let mut set = source.data_set(&benchmark.benchmark, metric(metric_name, measure));
    set.parameters = parameters(benchmark);
    set.values = score.raw_data.iter().flatten().map(|value| measure.convert(value.0)).collect();
    set.printed = printed(score);
    set
}

fn parameters(benchmark: &Benchmark) -> Vec<(String, String)> {
    let mut parameters = json::settings(&benchmark.params);
    parameters.extend(benchmark.mode.iter().map(|mode| ("mode".to_owned(), mode.clone())));
    let threads = benchmark.threads.filter(|threads| *threads != 1);
    parameters.extend(threads.map(|threads| ("threads".to_owned(), threads.to_string())));
    parameters
}

fn printed(score: &Score) -> Vec<(String, f64)> {
    let unit = &score.score_unit;
    let mut printed = Vec::new();
    let mut add = |name: String, value: Number| printed.push((format!("{name} [{unit}]"), value.0));
    score.score.into_iter().for_each(|value| add("score".to_owned(), value));
    score.score_error.into_iter().for_each(|value| add("score error".to_owned(), value));
    let ends = ["confidence low", "confidence high"].iter().zip(&score.score_confidence);
    ends.for_each(|(name, value)| add((*name).to_owned(), *value));
    for (name, value) in &score.score_percentiles.0 {
        add(format!("percentile {name}"), *value);
    }
    printed
}
