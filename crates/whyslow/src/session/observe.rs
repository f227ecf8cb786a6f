//! Looking at variants with probes and nothing else: no run of this is timed. Setup and cleanup are around it as they
//! are around a measurement; prepare and conclude are around every probed run.

use super::look::look;
use super::measure::{Stamp, end_of};
use super::{Event, Measured, SessionError, Watcher};
use crate::machine::Machine;
use crate::model::{End, Exit, Experiment, Header, HookFailure, HookKind, Probe, Recording, Stop, Variant};
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
    let variants = plan::variants(&header.experiment);
    let began_s = machine.now_s();
    let recording = Recording::new(header);
    let mut observation = Observation { recording, variants, machine, watcher, began_s };
    let trouble = observation.run(probes, repeat).err();
    Measured { recording: observation.recording, trouble }
}

struct Observation<'a> {
    recording: Recording,
    variants: Vec<Variant>,
    machine: &'a mut dyn Machine,
    watcher: &'a mut dyn Watcher,
    began_s: f64,
}

impl Observation<'_> {
    fn run(&mut self, probes: &[Probe], repeat: usize) -> Result<(), SessionError> {
        self.watcher.notice(Event::Began(&self.recording.header))?;
        let mut set_up = Vec::new();
        let looked = self.set_up_and_look(probes, repeat, &mut set_up);
        // Whatever happened, what was set up is cleaned up, in the opposite order.
        let mut failed = None;
        for variant in set_up.into_iter().rev() {
            failed = failed.or(self.hook(HookKind::Cleanup, variant)?);
        }
        let stop = failed.or(looked?).unwrap_or(Stop::RunsDone);
        let end = End { stop, elapsed_s: self.machine.now_s() - self.began_s };
        self.watcher.notice(Event::Ended(&end))?;
        self.recording.end = Some(end);
        Ok(())
    }

    fn set_up_and_look(
        &mut self,
        probes: &[Probe],
        repeat: usize,
        set_up: &mut Vec<usize>,
    ) -> Result<Option<Stop>, SessionError> {
        for variant in 0..self.variants.len() {
            if self.machine.interrupted() {
                return Ok(Some(Stop::Interrupted));
            }
            set_up.push(variant);
            if let Some(stop) = self.hook(HookKind::Setup, variant)? {
                return Ok(Some(stop));
            }
        }
        for round in 0..repeat {
            for &probe in probes {
                if let Some(stop) = self.look_at_all(probe, round)? {
                    return Ok(Some(stop));
                }
            }
        }
        Ok(None)
    }

    fn look_at_all(&mut self, probe: Probe, round: usize) -> Result<Option<Stop>, SessionError> {
        let seed = self.recording.header.experiment.design.seed;
        for variant in plan::block_order(seed, round, self.variants.len()) {
            if self.machine.interrupted() {
                return Ok(Some(Stop::Interrupted));
            }
            let entry = look((None, variant), &self.variants[variant], probe, self.machine, self.watcher)?;
            self.recording.traces.push(entry);
        }
        Ok(self.machine.interrupted().then_some(Stop::Interrupted))
    }

    /// Runs a hook if the variant has it; `Some` if it failed or was not let to its end.
    fn hook(&mut self, kind: HookKind, variant: usize) -> Result<Option<Stop>, SessionError> {
        let Some(launch) = self.variants[variant].hooks.get(&kind) else { return Ok(None) };
        let outcome = self.machine.run_hook(launch, kind)?;
        match outcome.exit {
            exit if exit.is_success() => Ok(None),
            // Not its fault.
            Exit::Interrupted => Ok(Some(Stop::Interrupted)),
            exit => {
                let stderr_tail = end_of(&outcome.stderr_tail);
                let failure = HookFailure { kind, variant, block: None, exit, stderr_tail };
                self.watcher.notice(Event::HookFailed(&failure))?;
                self.recording.hook_failure.get_or_insert(failure);
                Ok(Some(Stop::HookFailed))
            }
        }
    }
}
