//! `whyslow explain`: measures as `compare` does, and goes on until it is known why.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::arguments::{Compare, Explain, TryOut};
use super::compare::{run_edited, run_experiment};
use super::report::{read_recording, show};
use super::{MachineMaker, Screen, Status, Trouble, asked};
use crate::analysis::analyze;
use crate::explain::custom::{self, CustomSuspect};
use crate::explain::{Idea, Mirror, Try, join};
use crate::model::{Edit, Recording};
use crate::plan;
use crate::session::{self, Inquiry};

/// How a recording begins.
const RECORDING_BEGINS: &[u8] = b"{\"whyslow\":";

pub fn run(
    options: Explain,
    screen: &mut Screen<'_>,
    machine: Box<MachineMaker<'_>>,
) -> Result<Status, Trouble> {
    match recordings(&options.compare).as_slice() {
        [] => ask(&options.compare, &[], &written(&options.suspects)?, screen, machine),
        [path] => show_again(path, &options.compare, screen),
        [one, other] => join_and_show(one, other, &options.compare, screen),
        _ => {
            Err(Trouble::new("more than two recordings cannot be explained").hint("name the two that differ"))
        }
    }
}

/// Suspects in files, or in all files of a directory that end in .toml.
fn written(paths: &[PathBuf]) -> Result<Vec<CustomSuspect>, Trouble> {
    let mut files = Vec::new();
    for path in paths {
        let trouble =
            |error: std::io::Error| Trouble::new(format!("cannot read {}: {error}", path.display()));
        if path.is_dir() {
            let entries: Result<Vec<_>, _> = path.read_dir().map_err(trouble)?.collect();
            let mut found: Vec<PathBuf> =
                entries.map_err(trouble)?.iter().map(std::fs::DirEntry::path).collect();
            found.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
            found.sort();
            files.extend(found);
        } else {
            files.push(path.clone());
        }
    }
    let mut all = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file)
            .map_err(|error| Trouble::new(format!("cannot read {}: {error}", file.display())))?;
        let parsed = custom::parse(&text).map_err(|error| {
            Trouble::new(format!("{}, line {}: {}", file.display(), error.line, error.what))
                .hint(error.remedy)
        })?;
        all.extend(parsed);
    }
    Ok(all)
}

/// The commands that are files which whyslow wrote, if all of them are.
fn recordings(options: &Compare) -> Vec<PathBuf> {
    let paths: Vec<PathBuf> = options.commands.iter().map(PathBuf::from).collect();
    let is_recording = |path: &PathBuf| {
        let mut begun = Vec::new();
        let read = File::open(path)
            .and_then(|file| file.take(RECORDING_BEGINS.len() as u64).read_to_end(&mut begun));
        read.is_ok() && begun == RECORDING_BEGINS
    };
    let are_all = options.words.is_empty() && paths.iter().all(|path| path.is_file() && is_recording(path));
    if are_all { paths } else { Vec::new() }
}

fn show_again(path: &Path, options: &Compare, screen: &mut Screen<'_>) -> Result<Status, Trouble> {
    let recording = read_recording(path)?;
    show(&recording, &analyze(&recording), &options.output, screen)?;
    Ok(Status::Done)
}

/// The variant that both have by that name, else the reference of each.
fn join_and_show(
    one: &Path,
    other: &Path,
    options: &Compare,
    screen: &mut Screen<'_>,
) -> Result<Status, Trouble> {
    let (one, other) = (read_recording(one)?, read_recording(other)?);
    let wanted = options.variants.names.first().map(String::as_str);
    let joined = join((&one, variant(&one, wanted)?), (&other, variant(&other, wanted)?));
    show(&joined, &analyze(&joined), &options.output, screen)?;
    Ok(Status::Done)
}

fn variant(recording: &Recording, wanted: Option<&str>) -> Result<usize, Trouble> {
    let Some(wanted) = wanted else { return Ok(recording.header.experiment.design.base) };
    let variants = plan::variants(&recording.header.experiment);
    variants.iter().position(|variant| variant.name == wanted).ok_or_else(|| {
        let names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
        Trouble::new(format!("no variant is called {wanted}"))
            .hint(format!("there are: {}", names.join(", ")))
    })
}

/// `whyslow try`: one command with and without the edit, or what the edit does to the gap between two.
pub fn run_try(
    options: TryOut,
    screen: &mut Screen<'_>,
    machine: Box<MachineMaker<'_>>,
) -> Result<Status, Trouble> {
    let edits: Vec<Edit> = options.edits.iter().map(|typed| typed.edit.clone()).collect();
    let name = options.edits.iter().map(|typed| typed.text.as_str()).collect::<Vec<_>>().join(" ");
    if asked::commands(&options.compare.commands, &options.compare.words).len() == 1 {
        return run_edited(options.compare, (&name, &edits), screen, machine);
    }
    let idea = Idea {
        title: format!("{name} on both sides"),
        slow: edits,
        fast: Mirror::Same,
        expect: options.edits.iter().find_map(|typed| typed.expect.clone()),
    };
    ask(&options.compare, &[Try { name, idea }], &[], screen, machine)
}

fn ask(
    options: &Compare,
    tries: &[Try],
    custom: &[CustomSuspect],
    screen: &mut Screen<'_>,
    machine: Box<MachineMaker<'_>>,
) -> Result<Status, Trouble> {
    if options.files.resume.is_some() {
        return Err(Trouble::new("an explanation that broke off cannot be gone on with")
            .hint("`whyslow report` shows what the recording has; run it again for the rest"));
    }
    let experiment = plan::compose(&asked::question(options)?)?;
    let budget_s = options.effort.budget.map(|budget| budget.as_secs_f64());
    run_experiment(&experiment, options, screen, machine, |experiment, machine, watcher, stamp| {
        let scratch = tempfile::tempdir().ok();
        let scratch = scratch.as_ref().map(tempfile::TempDir::path);
        session::explain(experiment, Inquiry { budget_s, tries, custom, scratch }, machine, watcher, stamp)
    })
}
