//! What the tests share: a question, a simulated machine to answer it, and the program as a function of its
//! arguments. Nothing here runs a program or waits.

#![allow(dead_code)] // Each test file is a crate of its own and uses a part of this.

use std::ffi::OsString;
use std::path::Path;

use whyslow::analysis::{Analysis, Comparison, Verdict, analyze};
use whyslow::cli::{self, Screen, Status};
use whyslow::machine::simulated::{Noise, Simulated, World};
use whyslow::machine::{Machine, MachineError};
use whyslow::model::{Experiment, Recording, Workload};
use whyslow::plan::{Question, compose};
use whyslow::report::{Style, compose_quietly, render};
use whyslow::session::{Event, Measured, Stamp, Watcher, WatcherError, measure};

/// Scatter of single runs in most worlds here: 1 %.
pub const WHITE: Noise = Noise::White { scatter: 0.01 };

/// A question about these commands, with every default and a fixed seed.
pub fn ask(commands: &[&str]) -> Question {
    Question { commands: commands.iter().map(|&text| text.into()).collect(), seed: 1, ..Question::default() }
}

pub fn stamp() -> Stamp {
    Stamp { tool: "whyslow test".into(), started: "2024-02-29T12:00:00+01:00".into() }
}

/// A watcher that nothing interests.
pub struct Nobody;

impl Watcher for Nobody {
    fn notice(&mut self, _: Event<'_>) -> Result<(), WatcherError> {
        Ok(())
    }
}

/// The answer of a world to a question, which must not meet any trouble.
pub struct Answer {
    pub recording: Recording,
    pub analysis: Analysis,
}

impl Answer {
    pub fn of(world: World, question: &Question) -> Self {
        Self::to(world, compose(question).expect("a question that can be measured"))
    }

    pub fn to(world: World, experiment: Experiment) -> Self {
        let Measured { recording, trouble } =
            measure(experiment, &mut Simulated::new(world), &mut Nobody, stamp());
        assert!(trouble.is_none(), "{trouble:?}");
        let analysis = analyze(&recording);
        Answer { recording, analysis }
    }

    /// The programs "a" and "b" of a world, "a" being the base.
    pub fn of_pair(world: World) -> Self {
        Self::of(world, &ask(&["a", "b"]))
    }

    pub fn comparison(&self, metric: &str) -> &Comparison {
        self.analysis.comparison(1, metric).unwrap_or_else(|| panic!("no comparison on {metric}"))
    }

    pub fn verdict(&self, metric: &str) -> Verdict {
        self.comparison(metric).verdict
    }

    pub fn kinds(&self) -> Vec<&'static str> {
        self.analysis.concerns.iter().map(|concern| concern.kind()).collect()
    }

    pub fn has(&self, kind: &str) -> bool {
        self.kinds().contains(&kind)
    }
}

/// The experiment of a question in which every run ends after that time at the latest.
pub fn with_timeout(question: &Question, timeout_s: f64) -> Experiment {
    let mut experiment = compose(question).unwrap();
    let Workload::Command(launch) = &mut experiment.workload;
    launch.timeout_s = Some(timeout_s);
    experiment
}

/// What a call of the program left behind.
#[derive(Debug)]
pub struct Printed {
    pub status: Status,
    pub stdout: String,
    pub stderr: String,
}

/// How the outputs of a call look.
#[derive(Clone, Copy)]
pub struct Terminal {
    pub width: usize,
    pub unicode: bool,
    pub colour: bool,
}

/// A file, or a pipe.
pub const PLAIN: Terminal = Terminal { width: 80, unicode: true, colour: false };

/// Runs the program in this process on a simulated machine.
pub fn whyslow(world: World, arguments: &[&str]) -> Printed {
    whyslow_on(PLAIN, world, arguments)
}

pub fn whyslow_on(terminal: Terminal, world: World, arguments: &[&str]) -> Printed {
    let machine = |_settings| Ok(Box::new(Simulated::new(world)) as Box<dyn Machine>);
    whyslow_with(terminal, Box::new(machine), arguments)
}

/// The program with a machine of any kind.
pub fn whyslow_with(terminal: Terminal, machine: Box<cli::MachineMaker<'_>>, arguments: &[&str]) -> Printed {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut screen = Screen::plain(&mut stdout, &mut stderr);
    (screen.width, screen.unicode) = (terminal.width, terminal.unicode);
    (screen.colour, screen.error_colour) = (terminal.colour, terminal.colour);
    let words = std::iter::once("whyslow").chain(arguments.iter().copied()).map(OsString::from);
    let status = cli::run(words, screen, machine);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Printed { status, stdout: text(stdout), stderr: text(stderr) }
}

/// The program where it must not need a machine.
pub fn whyslow_without_machine(arguments: &[&str]) -> Printed {
    let machine = |_settings| Err(MachineError::new("a machine was started"));
    whyslow_with(PLAIN, Box::new(machine), arguments)
}

pub fn text_of(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// The verdicts of an answer as `--quiet` prints them.
pub fn quiet_text(answer: &Answer) -> String {
    let style = Style { width: 80, colour: false, unicode: true };
    render(&compose_quietly(&answer.analysis), style)
}

/// The whole result as it is printed.
pub fn full_text(answer: &Answer) -> String {
    render(&whyslow::report::compose(&answer.analysis), Style { width: 80, colour: false, unicode: true })
}
