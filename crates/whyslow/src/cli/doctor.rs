//! `whyslow doctor`: what can be measured on this machine, and what keeps it from being measured well.

use super::arguments::Doctor;
use super::compare::{Watchers, chain, stamp};
use super::progress::ProgressLine;
use super::{MachineMaker, Screen, Status, Trouble};
use crate::analysis::{Samples, sensitivity};
use crate::machine::Machine;
use crate::machine::local::Settings;
use crate::model::{CheckUp, Recording, Stop};
use crate::plan::{self, CPU_LOOP, JUST_A_START};
use crate::report::{
    Document, Finding, MachineNoise, Mark, doctor, doctor_json, doctor_with_probes, findings, render, worst,
};
use crate::session::{Measured, check_up, measure};

/// The order of the runs does not matter for the scatter of a program beside itself.
const SEED: u64 = 1;

pub fn run(
    options: &Doctor,
    screen: &mut Screen<'_>,
    machine: Box<MachineMaker<'_>>,
) -> Result<Status, Trouble> {
    let mut machine = machine(Settings::default()).map_err(|error| Trouble::from(&error))?;
    let check_up = check_up(machine.as_mut());
    let noise_s = Some(options.seconds.as_secs_f64()).filter(|&seconds| seconds > 0.0);
    let measured = noise_s.map(|noise_s| watch(noise_s, options, screen, machine.as_mut()));
    let measured = measured.transpose()?;
    let noise = measured.as_ref().map(|measured| noise_of(&measured.recording));
    let found = findings(&check_up, noise.as_ref());
    let text = if options.json {
        format!("{:#}\n", doctor_json(&check_up, noise.as_ref(), &found))
    } else {
        render(&document(&found, &check_up, options), screen.style_in(options.color))
    };
    screen.print(&text)?;
    status(measured, &found)
}

/// Quiet leaves only what there is to do.
fn document(found: &[Finding], check_up: &CheckUp, options: &Doctor) -> Document {
    if !options.quiet {
        return doctor_with_probes(found, check_up);
    }
    let is_to_do = |finding: &&Finding| finding.mark >= Mark::Warning;
    doctor(&found.iter().filter(is_to_do).cloned().collect::<Vec<_>>())
}

fn watch(
    noise_s: f64,
    options: &Doctor,
    screen: &mut Screen<'_>,
    machine: &mut dyn Machine,
) -> Result<Measured, Trouble> {
    let experiment = plan::yardsticks(noise_s, SEED)?;
    let progress = (!options.quiet).then(|| ProgressLine::new(screen, &experiment));
    let mut watchers = Watchers { recorder: None, progress };
    Ok(measure(experiment, machine, &mut watchers, stamp()))
}

fn noise_of(recording: &Recording) -> MachineNoise {
    let samples = Samples::collect(recording, plan::variants(&recording.header.experiment).len());
    let of = |pair, metric| sensitivity(recording, &samples, pair, metric);
    MachineNoise {
        loop_wall: of(CPU_LOOP, "wall_s"),
        loop_cpu: of(CPU_LOOP, "cpu_s"),
        start_wall: of(JUST_A_START, "wall_s"),
        start_cpu: of(JUST_A_START, "cpu_s"),
    }
}

fn status(measured: Option<Measured>, found: &[Finding]) -> Result<Status, Trouble> {
    let stop = measured.as_ref().and_then(|measured| measured.recording.end.as_ref()).map(|end| end.stop);
    if let Some(trouble) = measured.and_then(|measured| measured.trouble) {
        return Err(Trouble::new(chain(&trouble)));
    }
    Ok(match (stop, worst(found)) {
        (Some(Stop::Interrupted), _) => Status::Interrupted,
        (_, Mark::Failure) => Status::CouldNot,
        (_, Mark::Warning) => Status::Warned,
        (_, Mark::Unknown | Mark::Fine) => Status::Done,
    })
}
