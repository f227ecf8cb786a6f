//! `whyslow report`: a recording, shown again; and the ways to show any result.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;

use super::arguments::{Output, Report};
use super::{Screen, Status, Trouble};
use crate::analysis::{Analysis, analyze};
use crate::model::Recording;
use crate::report::{compose, compose_quietly, export, json, render, show_recording, view, views};
use crate::store;

pub fn run(options: Report, screen: &mut Screen<'_>) -> Result<Status, Trouble> {
    options.output.check()?;
    let recording = read_recording(&options.recording)?;
    show(&recording, &analyze(&recording), &options.output, screen)?;
    Ok(Status::Done)
}

pub fn read_recording(path: &Path) -> Result<Recording, Trouble> {
    let shown = path.display();
    let file = File::open(path)
        .map_err(|error| Trouble::new(format!("cannot open the recording {shown}: {error}")))?;
    store::read(BufReader::new(file)).map_err(|error| {
        Trouble::new(format!("{shown} is not a recording that can be shown: {error}"))
            .hint("recordings are made by `whyslow compare --record FILE ...`")
    })
}

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
    // Files first: a reader of the standard output that has gone must not cost them.
    let exported = export_all(output, screen, |form| match export(form) {
        Some(export) => Ok((export.write)(recording, analysis)),
        None => Err(Trouble::new(format!("no form is called {form}"))),
    });
    print(recording, analysis, output, view_options, screen)?;
    exported
}

fn print(
    recording: &Recording,
    analysis: &Analysis,
    output: &Output,
    view_options: &views::Options,
    screen: &mut Screen<'_>,
) -> Result<(), Trouble> {
    if output.json {
        return screen.print(&format!("{:#}\n", json(recording, analysis)));
    }
    if let Some(view) = output.view.as_deref().and_then(view) {
        return screen.print(&show_recording(view, recording, view_options));
    }
    let document = if output.quiet { compose_quietly(analysis) } else { compose(analysis) };
    let text = render(&document, screen.style(output));
    screen.print(&text)
}

/// Every file is tried; the first one that cannot be written is told.
pub fn export_all(
    output: &Output,
    screen: &mut Screen<'_>,
    text: impl Fn(&str) -> Result<String, Trouble>,
) -> Result<(), Trouble> {
    let mut result = Ok(());
    for (form, file) in output.files() {
        let written = text(form).and_then(|text| {
            if file.as_os_str() == OsStr::new("-") { screen.print(&text) } else { write(file, &text) }
        });
        result = result.and(written);
    }
    result
}

/// A regular file is replaced at once, so that an older result is not lost to a full disk; anything else (a pipe, a
/// device) is written to.
fn write(path: &Path, text: &str) -> Result<(), Trouble> {
    let fail = |error: std::io::Error| {
        Trouble::new(format!("cannot write {}: {error}", path.display())).hint("choose another file")
    };
    if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        let mut file = File::options().write(true).open(path).map_err(fail)?;
        return match file.write_all(text.as_bytes()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(fail),
        };
    }
    let mut aside = path.as_os_str().to_owned();
    aside.push(".new");
    let replaced = std::fs::write(&aside, text).and_then(|()| std::fs::rename(&aside, path));
    replaced.map_err(|error| {
        let _ = std::fs::remove_file(&aside);
        fail(error)
    })
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

    /// Files that cannot be written are found before anything is measured.
    pub fn check(&self) -> Result<(), Trouble> {
        for (_, file) in self.files() {
            let folder =
                file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            if file.as_os_str() != OsStr::new("-") && !folder.is_dir() {
                return Err(Trouble::new(format!(
                    "cannot write {}: there is no such folder",
                    file.display()
                ))
                .hint("make the folder first, or choose another file"));
            }
        }
        Ok(())
    }
}
