//! Whether all variants did the same, and did it to the end.

use super::{Concern, ORDER_SIGNIFICANCE};
use crate::analysis::{Samples, VariantSummary};
use crate::model::{FailurePolicy, Recording};

pub fn what_ran(recording: &Recording, samples: &Samples, variants: &[VariantSummary]) -> Vec<Concern> {
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
