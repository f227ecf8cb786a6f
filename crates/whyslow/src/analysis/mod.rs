//! From a recording to what it shows: samples, comparisons with verdicts, concerns. Pure: the same recording gives
//! the same analysis, on any machine and at any time.

mod alone;
mod at_once;
mod comparisons;
mod concerns;
mod decision;
mod looks;
mod progress;
mod samples;
mod sensitivity;
mod summaries;
pub mod traces;
mod work;

use serde::Serialize;

use crate::model::{Design, Exit, Floor, HookFailure, Metric, Missing, Recording, Run, Stop};
use crate::plan;

pub use alone::Alone;
pub use benchmath::verdict::Verdict;
pub use comparisons::{Comparison, Forecast, Reading};
pub use concerns::{Concern, Mode, Outliers, TwoModes};
pub use decision::{Decision, decide};
pub use looks::{is_fixed_for_time, look_times, looks_of, settle};
pub use progress::{Progress, progress};
pub use samples::Samples;
pub use sensitivity::{Sensitivity, sensitivity};
pub use summaries::{Histogram, Summary, TICKS_FOR_A_SPLIT, VariantSummary};
pub use work::is_mostly_work;

/// The metrics that always get a verdict.
pub const JUDGED_METRICS: [&str; 2] = ["wall_s", "cpu_s"];

/// The metrics that get a verdict, the one that decides when to stop first.
pub fn judged_metrics(design: &Design) -> Vec<&str> {
    let mut metrics = vec![design.leading.as_str()];
    metrics.extend(JUDGED_METRICS.into_iter().filter(|&metric| metric != design.leading));
    metrics
}

/// A number with what is known about it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    pub point: f64,
    /// `None`: there are too few runs to say.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Chance that the interval holds the truth, such as 0.95.
    pub confidence: f64,
}

/// Everything that a recording shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    pub variants: Vec<VariantSummary>,
    /// For each variant but the base, one comparison per judged metric that could be measured.
    pub comparisons: Vec<Comparison>,
    /// What is known of a command that is measured by itself.
    pub alone: Option<Alone>,
    pub concerns: Vec<Concern>,
    /// Measured blocks in which every variant succeeded.
    pub blocks: usize,
    pub base: usize,
    pub confidence: f64,
    pub margin: f64,
    pub floor: Option<Floor>,
    pub missing: Vec<Missing>,
    /// `None`: the recording breaks off.
    pub stop: Option<Stop>,
    pub failure: Option<Failure>,
    pub hook_failure: Option<HookFailure>,
    /// The metric that decides when to stop.
    pub leading: String,
    pub metrics: Vec<Metric>,
}

/// The run that ended the comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub variant: usize,
    /// From 0, among the warm-up blocks or among the measured ones.
    pub block: usize,
    pub is_warmup: bool,
    pub exit: Exit,
    pub stderr_tail: String,
}

/// Computes everything there is to say.
pub fn analyze(recording: &Recording) -> Analysis {
    let experiment = &recording.header.experiment;
    let variants = plan::variants(experiment);
    let samples = Samples::collect(recording, variants.len());
    let looks = looks_of(recording, &samples, variants.len());
    let summaries = summaries::summarize(recording, &variants, &samples, &looks);
    let comparisons = comparisons::compare(recording, &samples, variants.len(), &looks);
    let alone = alone::alone(recording, &samples, variants.len(), &looks);
    let concerns = concerns::raise(recording, &samples, &summaries, (&comparisons, alone.as_ref()));
    Analysis {
        variants: summaries,
        comparisons,
        alone,
        concerns,
        blocks: samples.complete_blocks().len(),
        base: experiment.design.base,
        confidence: experiment.design.confidence,
        margin: experiment.design.margin,
        floor: recording.header.floor,
        missing: recording.header.missing.clone(),
        stop: recording.stop(),
        failure: failure(recording, &samples),
        hook_failure: recording.hook_failure.clone(),
        leading: experiment.design.leading.clone(),
        metrics: experiment.metrics.clone(),
    }
}

fn failure(recording: &Recording, samples: &Samples) -> Option<Failure> {
    let design = &recording.header.experiment.design;
    let ended_it = |run: &&&Run| !design.goes_on(&run.exit) && run.exit != Exit::Interrupted;
    let run = samples.unsuccessful().iter().find(ended_it)?;
    let warmup = design.warmup;
    let is_warmup = run.block < warmup;
    Some(Failure {
        variant: run.variant,
        block: if is_warmup { run.block } else { run.block - warmup },
        is_warmup,
        exit: run.exit.clone(),
        stderr_tail: run.stderr_tail.clone(),
    })
}

impl Analysis {
    /// The comparison of one variant with the base on one metric.
    pub fn comparison(&self, other: usize, metric: &str) -> Option<&Comparison> {
        self.comparisons.iter().find(|comparison| comparison.other == other && comparison.metric == metric)
    }
}
