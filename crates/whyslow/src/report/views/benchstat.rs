//! A table in the form of Go's benchstat: medians with intervals, changes with p or `~`, geometric means. Unlike the
//! original it takes the geometric mean only over rows that every column has, and ends each row with a verdict.

use std::collections::{BTreeMap, BTreeSet};

use benchmath::{mann_whitney, median_interval, quantiles};

use super::judged::UNSAFE;
use super::units::with_unit;
use super::{Judgement, Options, Said, judge};
use crate::model::{DataSet, Schedule};

/// A table for each metric. Columns are files; within one file of values that were taken side by side, its sets.
pub fn benchstat(sets: &[DataSet], options: &Options) -> String {
    let mut metrics: Vec<&str> = Vec::new();
    for set in sets.iter().filter(|set| !set.values.is_empty()) {
        if !metrics.contains(&set.metric.name.as_str()) {
            metrics.push(&set.metric.name);
        }
    }
    let comparisons = metrics.iter().map(|metric| Grid::of(sets, metric).comparisons()).max().unwrap_or(0);
    let table = |metric: &&str| table(&Grid::of(sets, metric), metric, comparisons, options);
    metrics.iter().map(table).collect::<Vec<_>>().join("\n")
}

/// The sets of one metric by row and column; the first column is the base.
struct Grid<'a> {
    columns: Vec<String>,
    rows: Vec<(String, Vec<Option<&'a DataSet>>)>,
}

impl<'a> Grid<'a> {
    fn of(sets: &'a [DataSet], metric: &str) -> Self {
        let sets: Vec<&DataSet> =
            sets.iter().filter(|set| set.metric.name == metric && !set.values.is_empty()).collect();
        let columns_are_names = is_one_file_side_by_side(&sets);
        let keys = keys_of_rows(&sets);
        let mut grid = Grid { columns: Vec::new(), rows: Vec::new() };
        for set in sets {
            let (row, column) = if columns_are_names {
                (String::new(), set.name.clone())
            } else {
                (full_name(set, &keys), set.origin.file.clone())
            };
            grid.put(row, column, set);
        }
        grid
    }

    fn put(&mut self, row: String, column: String, set: &'a DataSet) {
        let column = place(&mut self.columns, column);
        let row = self.rows.iter().position(|(name, _)| *name == row).unwrap_or_else(|| {
            self.rows.push((row, Vec::new()));
            self.rows.len() - 1
        });
        let cells = &mut self.rows[row].1;
        cells.resize(cells.len().max(column + 1), None);
        cells[column].get_or_insert(set);
    }

    fn comparisons(&self) -> usize {
        self.rows.iter().map(|(_, cells)| cells.iter().flatten().count().saturating_sub(1)).sum()
    }
}

fn place(columns: &mut Vec<String>, column: String) -> usize {
    columns.iter().position(|name| *name == column).unwrap_or_else(|| {
        columns.push(column);
        columns.len() - 1
    })
}

fn is_one_file_side_by_side(sets: &[&DataSet]) -> bool {
    let files: BTreeSet<&str> = sets.iter().map(|set| set.origin.file.as_str()).collect();
    files.len() == 1 && sets.iter().all(|set| set.schedule == Schedule::Interleaved)
}

/// Settings that tell sets of one file apart; what is the same all over a file belongs to the file.
pub(in crate::report) fn keys_of_rows<'a>(sets: &[&'a DataSet]) -> BTreeSet<&'a str> {
    let mut first: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    let mut keys = BTreeSet::new();
    for set in sets {
        for (key, value) in &set.parameters {
            let known = first.entry((&set.origin.file, key)).or_insert(value);
            if known != value {
                keys.insert(key.as_str());
            }
        }
    }
    keys
}

