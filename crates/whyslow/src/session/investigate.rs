//! Finding out why: looks and rounds of what-ifs, one after the other, as long as the explanation asks for them and
//! there is time. What to do is decided by `explain` from the recording; here it is done.

use std::path::Path;

use super::look::look;
use super::measure::{Stamp, measure, measure_as};
use super::rates;
use super::{Event, Measured, SessionError, Watcher, WatcherError};
use crate::explain::custom::{self, CustomSuspect};
use crate::explain::{Means, Step, Try, next};
use crate::machine::Machine;
use crate::model::{
    Environment, Exit, Expectation, Experiment, Missing, Probe, Recording, Run, RunCount, Seen, Stage,
    StagePlan, Stop, Trace, TraceEntry, Variant,
};
use crate::plan;

/// A probed run may take so many times as long as an undisturbed one...
const SLOWEST_PROBE: f64 = 60.0;
/// ... and at least this long...
const SHORTEST_LIMIT_S: f64 = 3.0;
/// ... but no more than this part of the time that is left.
const LONGEST_LOOK: f64 = 0.15;

/// What an explanation may take if nothing is said: this long, or so many times as long as one run of both commands,
/// whichever is more.
const USUAL_S: f64 = 30.0;
const USUAL_RUNS: f64 = 40.0;
/// The part of it in which it must be decided whether there is a difference at all; most differences take less.
const DECIDING: f64 = 0.7;
/// The part that is there for the reasons, however long the decision took.
const REASONS: f64 = 0.5;

const NOT_THERE: &str = "the child does not have it";

/// What is asked besides "why".
#[derive(Clone, Copy, Debug, Default)]
pub struct Inquiry<'a> {
    /// Time for all of it.
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
    experiment.design.budget_s = DECIDING * inquiry.budget_s.unwrap_or(USUAL_S);
    let began_s = machine.now_s();
    let mut measured = measure(experiment, machine, watcher, stamp);
    let budget_s = inquiry.budget_s.unwrap_or_else(|| usual_s(&measured.recording));
    let left_s = (budget_s - (machine.now_s() - began_s)).max(REASONS * budget_s);
    if measured.trouble.is_none() && measured.recording.end.is_some() {
        measured.trouble = investigate(&mut measured.recording, left_s, inquiry, machine, watcher).err();
    }
    measured
}

/// Why nothing more is asked for.
fn stop(machine: &dyn Machine, left_s: f64) -> Stop {
    match (machine.interrupted(), left_s > 0.0) {
        (true, _) => Stop::Interrupted,
        (false, true) => Stop::Decided,
        (false, false) => Stop::BudgetSpent,
    }
}

/// A number of runs that was asked for is not counted.
fn usual_s(recording: &Recording) -> f64 {
    let is_fixed = matches!(recording.header.experiment.design.runs, RunCount::Exactly(_));
    let elapsed_s = recording.end.as_ref().map_or(0.0, |end| end.elapsed_s);
    let blocks = recording.runs.last().map_or(1, |run| run.block + 1);
    let by_runs_s = USUAL_RUNS * elapsed_s / blocks as f64;
    USUAL_S.max(by_runs_s) + if is_fixed { elapsed_s } else { 0.0 }
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
    let began_s = machine.now_s();
    let allocators = machine.allocators();
    while !machine.interrupted() {
        let left_s = budget_s - (machine.now_s() - began_s);
        let Inquiry { tries, custom, scratch, .. } = inquiry;
        match next(recording, Means { left_s, budget_s, tries, custom, allocators: &allocators, scratch }) {
            Step::Look { stage, variant, probe } => {
                let entry = look_at(recording, (stage, variant, probe), left_s, machine, watcher)?;
                recording.traces.push(entry);
                sample_as_often(recording, (stage, probe), left_s, machine, watcher)?;
            }
            Step::Try(plan) => try_out(recording, *plan, machine, watcher)?,
            Step::Done => break,
        }
    }
    recording.custom = custom::signs(recording, inquiry.custom);
    recording.custom.iter().try_for_each(|sign| watcher.notice(Event::Custom(sign)))?;
    let left_s = budget_s - (machine.now_s() - began_s);
    let stop = stop(machine, left_s);
    recording.explained = Some(stop);
    Ok(watcher.notice(Event::Explained(stop))?)
}

/// What was sampled less often than the other side is looked at once more.
fn sample_as_often(
    recording: &mut Recording,
    (stage, probe): (Option<usize>, Probe),
    left_s: f64,
    machine: &mut dyn Machine,
    watcher: &mut dyn Watcher,
) -> Result<(), SessionError> {
    while let Some(variant) = rates::sampled_too_seldom(recording, (stage, probe)) {
        if machine.interrupted() {
            break;
        }
        let entry = look_at(recording, (stage, variant, probe), left_s, machine, watcher)?;
        recording.traces.push(entry);
    }
    Ok(())
}

fn look_at(
    recording: &Recording,
    (stage, index, probe): (Option<usize>, usize, Probe),
    left_s: f64,
    machine: &mut dyn Machine,
    watcher: &mut dyn Watcher,
) -> Result<TraceEntry, SessionError> {
    let experiment = match stage {
        Some(stage) => &recording.stages[stage].plan.experiment,
        None => &recording.header.experiment,
    };
    let mut variant = plan::variants(experiment)[index].clone();
    let undisturbed_s = undisturbed_s(recording, stage, index);
    let limit_s =
        (SLOWEST_PROBE * undisturbed_s).min(LONGEST_LOOK * left_s).max(SHORTEST_LIMIT_S + undisturbed_s);
    let limit_s = variant.launch.timeout_s.map_or(limit_s, |timeout_s| timeout_s.min(limit_s));
    variant.launch.timeout_s = Some(limit_s);
    let least_hz = rates::least_rate_hz(recording, (stage, index), Some(undisturbed_s));
    let mut ends = |_: &Exit, _: &mut dyn Machine| Ok(ends(recording, stage, index));
    look((stage, index), &variant, (probe, least_hz), &mut ends, machine, watcher)
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
    machine: &mut dyn Machine,
    watcher: &mut dyn Watcher,
) -> Result<(), SessionError> {
    let variants = plan::variants(&plan.experiment);
    for what_if in &mut plan.what_ifs {
        if let Some(expect) = &what_if.expect {
            what_if.no_effect = missing_effect(expect, &variants[what_if.removed], machine);
        }
    }
    let mut header = recording.header.clone();
    header.experiment = plan.experiment.clone();
    let mut watching = StageWatcher { plan: &plan, watcher };
    let measured = measure_as(header, machine, &mut watching);
    let part = measured.recording;
    recording.stages.push(Stage { plan, runs: part.runs, end: part.end });
    measured.trouble.map_or(Ok(()), Err)
}

/// Why the edit cannot be relied on, if it cannot. A variable is in the launch itself, so it takes more to doubt it: it was
/// looked for among all that the child has, and is not there.
fn missing_effect(expect: &Expectation, variant: &Variant, machine: &mut dyn Machine) -> Option<Missing> {
    let missing = |why: &str| Some(Missing { what: expect.fact.clone(), why: why.to_owned(), remedy: None });
    let is_variable = expect.fact.starts_with("env.");
    match machine.probe(&variant.launch, Probe::Environment) {
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
