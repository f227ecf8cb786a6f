//! Recordings on disk: JSON Lines, one line each for the header, every run, the looks and the end. A line is written
//! whole and at once, so that a recording survives whatever ends the program.

use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};

use crate::model::{End, FORMAT_VERSION, Header, HookFailure, Looks, Recording, Run};

/// Tables have a place for each of them, so a broken file must not ask for any number.
const MOST_VARIANTS: usize = 10_000;
const MOST_BLOCKS: usize = 10_000_000;

/// What a line that is read can be.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Whyslow { header: Box<Header> },
    Run(Run),
    Looks(Looks),
    Hook(HookFailure),
    End(End),
}

/// The same for writing, without copies.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum LineRef<'a> {
    Whyslow { version: u32, header: &'a Header },
    Run(&'a Run),
    Looks(&'a Looks),
    Hook(&'a HookFailure),
    End(&'a End),
}

/// Appends the lines of a recording.
pub struct Writer<W: Write> {
    output: W,
    line: Vec<u8>,
}

impl<W: Write> Writer<W> {
    pub fn new(output: W) -> Self {
        Writer { output, line: Vec::new() }
    }

    pub fn header(&mut self, header: &Header) -> std::io::Result<()> {
        self.append(&LineRef::Whyslow { version: FORMAT_VERSION, header })
    }

    pub fn run(&mut self, run: &Run) -> std::io::Result<()> {
        self.append(&LineRef::Run(run))
    }

    pub fn looks(&mut self, looks: &Looks) -> std::io::Result<()> {
        self.append(&LineRef::Looks(looks))
    }

    pub fn hook_failure(&mut self, failure: &HookFailure) -> std::io::Result<()> {
        self.append(&LineRef::Hook(failure))
    }

    pub fn end(&mut self, end: &End) -> std::io::Result<()> {
        self.append(&LineRef::End(end))
    }

    /// One write for one line: a reader, or a power cut, sees all of it or a broken last line.
    fn append(&mut self, line: &LineRef<'_>) -> std::io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, line)?;
        self.line.push(b'\n');
        self.output.write_all(&self.line)?;
        self.output.flush()
    }
}

/// A file that is no recording, or a broken one.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("cannot read it: {0}")]
    Io(#[from] std::io::Error),
    #[error("it is empty")]
    Empty,
    #[error("line 1 is not the header of a recording: {0}")]
    NoHeader(serde_json::Error),
    #[error("it was written by a newer whyslow (form {0}, this one reads up to {FORMAT_VERSION})")]
    Newer(u32),
    #[error("line {line}: {source}")]
    Broken { line: usize, source: serde_json::Error },
    #[error("line {line}: a second header")]
    SecondHeader { line: usize },
    #[error("line {line}: {what}")]
    Inconsistent { line: usize, what: &'static str },
}

/// Reads a recording. A broken last line, as a killed program leaves it, is dropped; any other is an error.
pub fn read(mut input: impl BufRead) -> Result<Recording, ReadError> {
    let mut text = Vec::new();
    let mut recording = match next_line(&mut input, &mut text)? {
        false => return Err(ReadError::Empty),
        true => Recording::new(header(&text)?),
    };
    let mut number = 1;
    while next_line(&mut input, &mut text)? {
        number += 1;
        match serde_json::from_slice(&text) {
            Ok(line) => add(&mut recording, line, number)?,
            Err(_) if !text.ends_with(b"\n") => break,
            Err(source) => return Err(ReadError::Broken { line: number, source }),
        }
    }
    Ok(recording)
}

fn next_line(input: &mut impl BufRead, text: &mut Vec<u8>) -> Result<bool, ReadError> {
    text.clear();
    Ok(input.read_until(b'\n', text)? > 0)
}

/// The version is read first, since a newer header may not look like this one.
fn header(text: &[u8]) -> Result<Header, ReadError> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    #[derive(Deserialize)]
    struct Any {
        whyslow: Version,
    }
    let any: Any = serde_json::from_slice(text).map_err(ReadError::NoHeader)?;
    if any.whyslow.version > FORMAT_VERSION {
        return Err(ReadError::Newer(any.whyslow.version));
    }
    match serde_json::from_slice(text).map_err(ReadError::NoHeader)? {
        Line::Whyslow { header } => check_header(*header),
        _ => Err(ReadError::Inconsistent { line: 1, what: "not a header" }),
    }
}

/// What later code relies on.
fn check_header(header: Header) -> Result<Header, ReadError> {
    let design = &header.experiment.design;
    let what = match variant_count(&header) {
        None | Some(0 | 1) => "too few variants, or too many",
        Some(variants) if design.base >= variants => "the base is none of the variants",
        _ if !(design.confidence > 0.0 && design.confidence < 1.0) => "the confidence is not between 0 and 1",
        _ if !(design.margin > 0.0 && design.margin.is_finite()) => "the margin is not above 0",
        _ if !(design.budget_s > 0.0 && design.budget_s.is_finite()) => "the budget is not above 0",
        _ => return Ok(header),
    };
    Err(ReadError::Inconsistent { line: 1, what })
}

/// `None` where there are more than anybody measures.
fn variant_count(header: &Header) -> Option<usize> {
    let levels = header.experiment.factors.iter().map(|factor| factor.levels.len());
    let count = levels.into_iter().try_fold(1_usize, |count, levels| count.checked_mul(levels))?;
    (count <= MOST_VARIANTS).then_some(count)
}

fn add(recording: &mut Recording, line: Line, number: usize) -> Result<(), ReadError> {
    let inconsistent = |what| Err(ReadError::Inconsistent { line: number, what });
    match line {
        Line::Whyslow { .. } => return Err(ReadError::SecondHeader { line: number }),
        Line::Run(run) => match broken_run(&recording.header, &run) {
            Some(what) => return inconsistent(what),
            // A recording that was interrupted and went on has an end in its middle.
            None => {
                recording.end = None;
                recording.runs.push(run);
            }
        },
        Line::Looks(looks) if looks.at.is_empty() || !(looks.alpha_each > 0.0 && looks.alpha_each < 1.0) => {
            return inconsistent("looks at nothing, or at no possible error");
        }
        Line::Looks(looks) => recording.looks = Some(looks),
        Line::Hook(failure) if !has_variant(&recording.header, failure.variant) => {
            return inconsistent("a hook of a variant that the header does not have");
        }
        Line::Hook(failure) => {
            recording.hook_failure.get_or_insert(failure);
        }
        Line::End(end) => recording.end = Some(end),
    }
    Ok(())
}

fn has_variant(header: &Header, variant: usize) -> bool {
    variant_count(header).is_some_and(|variants| variant < variants)
}

/// Why a run cannot belong to the experiment.
fn broken_run(header: &Header, run: &Run) -> Option<&'static str> {
    if run.values.len() > header.experiment.metrics.len() {
        return Some("more values than metrics");
    }
    if !has_variant(header, run.variant) {
        return Some("a run of a variant that the header does not have");
    }
    (run.block > MOST_BLOCKS).then_some("the number of the block is absurd")
}
