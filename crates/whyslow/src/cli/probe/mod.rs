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
        && let Some(trouble) = one_reason(&measured.recording)
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

/// What keeps all probes from seeing anything, if that is one thing: the command cannot be started, or they have one reason
/// or one remedy.
fn one_reason(recording: &Recording) -> Option<Trouble> {
    let why = |entry: &TraceEntry| match &entry.seen {
        Seen::Probed(_) => None,
        Seen::Missing(missing) => Some(missing.clone()),
    };
    let reasons: Vec<Missing> = recording.traces.iter().map(why).collect::<Option<_>>()?;
    let first = reasons.first()?;
    if reasons.iter().all(is_about_start) {
        return Some(not_started(&recording.header.experiment, first));
    }
    let is_same = |missing: &Missing| {
        missing.why == first.why || (missing.remedy.is_some() && missing.remedy == first.remedy)
    };
    let trouble = Trouble::new(first.why.clone());
    reasons.iter().all(is_same).then(|| match &first.remedy {
        Some(remedy) => trouble.hint(remedy.clone()),
        None => trouble,
    })
}

fn is_about_start(missing: &Missing) -> bool {
    missing.why.contains("cannot be started")
}

fn not_started(experiment: &Experiment, missing: &Missing) -> Trouble {
    if let Err(trouble) = check_programs(experiment) {
        return trouble;
    }
    let reason = &missing.why;
    let step = reason.split(['(', ')']).nth(1).unwrap_or_default();
    let is_interpreter = step == "exec" && reason.contains("No such file");
    let variants = plan::variants(experiment);
    let program = variants.first().and_then(|variant| variant.launch.argv.first());
    match program.filter(|_| is_interpreter) {
        Some(program) => not_found(&program.lossy()),
        None => {
            let hint = missing.remedy.clone().unwrap_or_else(|| start_hint(step).to_owned());
            Trouble::new(reason.clone()).hint(hint)
        }
    }
}

/// That is an error; why is in what was shown, if it is not told here.
fn nothing_seen(recording: &Recording) -> Option<Trouble> {
    let general = || {
        Trouble::new("no probe could see anything")
            .hint("`whyslow doctor` tells which probes work here, and what to do about the others")
    };
    is_blind(recording).then(|| one_reason(recording).unwrap_or_else(general))
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
