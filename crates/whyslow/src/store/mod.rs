//! Recordings on disk: JSON Lines, one line each for the header, every run, the looks and the end. A line is written
//! whole and at once, so that a recording survives whatever ends the program.

mod read;

use std::io::Write;

use serde::Deserialize;

use crate::model::{CustomSign, End, Entry, Header, HookFailure, Looks, Run, StagePlan, Stop, TraceEntry};

pub use read::{ReadError, is_whole, read, read_on};

/// What a line that is read can be: an [`Entry`] of one's own.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Whyslow {
        header: Box<Header>,
    },
    Run(Run),
    Looks(Looks),
    Hook(HookFailure),
    /// Also of a stage: the last one that began and did not end.
    End(End),
    Trace(Box<TraceEntry>),
    /// The runs that follow belong to it.
    Stage(Box<StagePlan>),
    Custom(CustomSign),
    /// The end of the search for reasons.
    Explained(Stop),
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

    /// One write for one line: a reader, or a power cut, sees all of it or a broken last line.
    pub fn append(&mut self, entry: &Entry<'_>) -> std::io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, entry)?;
        self.line.push(b'\n');
        self.output.write_all(&self.line)?;
        self.output.flush()
    }
}
