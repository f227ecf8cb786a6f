//! Comma-separated values: every run with every metric, and a summary as hyperfine 1.x writes it.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::series::{self, Series};
use crate::analysis::Analysis;
use crate::model::{Exit, Recording, Run};
use crate::plan;

const RUN_COLUMNS: [&str; 7] = ["variant", "block", "position", "phase", "start_s", "exit", "stderr_tail"];
const SUMMARY_COLUMNS: [&str; 8] = ["command", "mean", "stddev", "median", "user", "system", "min", "max"];
const CONDITION_COLUMNS: [&str; 4] = ["cpu_pressure", "load", "steal_s", "frequency_hz"];

/// One row for every run, in the order they were made. Unknown values are empty fields.
pub fn csv(recording: &Recording, _: &Analysis, file: &mut dyn Write) -> io::Result<()> {
    let names: Vec<String> =
        plan::variants(&recording.header.experiment).into_iter().map(|variant| variant.name).collect();
    let metrics = recording.header.experiment.metrics.iter().map(|metric| metric.name.as_str());
    let header: Vec<String> =
        RUN_COLUMNS.into_iter().chain(metrics).chain(CONDITION_COLUMNS).map(String::from).collect();
    file.write_all(line(&header).as_bytes())?;
    recording.runs.iter().try_for_each(|run| file.write_all(line(&row(recording, &names, run)).as_bytes()))
}

fn row(recording: &Recording, names: &[String], run: &Run) -> Vec<String> {
    let is_warmup = run.block < recording.header.experiment.design.warmup;
    let mut fields = vec![
        names.get(run.variant).cloned().unwrap_or_default(),
        run.block.to_string(),
        run.position.to_string(),
        if is_warmup { "warmup" } else { "measured" }.to_owned(),
        run.start_s.to_string(),
        exit(&run.exit),
        run.stderr_tail.clone(),
    ];
    let metrics = recording.header.experiment.metrics.len();
    fields.extend((0..metrics).map(|metric| known(series::value(run, Some(metric)))));
    let conditions = run.conditions;
    let conditions = [conditions.cpu_pressure, conditions.load, conditions.steal_s, conditions.frequency_hz];
    fields.extend(conditions.map(|value| value.map_or(String::new(), |value| value.to_string())));
    fields
}

fn known(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn exit(exit: &Exit) -> String {
    match exit {
        Exit::Code(code) => code.to_string(),
        Exit::Signal(signal) => format!("signal {signal}"),
        Exit::Stopped(signal) => format!("stopped {signal}"),
        Exit::TimedOut => "timed out".to_owned(),
        Exit::NotStarted { errno, step } => format!("not started: {step}, errno {errno}"),
        Exit::Interrupted => "interrupted".to_owned(),
    }
}

/// One row for every variant; seconds, and a deviation of 0 for one run, as in the original. Parameters come last, by
/// name.
pub fn csv_summary(recording: &Recording, _: &Analysis, file: &mut dyn Write) -> io::Result<()> {
    let rows = series::all(recording);
    let parameters: BTreeSet<&str> =
        rows.iter().flat_map(|series| &series.parameters).map(|(name, _)| name.as_str()).collect();
    let parameter_columns = parameters.iter().map(|name| format!("parameter_{name}"));
    let header: Vec<String> =
        SUMMARY_COLUMNS.map(String::from).into_iter().chain(parameter_columns).collect();
    let lines = rows.iter().filter_map(|series| summary_line(recording, series, &parameters));
    std::iter::once(line(&header)).chain(lines).try_for_each(|line| file.write_all(line.as_bytes()))
}

fn summary_line(recording: &Recording, series: &Series, parameters: &BTreeSet<&str>) -> Option<String> {
    let wall = series.figures(recording, "wall_s")?;
    let mean = |metric| known(series.figures(recording, metric).map(|figures| figures.mean));
    let mut fields = vec![
        series.name.clone(),
        wall.mean.to_string(),
        wall.deviation.unwrap_or(0.0).to_string(),
        wall.median.to_string(),
        mean("user_s"),
        mean("system_s"),
        wall.min.to_string(),
        wall.max.to_string(),
    ];
    let value =
        |name: &&str| series.parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    fields.extend(parameters.iter().map(|name| value(name).unwrap_or_default()));
    Some(line(&fields))
}

/// One row, ended by a newline.
pub fn line(fields: &[String]) -> String {
    let fields: Vec<String> = fields.iter().map(|field| quoted(field)).collect();
    format!("{}\n", fields.join(","))
}

/// RFC 4180: quotes where they are needed, and doubled inside.
fn quoted(field: &str) -> String {
    let is_plain = !field.contains([',', '"', '\n', '\r']) && field.trim() == field;
    if is_plain { field.to_owned() } else { format!("\"{}\"", field.replace('"', "\"\"")) }
}
