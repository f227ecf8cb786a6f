//! hyperfine's `--export-csv`: one line per command with a summary and no values, so that data sets have none either.
//! Version 1 has the columns of one metric, version 2 has `METRIC_unit, METRIC_mean, ...` for each.

use crate::model::DataSet;

use super::error::{Fault, excerpt};
use super::glimpse::Glimpse;
use super::source::{Source, metric, time};
use super::units::Measure;
use super::{Format, number};

pub(super) const FORMAT: Format = Format { name: "hyperfine-csv", title: "CSV of hyperfine", detect, read };

fn detect(glimpse: &Glimpse<'_>) -> bool {
    let first = glimpse.lines().next().unwrap_or("");
    first.starts_with("command,") && first.contains("mean")
}

fn read(source: &Source<'_>) -> Result<Vec<DataSet>, Fault> {
    let mut reader = csv::Reader::from_reader(source.bytes);
    let columns: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
    if columns.first().is_none_or(|name| name != "command") {
        return Err(Fault::at(1, "the first column is not `command`"));
    }
    let metrics = metrics(&columns);
    if metrics.is_empty() {
        return Err(Fault::at(1, "there is no column `mean`"));
    }
    let mut sets = Vec::new();
    for record in reader.records() {
        let row = Row { source, columns: &columns, record: record? };
        for metric in &metrics {
            sets.push(row.data_set(metric)?);
        }
    }
    Ok(sets)
}

/// What stands before `_mean`: metrics of version 2, or one without a name.
fn metrics(columns: &[String]) -> Vec<&str> {
    let plain = columns.iter().any(|name| name == "mean");
    let named = columns.iter().filter_map(|name| name.strip_suffix("_mean"));
    plain.then_some("").into_iter().chain(named.filter(|name| !name.starts_with("parameter_"))).collect()
}

struct Row<'a> {
    source: &'a Source<'a>,
    columns: &'a [String],
    record: csv::StringRecord,
}

impl Row<'_> {
    fn line(&self) -> usize {
        self.record.position().map_or(0, |position| position.line() as usize)
    }

    fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.columns.iter().map(String::as_str).zip(&self.record)
    }

    fn data_set(&self, metric_name: &str) -> Result<DataSet, Fault> {
        let mut set = self.source.data_set(&self.record[0], self.metric(metric_name));
        set.origin.line = self.line();
        let parameters =
            self.fields().filter_map(|(name, value)| Some((name.strip_prefix("parameter_")?, value)));
        set.parameters = parameters.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        for (name, text) in self.fields() {
            if let Some(name) = statistic(name, metric_name).filter(|_| !text.is_empty()) {
                set.printed.push((name.to_owned(), self.number(text)?));
            }
        }
        Ok(set)
    }

    /// Only version 2 names a unit.
    fn metric(&self, name: &str) -> crate::model::DataMetric {
        let unit = self.fields().find(|(column, _)| column.strip_suffix("_unit") == Some(name));
        match unit {
            _ if name.is_empty() => time("time"),
            Some((_, "")) | None => metric(name, &Measure::of("count")),
            Some((_, unit)) => metric(name, &Measure::of(unit)),
        }
    }

    fn number(&self, text: &str) -> Result<f64, Fault> {
        let value = number::parse(text.trim().as_bytes());
        value.ok_or_else(|| Fault::at(self.line(), format!("{:?} is not a number", excerpt(text.as_bytes()))))
    }
}

/// The name of the statistic that a column holds of a metric.
fn statistic<'a>(column: &'a str, metric: &str) -> Option<&'a str> {
    const KNOWN: [&str; 7] = ["mean", "stddev", "median", "user", "system", "min", "max"];
    let name = match metric {
        "" => column,
        _ => column.strip_prefix(metric)?.strip_prefix('_')?,
    };
    KNOWN.contains(&name).then_some(name)
}

impl From<csv::Error> for Fault {
    fn from(error: csv::Error) -> Self {
        let line = error.position().map(|position| position.line() as usize);
        let reason = match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("{len} fields where the first line has {expected_len}")
            }
            csv::ErrorKind::Utf8 { .. } => "it is not UTF-8".to_owned(),
            _ => error.to_string(),
        };
        line.map_or_else(|| Fault::new(reason.clone()), |line| Fault::at(line, reason.clone()))
    }
}
