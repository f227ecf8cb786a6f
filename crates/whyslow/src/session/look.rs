//! Looking at variants with probes, each in a run of its own, with the hooks that its timed runs have too.

use super::{Event, SessionError, Watcher};
use crate::machine::Machine;
use crate::model::{Exit, HookKind, Missing, Probe, Seen, TraceEntry, Variant};

/// Looks at one variant with one probe and tells the watcher. What cannot be seen is told as well, and so is a look at
/// a run that ended as no undisturbed one did: how these ended is empty where there were none.
pub fn look(
    (stage, variant): (Option<usize>, usize),
    of: &Variant,
    (probe, least_hz): (Probe, Option<f64>),
    undisturbed: &[Exit],
    machine: &mut dyn Machine,
    watcher: &mut dyn Watcher,
) -> Result<TraceEntry, SessionError> {
    watcher.notice(Event::Probing(probe))?;
    let seen = look_between_hooks(of, (probe, least_hz), machine)?;
    let other = seen.probed().and_then(|probed| another_run(probe, &probed.exit, undisturbed));
    let seen = other.map_or(seen, Seen::Missing);
    let entry = TraceEntry { stage, variant, probe, seen };
    watcher.notice(Event::Probed(&entry))?;
    Ok(entry)
}

fn look_between_hooks(
    variant: &Variant,
    (probe, least_hz): (Probe, Option<f64>),
    machine: &mut dyn Machine,
) -> Result<Seen, SessionError> {
    if let Err(missing) = machine.can_probe(probe) {
        return Ok(Seen::Missing(missing));
    }
    if let Some(missing) = hook(HookKind::Prepare, variant, probe, machine)? {
        return Ok(Seen::Missing(missing));
    }
    let seen = machine.probe_at(&variant.launch, probe, least_hz);
    let missing = hook(HookKind::Conclude, variant, probe, machine)?;
    Ok(missing.map_or(seen, Seen::Missing))
}

/// A hook that fails leaves nothing to look at.
fn hook(
    kind: HookKind,
    variant: &Variant,
    probe: Probe,
    machine: &mut dyn Machine,
) -> Result<Option<Missing>, SessionError> {
    let Some(launch) = variant.hooks.get(&kind) else { return Ok(None) };
    let outcome = machine.run_hook(launch, kind)?;
    let missing = Missing {
        what: probe.known().title.to_owned(),
        why: format!("the {} hook of the probed run failed", kind.name()),
        remedy: None,
    };
    Ok((!outcome.exit.is_success()).then_some(missing))
}

/// A program that fails under a probe, as some do that trace or are traced, is not the one that was measured. Where the
/// look itself has cut the run short nothing is known.
fn another_run(probe: Probe, exit: &Exit, undisturbed: &[Exit]) -> Option<Missing> {
    let named = named(exit)?;
    let usual: Vec<String> = undisturbed.iter().filter_map(self::named).collect();
    (!usual.is_empty() && !undisturbed.contains(exit)).then(|| Missing {
        what: probe.known().title.to_owned(),
        why: format!(
            "the command ended with {named} under this probe, which none of its timed runs did ({}): what it did is not \
             what it does otherwise",
            usual[0]
        ),
        remedy: Some("see what it says there: whyslow probe --show-output".to_owned()),
    })
}

fn named(exit: &Exit) -> Option<String> {
    match exit {
        Exit::Code(code) => Some(format!("exit status {code}")),
        Exit::Signal(signal) => Some(format!("signal {signal}")),
        Exit::Stopped(_) | Exit::TimedOut | Exit::NotStarted { .. } | Exit::Interrupted => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_ends_as_no_other_is_another_one() {
        let is_other =
            |exit: Exit, undisturbed: &[Exit]| another_run(Probe::Cpu, &exit, undisturbed).is_some();
        assert!(is_other(Exit::Code(1), &[Exit::Code(0)]));
        assert!(is_other(Exit::Signal(9), &[Exit::Code(0), Exit::TimedOut]));
        assert!(!is_other(Exit::Code(1), &[Exit::Code(0), Exit::Code(1)]));
        assert!(!is_other(Exit::Code(1), &[]) && !is_other(Exit::Code(0), &[Exit::TimedOut]));
        assert!(!is_other(Exit::TimedOut, &[Exit::Code(0)]));
    }
}
