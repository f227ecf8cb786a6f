//! What to do next: look with a probe, try a round of what-ifs, or stop. A function of the recording and of what is left,
//! so that an investigation that was broken off can go on.

use std::iter;
use std::path::Path;

use super::case::Case;
use super::custom::CustomSuspect;
use super::diagnosis::{ALPHA, Investigation, LEAST_SHARE, looks_at, main_case};
use super::differences::Difference;
use super::outcomes::Outcome;
use super::stages::{Originals, Trial, plan};
use super::suspects::{Claim, Idea, Suspect, Suspicion, alloc_realloc_copy, may_be_layout, with_each};
use super::tried::is_told;
use super::{classes::Class, factors, growth, layouts, pair};
use crate::analysis::analyze;
use crate::model::{Preload, Probe, Recording, StagePlan, Variant};
use crate::plan as plans;

/// What there is to work with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Means<'a> {
    /// Time that is left for the whole investigation.
    pub left_s: f64,
    /// Time that it was given.
    pub budget_s: f64,
    /// More than that is not to be had for anything.
    pub is_hard: bool,
    /// What the user wants to have tried: this and nothing else.
    pub tries: &'a [Try],
    /// Suspects that the user wrote.
    pub custom: &'a [CustomSuspect],
    /// Libraries that bring an allocator, the best first.
    pub allocators: &'a [Preload],
    /// A directory for what programs write because of an experiment; it goes away with the investigation.
    pub scratch: Option<&'a Path>,
}

/// An experiment that the user asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Try {
    /// Name for the finding.
    pub name: String,
    pub idea: Idea,
}

#[derive(Clone, Debug)]
pub enum Step {
    /// Look at a variant of the main part, or of a stage.
    Look {
        stage: Option<usize>,
        variant: usize,
        probe: Probe,
        /// The how manieth of how many it is, of the looks at the main part.
        place: Option<(usize, usize)>,
    },
    Try(Box<StagePlan>),
    /// There is more to do than there is time for.
    OutOfTime,
    Done,
}

