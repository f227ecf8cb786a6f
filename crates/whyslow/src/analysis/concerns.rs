//! What is wrong with a recording as a whole, and what weakens its numbers. A concern never removes a run and never
//! changes a verdict; it says what to keep in mind and what to do.

use benchmath::{dip, quantiles, spearman};

use super::comparisons::read_together;
use super::summaries::standing_out_from;
use super::{Comparison, Reading, Samples, VariantSummary, Verdict};
use crate::model::{FailurePolicy, Recording, Run};

const DRIFT_SIGNIFICANCE: f64 = 0.001;
const ORDER_SIGNIFICANCE: f64 = 0.01;
/// sqrt(n) times Hartigan's dip above this means two modes (METHODOLOGY.md).
const DIP_LIMIT: f64 = 0.61;
const DIP_FROM: usize = 30;
/// Rank correlation of two variants over the blocks above which their modes are the machine's.
const TOGETHER_FROM: f64 = 0.5;
const BUSY_WAIT_SHARE: f64 = 0.05;
const BUSY_PRESSURE: f64 = 0.10;
const STEAL_SHARE: f64 = 0.02;
const FREQUENCY_CHANGE: f64 = 0.05;
const SHORT_IN_FLOORS: f64 = 5.0;

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
            Concern::Correlated { .. } => "correlated",
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
    comparisons: &[Comparison],
) -> Vec<Concern> {
    let mut concerns = what_ran(recording, samples, variants);
    let leading = &recording.header.experiment.design.leading;
    let is_unknown = !comparisons.iter().any(|comparison| comparison.metric == *leading);
    if is_unknown && variants.iter().all(|variant| variant.runs > 0) && variants.len() > 1 {
        concerns.push(Concern::LeadingUnknown { metric: leading.clone() });
    }
    concerns.extend(machine_concerns(samples, variants));
    concerns.extend(drift(samples, recording, variants.len()));
    for comparison in comparisons {
        concerns.extend(comparison_concerns(samples, variants, comparisons, comparison));
    }
    let is_busy = concerns.iter().any(|c| matches!(c, Concern::Busy { .. } | Concern::Pressure { .. }));
    let outliers: Vec<Outliers> =
        samples.of_each_variant(|variant| outliers(samples, variant)).into_iter().flatten().collect();
    if !outliers.is_empty() {
        concerns.push(Concern::Outliers { variants: outliers });
    }
    for (index, variant) in variants.iter().enumerate() {
        concerns.extend(short(recording, index, variant));
    }
    concerns.extend(two_modes(samples, recording, variants.len(), is_busy));
    concerns.extend(no_split(variants));
    concerns.extend(too_few_blocks(recording, comparisons));
    concerns
}

/// Whether all variants did the same, and did it to the end.
fn what_ran(recording: &Recording, samples: &Samples, variants: &[VariantSummary]) -> Vec<Concern> {
    let failed: Vec<usize> = (0..variants.len()).filter(|&index| variants[index].failed > 0).collect();
    // Where the first failure ends the comparison, that is told already.
    let design = &recording.header.experiment.design;
    let goes_on = design.failures != FailurePolicy::Abort;
    let failures = (goes_on && !failed.is_empty())
        .then(|| Concern::Failures { variants: failed, rates_differ: rates_differ(design.base, variants) });
    let mut concerns = outputs(recording, samples, variants.len());
    concerns.extend(failures);
    concerns.extend((0..variants.len()).filter_map(|variant| {
        let runs = samples.runs(variant).filter(|run| run.leftovers > 0).count();
        (runs > 0).then_some(Concern::Leftovers { variant, runs })
    }));
    concerns
}

/// The base against each of the others, with the error shared out.
fn rates_differ(base: usize, variants: &[VariantSummary]) -> bool {
    let limit = ORDER_SIGNIFICANCE / variants.len().saturating_sub(1).max(1) as f64;
    let of_base = &variants[base];
    variants.iter().any(|other| {
        let (base_runs, other_runs) = (of_base.runs + of_base.failed, other.runs + other.failed);
        benchmath::rates_differ(of_base.failed, base_runs, other.failed, other_runs) < limit
    })
}

fn outputs(recording: &Recording, samples: &Samples, variants: usize) -> Vec<Concern> {
    let base = recording.header.experiment.design.base;
    let digests: Vec<Vec<u64>> = (0..variants)
        .map(|variant| samples.runs(variant).filter_map(|run| run.output_digest).collect())
        .collect();
    let varies = |variant: &usize| digests[*variant].windows(2).any(|pair| pair[0] != pair[1]);
    let differs = |other: &usize| {
        !varies(other)
            && !varies(&base)
            && digests[base].first().zip(digests[*other].first()).is_some_and(|(a, b)| a != b)
    };
    let others: Vec<usize> = (0..variants).filter(differs).collect();
    let mut concerns: Vec<Concern> =
        (0..variants).filter(varies).map(|variant| Concern::OutputVaries { variant }).collect();
    if !others.is_empty() {
        concerns.push(Concern::OutputDiffers { others });
    }
    concerns
}

