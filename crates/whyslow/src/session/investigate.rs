//! Finding out why: looks and rounds of what-ifs, one after the other, as long as the explanation asks for them and
//! there is time. What to do is decided by `explain` from the recording; here it is done.

use std::path::Path;

use super::bound::{Bound, left_s, limited, usual_s};
use super::look::look;
use super::measure::{Stamp, measure_as, measure_within};
use super::rates;
use super::{Event, Measured, SessionError, Watcher, WatcherError};
use crate::explain::custom::{self, CustomSuspect};
use crate::explain::{Means, Step, Try, next};
use crate::machine::Machine;
use crate::model::{
    Environment, Exit, Expectation, Experiment, Launch, Missing, Probe, Recording, Run, RunCount, Seen,
    Stage, StagePlan, Stop, Trace, TraceEntry,
};
use crate::plan;

/// A probed run may take so many times as long as an undisturbed one...
const SLOWEST_PROBE: f64 = 60.0;
/// ... and at least this long...
const SHORTEST_LIMIT_S: f64 = 3.0;
/// ... but no more than this part of the time that is left.
const LONGEST_LOOK: f64 = 0.15;

/// A round of the fewest runs that tell anything is made even where it takes more than is left of the usual time. It may
/// then take so many times as long as its runs did until then.
const LONGEST_ROUND: f64 = 1.5;

/// The part of the time in which it must be decided whether there is a difference at all; most differences take less.
const DECIDING: f64 = 0.7;
/// The part that is there for the reasons, however long the decision took.
const REASONS: f64 = 0.5;

const NOT_THERE: &str = "the child does not have it";

/// What is asked besides "why".
#[derive(Clone, Copy, Debug, Default)]
pub struct Inquiry<'a> {
    /// Time for all of it, which is not exceeded; `None`: what is usual.
    pub budget_s: Option<f64>,
    /// To be tried, and nothing else.
    pub tries: &'a [Try],
    /// Suspects that the user wrote.
    pub custom: &'a [CustomSuspect],
    /// A directory that goes away afterwards.
    pub scratch: Option<&'a Path>,
}

/// Measures, and then finds out why.
pub fn explain(
    mut experiment: Experiment,
    inquiry: Inquiry<'_>,
    machine: &mut dyn Machine,
    watcher: &mut dyn Watcher,
    stamp: Stamp,
) -> Measured {
    experiment.asks_why = true;
    experiment.design.budget_s = DECIDING * inquiry.budget_s.unwrap_or(usual_s(0.0));
    let began_s = machine.now_s();
    let is_fixed = matches!(experiment.design.runs, RunCount::Exactly(_));
    let bound = match inquiry.budget_s {
        Some(budget_s) => Bound::At(began_s + budget_s),
        None if is_fixed => Bound::Open,
        None => Bound::Usual { from_s: began_s, part: DECIDING, reasons: REASONS },
    };
    let mut measured = measure_within(bound, experiment, machine, watcher, stamp);
    let took_s = machine.now_s() - began_s;
    let left_s = match inquiry.budget_s {
        Some(budget_s) => (budget_s - took_s).max(0.0),
        // A number of runs that was asked for is not counted.
        None => time_for_reasons_s(&measured.recording, if is_fixed { 0.0 } else { took_s }),
    };
    if measured.trouble.is_none() && measured.recording.end.is_some() {
        measured.trouble = investigate(&mut measured.recording, left_s, inquiry, machine, watcher).err();
    }
    measured
}

/// Why nothing more is asked for.
fn stop(machine: &dyn Machine, is_out_of_time: bool) -> Stop {
    match (machine.interrupted(), is_out_of_time) {
        (true, _) => Stop::Interrupted,
        (false, false) => Stop::Decided,
        (false, true) => Stop::BudgetSpent,
    }
}

/// What the runs of a round will take, by those that were made already.
fn forecast_s(recording: &Recording, plan: &StagePlan) -> f64 {
    let RunCount::Exactly(blocks) = plan.experiment.design.runs else { return 0.0 };
    let runs = (blocks + plan.experiment.design.warmup) * plan::variants(&plan.experiment).len();
    runs as f64 * longest_side_s(recording)
}

fn longest_side_s(recording: &Recording) -> f64 {
    let sides = plan::variants(&recording.header.experiment).len();
    (0..sides).map(|side| undisturbed_s(recording, None, side)).fold(0.0, f64::max)
}

