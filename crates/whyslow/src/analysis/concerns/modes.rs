//! Runs that fall into two groups, and whether the machine or the program makes them.

use benchmath::{dip, quantiles, spearman};

use super::{Concern, Mode, TwoModes};
use crate::analysis::Samples;
use crate::model::Recording;

/// sqrt(n) times Hartigan's dip above this means two modes (METHODOLOGY.md).
const DIP_LIMIT: f64 = 0.61;
const DIP_FROM: usize = 30;
/// Rank correlation of two variants over the blocks above which their modes are the machine's.
const TOGETHER_FROM: f64 = 0.5;

pub fn two_modes(
    samples: &Samples,
    recording: &Recording,
    variants: usize,
    is_busy: bool,
) -> Option<Concern> {
    let found: Vec<TwoModes> = samples
        .of_each_variant(|variant| modes_of(samples, variant, is_busy))
        .into_iter()
        .flatten()
        .collect();
    let first = found.first()?;
    let together = variants > 1
        && found.len() == variants
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
    if logs.len() < DIP_FROM {
        return None;
    }
    logs.sort_unstable_by(f64::total_cmp);
    if (logs.len() as f64).sqrt() * dip::dip(&logs)? <= DIP_LIMIT {
        return None;
    }
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