fn machine_concerns(samples: &Samples, variants: &[VariantSummary]) -> Vec<Concern> {
    let runs = || (0..variants.len()).flat_map(|variant| samples.runs(variant));
    let mean =
        |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let wait_share = mean(variants.iter().filter_map(|variant| variant.wait_share).collect());
    let pressure = mean(runs().filter_map(|run| run.conditions.cpu_pressure.map(f64::from)).collect());
    let stolen: f64 = runs().filter_map(|run| run.conditions.steal_s.map(f64::from)).sum();
    let wall: f64 = (0..variants.len()).flat_map(|variant| samples.values(variant, "wall_s")).sum();

    let busy =
        wait_share.filter(|&share| share > BUSY_WAIT_SHARE).map(|wait_share| Concern::Busy { wait_share });
    // The wait of the program itself says more; the pressure of the machine stands in where it is unknown.
    let pressed = pressure
        .filter(|&share| wait_share.is_none() && share > BUSY_PRESSURE)
        .map(|share| Concern::Pressure { share: share.min(1.0) });
    let steal = (wall > 0.0 && stolen / wall > STEAL_SHARE).then(|| Concern::Steal { share: stolen / wall });
    let slept: Vec<f64> =
        runs().filter_map(|run| run.conditions.suspended_s.map(f64::from)).filter(|&s| s > 0.0).collect();
    let suspended =
        (!slept.is_empty()).then(|| Concern::Suspended { runs: slept.len(), seconds: slept.iter().sum() });
    let frequency = |run: &Run| Some((run.start_s, f64::from(run.conditions.frequency_hz?)));
    let mut frequencies: Vec<(f64, f64)> = runs().filter_map(frequency).collect();
    frequencies.sort_by(|a, b| a.0.total_cmp(&b.0));
    let hertz: Vec<f64> = frequencies.into_iter().map(|(_, hertz)| hertz).collect();
    let frequency = first_to_last_quarter(&hertz)
        .filter(|ratio| (ratio - 1.0).abs() > FREQUENCY_CHANGE)
        .map(|ratio| Concern::Frequency { change: ratio - 1.0 });
    [suspended, busy, pressed, steal, frequency].into_iter().flatten().collect()
}

/// Median of the last quarter over median of the first.
fn first_to_last_quarter(values: &[f64]) -> Option<f64> {
    let quarter = values.len() / 4;
    if quarter == 0 {
        return None;
    }
    let first = quantiles::median(&values[..quarter])?;
    let last = quantiles::median(&values[values.len() - quarter..])?;
    (first > 0.0).then(|| last / first)
}

/// The level of each block is the mean logarithm of its wall times.
fn drift(samples: &Samples, recording: &Recording, variants: usize) -> Option<Concern> {
    let base = recording.header.experiment.design.base;
    let other = (0..variants).find(|&other| other != base)?;
    let levels: Vec<f64> = samples.log_ratios(base, other, "wall_s").iter().map(|block| block.mean).collect();
    let time: Vec<f64> = (0..levels.len()).map(|block| block as f64).collect();
    let correlation = spearman::spearman(&time, &levels)?;
    let factors: Vec<f64> = levels.iter().map(|level| level.exp()).collect();
    let change = first_to_last_quarter(&factors)? - 1.0;
    let is_drift =
        correlation.p < DRIFT_SIGNIFICANCE && change.abs() > recording.header.experiment.design.margin;
    is_drift.then_some(Concern::Drift { change })
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
    let differences: Vec<f64> = ratios.iter().map(|ratio| ratio.difference).collect();
    let is_first: Vec<f64> = ratios.iter().map(|ratio| f64::from(u8::from(ratio.base_first))).collect();
    let correlation = spearman::spearman(&is_first, &differences)?;
    let with = |base_first: bool| -> Option<f64> {
        let group: Vec<f64> = ratios
            .iter()
            .filter(|ratio| ratio.base_first == base_first)
            .map(|ratio| ratio.difference)
            .collect();
        quantiles::median(&group)
    };
    // With the base first the other one is second: half the difference of the groups is the effect of the place.
    let effect = (with(true)? - with(false)?) / 2.0;
    (correlation.p < ORDER_SIGNIFICANCE && effect.abs() > comparison.margin.ln_1p())
        .then(|| Concern::Order { other: comparison.other, second_over_first: effect.exp() })
}