fn full_name(set: &DataSet, keys: &BTreeSet<&str>) -> String {
    let parameters = set.parameters.iter().filter(|(key, _)| keys.contains(key.as_str()));
    let parameters = parameters.map(|(key, value)| format!("/{key}={value}"));
    // A file of plain numbers has no name but its own, which is that of the column.
    let name = if set.name == set.origin.file { String::new() } else { set.name.clone() };
    std::iter::once(name).chain(parameters).collect()
}

fn table(grid: &Grid, metric: &str, comparisons: usize, options: &Options) -> String {
    let mut notes = Notes::default();
    let mut lines = vec![header(grid, metric, options)];
    for (name, cells) in &grid.rows {
        lines.push(row(name, grid, cells, comparisons, options, &mut notes));
    }
    lines.extend(geomean(grid, options, &mut notes));
    aligned(&lines) + &notes.text()
}

/// Cells of a line; `│` stands before each column of values.
type Cells = Vec<String>;

fn header(grid: &Grid, metric: &str, options: &Options) -> Cells {
    let mut cells = vec![metric.to_owned()];
    for (place, column) in grid.columns.iter().enumerate() {
        cells.push(format!("│ {column}"));
        if place > 0 {
            cells.push("vs base".to_owned());
            cells.extend((!options.compat).then(|| "verdict".to_owned()));
        }
    }
    cells
}

fn row(
    name: &str,
    grid: &Grid,
    cells: &[Option<&DataSet>],
    comparisons: usize,
    options: &Options,
    notes: &mut Notes,
) -> Cells {
    let mut line = vec![name.to_owned()];
    let base = cells.first().copied().flatten();
    for place in 0..grid.columns.len() {
        let set = cells.get(place).copied().flatten();
        line.push(format!("│ {}", set.map_or(String::new(), |set| centre(set, options, notes))));
        if place == 0 {
            continue;
        }
        let change = base.zip(set).map(|(base, set)| change(base, set, comparisons, options, notes));
        let (delta, verdict) = change.unwrap_or_default();
        line.push(delta);
        line.extend((!options.compat).then_some(verdict));
    }
    line
}

/// The median with the larger side of its interval, in per cent.
fn centre(set: &DataSet, options: &Options, notes: &mut Notes) -> String {
    let Some(median) = quantiles::median(&set.values) else {
        return format!("? {}", notes.mark("some values are no numbers"));
    };
    let interval = median_interval::median_interval(&set.values, options.confidence);
    let reach =
        interval.map_or(f64::INFINITY, |interval| (interval.high - median).max(median - interval.low));
    let spread = if reach == 0.0 {
        "± 0%".to_owned()
    } else if reach.is_finite() && median != 0.0 {
        format!("± {:.0}%", 100.0 * reach / median.abs())
    } else {
        format!("± ? {}", notes.mark("not enough runs for an interval"))
    };
    format!("{} {spread}", with_unit(median, &set.metric))
}

fn change(
    base: &DataSet,
    set: &DataSet,
    comparisons: usize,
    options: &Options,
    notes: &mut Notes,
) -> (String, String) {
    let alpha = options.alpha_against_base(comparisons);
    let judgement = judge(base, set, alpha, options.margin);
    let u_test = || mann_whitney::u_test(&base.values, &set.values).map(|test| test.p);
    let p = if options.compat { u_test() } else { judgement.p.or_else(u_test) };
    let is_shown = if options.compat {
        p.is_some_and(|p| p <= 1.0 - options.confidence)
    } else {
        is_real(&judgement, p, alpha)
    };
    let delta = if is_shown { delta(base, set) } else { "~".to_owned() };
    let p = p.map_or("?".to_owned(), |p| format!("{p:.3}"));
    let mut text = format!("{delta} (p={p} n={})", counts(base, set));
    if judgement.said == Said::Identical {
        text += &format!(" {}", notes.mark("all values are equal"));
    }
    let mut verdict = judgement.word(base).to_owned();
    if judgement.said == Said::Unsafe {
        verdict += &format!(" {}", notes.mark(UNSAFE));
    }
    (text, verdict)
}

