//! The runs of a recording, arranged by variant and block. Warm-up blocks and failed runs are left out here and
//! nowhere else.

use super::at_once::of_each;
use crate::model::{Recording, Run};

/// The successful measured runs of every variant.
pub struct Samples<'a> {
    recording: &'a Recording,
    /// `cells[variant][block]`, counted from the first measured block.
    cells: Vec<Vec<Option<&'a Run>>>,
    /// `columns[variant][metric][block]`. Filled in one walk over the runs, since most of the time of a large
    /// recording would go into walks. Where there is no value it is NaN, which stays in this file.
    columns: Vec<Vec<Vec<f64>>>,
    complete_blocks: Vec<usize>,
    unsuccessful: Vec<&'a Run>,
}

impl<'a> Samples<'a> {
    pub fn collect(recording: &'a Recording, variants: usize) -> Self {
        Self::collect_of(recording, variants, |_| true)
    }

    /// Knows the values of the wanted metrics only, for less time and memory.
    pub fn collect_of(recording: &'a Recording, variants: usize, is_wanted: impl Fn(&str) -> bool) -> Self {
        let (cells, unsuccessful) = cells(recording, variants);
        let names = recording.header.experiment.metrics.iter().map(|metric| &metric.name);
        let wanted: Vec<bool> = names.map(|name| is_wanted(name)).collect();
        Samples {
            recording,
            columns: of_each(variants, recording.runs.len(), |variant| columns(&cells[variant], &wanted)),
            complete_blocks: complete_blocks(&cells),
            cells,
            unsuccessful,
        }
    }

    /// The same work for every variant, on CPUs of their own where there are many runs.
    pub fn of_each_variant<T: Send>(&self, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        of_each(self.cells.len(), self.recording.runs.len(), work)
    }

    /// Successful runs of a variant, in the order they were made.
    pub fn runs(&self, variant: usize) -> impl Iterator<Item = &'a Run> + '_ {
        self.cells[variant].iter().flatten().copied()
    }

    /// The runs that did not succeed, those of warm-up blocks included, in the order they were made.
    pub fn unsuccessful(&self) -> &[&'a Run] {
        &self.unsuccessful
    }

    /// Known values of a metric in a variant, in the order they were made.
    pub fn known(&self, variant: usize, metric: &str) -> impl Iterator<Item = f64> + '_ {
        self.column(variant, metric).iter().copied().filter(|value| !value.is_nan())
    }

    /// The same as a list.
    pub fn values(&self, variant: usize, metric: &str) -> Vec<f64> {
        list(self.known(variant, metric), self.column(variant, metric).len())
    }

    /// Values of a metric in a variant, one place for each block; `None` where the run failed or has no value.
    pub fn by_block(&self, variant: usize, metric: &str) -> Vec<Option<f64>> {
        self.column(variant, metric).iter().map(|value| (!value.is_nan()).then_some(*value)).collect()
    }

    /// Values of two metrics in the runs that have both.
    pub fn pairs(&self, variant: usize, first: &str, second: &str) -> Vec<(f64, f64)> {
        let (first, second) = (self.column(variant, first), self.column(variant, second));
        let both = first.iter().copied().zip(second.iter().copied());
        list(both.filter(|(first, second)| !first.is_nan() && !second.is_nan()), first.len())
    }

    /// Numbers of the measured blocks in which every variant succeeded.
    pub fn complete_blocks(&self) -> &[usize] {
        &self.complete_blocks
    }

    /// The same as [`Samples::log_ratios`], for whoever only decides.
    pub fn differences(&self, base: usize, other: usize, metric: &str) -> Vec<f64> {
        list(self.ratios(base, other, metric).map(|ratio| ratio.difference), self.complete_blocks.len())
    }

    /// ln(other / base) of a metric for each complete block, in order. A block with an unknown or non-positive
    /// value has no ratio and is left out.
    pub fn log_ratios(&self, base: usize, other: usize, metric: &str) -> Vec<BlockRatio> {
        list(self.ratios(base, other, metric), self.complete_blocks.len())
    }

    fn ratios(&self, base: usize, other: usize, metric: &str) -> impl Iterator<Item = BlockRatio> + '_ {
        let (of_base, of_other) = (self.column(base, metric), self.column(other, metric));
        let logarithm = |values: &[f64], block: usize| {
            values.get(block).filter(|&&value| value > 0.0).map(|value| value.ln())
        };
        self.complete_blocks.iter().filter_map(move |&block| {
            let (low, high) = (logarithm(of_base, block)?, logarithm(of_other, block)?);
            Some(BlockRatio { block, difference: high - low, mean: (high + low) / 2.0 })
        })
    }

    /// Whether the first of two variants ran before the other one in a block that has both.
    pub fn is_before(&self, block: usize, first: usize, other: usize) -> bool {
        let position = |variant: usize| self.cells[variant][block].map(|run| run.position);
        position(first) < position(other)
    }

    /// One place for each block; empty for a metric that is not there.
    fn column(&self, variant: usize, metric: &str) -> &[f64] {
        self.recording.metric_index(metric).map_or(&[], |index| &self.columns[variant][index])
    }
}

/// One block of one comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockRatio {
    pub block: usize,
    /// ln(other) - ln(base).
    pub difference: f64,
    /// Mean of both logarithms: the level of the block.
    pub mean: f64,
}

/// A list of no more than so many: one that does not know its length grows by copying itself again and again.
fn list<T>(items: impl Iterator<Item = T>, most: usize) -> Vec<T> {
    let mut list = Vec::with_capacity(most);
    list.extend(items);
    list
}

/// The successful measured runs by variant and block, and those that did not succeed.
fn cells(recording: &Recording, variants: usize) -> (Vec<Vec<Option<&Run>>>, Vec<&Run>) {
    let design = &recording.header.experiment.design;
    let mut cells = vec![Vec::new(); variants];
    let (mut unsuccessful, mut blocks) = (Vec::new(), 0);
    for run in &recording.runs {
        let block = run.block.checked_sub(design.warmup);
        blocks = blocks.max(block.map_or(0, |block| block + 1));
        if !design.counts(&run.exit) {
            unsuccessful.push(run);
        } else if let (Some(block), Some(cells)) = (block, cells.get_mut(run.variant)) {
            if cells.len() <= block {
                cells.resize(block + 1, None);
            }
            cells[block] = Some(run);
        }
    }
    cells.iter_mut().for_each(|cells| cells.resize(blocks, None));
    (cells, unsuccessful)
}

fn columns(cells: &[Option<&Run>], wanted: &[bool]) -> Vec<Vec<f64>> {
    let empty = |&is_wanted: &bool| Vec::with_capacity(if is_wanted { cells.len() } else { 0 });
    let mut columns: Vec<Vec<f64>> = wanted.iter().map(empty).collect();
    for run in cells {
        let mut values = run.iter().flat_map(|run| run.values.iter());
        for (column, is_wanted) in columns.iter_mut().zip(wanted) {
            let value = values.next().flatten();
            if *is_wanted {
                column.push(value.unwrap_or(f64::NAN));
            }
        }
    }
    columns
}

fn complete_blocks(cells: &[Vec<Option<&Run>>]) -> Vec<usize> {
    let blocks = cells.first().map_or(0, Vec::len);
    (0..blocks).filter(|&block| cells.iter().all(|cells| cells[block].is_some())).collect()
}
