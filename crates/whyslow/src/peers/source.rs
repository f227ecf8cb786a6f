//! What a reader is given, and the first draft of what it gives back.

use crate::model::{DataMetric, DataSet, Origin, Schedule, Unit};

use super::Options;
use super::units::Measure;

/// One file.
pub(super) struct Source<'a> {
    pub file: &'a str,
    pub form: &'static str,
    pub bytes: &'a [u8],
    pub options: &'a Options,
}

impl Source<'_> {
    /// A data set without numbers yet. Most tools run one benchmark after the other, so that is where it starts.
    pub fn data_set(&self, name: impl Into<String>, metric: DataMetric) -> DataSet {
        DataSet {
            name: name.into(),
            parameters: Vec::new(),
            metric,
            values: Vec::new(),
            schedule: Schedule::Blocked,
            printed: Vec::new(),
            perl_times: None,
            origin: Origin { file: self.file.to_owned(), form: self.form.to_owned(), line: 0 },
        }
    }

    /// The file as lines with their numbers from 1, without ends of line. Bytes that are no UTF-8 are replaced:
    /// they can only stand in names.
    pub fn lines(&self) -> impl Iterator<Item = (usize, std::borrow::Cow<'_, str>)> {
        let lines = self.bytes.split(|byte| *byte == b'\n').enumerate();
        lines.map(|(index, line)| {
            (index + 1, String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)))
        })
    }
}

/// A metric that is named by the file and measured in the unit that `measure` tells.
pub(super) fn metric(name: impl Into<String>, measure: &Measure) -> DataMetric {
    DataMetric { name: name.into(), unit: measure.unit, better: measure.better }
}

/// A metric in seconds.
pub(super) fn time(name: &str) -> DataMetric {
    metric(name, &Measure::less(Some(Unit::Seconds)))
}