/// What a suspect says of the case.
type Seen = (&'static Suspect, Suspicion);

/// Rounds; more would only go on about details.
const MOST_STAGES: usize = 4;
/// What-ifs in one round: more make the blocks too long.
const MOST_TRIALS: usize = 7;
const MOST_BLOCKS: usize = 15;
/// More where they take no more than about this part of the time.
const CHEAP: f64 = 0.2;
const MOST_CHEAP_BLOCKS: usize = 60;
/// Blocks in a round over layouts: the layouts are what is counted, and a median of fewer is no better than one run.
const FEWEST_IN_LAYOUT: usize = 3;
/// Larger gaps have other reasons.
const LARGEST_LUCK: f64 = 2.0;
/// A round is planned to take at most this part of the time that is left.
const ROUND: f64 = 0.6;
/// Looking takes at most this part of the time.
const LOOKING: f64 = 0.45;
/// Looks that took less are not given up before it is late.
const LOOKING_AT_LEAST: f64 = 0.15;
const LATEST_LOOK: f64 = 0.75;

/// A run that is looked at takes longer.
const LOOKED_AT: f64 = 1.5;

/// Looks at both originals, in this order.
pub const LOOKS: [Probe; 6] =
    [Probe::Environment, Probe::Loading, Probe::Syscalls, Probe::Allocations, Probe::Cpu, Probe::Files];
/// Looks at a slow side without one of several differences, to give that difference a name.
const NAMING_LOOKS: [Probe; 4] = [Probe::Syscalls, Probe::Cpu, Probe::Allocations, Probe::Loading];
/// Looks at the variants of a matrix that tell its factors apart. Loading tells whose allocations can be counted.
const COUNTS: [Probe; 3] = [Probe::Loading, Probe::Syscalls, Probe::Allocations];

pub fn next(recording: &Recording, means: Means<'_>) -> Step {
    if recording.header.experiment.is_joined {
        return Step::Done;
    }
    let Some(found) = pair::find(recording, &analyze(recording)).filter(|found| found.is_real) else {
        return Step::Done;
    };
    let variants = plans::variants(&recording.header.experiment);
    let case = main_case(recording, &variants, &found);
    if means.left_s <= 0.0 {
        return Step::OutOfTime;
    }
    if !means.tries.is_empty() {
        return try_only(recording, &variants, &case, (found.fast, found.slow), means);
    }
    let may_look = may_look(recording, means);
    let look = look(&case, (found.fast, found.slow));
    if let Some(step) = look.clone().filter(|_| may_look) {
        return step;
    }
    let of_factors = look_at_factors(recording, factors::neighbours(&variants, (found.fast, found.slow)));
    if let Some(step) = of_factors.filter(|_| may_look) {
        return step;
    }
    let investigation = Investigation::new(recording, &case);
    if let Some(step) = name_looks(recording, &investigation).filter(|_| means.left_s > 0.2 * means.budget_s)
    {
        return step;
    }
    if recording.stages.len() >= MOST_STAGES {
        return Step::Done;
    }
    let originals = Originals::new(recording, &variants, (found.fast, found.slow), means.scratch);
    let trials = trials(&case, &originals, &investigation, means);
    if trials.is_empty() {
        let again = again_in_other_layouts(recording, &case, &originals, &investigation, means.left_s);
        let again = again.or_else(|| grow(recording, &case, &originals, means.left_s));
        return again.map_or_else(|| look_or_stop(look, &case, means), |round| Step::Try(Box::new(round)));
    }
    let Some(blocks) = blocks(&case, &trials, means) else {
        return match look_or_stop(look, &case, means) {
            Step::Done => Step::OutOfTime,
            look => look,
        };
    };
    Step::Try(Box::new(plan(recording, &originals, &trials, blocks)))
}

/// Time for which there is no other use may be spent on looking.
fn look_or_stop(look: Option<Step>, case: &Case<'_>, means: Means<'_>) -> Step {
    let has_time = case.slow.median("wall_s").is_some_and(|wall_s| wall_s * LOOKED_AT < means.left_s);
    look.filter(|_| has_time).unwrap_or(Step::Done)
}

/// What the user asked for, in as many rounds as it takes to tell its effect from nothing, or as there is time for.
fn try_only(
    recording: &Recording,
    variants: &[Variant],
    case: &Case<'_>,
    sides: (usize, usize),
    means: Means<'_>,
) -> Step {
    let originals = Originals::new(recording, variants, sides, means.scratch);
    let trials: Vec<Trial> =
        means.tries.iter().map(|wanted| originals.try_idea(&wanted.idea, &wanted.name)).collect();
    let is_first = recording.stages.is_empty();
    let outcomes = Investigation::new(recording, case).outcomes;
    let may_go_on = recording.stages.len() < MOST_STAGES
        && is_affordable(case, &trials, means.left_s)
        && !outcomes.iter().all(is_told);
    let blocks = match is_first {
        true => blocks(case, &trials, means),
        false => may_go_on.then(|| affordable(case, &trials, means.left_s)),
    };
    let Some(blocks) = blocks else { return if is_first { Step::OutOfTime } else { Step::Done } };
    let mut round = plan(recording, &originals, &trials, blocks);
    round.what_ifs.iter_mut().for_each(|what_if| what_if.is_asked = true);
    Step::Try(Box::new(round))
}

/// Looking takes its part of the time; where the comparison has taken that, there is still some for what would otherwise be
/// known of nothing.
fn may_look(recording: &Recording, means: Means<'_>) -> bool {
    let spent = 1.0 - means.left_s / means.budget_s;
    let looked_s: f64 = recording.traces.iter().filter_map(|entry| Some(entry.seen.probed()?.wall_s)).sum();
    let is_behind = looked_s < LOOKING_AT_LEAST * means.budget_s && spent < LATEST_LOOK;
    spent < LOOKING || is_behind || recording.traces.is_empty()
}

/// The next look at the originals, first that which says most about such a gap, since there may be no time for all of
/// them; only what waits is watched waiting.
fn look(case: &Case<'_>, (fast, slow): (usize, usize)) -> Option<Step> {
    let waits = case.gap.metric == "wall_s" || case.gap.class == Class::Blocked;
    let telling = match case.gap.class {
        _ if waits => Probe::Waiting,
        Class::System | Class::Processes => Probe::Syscalls,
        _ => Probe::Cpu,
    };
    let others = LOOKS[1..].iter().copied().filter(|probe| *probe != telling);
    let sides = [(&case.fast, fast), (&case.slow, slow)];
    let probes = iter::once(LOOKS[0]).chain([telling]).chain(others);
    let all: Vec<_> =
        probes.flat_map(|probe| sides.iter().map(move |(side, variant)| (probe, side, *variant))).collect();
    let at = all.iter().position(|(probe, side, _)| !side.was_probed(*probe))?;
    let (probe, _, variant) = all[at];
    Some(Step::Look { stage: None, variant, probe, place: Some((at + 1, all.len())) })
}

/// What each factor of a matrix has more of is counted.
fn look_at_factors(recording: &Recording, neighbours: Vec<usize>) -> Option<Step> {
    let looks = neighbours.into_iter().flat_map(|variant| COUNTS.map(|probe| (variant, probe)));
    looks
        .into_iter()
        .find(|&(variant, probe)| {
            !looks_at(recording, None, variant).iter().any(|entry| entry.probe == probe)
        })
        .map(|(variant, probe)| Step::Look { stage: None, variant, probe, place: None })
}

/// Where several differences in program and arguments carry the gap, each is looked at by itself.
fn name_looks(recording: &Recording, investigation: &Investigation<'_>) -> Option<Step> {
    let culprits: Vec<_> =
        investigation.outcomes.iter().filter(|one| one.is_guilty() && !one.is_joint()).collect();
    if culprits.len() < 2 {
        return None;
    }
    let located = culprits.into_iter().filter(|outcome| !outcome.what_if.is_experiment);
    located
        .flat_map(|outcome| {
            NAMING_LOOKS.into_iter().map(move |probe| (outcome.stage, outcome.what_if.removed, probe))
        })
        .find(|&(stage, variant, probe)| {
            !looks_at(recording, Some(stage), variant).iter().any(|entry| entry.probe == probe)
        })
        .map(|(stage, variant, probe)| Step::Look { stage: Some(stage), variant, probe, place: None })
}

fn trials(
    case: &Case<'_>,
    originals: &Originals<'_>,
    investigation: &Investigation<'_>,
    means: Means<'_>,
) -> Vec<Trial> {
    let mut trials = match investigation.outcomes.is_empty() {
        true => {
            let first = first_trials(case, originals, investigation, means.allocators);
            [custom_trials(case, originals, means.custom), first].concat()
        }
        false => later_trials(case, originals, investigation, means.allocators),
    };
    let is_new =
        |trial: &Trial| !investigation.outcomes.iter().any(|outcome| outcome.what_if.title == trial.title);
    trials.retain(is_new);
    trials.truncate(MOST_TRIALS);
    while trials.len() > 1
        && ((trials.last().is_some_and(can_wait) && !is_affordable(case, &trials, means.left_s))
            || (means.is_hard && !fits(case, &trials, means.left_s)))
    {
        trials.pop();
    }
    trials
}

/// Differences are swapped in the first round or never; ideas come again.
fn can_wait(trial: &Trial) -> bool {
    trial.differences.is_empty()
}

/// Once, where other arguments, another program or an allocator that copies take more of a CPU: the exponents tell another
/// algorithm from more of the same work.
fn grow(recording: &Recording, case: &Case<'_>, originals: &Originals<'_>, left_s: f64) -> Option<StagePlan> {
    let is_work = case.gap.metric == "cpu_s"
        && (case.differences.iter().any(|one| !one.is_surrounding()) || alloc_realloc_copy::is_likely(case));
    let is_done = recording.stages.iter().any(|stage| stage.plan.growth.is_some());
    // Both sizes that are smaller take less than the original one, if only a little.
    let block_s = 2.5 * (case.slow.median("wall_s")? + case.fast.median("wall_s")?);
    let affordable = affordable_blocks(left_s, block_s);
    let fewest = benchmath::signed_rank::fewest_blocks(growth::ALPHA);
    if !is_work || is_done || affordable < fewest {
        return None;
    }
    let round = plan(recording, originals, &[], affordable.min(MOST_BLOCKS));
    growth::plan(originals, round)
}

/// Once, where the same functions take more time without any other sign: the places of things in memory may do that, and
/// whatever else the difference is called would be a guess.
fn again_in_other_layouts(
    recording: &Recording,
    case: &Case<'_>,
    originals: &Originals<'_>,
    investigation: &Investigation<'_>,
    left_s: f64,
) -> Option<StagePlan> {
    let is_done = recording.stages.iter().any(|stage| !stage.plan.layouts.is_empty());
    let is_named = investigation.outcomes.iter().any(|one| one.is_guilty() && one.what_if.is_experiment);
    let is_possible = case.gap.ratio < LARGEST_LUCK && may_be_layout(case);
    let block_s = (case.slow.median("wall_s")? + case.fast.median("wall_s")?) * (layouts::PAIRS + 1.0);
    let affordable = affordable_blocks(left_s, block_s);
    if is_done || is_named || !is_possible || affordable < FEWEST_IN_LAYOUT {
        return None;
    }
    Some(layouts::plan(originals, plan(recording, originals, &[], affordable.min(MOST_BLOCKS))))
}

/// Every difference. What else is suspected is tried only if none of them is an experiment that may explain the gap: an
/// allocator that is swapped also takes the settings of the other one away.
fn first_trials(
    case: &Case<'_>,
    originals: &Originals<'_>,
    investigation: &Investigation<'_>,
    allocators: &[Preload],
) -> Vec<Trial> {
    let mut trials: Vec<Trial> = Vec::new();
    let seen = &investigation.suspicions;
    if is_worth_swapping(case, seen) {
        let swap = |(name, is_experiment, which): (String, bool, Vec<&Difference>)| {
            originals.swap(&which, vec![name], is_experiment)
        };
        trials.extend(named(case, seen).into_iter().map(swap));
    }
    if !trials.iter().any(|trial| trial.is_experiment) {
        trials.extend(ideas(seen, originals, allocators));
    }
    trials
}

/// Differences by what they are called. Those of one suspect are swapped together: a locale is nothing without the path
/// to it. So are those in which the same part of a path is another one, however they are called: a program does not start
/// with the libraries of the other. A name that is only a guess keeps nobody together.
fn named<'a>(case: &'a Case<'_>, seen: &[Seen]) -> Vec<(String, bool, Vec<&'a Difference>)> {
    let mut named: Vec<(String, bool, Vec<&Difference>)> = Vec::new();
    for (index, difference) in case.differences.iter().enumerate() {
        let (name, is_experiment) = name(seen, index, difference);
        let is_of_one = |which: &[&Difference]| {
            let renamed = difference.renamed();
            renamed.is_some() && which.iter().any(|one| one.renamed() == renamed)
        };
        let mut groups = named.iter_mut();
        match groups.find(|(known, _, which)| (is_experiment && *known == name) || is_of_one(which)) {
            Some((_, is_proof, which)) => {
                *is_proof &= is_experiment;
                which.push(difference);
            }
            None => named.push((name, is_experiment, vec![difference])),
        }
    }
    named
}

