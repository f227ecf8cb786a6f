//! The runs of a recording, arranged by variant and block. Warm-up blocks and failed runs are left out here and
//! nowhere else.

use super::variants::of_each;
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
}

impl<'a> Samples<'a> {
    pub fn collect(recording: &'a Recording, variants: usize) -> Self {
        Self::collect_of(recording, variants, |_| true)
    }

    /// Knows the values of the wanted metrics only, for less time and memory.
    pub fn collect_of(recording: &'a Recording, variants: usize, is_wanted: impl Fn(&str) -> bool) -> Self {
        let cells = cells(recording, variants);
        let names = recording.header.experiment.metrics.iter().map(|metric| &metric.name);
        let wanted: Vec<bool> = names.map(|name| is_wanted(name)).collect();
        Samples {
            recording,
            columns: of_each(variants, recording.runs.len(), |variant| columns(&cells[variant], &wanted)),
            complete_blocks: complete_blocks(&cells),
            cells,
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

    /// Known values of a metric in a variant, in the order they were made.
    pub fn values(&self, variant: usize, metric: &str) -> Vec<f64> {
        self.column(variant, metric).iter().copied().filter(|value| !value.is_nan()).collect()
    }

    /// Values of a metric in a variant, one place for each block; `None` where the run failed or has no value.
    pub fn by_block(&self, variant: usize, metric: &str) -> Vec<Option<f64>> {
        self.column(variant, metric).iter().map(|value| (!value.is_nan()).then_some(*value)).collect()
    }

    /// Values of two metrics in the runs that have both.
    pub fn pairs(&self, variant: usize, first: &str, second: &str) -> Vec<(f64, f64)> {
        let (first, second) = (self.column(variant, first), self.column(variant, second));
        let both = first.iter().copied().zip(second.iter().copied());
        both.filter(|(first, second)| !first.is_nan() && !second.is_nan()).collect()
    }

    /// Numbers of the measured blocks in which every variant succeeded.
    pub fn complete_blocks(&self) -> &[usize] {
        &self.complete_blocks
    }

    /// The same as [`Samples::log_ratios`], for whoever only decides.
    pub fn differences(&self, base: usize, other: usize, metric: &str) -> Vec<f64> {
        self.log_ratios(base, other, metric).iter().map(|ratio| ratio.difference).collect()
    }

    /// ln(other / base) of a metric for each complete block, in order. A block with an unknown or non-positive
    /// value has no ratio and is left out.
    pub fn log_ratios(&self, base: usize, other: usize, metric: &str) -> Vec<BlockRatio> {
        let values = (self.column(base, metric), self.column(other, metric));
        let blocks = self.complete_blocks.iter();
        blocks.filter_map(|&block| self.log_ratio((base, other), values, block)).collect()
    }

    fn log_ratio(
        &self,
        (base, other): (usize, usize),
        values: (&[f64], &[f64]),
        block: usize,
    ) -> Option<BlockRatio> {
        let logarithm =
            |values: &[f64]| values.get(block).filter(|&&value| value > 0.0).map(|value| value.ln());
        let (low, high) = (logarithm(values.0)?, logarithm(values.1)?);
        Some(BlockRatio {
            difference: high - low,
            mean: (high + low) / 2.0,
            base_first: self.cells[base][block]?.position < self.cells[other][block]?.position,
        })
    }

    /// One place for each block; empty for a metric that is not there.
    fn column(&self, variant: usize, metric: &str) -> &[f64] {
        self.recording.metric_index(metric).map_or(&[], |index| &self.columns[variant][index])
    }
}

/// One block of one comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockRatio {
    /// ln(other) - ln(base).
    pub difference: f64,
    /// Mean of both logarithms: the level of the block.
    pub mean: f64,
    pub base_first: bool,
}

fn cells(recording: &Recording, variants: usize) -> Vec<Vec<Option<&Run>>> {
    let design = &recording.header.experiment.design;
    let warmup = design.warmup;
    let blocks = recording.runs.iter().map(|run| run.block + 1).max().unwrap_or(0).saturating_sub(warmup);
    let mut cells = vec![vec![None; blocks]; variants];
    for run in &recording.runs {
        if run.block >= warmup && design.counts(&run.exit) && run.variant < variants {
            cells[run.variant][run.block - warmup] = Some(run);
        }
    }
    cells
}

fn columns(cells: &[Option<&Run>], wanted: &[bool]) -> Vec<Vec<f64>> {
    let empty = |&is_wanted: &bool| if is_wanted { vec![f64::NAN; cells.len()] } else { Vec::new() };
    let mut columns: Vec<Vec<f64>> = wanted.iter().map(empty).collect();
    for (block, run) in cells.iter().enumerate().filter_map(|(block, run)| Some((block, (*run)?))) {
        for (column, value) in columns.iter_mut().zip(run.values.iter()) {
            if let (Some(place), Some(value)) = (column.get_mut(block), value) {
                *place = value;
            }
        }
    }
    columns
}

fn complete_blocks(cells: &[Vec<Option<&Run>>]) -> Vec<usize> {
    let blocks = cells.first().map_or(0, Vec::len);
    (0..blocks).filter(|&block| cells.iter().all(|cells| cells[block].is_some())).collect()
}
