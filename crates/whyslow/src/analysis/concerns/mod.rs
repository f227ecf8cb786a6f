//! What is wrong with a recording as a whole, and what weakens its numbers. A concern never removes a run and never
//! changes a verdict; it says what to keep in mind and what to do.

mod machine;
mod modes;
mod runs;

use benchmath::{quantiles, spearman};

use machine::{drift, machine_concerns};
use modes::two_modes;
use runs::what_ran;

use super::at_once::both;
use super::comparisons::read_together;
use super::samples::BlockRatio;
use super::{Alone, Comparison, Reading, Samples, VariantSummary, Verdict};
use crate::model::{Recording, Run};

const ORDER_SIGNIFICANCE: f64 = 0.01;
const SHORT_IN_FLOORS: f64 = 5.0;
/// Less than this is not worth telling of a first run, however little the others scatter.
const FIRST_RUN_RATIO: f64 = 1.1;
/// With fewer runs, what is usual is not known.
const FIRST_RUN_AMONG: usize = 10;

/// One thing to keep in mind.
#[derive(Clone, Debug, PartialEq)]
pub enum Concern {
    /// Time was spent waiting for a CPU that something else had.
    Busy {
        wait_share: f64,
    },
    /// Tasks on the machine waited for CPUs, measured for the whole machine.
    Pressure {
        share: f64,
    },
    /// A hypervisor took time away.
    Steal {
        share: f64,
    },
    /// The CPUs changed their frequency during the measurement.
    Frequency {
        change: f64,
    },
    /// The whole computer slept during so many runs.
    Suspended {
        runs: usize,
        seconds: f64,
    },
    /// The level of all variants moved during the measurement; blocks cancel it out of the comparison.
    Drift {
        change: f64,
    },
    /// The later run of a pair is faster or slower than the earlier one.
    Order {
        other: usize,
        second_over_first: f64,
    },
    /// A first run took longer than those after it: the warm-up, or the first that counts.
    FirstRun {
        ratio: f64,
        is_warmup: bool,
    },
    /// Neighbouring runs of the only command resemble each other.
    AlikeNeighbours,
    /// The difference came and went, in these metrics.
    Correlated {
        other: usize,
        metrics: Vec<String>,
    },
    Outliers {
        variants: Vec<Outliers>,
    },
    /// Runs of these variants fall into two groups. Together means in the same blocks: then it is the machine that
    /// changes and not the program.
    TwoModes {
        variants: Vec<TwoModes>,
        together: bool,
    },
    /// Starting a program is a large part of what was measured.
    Short {
        variant: usize,
        median_s: f64,
        floor_s: f64,
    },
    /// The timer tick cannot split the CPU time of such short runs.
    NoSplit {
        variants: Vec<usize>,
    },
    /// Runs failed and were left out; the rates differ if the difference is more than chance.
    Failures {
        variants: Vec<usize>,
        rates_differ: bool,
    },
    /// Descendants outlived the command in so many runs; what they did is not in the numbers.
    Leftovers {
        variant: usize,
        runs: usize,
    },
    /// These variants did not write the same as the base.
    OutputDiffers {
        others: Vec<usize>,
    },
    /// The output of a variant was not the same in every run.
    OutputVaries {
        variant: usize,
    },
    /// The metric that was to decide has no values to compare.
    LeadingUnknown {
        metric: String,
    },
    /// The ratio of the medians lies outside the interval of the blocks.
    Medians {
        other: usize,
        ratio: f64,
    },
    /// Wall and CPU time say different things.
    Reading {
        other: usize,
        reading: Reading,
    },
    /// CPU time is all there is to the command, so its verdict stands for the wall time of an idle machine.
    CpuStandsForWall {
        other: usize,
    },
    /// Fewer blocks than any verdict takes.
    TooFewBlocks {
        blocks: usize,
        needed: usize,
    },
}

/// The runs of one variant that stand out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outliers {
    pub variant: usize,
    pub count: usize,
    pub runs: usize,
    /// Slowest run over the median.
    pub slowest_ratio: f64,
    /// Most of them waited for a CPU.
    pub waited: bool,
}

/// The two groups of runs of one variant.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoModes {
    pub variant: usize,
    pub metric: String,
    pub modes: [Mode; 2],
}

/// One of two groups of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    pub median: f64,
    pub share: f64,
}

