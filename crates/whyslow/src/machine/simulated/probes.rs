//! Looks of a simulated machine: a probed run takes the time of a run, and shows what the world states of the program.

use super::Simulated;
use super::sights::sight;
use crate::machine::{Machine, MachineError};
use crate::model::{Exit, Launch, Missing, Probe, Probed, Seen, Trace};

impl Simulated {
    pub(super) fn look(&mut self, launch: &Launch, probe: Probe) -> Result<Probed, Missing> {
        self.world.rights.check_probe(probe)?;
        let missing =
            |why: &str| Missing { what: probe.known().title.to_owned(), why: why.to_owned(), remedy: None };
        let found = self.find(launch).ok_or_else(|| missing("no program of this world has this name"))?;
        let program = &self.world.programs[found.program];
        let run = self.runs_of[found.program] + 1;
        let surroundings = self.surroundings(found, launch, self.prepared.as_ref(), run);
        let trace = sight(program, &surroundings, probe)
            .ok_or_else(|| missing("the world states nothing that it could see"))?;
        let began_s = self.now_s();
        let outcome = self.run(launch, &[]).map_err(|MachineError { what, .. }| missing(&what))?;
        let wall_s = self.now_s() - began_s;
        self.interrupted |= outcome.exit == Exit::Interrupted;
        Ok(Probed { trace, exit: outcome.exit, wall_s, cpu_s: None, blind_spots: Vec::new() })
    }
}

/// A world states what samples show, whatever their rate.
pub(super) fn at_least(mut seen: Seen, least_hz: Option<f64>) -> Seen {
    if let Seen::Probed(probed) = &mut seen
        && let Trace::Cpu(profile) = &mut probed.trace
    {
        profile.rate_hz = profile.rate_hz.max(least_hz.unwrap_or(0.0));
    }
    seen
}