/// What is left of the usual time, or as much of it as the reasons get in any case.
fn time_for_reasons_s(recording: &Recording, took_s: f64) -> f64 {
    let end_s = recording.end.as_ref().map_or(0.0, |end| end.elapsed_s);
    let blocks: Vec<&[Run]> = recording.runs.chunk_by(|one, next| one.block == next.block).collect();
    let begins_s = blocks.iter().map(|block| block[0].start_s).chain([end_s]);
    let lengths_s = begins_s.clone().zip(begins_s.skip(1)).map(|(begin_s, next_s)| next_s - begin_s);
    let budget_s = usual_s(lengths_s.fold(f64::INFINITY, f64::min).clamp(0.0, end_s));
    (budget_s - took_s).max(REASONS * budget_s)
}

/// Goes on until the gap is explained, the list of suspects is empty, or the time is spent. Everything that was seen is
/// in the recording, whatever ended it.
pub fn investigate(
    recording: &mut Recording,
    budget_s: f64,
    inquiry: Inquiry<'_>,
    machine: &mut dyn Machine,
    watcher: &mut dyn Watcher,
) -> Result<(), SessionError> {
    let end_s = machine.now_s() + budget_s;
    let is_hard = inquiry.budget_s.is_some();
    let allocators = machine.allocators();
    watcher.notice(Event::Bounded { left_s: budget_s })?;
    let mut is_out_of_time = false;
    while !machine.interrupted() {
        let left_s = left_s(machine, end_s);
        let Inquiry { tries, custom, scratch, .. } = inquiry;
        let means = Means { left_s, budget_s, is_hard, tries, custom, allocators: &allocators, scratch };
        match next(recording, means) {
            Step::Look { stage, variant, probe, place } => {
                let entry = look_at(recording, (stage, variant, probe), (end_s, place), machine, watcher)?;
                recording.traces.push(entry);
                sample_as_often(recording, (stage, probe), end_s, machine, watcher)?;
            }
            Step::Try(plan) => {
                let forecast_s = forecast_s(recording, &plan);
                let is_longer = !is_hard && forecast_s > left_s;
                let end_s = if is_longer { machine.now_s() + LONGEST_ROUND * forecast_s } else { end_s };
                try_out(recording, *plan, end_s, machine, watcher)?;
            }
            Step::OutOfTime => {
                is_out_of_time = true;
                break;
            }
            Step::Done => break,
        }
    }
    recording.custom = custom::signs(recording, inquiry.custom);
    recording.custom.iter().try_for_each(|sign| watcher.notice(Event::Custom(sign)))?;
    let stop = stop(machine, is_out_of_time);
    recording.explained = Some(stop);
    Ok(watcher.notice(Event::Explained(stop))?)
}

/// What was sampled less often than the other side is looked at once more.
fn sample_as_often(
    recording: &mut Recording,
    (stage, probe): (Option<usize>, Probe),
    end_s: f64,
    machine: &mut dyn Machine,
    watcher: &mut dyn Watcher,
) -> Result<(), SessionError> {
    while let Some(variant) = rates::sampled_too_seldom(recording, (stage, probe)) {
        if machine.interrupted() || left_s(machine, end_s) <= 0.0 {
            break;
        }
        let entry = look_at(recording, (stage, variant, probe), (end_s, None), machine, watcher)?;
        recording.traces.push(entry);
    }
    Ok(())
}

fn look_at(
    recording: &Recording,
    (stage, index, probe): (Option<usize>, usize, Probe),
    (end_s, place): (f64, Option<(usize, usize)>),
    machine: &mut dyn Machine,
    watcher: &mut dyn Watcher,
) -> Result<TraceEntry, SessionError> {
    let experiment = match stage {
        Some(stage) => &recording.stages[stage].plan.experiment,
        None => &recording.header.experiment,
    };
    let mut variant = plan::variants(experiment)[index].clone();
    let undisturbed_s = undisturbed_s(recording, stage, index);
    let limit_s = limit_s(undisturbed_s, left_s(machine, end_s));
    variant.launch = limited(&variant.launch, limit_s).0;
    let least_hz = rates::least_rate_hz(recording, (stage, index), Some(undisturbed_s));
    let mut ends = |_: &Exit, _: &mut dyn Machine| Ok(ends(recording, stage, index));
    watcher.notice(Event::Probing { probe, of: &variant.name, place })?;
    look((stage, index), &variant, (probe, least_hz), &mut ends, machine, watcher)
}

/// For a probed run of a variant that takes so long without a probe.
fn limit_s(undisturbed_s: f64, left_s: f64) -> f64 {
    let wanted_s = (SLOWEST_PROBE * undisturbed_s).min(LONGEST_LOOK * left_s);
    wanted_s.max(SHORTEST_LIMIT_S + undisturbed_s).min(left_s)
}

