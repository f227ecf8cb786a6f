//! `whyslow compare`: from the words typed to a printed result.

use std::path::Path;

use super::arguments::{Compare, Output as ResultOutput};
use super::files::{Part, check_distinct};
use super::nearest::nearest_program;
use super::progress::ProgressLine;
use super::recorder::Recorder;
use super::report::{has_only_traces, read_recording, show};
use super::{MachineMaker, Screen, Status, Trouble, asked, dry_run};
use crate::analysis::{Analysis, analyze};
use crate::machine::Machine;
use crate::model::{End, Exit, Experiment, HookFailure, Input, Output, Recording, Stop};
use crate::plan::{self, PlanError, Question};
use crate::report;
use crate::session::{
    self, Asked, Event, Measured, SessionError, Stamp, Watcher, WatcherError, measure, preflight,
};

pub fn run(
    options: Compare,
    screen: &mut Screen<'_>,
    machine: Box<MachineMaker<'_>>,
) -> Result<Status, Trouble> {
    if let Some(path) = &options.files.resume {
        return resume(path, &options, screen, machine);
    }
    let question = Question { may_be_alone: true, ..asked::question(&options)? };
    run_experiment(&plan::compose(&question)?, &options, screen, machine, measure)
}

/// From an experiment to a printed result. `measure` makes the runs, and may go on to what they are for.
pub fn run_experiment(
    experiment: &Experiment,
    options: &Compare,
    screen: &mut Screen<'_>,
    machine: Box<MachineMaker<'_>>,
    measure: impl FnOnce(Experiment, &mut dyn Machine, &mut dyn Watcher, Stamp) -> Measured,
) -> Result<Status, Trouble> {
    if options.files.dry_run {
        screen.print(&dry_run::describe(experiment))?;
        return Ok(Status::Done);
    }
    check_files(options, experiment)?;
    let mut machine = machine(options.surroundings.settings()).map_err(|error| Trouble::from(&error))?;
    let recorder = options.files.record.as_deref().map(Recorder::create).transpose()?;
    let measured = watch(experiment, options, screen, recorder, |watcher| {
        measure(experiment.clone(), machine.as_mut(), watcher, stamp())
    });
    finish(measured, options, screen)
}

/// One command, beside itself with an edit.
pub fn run_edited(
    mut options: Compare,
    (name, asked): (&str, &[Asked]),
    screen: &mut Screen<'_>,
    machine: Box<MachineMaker<'_>>,
) -> Result<Status, Trouble> {
    options.variants.names = vec!["as it is".to_owned(), name.to_owned()];
    // The same command once more, to be edited.
    options.commands.extend_from_within(..);
    if !options.words.is_empty() {
        let again = options.words.clone();
        options.words.push("--".into());
        options.words.extend(again);
    }
    let mut experiment = plan::compose(&asked::question(&options)?)?;
    experiment.factors[0].levels[1].edits.extend(asked.iter().map(|one| one.edit.clone()));
    run_experiment(&experiment, &options, screen, machine, |experiment, machine, watcher, stamp| {
        let mut edited = experiment.clone();
        edited.factors[0].levels.remove(0);
        preflight(&edited, asked, None, machine, stamp.clone())
            .unwrap_or_else(|| measure(experiment, machine, watcher, stamp))
    })
}

/// Goes on with a recording; what it holds already is not measured again.
fn resume(
    path: &Path,
    options: &Compare,
    screen: &mut Screen<'_>,
    machine: Box<MachineMaker<'_>>,
) -> Result<Status, Trouble> {
    let recording = read_recording(path)?;
    if has_only_traces(&recording) {
        return Err(Trouble::new(format!(
            "{} holds what probes saw, and no runs to go on with",
            path.display()
        ))
        .hint(format!("show it with `whyslow report {}`", path.display())));
    }
    if let Some(End { stop: Stop::Decided | Stop::RunsDone | Stop::BudgetSpent, .. }) = recording.end {
        return Err(Trouble::new(format!("{} is complete, there is nothing to go on with", path.display()))
            .hint(format!("show it with `whyslow report {}`", path.display())));
    }
    check_files(options, &recording.header.experiment)?;
    let mut machine = machine(options.surroundings.settings()).map_err(|error| Trouble::from(&error))?;
    let recorder = Recorder::append(path)?;
    let experiment = recording.header.experiment.clone();
    let measured = watch(&experiment, options, screen, Some(recorder), |watcher| {
        session::resume(recording, machine.as_mut(), watcher)
    });
    finish(measured, options, screen)
}

