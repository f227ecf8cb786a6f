//! `whyslow explain`: measures as `compare` does, and goes on until it is known why.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::arguments::{Compare, Explain, TryOut};
use super::compare::{run_edited, run_experiment};
use super::report::{read_recording, show};
use super::values::TypedEdit;
use super::{MachineMaker, Screen, Status, Trouble, asked, suspect_files};
use crate::analysis::analyze;
use crate::explain::custom::CustomSuspect;
use crate::explain::{Idea, Mirror, Try, join};
use crate::machine::local::{Scratch, check_edits};
use crate::model::{ByteText, Edit, Experiment, Recording};
use crate::plan;
use crate::session::{self, Asked, Inquiry};

/// How a recording begins.
const RECORDING_BEGINS: &[u8] = b"{\"whyslow\":";

pub fn run(
    options: Explain,
    screen: &mut Screen<'_>,
    machine: Box<MachineMaker<'_>>,
) -> Result<Status, Trouble> {
    match recordings(&options.compare)?.as_slice() {
        [] => ask(&options.compare, (&[], &[]), &suspect_files::read(&options.suspects)?, screen, machine),
        [path] => show_again(path, &options.compare, screen),
        [one, other] => join_and_show(one, other, &options.compare, screen),
        _ => {
            Err(Trouble::new("more than two recordings cannot be explained").hint("name the two that differ"))
        }
    }
}

/// The commands that are meant as files which whyslow wrote: all of them or none.
fn recordings(options: &Compare) -> Result<Vec<PathBuf>, Trouble> {
    let paths: Vec<PathBuf> = options.commands.iter().map(PathBuf::from).collect();
    let is_meant = |path: &PathBuf| is_recording(path) || is_named_as_one(path);
    if !paths.iter().any(is_meant) {
        return Ok(Vec::new());
    }
    // Beside a recording, a file that is no program is meant as one too: reading it says what is wrong with it.
    let command = paths.iter().find(|path| !is_meant(path) && !is_no_program(path));
    match command.map(|path| path.display().to_string()).or_else(|| first_words(options)) {
        Some(command) => {
            Err(Trouble::new(format!("`{command}` is no recording, and another argument is one"))
                .hint("give two recordings, or two commands"))
        }
        None => Ok(paths),
    }
}

fn first_words(options: &Compare) -> Option<String> {
    options.words.first().map(|word| word.to_string_lossy().into_owned())
}

fn is_recording(path: &Path) -> bool {
    let mut begun = Vec::new();
    let read = path.is_file()
        && File::open(path)
            .is_ok_and(|file| file.take(RECORDING_BEGINS.len() as u64).read_to_end(&mut begun).is_ok());
    read && begun == RECORDING_BEGINS
}

/// A command line may end in the name of one.
fn is_named_as_one(path: &Path) -> bool {
    let is_one_word = !path.as_os_str().as_bytes().iter().any(u8::is_ascii_whitespace);
    path.extension().is_some_and(|extension| extension == "jsonl")
        && if path.exists() { is_no_program(path) } else { is_one_word }
}

fn is_no_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 == 0)
}

fn show_again(path: &Path, options: &Compare, screen: &mut Screen<'_>) -> Result<Status, Trouble> {
    let recording = read_recording(path)?;
    if recording.runs.is_empty() {
        return Err(nothing_to_explain(path));
    }
    show(&recording, &analyze(&recording), &options.output, screen)?;
    Ok(Status::Done)
}

fn nothing_to_explain(path: &Path) -> Trouble {
    let shown = path.display();
    Trouble::new(format!("{shown} holds no runs that could be compared")).hint(format!(
        "`whyslow report {shown}` shows what is in it; `whyslow explain --record FILE ...` records runs"
    ))
}

