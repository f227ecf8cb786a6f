//! Each variant by itself: centre, interval and spread of every metric, and the shape of its wall times.

use std::collections::BTreeMap;

use benchmath::median_interval::{median_interval_in, median_interval_of_series};
use benchmath::{bootstrap, quantiles};
use serde::Serialize;

use super::{Estimate, Samples};
use crate::model::{Exit, Looks, Recording, Run, Variant};

/// Runs with less CPU time than this many timer ticks have no meaningful split into user and system time.
pub const TICKS_FOR_A_SPLIT: f64 = 4.0;
/// The coarsest common tick, for hosts that do not tell.
const USUAL_TICK_S: f64 = 0.004;
/// Scales the median absolute deviation to the standard deviation of normal noise.
const MAD_TO_SD: f64 = 1.4826;
/// A run this many median deviations above the median of its variant stands out.
const OUTLIER_DEVIATIONS: f64 = 10.0;
const OUTLIER_RATIO: f64 = 3.0;
pub const HISTOGRAM_BINS: usize = 44;

/// One metric of one variant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// `None`: cannot be told from these runs.
    pub median: Option<f64>,
    /// Interval of the median at the confidence of the experiment; `None` with too few runs. Of a command by itself it
    /// holds whatever made the measuring stop, and is wider where neighbouring runs resemble each other.
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub min: f64,
    pub max: f64,
    /// Scatter of single runs: 1.4826 times the median absolute deviation.
    pub spread: f64,
    pub count: usize,
}

/// One variant.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantSummary {
    pub name: String,
    pub argv: Vec<String>,
    /// Successful measured runs.
    pub runs: usize,
    /// Measured runs that failed, by whatever kind.
    pub failed: usize,
    /// The same by how they ended, most frequent first.
    pub failures: Vec<(Exit, usize)>,
    /// Time after which runs were ended, where some did not end by themselves.
    pub timed_out_after_s: Option<f64>,
    pub metrics: BTreeMap<String, Summary>,
    /// User part of the CPU time over all runs together; `None` where the kernel's books cannot tell.
    pub user_share: Option<Estimate>,
    /// Share of the wall time that the first thread waited for a CPU, over all runs together.
    pub wait_share: Option<f64>,
    /// CPU time is all of the wall time that was not spent waiting for a CPU.
    pub is_cpu_bound: bool,
    pub histogram: Histogram,
    /// A run with more wall time than this stands out from the others; `None` without a median above 0.
    pub standing_out_from_s: Option<f64>,
}

/// Wall times of a variant on an axis that all variants share; bins are equally wide in the logarithm.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Histogram {
    pub low_s: f64,
    pub high_s: f64,
    pub counts: Vec<usize>,
    /// Runs above the end of the axis.
    pub beyond: usize,
}

pub fn summarize(
    recording: &Recording,
    variants: &[Variant],
    samples: &Samples,
    looks: &Looks,
) -> Vec<VariantSummary> {
    let alone_at = (variants.len() == 1).then_some(1.0 - looks.alpha_each);
    let mut summaries = samples
        .of_each_variant(|index| summarize_variant(recording, index, &variants[index], samples, alone_at));
    if let Some(axis) = axis(&summaries, samples) {
        let histograms = samples.of_each_variant(|index| histogram(samples.known(index, "wall_s"), axis));
        summaries.iter_mut().zip(histograms).for_each(|(summary, histogram)| summary.histogram = histogram);
    }
    summaries
}

fn summarize_variant(
    recording: &Recording,
    index: usize,
    variant: &Variant,
    samples: &Samples,
    alone_at: Option<f64>,
) -> VariantSummary {
    let design = &recording.header.experiment.design;
    let names = recording.header.experiment.metrics.iter().map(|metric| &metric.name);
    let summary = |name: &String| summary(samples.values(index, name), design.confidence, alone_at);
    let mut metrics: BTreeMap<String, Summary> =
        names.filter_map(|name| Some((name.clone(), summary(name)?))).collect();
    let user_share = user_share(recording, index, samples, metrics.get("cpu_s"));
    pool_split(&mut metrics, user_share);
    let failures = failures(recording, index, samples);
    VariantSummary {
        name: variant.name.clone(),
        argv: variant.launch.argv.iter().map(|word| word.lossy().into_owned()).collect(),
        runs: samples.runs(index).count(),
        failed: failures.iter().map(|(_, count)| count).sum(),
        timed_out_after_s: variant
            .launch
            .timeout_s
            .filter(|_| failures.iter().any(|(exit, _)| *exit == Exit::TimedOut)),
        failures,
        user_share,
        wait_share: wait_share(index, samples),
        is_cpu_bound: is_cpu_bound(index, samples),
        histogram: Histogram::default(),
        standing_out_from_s: metrics.get("wall_s").and_then(standing_out_from),
        metrics,
    }
}

/// How the failed measured runs of a variant ended; an interrupted one did not fail.
fn failures(recording: &Recording, variant: usize, samples: &Samples) -> Vec<(Exit, usize)> {
    let warmup = recording.header.experiment.design.warmup;
    let is_measured = |run: &&&Run| run.variant == variant && run.block >= warmup;
    let mut kinds: Vec<(Exit, usize)> = Vec::new();
    for run in samples.unsuccessful().iter().filter(is_measured) {
        if run.exit == Exit::Interrupted {
            continue;
        }
        match kinds.iter_mut().find(|(exit, _)| *exit == run.exit) {
            Some((_, count)) => *count += 1,
            None => kinds.push((run.exit.clone(), 1)),
        }
    }
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    kinds
}