/// A single difference in program or arguments is known to carry everything.
fn is_worth_swapping(case: &Case<'_>, seen: &[Seen]) -> bool {
    match case.differences.as_slice() {
        [only] => only.is_surrounding() || claim(seen, 0).is_some_and(|(_, claim)| claim.is_experiment),
        _ => true,
    }
}

/// What the user's own suspects propose, first of all: who writes one down has a reason.
fn custom_trials(case: &Case<'_>, originals: &Originals<'_>, custom: &[CustomSuspect]) -> Vec<Trial> {
    let mut trials = Vec::new();
    for suspect in custom {
        let Some(suspicion) = suspect.look(case).filter(|suspicion| suspicion.weight > LEAST_SHARE) else {
            continue;
        };
        let claimed = suspicion.claims.iter().filter(|claim| claim.is_experiment);
        let which: Vec<&Difference> = claimed.map(|claim| &case.differences[claim.difference]).collect();
        if !which.is_empty() {
            trials.push(originals.swap(&which, vec![suspect.name.clone()], true));
        }
        trials.extend(suspicion.ideas.iter().map(|idea| originals.try_idea(idea, &suspect.name)));
        let advise = |trial: &mut Trial| {
            if trial.suspects == [suspect.name.as_str()] {
                trial.advice.clone_from(&suspect.advice);
            }
        };
        trials.iter_mut().for_each(advise);
    }
    trials
}