impl Concern {
    /// Stable machine name.
    pub fn kind(&self) -> &'static str {
        match self {
            Concern::Busy { .. } => "busy",
            Concern::Pressure { .. } => "pressure",
            Concern::Steal { .. } => "steal",
            Concern::Frequency { .. } => "frequency",
            Concern::Suspended { .. } => "suspended",
            Concern::Drift { .. } => "drift",
            Concern::Order { .. } => "order",
            Concern::FirstRun { .. } => "first_run",
            Concern::AlikeNeighbours | Concern::Correlated { .. } => "correlated",
            Concern::Outliers { .. } => "outliers",
            Concern::TwoModes { .. } => "two_modes",
            Concern::Short { .. } => "short",
            Concern::NoSplit { .. } => "no_split",
            Concern::LeadingUnknown { .. } => "leading_unknown",
            Concern::Medians { .. } => "medians",
            Concern::Failures { .. } => "failures",
            Concern::Leftovers { .. } => "leftovers",
            Concern::OutputDiffers { .. } => "output_differs",
            Concern::OutputVaries { .. } => "output_varies",
            Concern::Reading { reading: Reading::Waiting, .. } => "waiting",
            Concern::Reading { reading: Reading::HiddenByLoad, .. } => "hidden_by_load",
            Concern::Reading { reading: Reading::ParallelSlack, .. } => "parallel_slack",
            Concern::Reading { reading: Reading::Parallelism, .. } => "parallelism",
            Concern::CpuStandsForWall { .. } => "cpu_stands_for_wall",
            Concern::TooFewBlocks { .. } => "too_few_blocks",
        }
    }
}

/// All concerns, the ones about the whole machine first.
pub fn raise(
    recording: &Recording,
    samples: &Samples,
    variants: &[VariantSummary],
    (comparisons, alone): (&[Comparison], Option<&Alone>),
) -> Vec<Concern> {
    let ((mut concerns, of_machine), (drift, of_comparisons)) = both(
        recording.runs.len(),
        || (what_ran(recording, samples, variants), machine_concerns(samples, variants)),
        || {
            let of = |comparison| comparison_concerns(samples, variants, comparisons, comparison);
            (drift(samples, recording, variants.len()), comparisons.iter().flat_map(of).collect::<Vec<_>>())
        },
    );
    let leading = &recording.header.experiment.design.leading;
    let is_unknown = alone.is_none() && !comparisons.iter().any(|comparison| comparison.metric == *leading);
    if is_unknown && variants.iter().all(|variant| variant.runs > 0) {
        concerns.push(Concern::LeadingUnknown { metric: leading.clone() });
    }
    concerns.extend(of_machine.into_iter().chain(drift).chain(of_comparisons));
    if variants.len() == 1 {
        concerns.extend(first_run(recording, &variants[0]));
    }
    if alone.is_some_and(|alone| alone.is_correlated) {
        concerns.push(Concern::AlikeNeighbours);
    }
    let is_busy = concerns.iter().any(|c| matches!(c, Concern::Busy { .. } | Concern::Pressure { .. }));
    let outliers: Vec<Outliers> =
        (0..variants.len()).filter_map(|index| outliers(samples, index, &variants[index])).collect();
    if !outliers.is_empty() {
        concerns.push(Concern::Outliers { variants: outliers });
    }
    for (index, variant) in variants.iter().enumerate() {
        concerns.extend(short(recording, index, variant));
    }
    concerns.extend(two_modes(samples, recording, variants.len(), is_busy));
    concerns.extend(no_split(variants));
    concerns.extend(too_few_blocks(recording, comparisons, alone));
    concerns
}

fn comparison_concerns(
    samples: &Samples,
    variants: &[VariantSummary],
    comparisons: &[Comparison],
    comparison: &Comparison,
) -> Vec<Concern> {
    let mut concerns = Vec::new();
    if comparison.metric != "wall_s" {
        return concerns;
    }
    let correlated = comparisons.iter().filter(|c| c.other == comparison.other && c.is_correlated);
    let metrics: Vec<String> = correlated.map(|c| c.metric.clone()).collect();
    if !metrics.is_empty() {
        concerns.push(Concern::Correlated { other: comparison.other, metrics });
    }
    concerns.extend(order(samples, comparison));
    concerns.extend(medians(variants, comparison));
    let cpu = comparisons.iter().find(|cpu| cpu.other == comparison.other && cpu.metric == "cpu_s");
    let Some(cpu) = cpu else { return concerns };
    if let Some(reading) = read_together(comparison.verdict, cpu.verdict) {
        concerns.push(Concern::Reading { other: comparison.other, reading });
    }
    let is_cpu_bound = variants[comparison.base].is_cpu_bound && variants[comparison.other].is_cpu_bound;
    let wall_is_open = comparison.verdict == Verdict::Undecided && cpu.verdict != Verdict::Undecided;
    if is_cpu_bound && wall_is_open {
        concerns.push(Concern::CpuStandsForWall { other: comparison.other });
    }
    concerns
}

/// Blocks compare runs that were close in time, the table compares all of them; where runs fall into groups, the two can
/// be far apart.
fn medians(variants: &[VariantSummary], comparison: &Comparison) -> Option<Concern> {
    let median = |index: usize| variants[index].median(&comparison.metric);
    let ratio = median(comparison.other)? / median(comparison.base).filter(|&base| base > 0.0)?;
    let slack = 1.0 + comparison.margin;
    let (low, high) = comparison.ratio.low.zip(comparison.ratio.high)?;
    (ratio * slack < low || ratio > high * slack)
        .then_some(Concern::Medians { other: comparison.other, ratio })
}

