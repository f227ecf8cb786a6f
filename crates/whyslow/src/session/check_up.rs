//! A look at the machine, without an experiment.

use crate::machine::Machine;
use crate::model::{CheckUp, CheckedMetric, CheckedProbe, KNOWN_PROBES, Metric};

/// What the machine tells about itself. The load is read first, before we add to it.
pub fn check_up(machine: &mut dyn Machine) -> CheckUp {
    let circumstances = machine.circumstances();
    let metrics = Metric::all_known().into_iter();
    let metrics = metrics.map(|metric| {
        let missing = machine.can_measure(&metric).err();
        CheckedMetric { metric, missing }
    });
    let metrics = metrics.collect();
    let probes = KNOWN_PROBES
        .iter()
        .map(|known| CheckedProbe { probe: known.probe, missing: machine.can_probe(known.probe).err() });
    let probes = probes.collect();
    CheckUp { host: machine.host(), circumstances, floor: machine.floor(), metrics, probes }
}
