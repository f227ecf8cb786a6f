//! `whyslow report`: a recording, shown again; and the ways to show any result.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::mem::ManuallyDrop;
use std::path::Path;

use super::arguments::{Output, Report};
use super::files::{Part, Place, check_distinct};
use super::{Screen, Status, Trouble};
use crate::analysis::{Analysis, analyze};
use crate::explain::{Diagnosis, diagnose};
use crate::model::Recording;
use crate::peers;
use crate::plan;
use crate::report::exports::{has_profile, pretty, profile_export};
use crate::report::{
    compose, compose_diagnosis, compose_quietly, compose_traces, diagnosis_json, export, json, render,
    show_recording, traces_json, view, views,
};
use crate::store::{self, ReadError};

pub fn run(options: Report, screen: &mut Screen<'_>) -> Result<Status, Trouble> {
    let mut parts = options.output.parts();
    parts.push(Part::left_alone("", &options.recording));
    check_distinct(&parts)?;
    options.output.check()?;
    let recording = read_recording(&options.recording)?;
    if has_only_traces(&recording) {
        show_traces(&recording, &options.output, screen)?;
        return Ok(Status::Done);
    }
    // The end of the program frees a million runs at once.
    let recording = ManuallyDrop::new(recording);
    show(&recording, &analyze(&recording), &options.output, screen)?;
    Ok(Status::Done)
}

/// Whether it was made by `whyslow probe`: there is nothing to compare in it.
pub fn has_only_traces(recording: &Recording) -> bool {
    let variants = plan::variants(&recording.header.experiment).len();
    // A timed command by itself may have been stopped before its first run; before that the floor was measured.
    let is_probed_alone = variants == 1 && recording.header.floor.is_none();
    recording.runs.is_empty() && (is_probed_alone || !recording.traces.is_empty())
}

pub fn read_recording(path: &Path) -> Result<Recording, Trouble> {
    let shown = path.display();
    let file = File::open(path)
        .map_err(|error| Trouble::new(format!("cannot open the recording {shown}: {error}")))?;
    store::read(BufReader::new(file)).map_err(|error| {
        let trouble = Trouble::new(format!("{shown} is not a recording that can be shown: {error}"));
        if matches!(error, ReadError::NoHeader) && is_of_another_tool(path) {
            return trouble.hint(format!("`whyslow stat {shown}` reads what other tools have measured"));
        }
        trouble.hint("recordings are made by `whyslow compare --record FILE ...`, and by `whyslow probe`")
    })
}

/// Whether the beginning of a file is something that `whyslow stat` reads.
fn is_of_another_tool(path: &Path) -> bool {
    let mut bytes = Vec::new();
    let read = path.is_file()
        && File::open(path).is_ok_and(|file| file.take(LOOKED_AT_BYTES).read_to_end(&mut bytes).is_ok());
    read && peers::read(&path.display().to_string(), &bytes, &peers::Options::default()).is_ok()
}

/// Results of other tools are rarely larger.
const LOOKED_AT_BYTES: u64 = 16 << 20;

/// Prints a result in the form that was asked for, and writes it to the files that were asked for.
pub fn show(
    recording: &Recording,
    analysis: &Analysis,
    output: &Output,
    screen: &mut Screen<'_>,
) -> Result<(), Trouble> {
    show_with(recording, analysis, output, &views::Options::default(), screen)
}

/// The same with more to be asked of a view.
pub fn show_with(
    recording: &Recording,
    analysis: &Analysis,
    output: &Output,
    view_options: &views::Options,
    screen: &mut Screen<'_>,
) -> Result<(), Trouble> {
    let content = |form: &str| match export(form) {
        None if profile_export(form).is_some() => profile_content(recording, form),
        Some(export) => {
            Ok(Box::new(|file: &mut dyn Write| (export.write)(recording, analysis, file)) as Content<'_>)
        }
        None => Err(Trouble::new(format!("no form is called {form}"))),
    };
    let print = |screen: &mut Screen<'_>| print(recording, analysis, output, view_options, screen);
    print_and_export(output, screen, content, print)
}

fn print(
    recording: &Recording,
    analysis: &Analysis,
    output: &Output,
    view_options: &views::Options,
    screen: &mut Screen<'_>,
) -> Result<(), Trouble> {
    if output.json {
        return screen.print(&format!("{:#}\n", json_of(recording, analysis)));
    }
    if let Some(view) = output.view.as_deref().and_then(view) {
        return screen.print(&show_recording(view, recording, view_options));
    }
    let document = match explained(recording) {
        Some(diagnosis) => compose_diagnosis(analysis, &diagnosis),
        None if output.quiet => compose_quietly(analysis),
        None => compose(analysis),
    };
    let text = render(&document, screen.style(output));
    screen.print(&text)
}

/// What was made to be explained, also where there turned out to be no difference.
fn explained(recording: &Recording) -> Option<Diagnosis> {
    if recording.header.experiment.asks_why { diagnose(recording) } else { None }
}

fn json_of(recording: &Recording, analysis: &Analysis) -> serde_json::Value {
    let comparison = json(recording, analysis);
    let names: Vec<String> = analysis.variants.iter().map(|variant| variant.name.clone()).collect();
    match explained(recording) {
        Some(diagnosis) => diagnosis_json(comparison, &names, &diagnosis),
        None => comparison,
    }
}

/// What probes saw, in the form that was asked for.
pub fn show_traces(recording: &Recording, output: &Output, screen: &mut Screen<'_>) -> Result<(), Trouble> {
    check_traces_can_be_shown(output)?;
    let content = |form: &str| match form {
        "json" => Ok(Box::new(|file: &mut dyn Write| pretty(file, &traces_json(recording))) as Content<'_>),
        form => profile_content(recording, form),
    };
    print_and_export(output, screen, content, |screen| {
        if output.json {
            return screen.print(&format!("{:#}\n", traces_json(recording)));
        }
        let text = render(&compose_traces(recording), screen.style(output));
        screen.print(&text)
    })
}

/// Other forms are made of runs.
pub fn check_traces_can_be_shown(output: &Output) -> Result<(), Trouble> {
    if let Some(view) = &output.view {
        return Err(Trouble::new(format!("the view {view} shows timed runs, and probes time none")));
    }
    let is_of_runs = |form: &str| form != "json" && profile_export(form).is_none();
    match output.files().into_iter().find(|(form, _)| is_of_runs(form)) {
        Some((form, _)) => Err(Trouble::new(format!("{form} is made of timed runs, and probes time none"))
            .hint("what probes saw is written as json; profiles as folded, speedscope and pprof")),
        None => Ok(()),
    }
}

fn profile_content<'a>(recording: &'a Recording, form: &str) -> Result<Content<'a>, Trouble> {
    let Some(export) = profile_export(form) else {
        return Err(Trouble::new(format!("no form is called {form}")));
    };
    if !has_profile(recording) {
        return Err(Trouble::new(format!("there is no profile to write as {form}"))
            .hint("profiles are made by `whyslow probe --with cpu`, and by --with faults"));
    }
    Ok(Box::new(|file: &mut dyn Write| (export.write)(recording, file)))
}

