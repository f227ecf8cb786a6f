//! The runs of a recording, arranged by variant and block. Warm-up blocks and failed runs are left out here and
//! nowhere else.

use crate::model::{Recording, Run};

/// The successful measured runs of every variant.
pub struct Samples<'a> {
    recording: &'a Recording,
    /// `cells[variant][block]`, counted from the first measured block.
    cells: Vec<Vec<Option<&'a Run>>>,
}

impl<'a> Samples<'a> {
    pub fn collect(recording: &'a Recording, variants: usize) -> Self {
        let design = &recording.header.experiment.design;
        let warmup = design.warmup;
        let blocks = recording.runs.iter().map(|run| run.block + 1).max().unwrap_or(0).saturating_sub(warmup);
        let mut cells = vec![vec![None; blocks]; variants];
        for run in &recording.runs {
            if run.block >= warmup && design.counts(&run.exit) && run.variant < variants {
                cells[run.variant][run.block - warmup] = Some(run);
            }
        }
        Samples { recording, cells }
    }

    /// Successful runs of a variant, in the order they were made.
    pub fn runs(&self, variant: usize) -> impl Iterator<Item = &'a Run> + '_ {
        self.cells[variant].iter().flatten().copied()
    }

    /// Known values of a metric in a variant, in the order they were made.
    pub fn values(&self, variant: usize, metric: &str) -> Vec<f64> {
        let Some(index) = self.recording.metric_index(metric) else { return Vec::new() };
        self.runs(variant).filter_map(|run| value(run, index)).collect()
    }

    /// Values of two metrics in the runs that have both.
    pub fn pairs(&self, variant: usize, first: &str, second: &str) -> Vec<(f64, f64)> {
        let indices = self.recording.metric_index(first).zip(self.recording.metric_index(second));
        let Some((first, second)) = indices else { return Vec::new() };
        self.runs(variant).filter_map(|run| value(run, first).zip(value(run, second))).collect()
    }

    /// Numbers of the measured blocks in which every variant succeeded.
    pub fn complete_blocks(&self) -> Vec<usize> {
        let blocks = self.cells.first().map_or(0, Vec::len);
        (0..blocks).filter(|&block| self.cells.iter().all(|cells| cells[block].is_some())).collect()
    }

    /// ln(other / base) of a metric for each complete block, in order. A block with an unknown or non-positive
    /// value has no ratio and is left out.
    pub fn log_ratios(&self, base: usize, other: usize, metric: &str) -> Vec<BlockRatio> {
        let Some(index) = self.recording.metric_index(metric) else { return Vec::new() };
        self.complete_blocks()
            .into_iter()
            .filter_map(|block| self.log_ratio(base, other, index, block))
            .collect()
    }

    fn log_ratio(&self, base: usize, other: usize, metric: usize, block: usize) -> Option<BlockRatio> {
        let (base, other) = (self.cells[base][block]?, self.cells[other][block]?);
        let logarithm = |run| value(run, metric).filter(|&value| value > 0.0).map(f64::ln);
        let (low, high) = (logarithm(base)?, logarithm(other)?);
        Some(BlockRatio {
            difference: high - low,
            mean: (high + low) / 2.0,
            base_first: base.position < other.position,
        })
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

fn value(run: &Run, metric: usize) -> Option<f64> {
    run.values.get(metric).copied().flatten().filter(|value| value.is_finite())
}
