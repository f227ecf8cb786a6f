//! Looking at variants with probes and nothing else: no run of this is timed. Setup and cleanup are around it as they
//! are around a measurement; prepare and conclude are around every probed run.

use super::look::look;
use super::measure::{Session, Stamp};
use super::rates;
use super::{Measured, SessionError, Watcher};
use crate::machine::Machine;
use crate::model::{Experiment, Header, Probe, Recording, Stop};
use crate::plan;

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

fn look_at_all(session: &mut Session<'_>, probes: &[Probe], repeat: usize) -> Result<Stop, SessionError> {
    for round in 0..repeat {
        for &probe in probes {
            if let Some(stop) = look_once(session, probe, round)? {
                return Ok(stop);
            }
        }
    }
    Ok(Stop::RunsDone)
}

/// One look at every variant, in the order drawn for this round.
fn look_once(session: &mut Session<'_>, probe: Probe, round: usize) -> Result<Option<Stop>, SessionError> {
    let seed = session.recording.header.experiment.design.seed;
    for variant in plan::block_order(seed, round, session.variants.len()) {
        if session.machine.interrupted() {
            return Ok(Some(Stop::Interrupted));
        }
        look_at(session, variant, probe)?;
    }
    // How often each had to be sampled is known only now.
    while let Some(variant) = rates::sampled_too_seldom(&session.recording, (None, probe)) {
        if session.machine.interrupted() {
            break;
        }
        look_at(session, variant, probe)?;
    }
    Ok(session.machine.interrupted().then_some(Stop::Interrupted))
}

fn look_at(session: &mut Session<'_>, variant: usize, probe: Probe) -> Result<(), SessionError> {
    let least_hz = rates::least_rate_hz(&session.recording, (None, variant), None);
    let of = &session.variants[variant];
    let entry = look((None, variant), of, (probe, least_hz), &[], session.machine, session.watcher)?;
    session.recording.traces.push(entry);
    Ok(())
}
