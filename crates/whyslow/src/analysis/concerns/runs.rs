//! Whether all variants did the same, and did it to the end.

use super::{Concern, ORDER_SIGNIFICANCE};
use crate::analysis::{Samples, VariantSummary};
use crate::model::{FailurePolicy, Recording, Run};

pub fn what_ran(recording: &Recording, samples: &Samples, variants: &[VariantSummary]) -> Vec<Concern> {
    let failed: Vec<usize> = (0..variants.len()).filter(|&index| variants[index].failed > 0).collect();
    // Where the first failure ends the comparison, that is told already.
    let design = &recording.header.experiment.design;
    let goes_on = design.failures != FailurePolicy::Abort;
    let failures = (goes_on && !failed.is_empty())
        .then(|| Concern::Failures { variants: failed, rates_differ: rates_differ(design.base, variants) });
    let left = samples.of_each_variant(|variant| Left::by(samples.runs(variant)));
    let mut concerns = outputs(design.base, &left);
    concerns.extend(failures);
    concerns.extend(left.iter().enumerate().filter_map(|(variant, &Left { by_runs: runs, .. })| {
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

/// What the runs of a variant left behind, gathered in one walk: there may be a million of them.
#[derive(Default)]
struct Left {
    /// Runs that left descendants.
    by_runs: usize,
    /// Of the output of the first run whose output is known.
    digest: Option<u64>,
    output_varies: bool,
}

impl Left {
    fn by<'a>(runs: impl Iterator<Item = &'a Run>) -> Left {
        let mut left = Left::default();
        for run in runs {
            left.by_runs += usize::from(run.leftovers > 0);
            if let Some(digest) = run.output_digest {
                left.output_varies |= *left.digest.get_or_insert(digest) != digest;
            }
        }
        left
    }
}

fn outputs(base: usize, left: &[Left]) -> Vec<Concern> {
    let varies = |variant: &usize| left[*variant].output_varies;
    let differs = |other: &usize| {
        !varies(other)
            && !varies(&base)
            && left[base].digest.zip(left[*other].digest).is_some_and(|(a, b)| a != b)
    };
    let others: Vec<usize> = (0..left.len()).filter(differs).collect();
    let mut concerns: Vec<Concern> =
        (0..left.len()).filter(varies).map(|variant| Concern::OutputVaries { variant }).collect();
    if !others.is_empty() {
        concerns.push(Concern::OutputDiffers { others });
    }
    concerns
}