/// Writes a file in one of the forms.
pub type Content<'a> = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + 'a>;

/// Files are written first: a reader of the standard output that has gone must not cost them. Pipes and devices come
/// last: nobody may read them, and that must not cost the result.
pub fn print_and_export<'a>(
    output: &Output,
    screen: &mut Screen<'_>,
    content: impl Fn(&str) -> Result<Content<'a>, Trouble>,
    print: impl FnOnce(&mut Screen<'_>) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let is_stream = |file: &Path| matches!(Place::of(file), Ok(Place::Stream(_)));
    let (streams, files): (Vec<_>, Vec<_>) =
        output.files().into_iter().partition(|(_, file)| is_stream(file));
    let exported = export_all(&files, screen, &content);
    let printed = print(screen);
    let streamed = export_all(&streams, screen, &content);
    printed.and(exported).and(streamed)
}

/// Every file is tried; the first one that cannot be written is told.
fn export_all<'a>(
    files: &[(&str, &Path)],
    screen: &mut Screen<'_>,
    content: impl Fn(&str) -> Result<Content<'a>, Trouble>,
) -> Result<(), Trouble> {
    let mut result = Ok(());
    for (form, file) in files {
        let written = content(form).and_then(|content| {
            if is_standard_output(file) {
                return screen.print_from(content);
            }
            Place::of(file).and_then(|place| place.write(content)).map_err(|error| cannot_write(file, &error))
        });
        result = result.and(written);
    }
    result
}

fn is_standard_output(file: &Path) -> bool {
    file == Path::new("-")
}

fn cannot_write(file: &Path, error: &io::Error) -> Trouble {
    let hint = match error.kind() {
        ErrorKind::NotFound => "make the folder first, or choose another file",
        ErrorKind::BrokenPipe => "start the reader first",
        _ => "choose another file",
    };
    Trouble::new(format!("cannot write {}: {error}", file.display())).hint(hint)
}

impl Output {
    /// The files to write, with their forms.
    fn files(&self) -> Vec<(&str, &Path)> {
        let known = [
            ("hyperfine-json", &self.export_json),
            ("csv-summary", &self.export_csv),
            ("markdown", &self.export_markdown),
            ("asciidoc", &self.export_asciidoc),
            ("org", &self.export_orgmode),
        ];
        let named = self.exports.iter().map(|export| (export.form.as_str(), export.file.as_path()));
        named.chain(known.into_iter().filter_map(|(form, file)| Some((form, file.as_deref()?)))).collect()
    }

    /// The files to write, and the standard output.
    pub fn parts(&self) -> Vec<Part> {
        let files = self.files().into_iter().filter(|(_, file)| !is_standard_output(file));
        let files = files.map(|(form, file)| Part::written(&format!("--export {form}="), file));
        files.chain([Part::standard_output()]).collect()
    }

    /// What cannot be written is found before anything is measured.
    pub fn check(&self) -> Result<(), Trouble> {
        for (form, file) in self.files() {
            if !is_standard_output(file) {
                let checked = Place::of(file).and_then(|place| place.check());
                checked.map_err(|error| cannot_write(file, &error))?;
            } else if self.json {
                return Err(Trouble::new(format!(
                    "--json and --export {form}=- both write to the standard output"
                ))
                .hint("give one of them a file: --export json=FILE"));
            }
        }
        Ok(())
    }
}