/// Of every suspect its ideas, each with the first allocator that is here; the other allocators last.
fn ideas(seen: &[Seen], originals: &Originals<'_>, allocators: &[Preload]) -> Vec<Trial> {
    let (mut first, mut others) = (Vec::new(), Vec::new());
    for (suspect, suspicion) in seen.iter().filter(|(_, suspicion)| suspicion.weight > LEAST_SHARE) {
        for idea in &suspicion.ideas {
            let trials = with_each(idea, allocators).into_iter();
            let mut trials = trials.map(|idea| originals.try_idea(&idea, suspect.name));
            first.extend(trials.next());
            others.extend(trials);
        }
    }
    first.into_iter().chain(others).collect()
}

/// All culprits together, once; then what was not tried yet, while the gap is not explained.
fn later_trials(
    case: &Case<'_>,
    originals: &Originals<'_>,
    investigation: &Investigation<'_>,
    allocators: &[Preload],
) -> Vec<Trial> {
    let may_hide = !investigation.is_explained_by_one();
    // What opens a gap on the fast side and closes none may be hidden by another culprit: only together do they tell.
    let is_suspect = |one: &&Outcome<'_>| one.is_guilty() || (may_hide && one.may_be_hidden());
    let guilty: Vec<_> = investigation.outcomes.iter().filter(is_suspect).collect();
    let is_joined = investigation.outcomes.iter().any(Outcome::is_joint);
    let culprits: Vec<&Difference> = case
        .differences
        .iter()
        .filter(|difference| {
            guilty.iter().any(|outcome| outcome.what_if.differences.contains(&difference.title()))
        })
        .collect();
    let mut trials = Vec::new();
    if !is_joined && guilty.len() > 1 && culprits.len() > 1 {
        let names = guilty
            .iter()
            .filter(|o| !o.what_if.differences.is_empty())
            .flat_map(|o| o.what_if.suspects.clone());
        trials.push(originals.swap(&culprits, names.collect(), true));
    }
    if may_hide {
        trials.extend(ideas(&investigation.suspicions, originals, allocators));
    }
    trials
}

