//! Looking at variants with probes, each in a run of its own, with the hooks that its timed runs have too.

use super::{Event, SessionError, Watcher};
use crate::machine::Machine;
use crate::model::{Exit, HookKind, Missing, Probe, Seen, TraceEntry, Variant};

/// How undisturbed runs end; asked for with the end of a look, where that may be another one. Empty: nothing is known.
pub type Undisturbed<'a> = &'a mut dyn FnMut(&Exit, &mut dyn Machine) -> Result<Vec<Exit>, SessionError>;

/// Looks at one variant with one probe and tells the watcher. What cannot be seen is told as well, and so is a look at
/// a run that ended as no undisturbed one did.
pub fn look(
    (stage, variant): (Option<usize>, usize),
    of: &Variant,
    (probe, least_hz): (Probe, Option<f64>),
    undisturbed: Undisturbed<'_>,
    machine: &mut dyn Machine,
    watcher: &mut dyn Watcher,
) -> Result<TraceEntry, SessionError> {
    let mut seen = look_between_hooks(of, (probe, least_hz), machine)?;
    if let Some(exit) = seen.probed().map(|probed| &probed.exit).filter(|exit| named(exit).is_some())
        && let Some(other) = another_run(probe, exit, &undisturbed(exit, machine)?)
    {
        seen = Seen::Missing(other);
    }
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
    let failed = |kind| Seen::Missing(failed_hook(probe, kind));
    if !hook(HookKind::Prepare, variant, machine)? {
        return Ok(failed(HookKind::Prepare));
    }
    let seen = machine.probe_at(&variant.launch, probe, least_hz);
    Ok(if hook(HookKind::Conclude, variant, machine)? { seen } else { failed(HookKind::Conclude) })
}

/// One run without a probe, between the same hooks; `None` where one of them fails.
pub fn run_undisturbed(variant: &Variant, machine: &mut dyn Machine) -> Result<Option<Exit>, SessionError> {
    if !hook(HookKind::Prepare, variant, machine)? {
        return Ok(None);
    }
    let outcome = machine.run(&variant.launch, &[])?;
    Ok(hook(HookKind::Conclude, variant, machine)?.then_some(outcome.exit))
}

/// Whether it went well, or there is none.
fn hook(kind: HookKind, variant: &Variant, machine: &mut dyn Machine) -> Result<bool, SessionError> {
    let Some(launch) = variant.hooks.get(&kind) else { return Ok(true) };
    Ok(machine.run_hook(launch, kind)?.exit.is_success())
}

/// A hook that fails leaves nothing to look at.
fn failed_hook(probe: Probe, kind: HookKind) -> Missing {
    Missing {
        what: probe.known().title.to_owned(),
        why: format!("the {} hook of the probed run failed", kind.name()),
        remedy: Some(
            "hooks run by `sh -c` with the environment and directory of their command, and must succeed"
                .to_owned(),
        ),
    }
}

/// A program that fails under a probe, as some do that trace or are traced, is not the one that was measured. Where the
/// look itself has cut the run short nothing is known.
fn another_run(probe: Probe, exit: &Exit, undisturbed: &[Exit]) -> Option<Missing> {
    let named = named(exit)?;
    let usual: Vec<String> = undisturbed.iter().filter_map(self::named).collect();
    (!usual.is_empty() && !undisturbed.contains(exit)).then(|| Missing {
        what: probe.known().title.to_owned(),
        why: format!(
            "the command ended with {named} under this probe, which no run without a probe did ({}): what it did is not \
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
