//! Arguments in, exit code out. The only room that prints, reads the environment and knows what a terminal is.

mod arguments;
mod asked;
mod compare;
mod doctor;
mod dry_run;
mod explain;
mod files;
mod manual;
mod nearest;
mod probe;
mod progress;
mod recorder;
mod report;
mod screen;
mod stat;
mod suspect_files;
mod values;

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;

pub use screen::Screen;

use crate::machine::local::{Interrupt, Local, Settings, is_output_closed};
use crate::machine::{Machine, MachineError};
use arguments::{Arguments, Command};

/// What the exit code promises (README, "Exit codes").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    Done = 0,
    /// What was asked for is done; the answer is that something is wrong.
    Warned = 1,
    CouldNot = 2,
    Interrupted = 130,
}

/// Makes the machine when a command turns out to need one.
pub type MachineMaker<'a> = dyn FnOnce(Settings) -> Result<Box<dyn Machine>, MachineError> + 'a;

/// The program as the operating system starts it.
pub fn main() -> ExitCode {
    count_size_limit_as_error();
    // The output of the standard library takes one that cannot be written for one that nobody wants to read.
    let Ok(stdout) = std::io::stdout().as_fd().try_clone_to_owned() else {
        return ExitCode::from(Status::CouldNot as u8);
    };
    let mut stdout = File::from(stdout);
    let mut stderr = std::io::stderr();
    let mut screen = Screen::of_process(&mut stdout, &mut stderr);
    if is_output_closed() {
        let trouble = Trouble::new("the standard output is closed, so nothing could be shown");
        trouble.hint("send it to a file, or to /dev/null").show(&mut screen);
        return ExitCode::from(Status::CouldNot as u8);
    }
    let status = run(std::env::args_os(), screen, Box::new(local_machine));
    ExitCode::from(status as u8)
}

/// A file that may not become larger ends the program by a signal, and the result is lost; with a handler, writing it
/// is an error like any other. The commands have the signal as it was.
fn count_size_limit_as_error() {
    let _ = signal_hook::flag::register(libc::SIGXFSZ, Arc::default());
}

fn local_machine(settings: Settings) -> Result<Box<dyn Machine>, MachineError> {
    let interrupt = Interrupt::on_signals()
        .map_err(|error| MachineError::new("cannot listen for signals").because(error))?;
    Ok(Box::new(Local::start(interrupt, settings)?))
}

/// The program as a function of its arguments, its outputs and a machine; tests call it with a simulated one.
pub fn run(
    arguments: impl IntoIterator<Item = OsString>,
    mut screen: Screen<'_>,
    machine: Box<MachineMaker<'_>>,
) -> Status {
    let result = match Arguments::try_parse_from(arguments) {
        Err(error) => return usage(&error, &mut screen),
        Ok(Arguments { command: Command::Compare(options) }) => compare::run(*options, &mut screen, machine),
        Ok(Arguments { command: Command::Probe(options) }) => probe::run(*options, &mut screen, machine),
        Ok(Arguments { command: Command::Explain(options) }) => explain::run(*options, &mut screen, machine),
        Ok(Arguments { command: Command::Try(options) }) => explain::run_try(*options, &mut screen, machine),
        Ok(Arguments { command: Command::Report(options) }) => report::run(options, &mut screen),
        Ok(Arguments { command: Command::Stat(options) }) => stat::run(*options, &mut screen),
        Ok(Arguments { command: Command::Doctor(options) }) => doctor::run(&options, &mut screen, machine),
        Ok(Arguments { command: Command::Completions(options) }) => {
            manual::completions(&options, &mut screen)
        }
        Ok(Arguments { command: Command::Man(options) }) => manual::man(&options, &mut screen),
    };
    result.unwrap_or_else(|trouble| {
        trouble.show(&mut screen);
        Status::CouldNot
    })
}

/// Help and version go to the output and are no errors; clap words and colours them.
fn usage(error: &clap::Error, screen: &mut Screen<'_>) -> Status {
    let colour = if error.use_stderr() { screen.error_colour } else { screen.colour };
    let rendered = error.render();
    let text = if colour { rendered.ansi().to_string() } else { rendered.to_string() };
    if error.use_stderr() {
        let _ = screen.stderr.write_all(text.as_bytes());
        return Status::CouldNot;
    }
    screen.print(&text).map_or_else(
        |trouble| {
            trouble.show(screen);
            Status::CouldNot
        },
        |()| Status::Done,
    )
}

/// The machine cannot be had or cannot go on.
impl From<&MachineError> for Trouble {
    fn from(error: &MachineError) -> Self {
        Trouble { hint: error.hint.clone(), ..Trouble::new(compare::chain(error)) }
    }
}

/// An error on its way to the user, with what to do about it.
#[derive(Debug)]
pub struct Trouble {
    what: String,
    /// What the failed thing said itself.
    details: Vec<String>,
    hint: Option<String>,
}

impl Trouble {
    fn new(what: impl Into<String>) -> Self {
        Trouble { what: what.into(), details: Vec::new(), hint: None }
    }

    fn details(mut self, details: Vec<String>) -> Self {
        self.details = details;
        self
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A closed error output leaves nowhere to complain to.
    fn show(&self, screen: &mut Screen<'_>) {
        let what = crate::report::printable(&self.what);
        let _ = writeln!(screen.stderr, "error: {what}");
        for line in &self.details {
            let _ = writeln!(screen.stderr, "  {line}");
        }
        if let Some(hint) = &self.hint {
            let _ = writeln!(screen.stderr, "hint: {}", crate::report::printable(hint));
        }
    }
}
