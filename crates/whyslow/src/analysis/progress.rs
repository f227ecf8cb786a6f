//! What is known while measuring goes on: whether to stop, and what to show meanwhile.

use benchmath::quantiles;

use super::alone::{Alone, alone};
use super::{Decision, Samples, Verdict, decide, is_mostly_work};
use crate::model::{Looks, Recording};

/// The state of an experiment at one look.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    pub blocks: usize,
    /// The decision on the leading metric for each variant but the base, with the index of the variant.
    pub leading: Vec<(usize, Decision)>,
    /// How well the only command is known.
    pub alone: Option<Alone>,
    /// All of them are decided and precise enough, or nothing more can be learnt in time.
    pub is_decided: bool,
}

/// An undecided metric that needs this many times the last look will not be decided by going on.
const OUT_OF_SIGHT: f64 = 4.0;
/// Before this many blocks, forecasts are worth nothing.
const FORECASTS_FROM: usize = 23;

/// Looks at the recording so far, at the error that the looks allow.
pub fn progress(recording: &Recording, variants: usize, looks: &Looks) -> Progress {
    let design = &recording.header.experiment.design;
    let needed = [design.leading.as_str(), "wall_s", "cpu_s", "run_queue_wait_s"];
    let samples = Samples::collect_of(recording, variants, |metric| needed.contains(&metric));
    let on = |metric: &str, other: usize| {
        let differences = samples.differences(design.base, other, metric);
        decide(&differences, looks.alpha_each, design.margin.ln_1p())
    };
    let others = (0..variants).filter(|&other| other != design.base);
    let leading: Vec<(usize, Decision)> =
        others.filter_map(|other| Some((other, on(&design.leading, other)?))).collect();
    let last = *looks.at.last().unwrap_or(&0) as f64;
    let has_answer = |(other, decision): &(usize, Decision)| {
        is_done(decision)
            || (decision.blocks_needed > OUT_OF_SIGHT * last
                && design.leading == "wall_s"
                && is_work(&samples, [design.base, *other])
                && on("cpu_s", *other).is_some_and(|cpu| is_done(&cpu)))
    };
    let blocks = samples.complete_blocks().len();
    let alone = alone(recording, &samples, variants, looks);
    if variants == 1 {
        let is_decided = alone.as_ref().is_some_and(|alone| alone.is_narrow);
        return Progress { blocks, leading, alone, is_decided };
    }
    let all_are_done = leading.iter().all(|(_, decision)| is_done(decision));
    let all_have_answers = blocks >= FORECASTS_FROM && leading.iter().all(has_answer);
    Progress {
        blocks,
        is_decided: leading.len() + 1 == variants && (all_are_done || all_have_answers),
        leading,
        alone: None,
    }
}

fn is_done(decision: &Decision) -> bool {
    decision.verdict != Verdict::Undecided && decision.is_precise
}

/// Where both do mostly work, the verdict on CPU time is an answer; a machine too busy to decide on wall time then need not
/// be watched any longer. Ending early for lack of hope claims nothing, so it costs no honesty.
fn is_work(samples: &Samples, variants: [usize; 2]) -> bool {
    variants.into_iter().all(|variant| {
        let median = |metric| quantiles::median(&samples.values(variant, metric));
        let times = median("cpu_s").zip(median("wall_s"));
        times.is_some_and(|(cpu_s, wall_s)| is_mostly_work(cpu_s, wall_s, median("run_queue_wait_s")))
    })
}