fn undisturbed(recording: &Recording, stage: Option<usize>, variant: usize) -> impl Iterator<Item = &Run> {
    let runs = stage.map_or(&recording.runs, |stage| &recording.stages[stage].runs);
    runs.iter().filter(move |run| run.variant == variant)
}

/// The ways in which runs of the variant have ended.
fn ends(recording: &Recording, stage: Option<usize>, variant: usize) -> Vec<Exit> {
    let mut ends: Vec<Exit> = Vec::new();
    for run in undisturbed(recording, stage, variant) {
        if !ends.contains(&run.exit) {
            ends.push(run.exit.clone());
        }
    }
    ends
}

/// Median wall time of the variant.
fn undisturbed_s(recording: &Recording, stage: Option<usize>, variant: usize) -> f64 {
    let index = recording.metric_index("wall_s");
    let of_variant = undisturbed(recording, stage, variant);
    let times: Vec<f64> = of_variant.filter_map(|run| run.values.iter().nth(index?).flatten()).collect();
    benchmath::median(&times).unwrap_or(1.0)
}

/// One round. What does not take effect is known before its runs are made, and costs them nothing but their time.
fn try_out(
    recording: &mut Recording,
    mut plan: StagePlan,
    end_s: f64,
    machine: &mut dyn Machine,
    watcher: &mut dyn Watcher,
) -> Result<(), SessionError> {
    let variants = plan::variants(&plan.experiment);
    for what_if in &mut plan.what_ifs {
        if let Some(expect) = &what_if.expect {
            watcher.notice(Event::Checking(&what_if.title))?;
            let limit_s = limit_s(longest_side_s(recording), left_s(machine, end_s));
            let launch = limited(&variants[what_if.removed].launch, limit_s).0;
            what_if.no_effect = missing_effect(expect, &launch, machine);
        }
    }
    watcher.notice(Event::Bounded { left_s: left_s(machine, end_s) })?;
    let mut header = recording.header.clone();
    header.experiment = plan.experiment.clone();
    let mut watching = StageWatcher { plan: &plan, watcher };
    let measured = measure_as(header, Bound::At(end_s), machine, &mut watching);
    let part = measured.recording;
    recording.stages.push(Stage { plan, runs: part.runs, end: part.end });
    measured.trouble.map_or(Ok(()), Err)
}

/// Why the edit cannot be relied on, if it cannot. A variable is in the launch itself, so it takes more to doubt it: it was
/// looked for among all that the child has, and is not there.
fn missing_effect(expect: &Expectation, launch: &Launch, machine: &mut dyn Machine) -> Option<Missing> {
    let missing = |why: &str| Some(Missing { what: expect.fact.clone(), why: why.to_owned(), remedy: None });
    let is_variable = expect.fact.starts_with("env.");
    match machine.probe(launch, Probe::Environment) {
        Seen::Missing(_) if is_variable => None,
        Seen::Missing(seen) => Some(Missing { what: expect.fact.clone(), ..seen }),
        Seen::Probed(probed) => match &probed.trace {
            Trace::Environment(environment) => missing(&unmet(expect, environment)?),
            _ => missing(NOT_THERE),
        },
    }
}

/// Why what was expected is not there, if it is not.
pub(super) fn unmet(expect: &Expectation, environment: &Environment) -> Option<String> {
    let is_variable = expect.fact.starts_with("env.");
    if expect.is_met(environment) || (is_variable && may_have(expect, environment)) {
        return None;
    }
    let why = match expect.is_passed_over(environment) {
        true => "the program has a malloc of its own inside, so nothing preloaded can act",
        false => NOT_THERE,
    };
    Some(why.to_owned())
}

/// Its value may be told otherwise, as that of a secret is, or the variable may be one of too many to be told.
fn may_have(expect: &Expectation, environment: &Environment) -> bool {
    let told = environment.facts.keys().filter(|name| name.starts_with("env.")).count();
    let all = environment.get("env.count").and_then(|count| count.parse::<usize>().ok());
    environment.get(&expect.fact).is_some() || all.is_some_and(|all| all > told)
}

/// Tells a round as a part of the investigation: it has no header and no looks of its own.
struct StageWatcher<'a> {
    plan: &'a StagePlan,
    watcher: &'a mut dyn Watcher,
}

impl Watcher for StageWatcher<'_> {
    fn notice(&mut self, event: Event<'_>) -> Result<(), WatcherError> {
        match event {
            Event::Began(_) => self.watcher.notice(Event::StageBegan(self.plan)),
            Event::Looked(_) | Event::Settled(_) => Ok(()),
            event => self.watcher.notice(event),
        }
    }
}
