//! `whyslow explain`: measures as `compare` does, and goes on until it is known why.

use super::arguments::{Compare, Explain, TryOut};
use super::compare::{check_files, finish, now, watch};
use super::recorder::Recorder;
use super::{MachineMaker, Screen, Status, Trouble, asked};
use crate::explain::{Idea, Mirror, Try};
use crate::model::Edit;
use crate::plan;
use crate::session::{self, Inquiry, Stamp};

pub fn run(
    options: Explain,
    screen: &mut Screen<'_>,
    machine: Box<MachineMaker<'_>>,
) -> Result<Status, Trouble> {
    ask(&options.compare, &[], screen, machine)
}

/// `whyslow try`: one command with and without the edit, or what the edit does to the gap between two.
pub fn run_try(
    options: TryOut,
    screen: &mut Screen<'_>,
    machine: Box<MachineMaker<'_>>,
) -> Result<Status, Trouble> {
    let edits: Vec<Edit> = options.edits.iter().map(|typed| typed.edit.clone()).collect();
    let name = options.edits.iter().map(|typed| typed.text.as_str()).collect::<Vec<_>>().join(" ");
    if commands(&options.compare) == 1 {
        return super::compare::run_edited(options.compare, (&name, &edits), screen, machine);
    }
    let idea = Idea {
        title: format!("{name} on both sides"),
        slow: edits,
        fast: Mirror::Same,
        add: None,
        expect: options.edits.iter().find_map(|typed| typed.expect.clone()),
    };
    ask(&options.compare, &[Try { name, idea }], screen, machine)
}

fn commands(options: &Compare) -> usize {
    options.commands.len()
        + options.words.split(|word| word == "--").filter(|words| !words.is_empty()).count()
}

fn ask(
    options: &Compare,
    tries: &[Try],
    screen: &mut Screen<'_>,
    machine: Box<MachineMaker<'_>>,
) -> Result<Status, Trouble> {
    let asked_s = options.effort.budget.map(|budget| budget.as_secs_f64());
    let experiment = plan::compose(&asked::question(options)?)?;
    if options.files.dry_run {
        screen.print(&super::dry_run::describe(&experiment))?;
        return Ok(Status::Done);
    }
    check_files(options, &experiment)?;
    let mut machine = machine(options.surroundings.settings()).map_err(|error| Trouble::from(&error))?;
    let recorder = options.files.record.as_deref().map(Recorder::create).transpose()?;
    let stamp = Stamp { tool: concat!("whyslow ", env!("CARGO_PKG_VERSION")).to_owned(), started: now() };
    let inquiry = Inquiry { budget_s: asked_s, tries };
    let measured = watch(&experiment, options, screen, recorder, |watcher| {
        session::explain(experiment.clone(), inquiry, machine.as_mut(), watcher, stamp)
    });
    finish(measured, options, screen)
}
