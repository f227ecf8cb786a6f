//! A recording as data sets: one for each metric and variant, the base first. Only complete blocks are taken, so that
//! value i of every variant comes from the same block.

use super::Options;
use crate::analysis::{Samples, looks_of};
use crate::model::{DataMetric, DataSet, Metric, Origin, PerlTimes, Recording, Run, Schedule, Variant};
use crate::plan;

/// The sets of those metrics that the recording has, metric by metric.
pub fn data_sets(recording: &Recording, metrics: &[&str]) -> Vec<DataSet> {
    let variants = plan::variants(&recording.header.experiment);
    let blocks = complete_blocks(recording, variants.len());
    let order = base_first(recording.header.experiment.design.base, variants.len());
    let known = metrics.iter().filter_map(|name| recording.metric_index(name));
    known
        .flat_map(|metric| order.iter().map(move |&variant| (metric, variant)))
        .map(|(metric, variant)| data_set(recording, &variants[variant], &blocks, metric, variant))
        .collect()
}

/// The options with the confidence, margin and looks that the recording was judged by.
pub fn options(recording: &Recording, options: &Options) -> Options {
    let design = &recording.header.experiment.design;
    Options {
        confidence: design.confidence,
        margin: design.margin,
        alpha_each: Some(alpha_each(recording)),
        ..options.clone()
    }
}

/// The error spent at each look.
fn alpha_each(recording: &Recording) -> f64 {
    let variants = plan::variants(&recording.header.experiment).len();
    let samples = Samples::collect_of(recording, variants, |metric| metric == "wall_s");
    looks_of(recording, &samples, variants).alpha_each
}

/// The run of every variant in each complete block.
type Blocks<'a> = Vec<Vec<&'a Run>>;

fn complete_blocks(recording: &Recording, variants: usize) -> Blocks<'_> {
    let design = &recording.header.experiment.design;
    let last = recording.runs.iter().map(|run| run.block + 1).max().unwrap_or(0);
    let mut cells: Vec<Vec<Option<&Run>>> = vec![vec![None; variants]; last.saturating_sub(design.warmup)];
    let is_taken =
        |run: &&Run| run.block >= design.warmup && run.variant < variants && design.counts(&run.exit);
    for run in recording.runs.iter().filter(is_taken) {
        cells[run.block - design.warmup][run.variant] = Some(run);
    }
    cells.into_iter().filter_map(|runs| runs.into_iter().collect()).collect()
}

fn base_first(base: usize, variants: usize) -> Vec<usize> {
    let others = (0..variants).filter(|&variant| variant != base);
    (base..variants.min(base + 1)).chain(others).collect()
}

fn data_set(
    recording: &Recording,
    variant: &Variant,
    blocks: &Blocks,
    metric: usize,
    index: usize,
) -> DataSet {
    let values = blocks
        .iter()
        .filter(|runs| runs.iter().all(|run| run.values.get(metric).is_some()))
        .filter_map(|runs| runs.get(index)?.values.get(metric))
        .collect();
    let metric = &recording.header.experiment.metrics[metric];
    DataSet {
        name: crate::report::printable(&variant.name),
        parameters: Vec::new(),
        metric: data_metric(metric),
        values,
        schedule: Schedule::Interleaved,
        printed: Vec::new(),
        perl_times: (metric.name == "cpu_s").then(|| perl_times(recording, blocks, index)),
        origin: Origin { file: recording.header.experiment.name.clone(), form: "whyslow".into(), line: 0 },
    }
}

fn data_metric(metric: &Metric) -> DataMetric {
    DataMetric { name: metric.name.clone(), unit: Some(metric.unit), better: metric.better }
}

/// Every run is one iteration, and all of it is the time of children.
fn perl_times(recording: &Recording, blocks: &Blocks, variant: usize) -> PerlTimes {
    let sum = |name: &str| -> f64 {
        let index = recording.metric_index(name);
        let of_run = |runs: &Vec<&Run>| runs.get(variant)?.values.get(index?);
        blocks.iter().filter_map(of_run).sum()
    };
    PerlTimes {
        real_s: sum("wall_s"),
        children_user_s: sum("user_s"),
        children_system_s: sum("system_s"),
        iterations: blocks.len() as f64,
        ..PerlTimes::default()
    }
}
