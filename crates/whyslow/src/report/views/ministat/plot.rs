//! The plot of ministat: a stack of symbols for each column, and bars for mean, median and deviation below.

use super::super::Options;
use super::SYMBOLS;
use super::numbers::Vitals;

/// Stacks higher than this are scaled down, unless the original's plot is asked for.
const HIGHEST: usize = 50;

/// The horizontal axis.
struct Axis {
    start: f64,
    step: f64,
    width: usize,
}

impl Axis {
    /// From the least to the greatest of all values and bars; `None` if there is nothing between them.
    fn over(vitals: &[Vitals], width: usize) -> Option<Self> {
        let ends = vitals.iter().flat_map(|set| {
            let bar = set.mean.zip(set.deviation);
            [set.min, set.max, bar.map(|(mean, sd)| mean - sd), bar.map(|(mean, sd)| mean + sd)]
        });
        let (low, high) = ends
            .flatten()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let step = (high - low) / (width as f64 - 1.0);
        (high > low).then_some(Axis { start: low - 0.5 * step, step, width })
    }

    fn column(&self, value: f64) -> usize {
        (((value - self.start) / self.step) as usize).min(self.width - 1)
    }

    /// How many values of a set fall into each column.
    fn stacks(&self, set: &Vitals) -> Vec<usize> {
        let mut stacks = vec![0; self.width];
        set.values.iter().for_each(|&value| stacks[self.column(value)] += 1);
        stacks
    }
}

/// What is to be drawn, with every value in its column.
pub struct Plot<'a> {
    vitals: &'a [Vitals<'a>],
    options: &'a Options,
    axis: Option<Axis>,
    stacks: Vec<Vec<usize>>,
}

impl<'a> Plot<'a> {
    pub fn of(vitals: &'a [Vitals<'a>], options: &'a Options) -> Self {
        let axis = Axis::over(vitals, options.width.max(2));
        let stacks = |axis: &Axis| vitals.iter().map(|set| axis.stacks(set)).collect();
        Plot { vitals, options, stacks: axis.as_ref().map_or(Vec::new(), stacks), axis }
    }

    pub fn draw(&self) -> String {
        let Some(axis) = &self.axis else {
            return "[no plot, span is zero width]\n".to_owned();
        };
        let frame = format!("+{}+\n", "-".repeat(axis.width));
        let line = |cells: String| format!("|{cells}|\n");
        let rows = points(&self.stacks, axis.width, self.options.compat);
        let points =
            rows.iter().rev().map(|row| line(row.iter().map(|&sets| SYMBOLS[usize::from(sets)]).collect()));
        let bars = bars(axis, self.vitals, self.options.separate_bars).into_iter().map(line);
        format!("{frame}{}{frame}", points.chain(bars).collect::<String>())
    }

    /// Where this plot is not the original's.
    pub fn note(&self) -> Option<String> {
        let scale = scale(&self.stacks);
        if scale > 1 {
            return Some(format!("note: each symbol of the plot stands for up to {scale} values"));
        }
        let last = self.stacks.last().map_or(0, |stacks| highest(stacks));
        let is_cut = self.stacks.iter().any(|stacks| highest(stacks) > last);
        is_cut.then(|| "note: the original would cut the plot at the height of the last set".to_owned())
    }
}

/// For each row from the bottom and each column, the numbers of the sets there, or-ed together.
fn points(stacks: &[Vec<usize>], width: usize, compat: bool) -> Vec<Vec<u8>> {
    let scale = if compat { 1 } else { scale(stacks) };
    let mut rows: Vec<Vec<u8>> = Vec::new();
    let mut height = 0;
    for (place, stacks) in stacks.iter().enumerate() {
        let own_height = highest(stacks).div_ceil(scale);
        if own_height > height {
            // The original forgets the rows above the height of the set before.
            rows.truncate(if compat { height } else { rows.len() });
            rows.resize(own_height.max(rows.len()), vec![0; width]);
        }
        height = if compat { own_height } else { rows.len() };
        for (column, count) in stacks.iter().enumerate() {
            let stack = count.div_ceil(scale);
            rows[..stack].iter_mut().for_each(|row| row[column] |= place as u8 + 1);
        }
    }
    rows.truncate(height);
    rows
}

fn highest(stacks: &[usize]) -> usize {
    stacks.iter().copied().max().unwrap_or(0)
}

/// Values for each symbol.
fn scale(stacks: &[Vec<usize>]) -> usize {
    let highest = stacks.iter().map(|stacks| highest(stacks)).max().unwrap_or(0);
    highest.div_ceil(HIGHEST).max(1)
}

/// One row for all sets or one for each.
fn bars(axis: &Axis, vitals: &[Vitals], separate: bool) -> Vec<String> {
    let mut rows = vec![vec![' '; axis.width]; if separate { vitals.len() } else { 1 }];
    for (place, set) in vitals.iter().enumerate() {
        draw_bar(axis, set, &mut rows[if separate { place } else { 0 }]);
    }
    rows.into_iter().map(String::from_iter).collect()
}

fn draw_bar(axis: &Axis, set: &Vitals, row: &mut [char]) {
    let (Some(mean), Some(median)) = (set.mean, set.median) else { return };
    if let Some(deviation) = set.deviation.filter(|deviation| !deviation.is_nan()) {
        let (low, high) = (axis.column(mean - deviation), axis.column(mean + deviation));
        row[high] = '|';
        row[low] = '|';
        let between = row.iter_mut().take(high).skip(low + 1);
        between.filter(|cell| **cell == ' ').for_each(|cell| *cell = '_');
    }
    row[axis.column(median)] = 'M';
    row[axis.column(mean)] = 'A';
}
