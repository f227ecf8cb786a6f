//! What is known while measuring goes on: whether to stop, and what to show meanwhile.

use super::{Decision, Samples, Verdict, decide};
use crate::model::{Looks, Recording};

/// The state of an experiment at one look.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    pub blocks: usize,
    /// The decision on the leading metric for each variant but the base, with the index of the variant.
    pub leading: Vec<(usize, Decision)>,
    /// All of them are decided and precise enough.
    pub is_decided: bool,
}

/// Looks at the recording so far, at the error that the looks allow.
pub fn progress(recording: &Recording, variants: usize, looks: &Looks) -> Progress {
    let design = &recording.header.experiment.design;
    let samples = Samples::collect_of(recording, variants, |metric| metric == design.leading);
    let others = (0..variants).filter(|&other| other != design.base);
    let leading: Vec<(usize, Decision)> = others
        .filter_map(|other| {
            let ratios = samples.log_ratios(design.base, other, &design.leading);
            let differences: Vec<f64> = ratios.iter().map(|ratio| ratio.difference).collect();
            Some((other, decide(&differences, looks.alpha_each, design.margin.ln_1p())?))
        })
        .collect();
    let is_done =
        |(_, decision): &(usize, Decision)| decision.verdict != Verdict::Undecided && decision.is_precise;
    Progress {
        blocks: samples.complete_blocks().len(),
        is_decided: leading.len() + 1 == variants && leading.iter().all(is_done),
        leading,
    }
}
