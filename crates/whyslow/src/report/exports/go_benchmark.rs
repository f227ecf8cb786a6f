//! Go benchmark text: one line for every run. Each factor is a key of the name, so that `benchstat -col /command` puts
//! the variants side by side.

use std::collections::HashMap;
use std::io::{self, Write};

use super::series;
use crate::analysis::Analysis;
use crate::model::{Direction, Metric, Recording, Run, Unit, Variant};
use crate::plan;

pub fn go_benchmark(recording: &Recording, _: &Analysis, file: &mut dyn Write) -> io::Result<()> {
    let names = names(recording);
    let series = series::all(recording);
    let runs = series.iter().flat_map(|series| series.runs.iter().copied());
    let mut runs: Vec<&Run> =
        runs.filter(|run| recording.header.experiment.design.counts(&run.exit)).collect();
    runs.sort_by_key(|run| (run.block, run.position));
    file.write_all(header(recording).as_bytes())?;
    runs.iter().try_for_each(|run| file.write_all(line(recording, &names[run.variant], run).as_bytes()))
}

/// What benchstat groups by: results of different machines are not mixed.
fn header(recording: &Recording) -> String {
    let host = &recording.header.host;
    let architecture = match host.architecture.as_str() {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let cpu = host.cpu_model.as_ref().map_or(String::new(), |model| format!("cpu: {}\n", one_line(model)));
    let metrics = recording.header.experiment.metrics.iter();
    let rising = metrics.filter(|metric| metric.better == Direction::More);
    let directions = rising.map(|metric| format!("Unit {} better=higher\n", unit(metric)));
    format!("goos: linux\ngoarch: {}\n{cpu}{}", one_line(architecture), directions.collect::<String>())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The number behind the dash is what Go calls the number of CPUs; without it, the end of a name could be taken for it.
fn line(recording: &Recording, name: &str, run: &Run) -> String {
    let metrics = recording.header.experiment.metrics.iter().enumerate();
    let values = metrics.filter_map(|(index, metric)| {
        let value = series::value(run, Some(index))?;
        let scale = if metric.unit == Unit::Seconds { 1e9 } else { 1.0 };
        Some(format!("\t{} {}", value * scale, unit(metric)))
    });
    format!("{name}-1\t1{}\n", values.collect::<String>())
}

/// Benchstat knows `ns` and shows seconds for it.
fn unit(metric: &Metric) -> String {
    let stem = |suffix: &str| {
        let stem = metric.name.strip_suffix(suffix).unwrap_or(&metric.name);
        stem.replace(|c: char| c == '_' || c.is_whitespace() || c.is_control(), "-")
    };
    match metric.unit {
        Unit::Seconds if metric.name == "wall_s" => "ns/op".to_owned(),
        Unit::Seconds => format!("{}-ns/op", stem("_s")),
        Unit::Bytes => format!("{}-bytes/op", stem("_bytes")),
        _ => format!("{}/op", stem("")),
    }
}

/// A name for each variant, no two the same.
fn names(recording: &Recording) -> Vec<String> {
    let experiment = &recording.header.experiment;
    let mut times_seen: HashMap<String, usize> = HashMap::new();
    let name = |variant: &Variant| {
        let keys = experiment.factors.iter().zip(&variant.levels).map(|(factor, &level)| {
            let level = with_values(&factor.levels[level].name, &variant.parameters);
            format!("/{}={}", escaped(&factor.name), escaped(&level))
        });
        format!("BenchmarkCompare{}", keys.collect::<String>())
    };
    plan::variants(experiment)
        .iter()
        .map(|variant| {
            let name = name(variant);
            let seen = times_seen.entry(name.clone()).and_modify(|seen| *seen += 1).or_insert(0);
            if *seen == 0 { name } else { format!("{name}#{seen:02}") }
        })
        .collect()
}

/// What runs, and not the `{size}` that was typed.
fn with_values(level: &str, parameters: &[(String, String)]) -> String {
    let put_in = |text: String, (name, value): &(String, String)| text.replace(&format!("{{{name}}}"), value);
    parameters.iter().fold(level.to_owned(), put_in)
}

/// Fields are parted by white space and parts of a name by slashes.
fn escaped(text: &str) -> String {
    let escape = |c: char| match c {
        c if c.is_whitespace() => "_".to_owned(),
        '/' | '=' | '%' => format!("%{:02X}", u32::from(c)),
        c if c.is_control() => format!("%{:02X}", u32::from(c)),
        c => c.to_string(),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn names_have_no_white_space_and_no_slashes() {
        assert_eq!(escaped("perl -e 1\n"), "perl_-e_1_");
        assert_eq!(escaped("/bin/ls a=b"), "%2Fbin%2Fls_a%3Db");
    }
}
