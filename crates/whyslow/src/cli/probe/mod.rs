//! `whyslow probe`: from the words typed to what the probes saw.

mod arguments;

pub use arguments::{Probe, ProbeList};

use super::compare::{Watchers, chain, check_written, hook_trouble, now};
use super::progress::ProgressLine;
use super::recorder::Recorder;
use super::report::{check_traces_can_be_shown, show_traces};
use super::{MachineMaker, Screen, Status, Trouble, asked};
use crate::machine::local::Settings;
use crate::model::{self, KNOWN_PROBES, Missing, Recording, Seen, Stop, TraceEntry};
use crate::plan;
use crate::session::{Measured, SessionError, Stamp, observe};

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
    let stamp = Stamp { tool: concat!("whyslow ", env!("CARGO_PKG_VERSION")).to_owned(), started: now() };
    let measured = observe(experiment, &probes, options.repeat.get(), machine.as_mut(), &mut watchers, stamp);
    drop(watchers);
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
    match measured.trouble {
        Some(SessionError::Machine(error)) => return Err(Trouble::from(&error)),
        Some(SessionError::Watcher(error)) => return Err(Trouble::new(chain(&error))),
        None => {}
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

/// If not one probe saw anything, that is an error, and its cause is most often the same for all of them.
fn nothing_seen(recording: &Recording) -> Option<Trouble> {
    let missing = |entry: &TraceEntry| match &entry.seen {
        Seen::Probed(_) => None,
        Seen::Missing(missing) => Some(missing.clone()),
    };
    let all: Option<Vec<Missing>> = recording.traces.iter().map(missing).collect();
    let first = all?.into_iter().next()?;
    let trouble = Trouble::new(format!("nothing could be seen: {}", first.why));
    Some(match first.remedy {
        Some(remedy) => trouble.hint(remedy),
        None => trouble.hint("`whyslow doctor` tells which probes work here, and why others do not"),
    })
}