/// Files that cannot be written, or that are two things at once, are found before anything is measured.
fn check_files(options: &Compare, experiment: &Experiment) -> Result<(), Trouble> {
    let files =
        [("--record ", options.files.record.as_deref()), ("--resume ", options.files.resume.as_deref())];
    check_written(&files, &options.output, experiment)
}

/// The same for these files and the exports of any result.
pub fn check_written(
    files: &[(&str, Option<&Path>)],
    output: &ResultOutput,
    experiment: &Experiment,
) -> Result<(), Trouble> {
    if files.iter().any(|(_, path)| *path == Some(Path::new("-"))) {
        return Err(Trouble::new("a recording cannot go to the standard output, where the result goes")
            .hint("name a file, or write --record ./- for one of that name"));
    }
    let mut parts: Vec<Part> =
        files.iter().filter_map(|(option, path)| Some(Part::written(option, (*path)?))).collect();
    for variant in plan::variants(experiment) {
        if let Input::File(path) = &variant.launch.stdin {
            parts.push(Part::left_alone("--input ", path));
        }
        if let Output::File(path) = &variant.launch.stdout {
            parts.push(Part::left_alone("--output ", path));
        }
    }
    parts.extend(output.parts());
    check_distinct(&parts)?;
    output.check()
}

/// The result is shown before any trouble: what was measured is never lost.
fn finish(measured: Measured, options: &Compare, screen: &mut Screen<'_>) -> Result<Status, Trouble> {
    let analysis = analyze(&measured.recording);
    let is_empty = analysis.variants.iter().all(|variant| variant.runs + variant.failed == 0);
    let is_failed = matches!(analysis.stop, Some(Stop::Failed | Stop::HookFailed | Stop::NeverSucceeded));
    let has_result = analysis.variants.iter().any(|variant| variant.runs > 0) || !(is_empty || is_failed);
    if options.output.json || has_result {
        show(&measured.recording, &analysis, &options.output, screen)?;
    }
    if let Some(error) = measured.trouble {
        return Err(Trouble::from(&error));
    }
    if analysis.stop == Some(Stop::Interrupted) && !has_result {
        let _ = writeln!(screen.stderr, "interrupted before a run was measured: there is nothing to show");
    }
    Ok(match analysis.stop {
        Some(Stop::Interrupted) => Status::Interrupted,
        Some(Stop::Failed) => return Err(failed(&analysis)),
        Some(Stop::HookFailed) => return Err(hook_failed(&analysis)),
        Some(Stop::NeverSucceeded) => return Err(never_succeeded(&analysis)),
        Some(Stop::BudgetSpent) if !has_result => return Err(not_decided(&measured.recording)),
        _ => Status::Done,
    })
}

impl From<&SessionError> for Trouble {
    fn from(error: &SessionError) -> Self {
        match error {
            SessionError::Machine(error) => Trouble::from(error),
            SessionError::Watcher(error) => Trouble::new(chain(error)),
            SessionError::NoEffect(missing) => Trouble::new(error.to_string()).hint(
                missing
                    .remedy
                    .as_deref()
                    .unwrap_or("`whyslow probe --with environment` shows what a run has"),
            ),
        }
    }
}

fn watch(
    experiment: &Experiment,
    options: &Compare,
    screen: &mut Screen<'_>,
    recorder: Option<Recorder>,
    measure: impl FnOnce(&mut dyn Watcher) -> Measured,
) -> Measured {
    let progress = (!options.output.quiet).then(|| ProgressLine::new(screen, experiment));
    measure(&mut Watchers { recorder, progress })
}

/// This program, and local time with offset.
pub fn stamp() -> Stamp {
    Stamp {
        tool: concat!("whyslow ", env!("CARGO_PKG_VERSION")).to_owned(),
        started: jiff::ZonedDateTime::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
    }
}

fn hook_failed(analysis: &Analysis) -> Trouble {
    let names: Vec<String> = analysis.variants.iter().map(|variant| variant.name.clone()).collect();
    hook_trouble(&names, analysis.hook_failure.as_ref())
}

