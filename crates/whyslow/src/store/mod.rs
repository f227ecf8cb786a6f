//! Recordings on disk: JSON Lines, one line each for the header, every run, the looks and the end. A line is written
//! whole and at once, so that a recording survives whatever ends the program.

mod read;

use std::io::Write;

use serde::{Deserialize, Serialize};

use crate::model::{
    CustomSign, End, FORMAT_VERSION, Header, HookFailure, Looks, Run, StagePlan, Stop, TraceEntry,
};

pub use read::{ReadError, is_whole, read, read_on};

/// What a line that is read can be.
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

/// The same for writing, without copies.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum LineRef<'a> {
    Whyslow { version: u32, header: &'a Header },
    Run(&'a Run),
    Looks(&'a Looks),
    Hook(&'a HookFailure),
    End(&'a End),
    Trace(&'a TraceEntry),
    Stage(&'a StagePlan),
    Custom(&'a CustomSign),
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

    pub fn trace(&mut self, trace: &TraceEntry) -> std::io::Result<()> {
        self.append(&LineRef::Trace(trace))
    }

    pub fn stage(&mut self, plan: &StagePlan) -> std::io::Result<()> {
        self.append(&LineRef::Stage(plan))
    }

    pub fn custom(&mut self, sign: &CustomSign) -> std::io::Result<()> {
        self.append(&LineRef::Custom(sign))
    }

    pub fn explained(&mut self, stop: Stop) -> std::io::Result<()> {
        self.append(&LineRef::Explained(stop))
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