/// What a difference is called, and whether swapping it is an experiment on that suspect.
fn name(seen: &[Seen], index: usize, difference: &Difference) -> (String, bool) {
    if let Some((name, claim)) = claim(seen, index) {
        return (name.to_owned(), claim.is_experiment);
    }
    match difference.variables().first() {
        Some((variable, _, _)) => (format!("env.{variable}"), true),
        None => ("code.more-work".to_owned(), false),
    }
}

/// The strongest claim on a difference.
fn claim(seen: &[Seen], index: usize) -> Option<(&'static str, Claim)> {
    let of_suspect = |suspicion: &Suspicion| {
        let claims = suspicion.claims.iter().filter(|claim| claim.difference == index);
        let is_experiment = claims.clone().any(|claim| claim.is_experiment);
        let strongest = claims.max_by(|one, other| one.weight.total_cmp(&other.weight))?;
        Some(Claim { is_experiment, ..*strongest })
    };
    seen.iter()
        .filter_map(|(suspect, suspicion)| Some((suspect.name, of_suspect(suspicion)?)))
        .max_by(|(_, one), (_, other)| one.weight.total_cmp(&other.weight))
}

/// As many blocks as fit into half of the time, at least so many that an interval has ends.
fn blocks(case: &Case<'_>, trials: &[Trial], Means { left_s, is_hard, .. }: Means<'_>) -> Option<usize> {
    if trials.is_empty() || (is_hard && !fits(case, trials, left_s)) {
        return None;
    }
    let fewest = benchmath::signed_rank::fewest_blocks(ALPHA);
    // Where runs are short, a moment in which the machine is busy may last as long as the usual round.
    let cheap = affordable(case, trials, CHEAP * left_s).min(MOST_CHEAP_BLOCKS);
    Some(affordable(case, trials, left_s).clamp(fewest, MOST_BLOCKS.max(fewest).max(cheap)))
}

fn is_affordable(case: &Case<'_>, trials: &[Trial], left_s: f64) -> bool {
    affordable(case, trials, left_s) >= benchmath::signed_rank::fewest_blocks(ALPHA)
}

/// There is time for the fewest blocks that can tell anything, and for one to warm up.
fn fits(case: &Case<'_>, trials: &[Trial], left_s: f64) -> bool {
    let fewest = benchmath::signed_rank::fewest_blocks(ALPHA);
    (fewest + 1) as f64 * block_s(case, trials) <= left_s
}

/// Blocks of these trials for which there is time.
fn affordable(case: &Case<'_>, trials: &[Trial], left_s: f64) -> usize {
    affordable_blocks(left_s, block_s(case, trials))
}

fn block_s(case: &Case<'_>, trials: &[Trial]) -> f64 {
    let slow_s = case.slow.median("wall_s").unwrap_or(0.1);
    let fast_s = case.fast.median("wall_s").unwrap_or(0.1);
    let of_trial = |trial: &Trial| {
        slow_s
            + if trial.beside.is_some() { fast_s } else { 0.0 }
            + if trial.added.is_some() { slow_s } else { 0.0 }
    };
    fast_s + slow_s + trials.iter().map(of_trial).sum::<f64>()
}

/// Blocks of a round for which there is time: the rest of it is for the runs that take longer than usual.
fn affordable_blocks(left_s: f64, block_s: f64) -> usize {
    (ROUND * left_s / block_s) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_takes_no_more_than_its_part_of_the_time() {
        assert_eq!(affordable_blocks(10.0, 0.5), 12);
        assert_eq!([affordable_blocks(0.5, 0.5), affordable_blocks(-1.0, 0.5)], [0, 0]);
    }
}
