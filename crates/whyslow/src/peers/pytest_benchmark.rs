//! pytest-benchmark's JSON, in seconds. The rounds are in what `--benchmark-json` writes, and in what
//! `--benchmark-save` writes together with `--benchmark-save-data`; otherwise only the summary is. A benchmark is called
//! by its name, and by its full name where a file has the name twice.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use crate::model::DataSet;

use super::Format;
use super::error::Fault;
use super::glimpse::{Glimpse, Shape};
use super::json::{self, Number, Pairs};
use super::source::{Source, time};

pub(super) const FORMAT: Format =
    Format { name: "pytest-benchmark", title: "JSON of pytest-benchmark", detect, read };

fn detect(glimpse: &Glimpse<'_>) -> bool {
    let machine = glimpse.has(&["machine_info"]) || glimpse.has(&["commit_info"]);
    glimpse.shape == Shape::Object && glimpse.has(&["benchmarks"]) && machine
}

#[derive(Deserialize)]
struct File {
    benchmarks: Vec<Benchmark>,
}

#[derive(Deserialize)]
struct Benchmark {
    name: String,
    fullname: Option<String>,
    #[serde(default, deserialize_with = "json::null_as_default")]
    params: Pairs<Value>,
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    #[serde(default, deserialize_with = "json::null_as_default")]
    data: Vec<Number>,
    #[serde(flatten)]
    summary: Pairs<Value>,
}

fn read(source: &Source<'_>) -> Result<Vec<DataSet>, Fault> {
    let file: File = json::parse(source.bytes)?;
    let names = Names::of(&file.benchmarks);
    Ok(file.benchmarks.iter().map(|benchmark| data_set(source, &names, benchmark)).collect())
}

fn data_set(source: &Source<'_>, names: &Names<'_>, benchmark: &Benchmark) -> DataSet {
    let mut set = source.data_set(names.name(benchmark), time("time"));
    set.parameters = json::settings(&benchmark.params);
    set.values = benchmark.stats.data.iter().map(|value| value.0).collect();
    set.printed = json::numbers(&benchmark.stats.summary);
    set
}

/// Which names are there more than once.
struct Names<'a>(HashMap<&'a str, usize>);

impl<'a> Names<'a> {
    fn of(benchmarks: &'a [Benchmark]) -> Self {
        let mut count = HashMap::new();
        benchmarks.iter().for_each(|benchmark| *count.entry(benchmark.name.as_str()).or_default() += 1);
        Names(count)
    }

    fn name<'b>(&self, benchmark: &'b Benchmark) -> &'b str {
        match &benchmark.fullname {
            Some(full) if self.0.get(benchmark.name.as_str()).is_some_and(|count| *count > 1) => full,
            _ => &benchmark.name,
        }
    }
}
