//! `whyslow probe`: from the words typed to what the probes saw.

mod arguments;

use std::path::Path;

pub use arguments::{Probe, ProbeList};

use super::compare::{Watchers, check_written, hook_trouble, not_found, stamp, start_hint};
use super::progress::ProgressLine;
use super::recorder::Recorder;
use super::report::{check_traces_can_be_shown, show_traces};
use super::{MachineMaker, Screen, Status, Trouble, asked};
use crate::machine::local::Settings;
use crate::model::{self, Experiment, KNOWN_PROBES, Missing, Recording, Seen, Stop, TraceEntry};
use crate::plan;
use crate::session::{Measured, observe};

pub fn run(
    options: Probe,
    screen: &mut Screen<'_>,
    machine: Box<MachineMaker<'_>>,
) -> Result<Status, Trouble> {
    let experiment = plan::compose(&asked::work_to_probe(&options)?)?;
    let output = options.result.output();
    let record = options.result.record.as_deref();
    check_traces_can_be_shown(&output)?;
    check_written(&[("--record ", record)], &output, &experiment)?;
    let mut machine = machine(Settings::default()).map_err(|error| Trouble::from(&error))?;
    let recorder = record.map(Recorder::create).transpose()?;
    let probes = probes(&options.with);
    let looks = probes.len() * options.repeat.get() * plan::variants(&experiment).len();
    let progress = (!options.result.quiet).then(|| ProgressLine::new(screen, &experiment).with_looks(looks));
    let mut watchers = Watchers { recorder, progress };
    let measured =
        observe(experiment, &probes, options.repeat.get(), machine.as_mut(), &mut watchers, stamp());
    drop(watchers);
    if !output.json
        && let Some(trouble) = never_started(&measured.recording)
    {
        return Err(trouble);
    }
    if !measured.recording.traces.is_empty() || output.json {
        show_traces(&measured.recording, &output, screen)?;
    }
    status(measured, screen)
}

/// The cheap ones first, whatever the order in which they were named.
fn probes(typed: &[ProbeList]) -> Vec<model::Probe> {
    let is_meant = |known: &&model::KnownProbe| match typed {
        [] => known.is_default,
        typed => typed.contains(&ProbeList::All) || typed.contains(&ProbeList::One(known.probe)),
    };
    KNOWN_PROBES.iter().filter(is_meant).map(|known| known.probe).collect()
}

fn status(measured: Measured, screen: &mut Screen<'_>) -> Result<Status, Trouble> {
    if let Some(error) = measured.trouble {
        return Err(Trouble::from(&error));
    }
    let recording = &measured.recording;
    match recording.end.as_ref().map(|end| end.stop) {
        Some(Stop::Interrupted) => {
            if recording.traces.is_empty() {
                let _ = writeln!(
                    screen.stderr,
                    "interrupted before a probe had looked: there is nothing to show"
                );
            }
            Ok(Status::Interrupted)
        }
        Some(Stop::HookFailed) => Err(hook_trouble(&names(recording), recording.hook_failure.as_ref())),
        _ => nothing_seen(recording).map_or(Ok(Status::Done), Err),
    }
}

fn names(recording: &Recording) -> Vec<String> {
    plan::variants(&recording.header.experiment).into_iter().map(|variant| variant.name).collect()
}

/// Not one probe saw anything.
fn is_blind(recording: &Recording) -> bool {
    recording.traces.iter().all(|entry| matches!(entry.seen, Seen::Missing(_)))
}

/// Every probe says that there was nothing to look at.
fn never_started(recording: &Recording) -> Option<Trouble> {
    let why = |entry: &TraceEntry| match &entry.seen {
        Seen::Probed(_) => None,
        Seen::Missing(missing) => Some(missing.clone()).filter(is_about_start),
    };
    let reasons: Option<Vec<Missing>> = recording.traces.iter().map(why).collect();
    let Missing { why: reason, remedy, .. } = reasons?.into_iter().next()?;
    if let Err(trouble) = check_programs(&recording.header.experiment) {
        return Some(trouble);
    }
    let step = reason.split(['(', ')']).nth(1).unwrap_or_default().to_owned();
    let is_interpreter = step == "exec" && reason.contains("No such file");
    let variants = plan::variants(&recording.header.experiment);
    let program = variants.first().and_then(|variant| variant.launch.argv.first());
    Some(match program.filter(|_| is_interpreter) {
        Some(program) => not_found(&program.lossy()),
        None => Trouble::new(reason).hint(remedy.unwrap_or_else(|| start_hint(&step).to_owned())),
    })
}

fn is_about_start(missing: &Missing) -> bool {
    let says = |words| missing.why.contains(words);
    says("cannot be started") || (says("could not be watched") && missing.remedy.is_some())
}

/// That is an error; why is in what was shown.
fn nothing_seen(recording: &Recording) -> Option<Trouble> {
    is_blind(recording).then(|| {
        Trouble::new("no probe could see anything")
            .hint("`whyslow doctor` tells which probes work here, and what to do about the others")
    })
}

/// A program that is not there would make every probe say so.
fn check_programs(experiment: &Experiment) -> Result<(), Trouble> {
    for variant in plan::variants(experiment) {
        let launch = &variant.launch;
        let is_elsewhere = launch.cwd.is_some() || launch.env.iter().any(|(name, _)| name.0 == b"PATH");
        let program = launch.argv.first().map(|word| word.lossy().into_owned()).unwrap_or_default();
        if !is_elsewhere && !is_there(&program) {
            return Err(not_found(&program));
        }
    }
    Ok(())
}

fn is_there(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).exists();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).exists())
}
