//! Looks of a simulated machine: a probed run takes the time of a run, and shows what the world states of the program.

use super::Simulated;
use crate::machine::{Machine, MachineError};
use crate::model::{Exit, Launch, Missing, Probe, Probed};

impl Simulated {
    pub(super) fn look(&mut self, launch: &Launch, probe: Probe) -> Result<Probed, Missing> {
        let missing =
            |why: &str| Missing { what: probe.known().title.to_owned(), why: why.to_owned(), remedy: None };
        let place = self.find(launch).ok_or_else(|| missing("no program of this world has this name"))?;
        let stated = self.world.programs[place].traces.iter().find(|trace| trace.probe() == probe);
        let trace = stated.cloned().ok_or_else(|| missing("the world states nothing that it could see"))?;
        let began_s = self.now_s();
        let outcome = self.run(launch, &[]).map_err(|MachineError { what, .. }| missing(&what))?;
        let wall_s = self.now_s() - began_s;
        self.interrupted |= outcome.exit == Exit::Interrupted;
        Ok(Probed { trace, exit: outcome.exit, wall_s, cpu_s: None, blind_spots: Vec::new() })
    }
}