/// The hook that ended it.
pub fn hook_trouble(names: &[String], failure: Option<&HookFailure>) -> Trouble {
    let Some(failure) = failure else { return Trouble::new("a hook failed") };
    Trouble::new(report::hook_failure(names, failure))
        .details(report::last_lines(&failure.stderr_tail))
        .hint("hooks run by `sh -c` with the environment and directory of their command, and must succeed")
}

/// Not even the first runs have ended by then.
fn not_decided(recording: &Recording) -> Trouble {
    let elapsed_s = recording.end.as_ref().map_or(0.0, |end| end.elapsed_s);
    Trouble::new(format!(
        "nothing was decided within the budget: one run takes more than {}",
        report::duration(elapsed_s)
    ))
    .hint("give it more by --budget, or less to do")
}

fn never_succeeded(analysis: &Analysis) -> Trouble {
    let failing = analysis.variants.iter().filter(|variant| variant.runs == 0);
    let names: Vec<&str> = failing.map(|variant| variant.name.as_str()).collect();
    Trouble::new(format!("no run of {} succeeded", names.join(" and ")))
        .hint("if its exit status is an answer (no match, files differ), add --success-codes 0,1")
}

/// The run that ended the comparison, with the end of its standard error.
fn failed(analysis: &Analysis) -> Trouble {
    let Some(failure) = &analysis.failure else { return Trouble::new("a command failed") };
    let variant = &analysis.variants[failure.variant];
    if let Exit::NotStarted { errno: libc::ENOENT, step } = &failure.exit
        && step == "exec"
    {
        return not_found(variant.argv.first().map_or("", String::as_str));
    }
    Trouble::new(format!("{} {}", variant.name, report::exit(&failure.exit)))
        .details(report::last_lines(&failure.stderr_tail))
        .hint(match &failure.exit {
            Exit::NotStarted { step, .. } => start_hint(step),
            Exit::Code(1) if failure.stderr_tail.is_empty() => {
                "it said nothing: if this status is an answer (no match, files differ), add --success-codes 0,1"
            }
            Exit::TimedOut => "raise --timeout, or count such runs with --ignore-failure; does it wait for input?",
            Exit::Code(_) if analysis.variants.len() == 1 => {
                "only runs that succeed are timed; run it by itself to see why it does not"
            }
            Exit::Code(_) => "only runs that succeed are compared; run it by itself to see why it does not",
            _ => "run it by itself to see whether it always ends like this",
        })
}

/// What to do about a command that cannot be started.
pub fn start_hint(step: &str) -> &'static str {
    match step {
        "stdin" => "does the file of --input exist, and may it be read?",
        "stdout" => "can the file of --output be written?",
        "chdir" => "does the directory exist, and may it be entered?",
        "affinity" => "are there such CPUs? `nproc --all` tells how many",
        "environment" => "the name of a variable is not empty and holds no `=`",
        "exec" => "is it a program, and executable (chmod +x)?",
        _ => "run it by itself to see whether it starts there",
    }
}

/// A script is found and its interpreter may not be; the system has the same word for both.
pub fn not_found(program: &str) -> Trouble {
    if std::fs::exists(program).unwrap_or(false) {
        return Trouble::new(format!("{program} is there, but what its first line names is not"))
            .hint("is the interpreter behind `#!` installed?");
    }
    let trouble = Trouble::new(format!("`{program}` was not found"));
    match nearest_program(program) {
        Some(near) if near != program => trouble.hint(format!("did you mean `{near}`?")),
        _ => trouble.hint("is it spelled right, installed and in PATH?"),
    }
}

/// An error with its causes, outermost first.
pub fn chain(error: &dyn std::error::Error) -> String {
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

/// Who wants to know what happens.
pub struct Watchers<'a> {
    pub recorder: Option<Recorder>,
    pub progress: Option<ProgressLine<'a>>,
}

impl Watcher for Watchers<'_> {
    fn notice(&mut self, event: Event<'_>) -> Result<(), WatcherError> {
        if let Some(progress) = &mut self.progress {
            progress.notice(&event);
        }
        self.recorder.as_mut().map_or(Ok(()), |recorder| recorder.notice(&event))
    }
}
