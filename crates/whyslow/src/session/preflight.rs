//! Whether edits that the user asked for act at all: one run with them, and a look at what it has. What fails with them, or
//! has nothing of them, is not worth measuring.

use super::bound::{Bound, limited};
use super::investigate::unmet;
use super::measure::{Stamp, measure_within};
use super::{Event, Measured, SessionError, Watcher, WatcherError};
use crate::machine::Machine;
use crate::model::{
    Edit, Environment, Expectation, Experiment, Launch, Missing, Probe, RunCount, Seen, Stop, Trace,
};
use crate::plan;

/// What can be seen at the start of a program is seen in that time, however little is left.
const LEAST_LOOK_S: f64 = 0.1;

/// An edit as it was asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    pub text: String,
    pub edit: Edit,
    pub expect: Option<Expectation>,
}

/// `Some` ends it: the experiment, all of whose variants have the edits, was run once and failed, or none of them has
/// what was asked for. What cannot be seen is let through.
pub fn preflight(
    edited: &Experiment,
    asked: &[Asked],
    budget_s: Option<f64>,
    machine: &mut dyn Machine,
    stamp: Stamp,
) -> Option<Measured> {
    let mut once = edited.clone();
    once.design.runs = RunCount::Exactly(1);
    once.design.warmup = 0;
    once.design.base = 0;
    let end_s = budget_s.map(|budget_s| machine.now_s() + budget_s);
    let bound = end_s.map_or(Bound::Open, Bound::At);
    let mut measured = measure_within(bound, once, machine, &mut Nobody, stamp);
    let stop = measured.recording.end.as_ref().map(|end| end.stop);
    // Nothing was compared yet.
    measured.recording.runs.retain(|run| !edited.design.counts(&run.exit));
    let is_done = matches!(stop, Some(Stop::RunsDone | Stop::Decided | Stop::BudgetSpent));
    if measured.trouble.is_some() || !is_done {
        return Some(measured);
    }
    let variants = plan::variants(edited);
    let mut seen_without = |launch: &Launch| {
        let left_s = end_s.map_or(f64::INFINITY, |end_s| (end_s - machine.now_s()).max(LEAST_LOOK_S));
        let launch = if left_s.is_finite() { limited(launch, left_s).0 } else { launch.clone() };
        no_effect(asked, &launch, machine)
    };
    let without: Vec<Option<Missing>> =
        variants.iter().map(|variant| seen_without(&variant.launch)).collect();
    let missing = without.into_iter().collect::<Option<Vec<Missing>>>()?.into_iter().next()?;
    Some(Measured { trouble: Some(SessionError::NoEffect(missing)), ..measured })
}

/// Of the first edit that the launch has nothing of.
fn no_effect(asked: &[Asked], launch: &Launch, machine: &mut dyn Machine) -> Option<Missing> {
    let is_preload = |one: &&Asked| matches!(one.edit, Edit::Preload(_));
    if let Some(one) = asked.iter().find(is_preload)
        && let Err(missing) = machine.can_preload(launch)
    {
        return Some(Missing { what: one.text.clone(), ..missing });
    }
    let Seen::Probed(probed) = machine.probe(launch, Probe::Environment) else { return None };
    let Trace::Environment(environment) = &probed.trace else { return None };
    asked.iter().find_map(|one| {
        let why = unseen(one, environment)?;
        Some(Missing { what: one.text.clone(), why, remedy: None })
    })
}

fn unseen(asked: &Asked, environment: &Environment) -> Option<String> {
    match &asked.edit {
        Edit::UnsetEnv(name) => environment
            .get(&format!("env.{}", name.lossy()))
            .map(|_| "the command sets it again by itself".to_owned()),
        _ => unmet(asked.expect.as_ref()?, environment),
    }
}

struct Nobody;

impl Watcher for Nobody {
    fn notice(&mut self, _: Event<'_>) -> Result<(), WatcherError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_child_has_is_what_counts() {
        let facts = [("env.A", "1"), ("env.count", "1"), ("library.libc.so.6", "/lib/libc.so.6")];
        let child = Environment { facts: facts.map(|(name, value)| (name.into(), value.into())).into() };
        let asked = |edit, fact: &str, contains: &str| Asked {
            text: String::new(),
            edit,
            expect: Some(Expectation { fact: fact.into(), contains: contains.into() }),
        };
        let set = |name: &str| asked(Edit::SetEnv(name.into(), "1".into()), &format!("env.{name}"), "1");
        let unset = |name: &str| Asked { expect: None, ..asked(Edit::UnsetEnv(name.into()), "", "") };
        let preload =
            |name: &str| asked(Edit::Preload(crate::model::Preload::File(name.into())), "library.", name);
        for (one, is_seen) in [
            (set("A"), true),
            (set("B"), false),
            (unset("A"), false),
            (unset("B"), true),
            (preload("libc.so"), true),
            (preload("libm.so"), false),
        ] {
            assert_eq!(unseen(&one, &child).is_none(), is_seen, "{one:?}");
        }
    }
}