fn outliers(samples: &Samples, variant: usize) -> Option<Outliers> {
    let walls = samples.values(variant, "wall_s");
    let median = quantiles::median(&walls).filter(|&median| median > 0.0)?;
    let limit = standing_out_from(&walls)?;
    let is_outlier = |wall: f64| wall > limit;
    let count = walls.iter().filter(|&&wall| is_outlier(wall)).count();
    if count == 0 {
        return None;
    }
    let slowest = walls.iter().copied().fold(0.0, f64::max);
    let waits = samples.pairs(variant, "wall_s", "run_queue_wait_s");
    let waited =
        waits.iter().filter(|&&(wall, wait)| is_outlier(wall) && wait > (wall - median) / 2.0).count();
    Some(Outliers {
        variant,
        count,
        runs: walls.len(),
        slowest_ratio: slowest / median,
        waited: 2 * waited > count,
    })
}

fn two_modes(samples: &Samples, recording: &Recording, variants: usize, is_busy: bool) -> Option<Concern> {
    let found: Vec<TwoModes> = samples
        .of_each_variant(|variant| modes_of(samples, variant, is_busy))
        .into_iter()
        .flatten()
        .collect();
    let first = found.first()?;
    let together = found.len() == variants
        && go_together(samples, recording.header.experiment.design.base, &first.metric) > TOGETHER_FROM;
    Some(Concern::TwoModes { variants: found, together })
}

/// CPU time shows modes of the program; wall time shows those of waiting too, but on a busy machine only the load.
fn modes_of(samples: &Samples, variant: usize, is_busy: bool) -> Option<TwoModes> {
    let metrics: &[&str] = if is_busy { &["cpu_s"] } else { &["cpu_s", "wall_s"] };
    metrics.iter().find_map(|metric| {
        let modes = modes(&samples.values(variant, metric))?;
        Some(TwoModes { variant, metric: (*metric).to_owned(), modes })
    })
}

/// Rank correlation of the base and another variant over the blocks.
fn go_together(samples: &Samples, base: usize, metric: &str) -> f64 {
    let other = usize::from(base == 0);
    let ratios = samples.log_ratios(base, other, metric);
    let (of_base, of_other): (Vec<f64>, Vec<f64>) = ratios
        .iter()
        .map(|ratio| (ratio.mean - ratio.difference / 2.0, ratio.mean + ratio.difference / 2.0))
        .unzip();
    spearman::spearman(&of_base, &of_other).map_or(0.0, |correlation| correlation.rho)
}

fn modes(values: &[f64]) -> Option<[Mode; 2]> {
    let mut logs: Vec<f64> = values.iter().filter(|&&value| value > 0.0).map(|value| value.ln()).collect();
    if logs.len() < DIP_FROM || (logs.len() as f64).sqrt() * dip::dip(&logs)? <= DIP_LIMIT {
        return None;
    }
    logs.sort_by(f64::total_cmp);
    let split = best_split(&logs);
    let mode = |part: &[f64]| {
        Some(Mode { median: quantiles::median(part)?.exp(), share: part.len() as f64 / logs.len() as f64 })
    };
    Some([mode(&logs[..split])?, mode(&logs[split..])?])
}

/// Where to cut sorted values in two so that the groups are farthest apart for their sizes (Otsu's rule).
fn best_split(sorted: &[f64]) -> usize {
    let n = sorted.len() as f64;
    let total: f64 = sorted.iter().sum();
    let mut below = 0.0;
    let mut best = (f64::NEG_INFINITY, 1);
    for split in 1..sorted.len() {
        below += sorted[split - 1];
        let (count, rest) = (split as f64, n - split as f64);
        let gap = below / count - (total - below) / rest;
        let score = count * rest * gap * gap;
        if score > best.0 {
            best = (score, split);
        }
    }
    best.1
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

fn too_few_blocks(recording: &Recording, comparisons: &[Comparison]) -> Option<Concern> {
    let open = comparisons.iter().find(|c| c.ratio.low.is_none() || c.ratio.high.is_none())?;
    let alpha_each = recording
        .looks
        .as_ref()
        .map_or(1.0 - recording.header.experiment.design.confidence, |looks| looks.alpha_each);
    let needed = benchmath::signed_rank::fewest_blocks(alpha_each);
    (needed > open.blocks).then_some(Concern::TooFewBlocks { blocks: open.blocks, needed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use benchmath::random::SplitMix64;

    #[test]
    fn two_groups_are_found_and_measured() {
        let mut random = SplitMix64::new(3);
        let values: Vec<f64> = (0..120)
            .map(|run| (if run % 3 == 0 { 1.2 } else { 1.0 }) * (1.0 + 0.01 * random.normal()))
            .collect();
        let [fast, slow] = modes(&values).expect("two modes");
        assert!((fast.median - 1.0).abs() < 0.01 && (slow.median - 1.2).abs() < 0.02);
        assert!((fast.share - 2.0 / 3.0).abs() < 0.02);
    }

    #[test]
    fn one_group_has_no_modes() {
        let mut random = SplitMix64::new(4);
        let values: Vec<f64> = (0..200).map(|_| 1.0 + 0.05 * random.normal()).collect();
        assert_eq!(modes(&values), None);
        assert_eq!(modes(&[1.0; 100]), None, "equal values have no modes");
    }
}
