//! Recorded traces: CSV files with one run a row, in the order in which the runs were made. Columns are found by
//! name, so files with more columns than are needed here do as well.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

const MICROSECOND_S: f64 = 1e-6;
const NANOSECOND_S: f64 = 1e-9;

/// What is judged: wall time, and CPU time of the whole process tree.
pub const METRICS: [&str; 2] = ["wall_s", "cpu_s"];

/// The runs of one file.
pub struct Trace {
    /// Name of the file without its ending.
    pub name: String,
    /// Runs that succeeded.
    pub runs: Vec<TraceRun>,
    pub failed: usize,
}

pub struct TraceRun {
    pub block: String,
    pub label: String,
    /// In the order of [`METRICS`].
    pub values: [f64; 2],
}

impl Trace {
    pub fn read(path: &Path) -> Result<Trace> {
        let in_file = || format!("cannot read the trace {}", path.display());
        let text = fs::read_to_string(path).with_context(in_file)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        parse(name, &text).with_context(in_file)
    }

    /// One metric of all runs.
    pub fn values(&self, metric: usize) -> Vec<f64> {
        self.runs.iter().map(|run| run.values[metric]).collect()
    }
}

fn parse(name: String, text: &str) -> Result<Trace> {
    let mut lines = text.lines();
    let header = lines.next().context("it is empty")?;
    let places: HashMap<&str, usize> = header.split(',').zip(0..).collect();
    let mut trace = Trace { name, runs: Vec::new(), failed: 0 };
    for (line, number) in lines.zip(2..) {
        let row = Row { places: &places, cells: line.split(',').collect() };
        match row.run().with_context(|| format!("line {number}"))? {
            Some(run) => trace.runs.push(run),
            None => trace.failed += 1,
        }
    }
    Ok(trace)
}

struct Row<'a> {
    places: &'a HashMap<&'a str, usize>,
    cells: Vec<&'a str>,
}

impl Row<'_> {
    /// `None` for a run that failed.
    fn run(&self) -> Result<Option<TraceRun>> {
        if self.number("rc")? != 0.0 {
            return Ok(None);
        }
        // The sum is exact even where the split into user and system time is not.
        let cpu_s = (self.number("user_us")? + self.number("sys_us")?) * MICROSECOND_S;
        let values = [self.number("wall_ns")? * NANOSECOND_S, cpu_s];
        let (block, label) = (self.text("block")?.to_owned(), self.text("label")?.to_owned());
        Ok(Some(TraceRun { block, label, values }))
    }

    fn number(&self, column: &str) -> Result<f64> {
        let text = self.text(column)?;
        text.parse().with_context(|| format!("`{text}` in the column {column} is no number"))
    }

    fn text(&self, column: &str) -> Result<&str> {
        let place = *self.places.get(column).with_context(|| format!("there is no column {column}"))?;
        self.cells.get(place).copied().with_context(|| format!("the column {column} is cut off"))
    }
}
