//! `whyslow explain`: measures as `compare` does, and goes on until it is known why.

use super::arguments::Explain;
use super::compare::{check_files, finish, now, watch};
use super::recorder::Recorder;
use super::{MachineMaker, Screen, Status, Trouble, asked};
use crate::plan;
use crate::session::{self, Stamp};

pub fn run(
    options: Explain,
    screen: &mut Screen<'_>,
    machine: Box<MachineMaker<'_>>,
) -> Result<Status, Trouble> {
    let options = options.compare;
    let asked_s = options.effort.budget.map(|budget| budget.as_secs_f64());
    let experiment = plan::compose(&asked::question(&options)?)?;
    if options.files.dry_run {
        screen.print(&super::dry_run::describe(&experiment))?;
        return Ok(Status::Done);
    }
    check_files(&options, &experiment)?;
    let mut machine = machine(options.surroundings.settings()).map_err(|error| Trouble::from(&error))?;
    let recorder = options.files.record.as_deref().map(Recorder::create).transpose()?;
    let stamp = Stamp { tool: concat!("whyslow ", env!("CARGO_PKG_VERSION")).to_owned(), started: now() };
    let measured = watch(&experiment, &options, screen, recorder, |watcher| {
        session::explain(experiment.clone(), asked_s, machine.as_mut(), watcher, stamp)
    });
    finish(measured, &options, screen)
}
