//! `whyslow report`: a recording, shown again.

use std::fs::File;
use std::io::BufReader;

use super::arguments::{Output, Report};
use super::{Screen, Status, Trouble};
use crate::analysis::{Analysis, analyze};
use crate::model::Recording;
use crate::report::{compose, compose_quietly, json, render};
use crate::store;

pub fn run(options: Report, screen: &mut Screen<'_>) -> Result<Status, Trouble> {
    let path = options.recording.display();
    let file = File::open(&options.recording)
        .map_err(|error| Trouble::new(format!("cannot open the recording {path}: {error}")))?;
    let recording = store::read(BufReader::new(file)).map_err(|error| {
        Trouble::new(format!("{path} is not a recording that can be shown: {error}"))
            .hint("recordings are made by `whyslow compare --record FILE ...`")
    })?;
    show(&recording, &analyze(&recording), &options.output, screen)?;
    Ok(Status::Done)
}

/// Prints a result in the form that was asked for.
pub fn show(
    recording: &Recording,
    analysis: &Analysis,
    output: &Output,
    screen: &mut Screen<'_>,
) -> Result<(), Trouble> {
    if output.json {
        return screen.print(&format!("{:#}\n", json(recording, analysis)));
    }
    let document = if output.quiet { compose_quietly(analysis) } else { compose(analysis) };
    let text = render(&document, screen.style(output));
    screen.print(&text)
}