/// The order must not matter: the log ratios must not go with who came first. A rank correlation with a yes-or-no
/// variable is the rank-sum test of the two groups.
fn order(samples: &Samples, comparison: &Comparison) -> Option<Concern> {
    let ratios = samples.log_ratios(comparison.base, comparison.other, &comparison.metric);
    let is_first = |ratio: &BlockRatio| samples.is_before(ratio.block, comparison.base, comparison.other);
    let (first, second): (Vec<BlockRatio>, Vec<BlockRatio>) =
        ratios.iter().partition(|ratio| is_first(ratio));
    let differences = |group: &[BlockRatio]| group.iter().map(|ratio| ratio.difference).collect::<Vec<f64>>();
    let median = |group: &[BlockRatio]| quantiles::median(&differences(group));
    // With the base first the other one is second: half the difference of the groups is the effect of the place.
    let effect = (median(&first)? - median(&second)?) / 2.0;
    // Before the test, which has to sort all blocks.
    if effect.abs() <= comparison.margin.ln_1p() {
        return None;
    }
    let places: Vec<f64> = ratios.iter().map(|ratio| f64::from(u8::from(is_first(ratio)))).collect();
    let correlation = spearman::spearman(&places, &differences(&ratios))?;
    (correlation.p < ORDER_SIGNIFICANCE)
        .then(|| Concern::Order { other: comparison.other, second_over_first: effect.exp() })
}

fn outliers(samples: &Samples, variant: usize, summary: &VariantSummary) -> Option<Outliers> {
    let wall = summary.metrics.get("wall_s")?;
    let (median, limit) = (wall.median?, summary.standing_out_from_s?);
    let is_outlier = |wall: f64| wall > limit;
    let count = samples.known(variant, "wall_s").filter(|&wall| is_outlier(wall)).count();
    if count == 0 {
        return None;
    }
    let waits = samples.pairs(variant, "wall_s", "run_queue_wait_s");
    let waited =
        waits.iter().filter(|&&(wall, wait)| is_outlier(wall) && wait > (wall - median) / 2.0).count();
    Some(Outliers {
        variant,
        count,
        runs: wall.count,
        slowest_ratio: wall.max / median,
        waited: 2 * waited > count,
    })
}

fn short(recording: &Recording, index: usize, variant: &VariantSummary) -> Option<Concern> {
    let floor_s = recording.header.floor?.wall_s;
    let median_s = variant.median("wall_s")?;
    (median_s < SHORT_IN_FLOORS * floor_s).then_some(Concern::Short { variant: index, median_s, floor_s })
}

fn no_split(variants: &[VariantSummary]) -> Option<Concern> {
    let is_unknown = |variant: &VariantSummary| variant.runs > 0 && variant.user_share.is_none();
    let unknown: Vec<usize> = (0..variants.len()).filter(|&index| is_unknown(&variants[index])).collect();
    (!unknown.is_empty()).then_some(Concern::NoSplit { variants: unknown })
}

/// Of a command by itself, the warm-up is told too: it shows what the first run after a while costs.
fn first_run(recording: &Recording, variant: &VariantSummary) -> Option<Concern> {
    let design = &recording.header.experiment.design;
    let median_s = variant.median("wall_s").filter(|_| variant.runs >= FIRST_RUN_AMONG)?;
    let limit_s = variant.standing_out_from_s?.max(FIRST_RUN_RATIO * median_s);
    let value = |run: &Run, metric: &str| run.values.get(recording.metric_index(metric)?);
    let first = |is_warmup: bool| {
        let is_first = |run: &&Run| (run.block < design.warmup) == is_warmup;
        let run = recording.runs.iter().find(is_first).filter(|run| design.counts(&run.exit))?;
        // That other programs had the CPU says nothing about the command.
        let took_s = value(run, "wall_s")? - value(run, "run_queue_wait_s").unwrap_or(0.0);
        (took_s > limit_s).then(|| Concern::FirstRun { ratio: took_s / median_s, is_warmup })
    };
    first(false).or_else(|| first(true))
}

fn too_few_blocks(
    recording: &Recording,
    comparisons: &[Comparison],
    alone: Option<&Alone>,
) -> Option<Concern> {
    let open = comparisons.iter().find(|c| c.ratio.low.is_none() || c.ratio.high.is_none());
    let of_alone = alone.filter(|alone| alone.interval.is_none());
    let blocks = open.map(|c| c.blocks).or_else(|| of_alone.map(|alone| alone.runs))?;
    let alpha_each = recording
        .looks
        .as_ref()
        .map_or(1.0 - recording.header.experiment.design.confidence, |looks| looks.alpha_each);
    let needed = benchmath::signed_rank::fewest_blocks(alpha_each);
    (needed > blocks).then_some(Concern::TooFewBlocks { blocks, needed })
}
