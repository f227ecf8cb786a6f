//! `whyslow compare`: from the words typed to a printed result.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::arguments::Compare;
use super::progress::ProgressLine;
use super::report::show;
use super::{MachineMaker, Screen, Status, Trouble};
use crate::analysis::{Analysis, analyze};
use crate::model::{Exit, Experiment, Stop};
use crate::plan::{self, PlanError, Question};
use crate::report;
use crate::session::{Event, Measured, Stamp, Watcher, WatcherError, measure};
use crate::store::Writer;

pub fn run(
    options: Compare,
    screen: &mut Screen<'_>,
    machine: Box<MachineMaker<'_>>,
) -> Result<Status, Trouble> {
    let experiment = plan::compose(&question(&options))?;
    let mut machine = machine().map_err(|error| Trouble::new(chain(&error)))?;
    let recorder = options.record.as_deref().map(Recorder::create).transpose()?;
    let measured = watch(experiment, &options, screen, machine.as_mut(), recorder);
    // The result is shown before any trouble: what was measured is never lost.
    let analysis = analyze(&measured.recording);
    let is_empty = analysis.variants.iter().all(|variant| variant.runs == 0);
    if options.output.json || !is_empty {
        show(&measured.recording, &analysis, &options.output, screen)?;
    }
    if let Some(trouble) = measured.trouble {
        return Err(Trouble::new(chain(&trouble)));
    }
    Ok(match analysis.stop {
        Some(Stop::Interrupted) => Status::Interrupted,
        Some(Stop::Failed) => return Err(failed(&analysis)),
        Some(Stop::HookFailed) => return Err(hook_failed(&analysis)),
        _ => Status::Done,
    })
}

fn watch(
    experiment: Experiment,
    options: &Compare,
    screen: &mut Screen<'_>,
    machine: &mut dyn crate::machine::Machine,
    recorder: Option<Recorder>,
) -> Measured {
    let progress = (!options.output.quiet).then(|| ProgressLine::new(screen, &experiment));
    let stamp = Stamp { tool: concat!("whyslow ", env!("CARGO_PKG_VERSION")).to_owned(), started: now() };
    measure(experiment, machine, &mut Watchers { recorder, progress }, stamp)
}

/// Local time with offset.
fn now() -> String {
    jiff::ZonedDateTime::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

fn question(options: &Compare) -> Question {
    let options_seed = options.seed.unwrap_or_else(seed_from_clock);
    Question {
        commands: options
            .commands
            .iter()
            .cloned()
            .map(|line| crate::plan::Typed::Line(line.into()))
            .collect(),
        names: options.names.clone(),
        reference: options.reference.clone().map(Into::into),
        reference_name: options.reference_name.clone(),
        warmup: options.warmup,
        runs: options.runs,
        min_runs: options.min_runs,
        max_runs: options.max_runs,
        budget_s: options.budget.map(|budget| budget.as_secs_f64()),
        confidence: options.confidence,
        margin: options.margin,
        seed: options_seed,
        ..Question::default()
    }
}

/// Below 2^32, so that the seed is short to type and exact in every reader of JSON.
fn seed_from_clock() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(since.subsec_nanos() ^ (since.as_secs() as u32).rotate_left(16))
}

fn hook_failed(analysis: &Analysis) -> Trouble {
    let Some(failure) = &analysis.hook_failure else { return Trouble::new("a hook failed") };
    let names: Vec<String> = analysis.variants.iter().map(|variant| variant.name.clone()).collect();
    Trouble::new(report::hook_failure(&names, failure))
        .details(report::last_lines(&failure.stderr_tail))
        .hint("hooks run by `sh -c` with the environment and directory of their command, and must succeed")
}

/// The run that ended the comparison, with the end of its standard error.
fn failed(analysis: &Analysis) -> Trouble {
    let Some(failure) = &analysis.failure else { return Trouble::new("a command failed") };
    let variant = &analysis.variants[failure.variant];
    let trouble = Trouble::new(format!("{} {}", variant.name, report::exit(&failure.exit)))
        .details(report::last_lines(&failure.stderr_tail));
    trouble.hint(match &failure.exit {
        Exit::NotStarted { errno: libc::ENOENT, .. } => {
            let program = variant.argv.first().map_or("", String::as_str);
            format!("is `{program}` spelled right, installed and in PATH?")
        }
        Exit::Signal(_) | Exit::TimedOut => {
            "run it by itself to see whether it always ends like this".to_owned()
        }
        _ => "only runs that succeed are compared; run it by itself to see why it does not".to_owned(),
    })
}

/// An error with its causes, outermost first.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

impl From<PlanError> for Trouble {
    fn from(error: PlanError) -> Self {
        let trouble = Trouble::new(error.to_string());
        match error.hint() {
            Some(hint) => trouble.hint(hint),
            None => trouble,
        }
    }
}

/// Writes the recording while it is made.
struct Recorder {
    writer: Writer<BufWriter<File>>,
    path: String,
}

impl Recorder {
    /// An earlier recording is moved aside first: it may have taken hours to make.
    fn create(path: &Path) -> Result<Self, Trouble> {
        let fail = |error: std::io::Error| {
            Trouble::new(format!("cannot write the recording {}: {error}", path.display()))
                .hint("choose another file with --record")
        };
        let is_older = path.symlink_metadata().is_ok_and(|found| found.is_file() && found.len() > 0);
        if is_older {
            let mut aside = path.as_os_str().to_owned();
            aside.push(".old");
            std::fs::rename(path, aside).map_err(fail)?;
        }
        let file = File::create(path).map_err(fail)?;
        Ok(Recorder { writer: Writer::new(BufWriter::new(file)), path: path.display().to_string() })
    }

    fn notice(&mut self, event: &Event<'_>) -> Result<(), WatcherError> {
        let written = match event {
            Event::Began(header) => self.writer.header(header),
            Event::Ran(run) => self.writer.run(run),
            Event::Settled(looks) => self.writer.looks(looks),
            Event::HookFailed(failure) => self.writer.hook_failure(failure),
            Event::Ended(end) => self.writer.end(end),
            Event::BlockDone(_) | Event::Looked(_) => Ok(()),
        };
        let what = || format!("cannot write the recording {}", self.path);
        written.map_err(|source| WatcherError { what: what(), source: Some(source) })
    }
}

struct Watchers<'a> {
    recorder: Option<Recorder>,
    progress: Option<ProgressLine<'a>>,
}

impl Watcher for Watchers<'_> {
    fn notice(&mut self, event: Event<'_>) -> Result<(), WatcherError> {
        if let Some(progress) = &mut self.progress {
            progress.notice(&event);
        }
        self.recorder.as_mut().map_or(Ok(()), |recorder| recorder.notice(&event))
    }
}