/// The variant that both have by that name, else the reference of each.
fn join_and_show(
    one: &Path,
    other: &Path,
    options: &Compare,
    screen: &mut Screen<'_>,
) -> Result<Status, Trouble> {
    if std::fs::canonicalize(one).ok() == std::fs::canonicalize(other).ok() && one.exists() {
        return Err(Trouble::new(format!("{} is given twice: it cannot differ from itself", one.display()))
            .hint(format!("`whyslow explain {}` explains what it compares", one.display())));
    }
    let wanted = options.variants.names.first().map(String::as_str);
    let (first, second) = (read_recording(one)?, read_recording(other)?);
    let joined = join((&first, variant(&first, wanted)?), (&second, variant(&second, wanted)?));
    for (place, path) in [one, other].into_iter().enumerate() {
        if !joined.runs.iter().any(|run| run.variant == place) {
            return Err(nothing_to_explain(path));
        }
    }
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
    check_edits(&edits).map_err(|error| Trouble::from(&error))?;
    check_try(&options.compare, &edits)?;
    let name = options.edits.iter().map(|typed| typed.text.as_str()).collect::<Vec<_>>().join(" ");
    if asked::commands(&options.compare.commands, &options.compare.words).len() == 1 {
        return run_edited(options.compare, (&name, &as_asked(&options.edits)), screen, machine);
    }
    let idea = Idea {
        title: format!("{name} on both sides"),
        slow: edits,
        fast: Mirror::Same,
        expect: options.edits.iter().find_map(|typed| typed.expect.clone()),
    };
    let asked = as_asked(&options.edits);
    ask(&options.compare, (&[Try { name, idea }], &asked), &[], screen, machine)
}

fn as_asked(typed: &[TypedEdit]) -> Vec<Asked> {
    let asked = |one: &TypedEdit| Asked {
        text: one.text.clone(),
        edit: one.edit.clone(),
        expect: one.expect.clone(),
    };
    typed.iter().map(asked).collect()
}

/// All variants with these edits, which are in their names.
fn edited(mut experiment: Experiment, asked: &[Asked]) -> Experiment {
    let names: Vec<&str> = asked.iter().map(|one| one.text.as_str()).collect();
    for level in &mut experiment.factors[0].levels {
        level.name = format!("{} with {}", level.name, names.join(" "));
        level.edits.extend(asked.iter().map(|one| one.edit.clone()));
    }
    experiment
}

/// One command or two; and what is to be removed must be there.
fn check_try(options: &Compare, edits: &[Edit]) -> Result<(), Trouble> {
    let count = asked::commands(&options.commands, &options.words).len()
        + usize::from(options.variants.reference.is_some());
    if count > 2 {
        return Err(Trouble::new(format!("an edit is tried on one command or between two, not {count}"))
            .hint("name the two whose gap it may close"));
    }
    let is_given = |name: &ByteText| {
        let wanted = format!("{}=", name.lossy());
        std::env::var_os(OsStr::from_bytes(&name.0)).is_some()
            || options.variants.env.iter().any(|given| given.contains(&wanted))
    };
    let unset = edits.iter().find_map(|edit| match edit {
        Edit::UnsetEnv(name) if !is_given(name) => Some(name.lossy()),
        _ => None,
    });
    match unset {
        Some(name) => Err(Trouble::new(format!("{name} is not set, so that there is nothing to remove"))
            .hint(format!("`env | grep {name}` shows what is set"))),
        None => Ok(()),
    }
}

fn ask(
    options: &Compare,
    (tries, asked): (&[Try], &[Asked]),
    custom: &[CustomSuspect],
    screen: &mut Screen<'_>,
    machine: Box<MachineMaker<'_>>,
) -> Result<Status, Trouble> {
    if options.files.resume.is_some() {
        return Err(Trouble::new("an explanation that broke off cannot be gone on with")
            .hint("`whyslow report` shows what the recording has; run it again for the rest"));
    }
    let mut experiment = plan::compose(&asked::question(options)?)?;
    experiment.asks_why = true;
    let budget_s = options.effort.budget.map(|budget| budget.as_secs_f64());
    run_experiment(&experiment, options, screen, machine, |experiment, machine, watcher, stamp| {
        let scratch = Scratch::create("explain").ok();
        let scratch = scratch.as_ref().map(Scratch::path);
        let began_s = machine.now_s();
        let refused = match asked {
            [] => None,
            asked => {
                let edited = edited(experiment.clone(), asked);
                session::preflight(&edited, asked, budget_s, machine, stamp.clone())
            }
        };
        let budget_s = budget_s.map(|budget_s| budget_s - (machine.now_s() - began_s));
        refused.unwrap_or_else(|| {
            session::explain(
                experiment,
                Inquiry { budget_s, tries, custom, scratch },
                machine,
                watcher,
                stamp,
            )
        })
    })
}
