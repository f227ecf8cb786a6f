//! Looking at variants with probes, each in a run of its own, with the hooks that its timed runs have too.

use super::{Event, SessionError, Watcher};
use crate::machine::Machine;
use crate::model::{HookKind, Missing, Probe, Seen, TraceEntry, Variant};

/// Looks at one variant with one probe and tells the watcher. What cannot be seen is told as well.
pub fn look(
    (stage, variant): (Option<usize>, usize),
    of: &Variant,
    probe: Probe,
    machine: &mut dyn Machine,
    watcher: &mut dyn Watcher,
) -> Result<TraceEntry, SessionError> {
    watcher.notice(Event::Probing(probe))?;
    let seen = look_between_hooks(of, probe, machine)?;
    let entry = TraceEntry { stage, variant, probe, seen };
    watcher.notice(Event::Probed(&entry))?;
    Ok(entry)
}

fn look_between_hooks(
    variant: &Variant,
    probe: Probe,
    machine: &mut dyn Machine,
) -> Result<Seen, SessionError> {
    if let Err(missing) = machine.can_probe(probe) {
        return Ok(Seen::Missing(missing));
    }
    if let Some(missing) = hook(HookKind::Prepare, variant, probe, machine)? {
        return Ok(Seen::Missing(missing));
    }
    let seen = machine.probe(&variant.launch, probe);
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
