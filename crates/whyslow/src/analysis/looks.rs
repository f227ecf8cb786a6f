//! How often, and when, the data are looked at. Fixed before the first look from the time that blocks take, so that
//! stopping early costs no honesty: under "no difference" the time of a block does not depend on which variant is
//! the faster.

use benchmath::{looks, quantiles, signed_rank};

use super::Samples;
use crate::model::{Design, Looks, Recording, RunCount};

/// Fewer blocks than this decide only huge effects; more delay the decision of large ones.
const FIRST_LOOK: usize = 10;
const GROWTH: f64 = 1.5;

/// The looks for a design whose blocks take `block_s` seconds, with `comparisons` variants compared with the base.
pub fn settle(design: &Design, comparisons: usize, block_s: f64) -> Looks {
    let at = look_times(design, comparisons, block_s);
    let alpha_each = looks::per_look_alpha(&at, alpha(design, comparisons));
    Looks { at, alpha_each }
}

/// The looks of a recording; of one that breaks off before they were fixed, those that would have been.
pub fn looks_of(recording: &Recording, samples: &Samples, variants: usize) -> Looks {
    let design = &recording.header.experiment.design;
    recording.looks.clone().unwrap_or_else(|| {
        let block_s = typical_block_s(samples, variants).unwrap_or(design.budget_s);
        settle(design, variants.saturating_sub(1), block_s)
    })
}

/// Blocks that the budget pays for, or that are run whatever they take.
pub(super) fn paid_for(design: &Design, looks: &Looks, samples: &Samples, variants: usize) -> f64 {
    let block_s = typical_block_s(samples, variants).unwrap_or(design.budget_s);
    (design.budget_s / block_s).max(*looks.at.last().unwrap_or(&1) as f64)
}

fn typical_block_s(samples: &Samples, variants: usize) -> Option<f64> {
    (0..variants).map(|variant| quantiles::median(&samples.values(variant, "wall_s"))).sum()
}

/// The numbers of blocks at which to look, never none. Cheap enough for every block, unlike the error of each look.
///
/// Where a block takes more than a tenth of the budget, the design is fixed at as few blocks as can decide at all.
pub fn look_times(design: &Design, comparisons: usize, block_s: f64) -> Vec<usize> {
    match design.runs {
        RunCount::Exactly(runs) => vec![runs],
        RunCount::UntilDecided { min, max } => {
            let max = max.unwrap_or(usize::MAX);
            let affordable = affordable(design.budget_s, block_s);
            if affordable < FIRST_LOOK {
                vec![signed_rank::fewest_blocks(alpha(design, comparisons)).max(min).min(max)]
            } else {
                schedule(min, max, affordable)
            }
        }
    }
}

/// The error that one comparison may make.
fn alpha(design: &Design, comparisons: usize) -> f64 {
    (1.0 - design.confidence) / comparisons.max(1) as f64
}

/// Whether the number of blocks is fixed because they take long, which the user should know beforehand.
pub fn is_fixed_for_time(design: &Design, block_s: f64) -> bool {
    matches!(design.runs, RunCount::UntilDecided { .. }) && affordable(design.budget_s, block_s) < FIRST_LOOK
}

fn affordable(budget_s: f64, block_s: f64) -> usize {
    (budget_s / block_s.max(1e-9)).floor().min(1e7) as usize
}

/// Looks up to what is affordable; a maximum within reach is the last look, and none comes before the minimum.
fn schedule(min: usize, max: usize, affordable: usize) -> Vec<usize> {
    let mut at = looks::look_schedule(FIRST_LOOK, GROWTH, affordable.min(max));
    if max <= affordable && at.last() != Some(&max) {
        at.push(max);
    }
    at.retain(|&look| look >= min);
    if at.is_empty() {
        at.push(min.min(max));
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adaptive(min: usize, max: Option<usize>) -> Design {
        Design { runs: RunCount::UntilDecided { min, max }, ..Design::default() }
    }

    #[test]
    fn short_blocks_get_looks_that_grow_by_half() {
        let looks = settle(&adaptive(0, None), 1, 0.2);
        assert_eq!(looks.at, [10, 15, 23, 35, 53, 80, 120]);
        assert!((looks.alpha_each - 0.0112).abs() < 5e-5, "{}", looks.alpha_each);
    }

    #[test]
    fn long_blocks_get_the_fewest_that_can_decide() {
        assert_eq!(settle(&adaptive(0, None), 1, 4.0).at, [6]);
        assert_eq!(settle(&adaptive(0, None), 3, 3600.0).at, [7]);
        assert!((settle(&adaptive(0, None), 1, 4.0).alpha_each - 0.05).abs() < 1e-12);
        assert!(is_fixed_for_time(&adaptive(0, None), 4.0));
        assert!(!is_fixed_for_time(&adaptive(0, None), 2.9));
    }

    #[test]
    fn run_counts_bound_the_looks() {
        let exactly = Design { runs: RunCount::Exactly(20), ..Design::default() };
        assert_eq!(settle(&exactly, 1, 1e-3).at, [20]);
        assert_eq!(settle(&adaptive(0, Some(30)), 1, 0.01).at, [10, 15, 23, 30]);
        assert_eq!(settle(&adaptive(20, Some(30)), 1, 0.01).at, [23, 30]);
        assert_eq!(settle(&adaptive(0, Some(4)), 1, 0.01).at, [4]);
        assert_eq!(
            settle(&adaptive(0, Some(8)), 1, 0.01).at,
            [8],
            "all that are allowed, since there is time"
        );
        assert_eq!(settle(&adaptive(0, Some(8)), 1, 10.0).at, [6]);
        assert_eq!(settle(&adaptive(500, None), 1, 1.0).at, [500]);
        assert_eq!(settle(&adaptive(12, None), 1, 10.0).at, [12]);
    }
}
