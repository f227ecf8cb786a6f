//! Looking at variants with probes and nothing else: no run of this is timed. Setup and cleanup are around it as they
//! are around a measurement; prepare and conclude are around every probed run.

use super::look::{look, run_undisturbed};
use super::measure::{Session, Stamp};
use super::rates;
use super::{Event, Measured, SessionError, Watcher};
use crate::machine::Machine;
use crate::model::{Exit, Experiment, Header, Probe, Recording, Stop, Variant};
use crate::plan;

/// A command that failed under a probe is run so often without one, until a run ends in the same way.
const UNDISTURBED_RUNS: usize = 3;

/// Every probe looks at every variant, `repeat` times over. The variants take turns, so that what changes on the machine
/// meanwhile does not fall on one of them.
pub fn observe(
    experiment: Experiment,
    probes: &[Probe],
    repeat: usize,
    machine: &mut dyn Machine,
    watcher: &mut dyn Watcher,
    stamp: Stamp,
) -> Measured {
    let header = Header {
        tool: stamp.tool,
        started: stamp.started,
        host: machine.host(),
        floor: None,
        missing: machine.blind_spots(),
        settings: machine.settings(),
        experiment,
    };
    let session = Session::new(Recording::new(header), machine, watcher);
    session.surround(|session| look_at_all(session, probes, repeat))
}

/// How runs without a probe have ended, of each variant. Most are never made.
type Ends = Vec<Vec<Exit>>;

fn look_at_all(session: &mut Session<'_>, probes: &[Probe], repeat: usize) -> Result<Stop, SessionError> {
    let mut ends = vec![Vec::new(); session.variants.len()];
    for round in 0..repeat {
        for &probe in probes {
            if let Some(stop) = look_once(session, &mut ends, probe, round)? {
                return Ok(stop);
            }
        }
    }
    Ok(Stop::RunsDone)
}

/// One look at every variant, in the order drawn for this round.
fn look_once(
    session: &mut Session<'_>,
    ends: &mut Ends,
    probe: Probe,
    round: usize,
) -> Result<Option<Stop>, SessionError> {
    let seed = session.recording.header.experiment.design.seed;
    for variant in plan::block_order(seed, round, session.variants.len()) {
        if session.machine.interrupted() {
            return Ok(Some(Stop::Interrupted));
        }
        look_at(session, &mut ends[variant], variant, probe)?;
    }
    // How often each had to be sampled is known only now.
    while let Some(variant) = rates::sampled_too_seldom(&session.recording, (None, probe)) {
        if session.machine.interrupted() {
            break;
        }
        look_at(session, &mut ends[variant], variant, probe)?;
    }
    Ok(session.machine.interrupted().then_some(Stop::Interrupted))
}

fn look_at(
    session: &mut Session<'_>,
    ends: &mut Vec<Exit>,
    variant: usize,
    probe: Probe,
) -> Result<(), SessionError> {
    let least_hz = rates::least_rate_hz(&session.recording, (None, variant), None);
    let of = &session.variants[variant];
    session.watcher.notice(Event::Probing { probe, of: &of.name, place: None })?;
    let mut ends = |exit: &Exit, machine: &mut dyn Machine| {
        compare_end(of, exit, ends, machine)?;
        Ok(ends.clone())
    };
    let entry = look((None, variant), of, (probe, least_hz), &mut ends, session.machine, session.watcher)?;
    session.recording.traces.push(entry);
    Ok(())
}

/// A command that fails may do so always, or because it is looked at: only a run without a probe tells. One that succeeds
/// is not run once more for this.
fn compare_end(
    of: &Variant,
    exit: &Exit,
    ends: &mut Vec<Exit>,
    machine: &mut dyn Machine,
) -> Result<(), SessionError> {
    while !exit.is_success()
        && !ends.contains(exit)
        && ends.len() < UNDISTURBED_RUNS
        && !machine.interrupted()
    {
        match run_undisturbed(of, machine)? {
            Some(end) => ends.push(end),
            None => break,
        }
    }
    Ok(())
}