/// `None` without a value. The interval beside others is for orientation; alone it is the answer, and has a confidence
/// of its own.
fn summary(mut values: Vec<f64>, confidence: f64, alone_at: Option<f64>) -> Option<Summary> {
    let interval = match alone_at {
        Some(confidence) => median_interval_of_series(&values, confidence)?,
        None => median_interval_in(&mut values, confidence)?,
    };
    let bound = |value: f64| value.is_finite().then_some(value);
    Some(Summary {
        median: Some(interval.estimate),
        low: bound(interval.low),
        high: bound(interval.high),
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        spread: MAD_TO_SD * quantiles::mad_around(&values, interval.estimate).unwrap_or(0.0),
        count: values.len(),
    })
}

/// The tick books a process that ends within one tick wholly as user time, however often it is run, so for short
/// runs more runs do not help and the share is unknown.
fn user_share(
    recording: &Recording,
    variant: usize,
    samples: &Samples,
    cpu: Option<&Summary>,
) -> Option<Estimate> {
    let host = &recording.header.host;
    let tick_s = host.tick_s.unwrap_or(USUAL_TICK_S);
    let is_exact = host.tick_accounting == Some(false);
    if !is_exact && cpu?.median? < TICKS_FOR_A_SPLIT * tick_s {
        return None;
    }
    let design = &recording.header.experiment.design;
    let (user, cpu): (Vec<f64>, Vec<f64>) = samples.pairs(variant, "user_s", "cpu_s").into_iter().unzip();
    let share = bootstrap::share_interval(&user, &cpu, design.confidence, design.seed)?;
    let bound = |value: f64| value.is_finite().then(|| value.clamp(0.0, 1.0));
    Some(Estimate {
        point: share.estimate,
        low: bound(share.low),
        high: bound(share.high),
        confidence: design.confidence,
    })
}

/// User and system time are shown as the pooled share of the median CPU time, never as medians of misbooked runs.
fn pool_split(metrics: &mut BTreeMap<String, Summary>, user_share: Option<Estimate>) {
    let cpu = metrics.get("cpu_s").and_then(|cpu| cpu.median);
    let of_cpu = |share: Option<f64>| share.zip(cpu).map(|(share, cpu)| share * cpu);
    let share = |pick: fn(&Estimate) -> Option<f64>| user_share.as_ref().and_then(pick);
    let (point, low, high) = (share(|s| Some(s.point)), share(|s| s.low), share(|s| s.high));
    let rest = |share: Option<f64>| share.map(|share| 1.0 - share);
    if let Some(user) = metrics.get_mut("user_s") {
        (user.median, user.low, user.high) = (of_cpu(point), of_cpu(low), of_cpu(high));
    }
    if let Some(system) = metrics.get_mut("system_s") {
        (system.median, system.low, system.high) =
            (of_cpu(rest(point)), of_cpu(rest(high)), of_cpu(rest(low)));
    }
}

fn wait_share(variant: usize, samples: &Samples) -> Option<f64> {
    let pairs = samples.pairs(variant, "run_queue_wait_s", "wall_s");
    let (wait, wall) = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    // A few odd runs where the whole tree was seen do not speak for the others.
    let is_most = 2 * pairs.len() > samples.runs(variant).count();
    (is_most && wall > 0.0).then(|| wait / wall)
}

fn is_cpu_bound(variant: usize, samples: &Samples) -> bool {
    let cpu = samples.pairs(variant, "cpu_s", "wall_s");
    let wait = samples.pairs(variant, "run_queue_wait_s", "wall_s");
    if cpu.is_empty() || cpu.len() != wait.len() {
        return false;
    }
    let shares: Vec<f64> =
        cpu.iter().zip(&wait).map(|(&(cpu, wall), &(wait, _))| cpu / (wall - wait).max(1e-9)).collect();
    quantiles::median(&shares).is_some_and(|share| (0.95..=1.05).contains(&share))
}

/// From the fastest run to the slowest that does not stand out, so that one straggler does not squeeze the picture.
fn axis(variants: &[VariantSummary], samples: &Samples) -> Option<(f64, f64)> {
    let times = |variant: usize| samples.known(variant, "wall_s");
    let slowest_ordinary = |variant: usize| {
        let limit = variants[variant].standing_out_from_s?;
        times(variant).filter(|&time| time <= limit).reduce(f64::max)
    };
    let low = (0..variants.len()).flat_map(times).filter(|&time| time > 0.0).reduce(f64::min)?;
    let high = (0..variants.len()).filter_map(slowest_ordinary).fold(low, f64::max);
    Some((low, high.max(low * 1.001)))
}

fn standing_out_from(wall: &Summary) -> Option<f64> {
    let median = wall.median.filter(|&median| median > 0.0)?;
    let by_scatter = (median + OUTLIER_DEVIATIONS * wall.spread / MAD_TO_SD).max(median * 1.02);
    Some(by_scatter.min(OUTLIER_RATIO * median))
}

fn histogram(values: impl Iterator<Item = f64>, (low_s, high_s): (f64, f64)) -> Histogram {
    let mut counts = vec![0; HISTOGRAM_BINS];
    let mut beyond = 0;
    let width = (high_s / low_s).ln() / HISTOGRAM_BINS as f64;
    for value in values {
        if value > high_s {
            beyond += 1;
        } else {
            let bin = ((value / low_s).ln() / width) as usize;
            counts[bin.min(HISTOGRAM_BINS - 1)] += 1;
        }
    }
    Histogram { low_s, high_s, counts, beyond }
}

impl VariantSummary {
    pub fn median(&self, metric: &str) -> Option<f64> {
        self.metrics.get(metric)?.median
    }
}