/// Whether the data exclude "no difference at all".
fn is_real(judgement: &Judgement, p: Option<f64>, alpha: f64) -> bool {
    match judgement.interval {
        Some((low, high)) => low > 1.0 || high < 1.0,
        None => judgement.said == Said::NoRatio && p.is_some_and(|p| p <= alpha),
    }
}

fn delta(base: &DataSet, set: &DataSet) -> String {
    let medians = quantiles::median(&base.values).zip(quantiles::median(&set.values));
    match medians {
        Some((old, new)) if old != 0.0 => format!("{:+.2}%", 100.0 * (new - old) / old.abs()),
        _ => "?".to_owned(),
    }
}

fn counts(base: &DataSet, set: &DataSet) -> String {
    let (old, new) = (base.values.len(), set.values.len());
    if old == new { old.to_string() } else { format!("{old}+{new}") }
}

/// Over the rows that every column has with a median above zero; `None` with fewer than two rows.
fn geomean(grid: &Grid, options: &Options, notes: &mut Notes) -> Option<Cells> {
    if grid.rows.len() < 2 {
        return None;
    }
    let medians: Vec<(&str, Option<Vec<f64>>)> =
        grid.rows.iter().map(|(name, cells)| (name.as_str(), matched(cells, grid.columns.len()))).collect();
    let rows: Vec<&Vec<f64>> = medians.iter().filter_map(|(_, medians)| medians.as_ref()).collect();
    let left_out: Vec<&str> =
        medians.iter().filter(|(_, medians)| medians.is_none()).map(|(name, _)| *name).collect();
    let about = match (rows.len(), left_out.is_empty()) {
        (0, _) => "no row has a value above zero in every column".to_owned(),
        (count, true) => format!("over all {count} rows"),
        (count, false) => {
            format!(
                "over the {count} rows that every column has, above zero; without {}",
                left_out.join(", ")
            )
        }
    };
    let mut line = vec![format!("geomean {}", notes.mark(&about))];
    let metric = &grid.rows[0].1.iter().flatten().next()?.metric;
    let means: Vec<f64> = (0..grid.columns.len()).map(|column| geometric_mean(&rows, column)).collect();
    for (column, &mean) in means.iter().enumerate() {
        line.push(format!("│ {}", if rows.is_empty() { "?".to_owned() } else { with_unit(mean, metric) }));
        if column > 0 && !rows.is_empty() {
            line.push(format!("{:+.2}%", 100.0 * (mean / means[0] - 1.0)));
        } else if column > 0 {
            line.push(String::new());
        }
        line.extend((column > 0 && !options.compat).then(String::new));
    }
    Some(line)
}

fn matched(cells: &[Option<&DataSet>], columns: usize) -> Option<Vec<f64>> {
    let median =
        |cell: &Option<&DataSet>| quantiles::median(&cell.as_ref()?.values).filter(|&median| median > 0.0);
    cells.iter().map(median).collect::<Option<Vec<f64>>>().filter(|medians| medians.len() == columns)
}

fn geometric_mean(rows: &[&Vec<f64>], column: usize) -> f64 {
    let sum: f64 = rows.iter().map(|medians| medians[column].ln()).sum();
    (sum / rows.len().max(1) as f64).exp()
}

/// Footnotes, each with a raised number.
#[derive(Default)]
struct Notes {
    texts: Vec<String>,
}

impl Notes {
    fn mark(&mut self, text: &str) -> String {
        let number = 1 + place(&mut self.texts, text.to_owned());
        let raised = |digit: char| {
            ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit.to_digit(10).unwrap_or(0) as usize]
        };
        number.to_string().chars().map(raised).collect()
    }

    fn text(mut self) -> String {
        let texts = std::mem::take(&mut self.texts);
        texts.iter().map(|text| format!("{} {text}\n", self.mark(text))).collect()
    }
}

fn aligned(lines: &[Cells]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let line = |cells: &Cells| {
        let padded = cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        format!("{}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
    };
    lines.iter().map(line).collect()
}
