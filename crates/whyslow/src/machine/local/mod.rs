//! This computer: runs a launch once, undisturbed, and says what it cost.
//!
//! The measured command is started by a tiny process of its own (the launcher), not by this one, whose memory
//! and size would be in the numbers. Everything that can be done before or after the timed window is done
//! there: searching the program, building the environment, opening files, reading the state of the machine.
//!
//! Nothing here repeats, orders or judges runs.

mod abilities;
mod affinity;
mod attempt;
mod circumstances;
mod closed_output;
mod conditions;
mod delivery;
mod edits;
mod environment;
mod extract;
mod host;
mod interrupt;
mod no_memory;
mod pipes;
mod preloadable;
mod preloads;
mod probe;
mod quiet;
mod scratch;
mod settings;
mod streams;
mod terminal;
mod values;

use std::fs::{File, OpenOptions};

use whyslow_launcher::Launcher;

use self::abilities::Abilities;
use self::attempt::{Attempt, Means, Problem, broken, null_run};
pub use self::closed_output::is_closed as is_output_closed;
use self::conditions::Gauges;
use self::delivery::Delivery;
pub use self::edits::check_edits;
use self::environment::{Prepared, Refused, Variables};
use self::extract::Extractor;
pub use self::interrupt::Interrupt;
pub use self::no_memory::OrEnd;
#[cfg(fuzzing)]
pub use self::probe::fuzzed;
pub use self::scratch::Scratch;
pub use self::settings::{Isolation, Settings};
use self::terminal::TerminalGuard;
use self::values::Seen;
use super::{Machine, MachineError, Outcome};
use crate::model::{
    Circumstances, Conditions, Exit, Floor, HookKind, Host, Launch, Metric, Missing, Preload, Probe,
    Seen as ProbeSeen,
};

/// Launches that are kept ready. An experiment has a few variants; a search may go through many.
const PREPARED_LIMIT: usize = 64;

/// Enough for a median of a few per cent, in well under a tenth of a second.
const FLOOR_RUNS: usize = 60;

/// The machine that this program runs on.
pub struct Local {
    launcher: Launcher,
    interrupt: Interrupt,
    gauges: Gauges,
    abilities: Abilities,
    /// As it was at the start: what happens to our own environment later must not change the runs.
    environment: Variables,
    nothing: File,
    prepared: Vec<(Launch, Prepared)>,
    /// Preloaded libraries; removed with this machine.
    delivery: Delivery,
    extractor: Extractor,
    guard: Option<TerminalGuard>,
    settings: Settings,
    /// What was done for them.
    settings_done: Vec<String>,
}

impl Local {
    pub fn start(interrupt: Interrupt, settings: Settings) -> Result<Local, MachineError> {
        scratch::remove_forgotten(&std::env::temp_dir());
        let environment = environment::inherited();
        let nothing = OpenOptions::new().read(true).write(true).open("/dev/null");
        let nothing = nothing.map_err(|error| broken("cannot open /dev/null", error))?;
        let launcher = Launcher::start();
        let mut launcher = launcher.map_err(|error| broken("cannot measure commands here", error))?;
        let settings_done = settings.apply(launcher.process_id())?;
        let probe = null_run(&mut launcher, &nothing)?;
        let abilities = Abilities::new(launcher.counters(), &probe);
        let gauges = Gauges::open();
        Ok(Local {
            launcher,
            interrupt,
            gauges,
            abilities,
            environment,
            nothing,
            prepared: Vec::new(),
            delivery: Delivery::default(),
            extractor: Extractor::default(),
            guard: None,
            settings,
            settings_done,
        })
    }

    /// Runs the launch as `execvp` would: what the kernel does not know how to run goes to the shell.
    fn attempt(
        &mut self,
        launch: &Launch,
        metrics: &[Metric],
        interrupt: &Interrupt,
    ) -> Result<Attempt, Problem> {
        let wants_text = metrics.iter().any(|metric| metric.source.is_some());
        let prepared = self.prepare(launch).map_err(Problem::Command)?;
        let attempt = self.means(interrupt).attempt(launch, prepared, wants_text)?;
        if !attempt.needs_shell() {
            return Ok(attempt);
        }
        let prepared = self.prepare(launch).map_err(Problem::Command)?.through_shell();
        self.remember(launch, prepared.clone());
        self.means(interrupt).attempt(launch, prepared, wants_text)
    }

    fn means<'a>(&'a mut self, interrupt: &'a Interrupt) -> Means<'a> {
        Means {
            launcher: &mut self.launcher,
            gauges: &self.gauges,
            interrupt,
            nothing: &self.nothing,
            guard: &mut self.guard,
            raise_autogroup: self.settings.isolate == Some(Isolation::Autogroup),
        }
    }

    /// A command that cannot be tried is an outcome; only a machine that is broken is an error.
    fn try_to_run(
        &mut self,
        launch: &Launch,
        metrics: &[Metric],
        interrupt: &Interrupt,
    ) -> Result<Outcome, MachineError> {
        match self.attempt(launch, metrics, interrupt) {
            Ok(attempt) => Ok(self.outcome(attempt, metrics)),
            Err(Problem::Command(refused)) => Ok(not_tried(refused, metrics)),
            Err(Problem::Machine(error)) => Err(error),
        }
    }

    fn prepare(&mut self, launch: &Launch) -> Result<Prepared, Refused> {
        if let Some((_, ready)) = self.prepared.iter().find(|(known, _)| known == launch) {
            return Ok(ready.clone());
        }
        let mut prepared = Prepared::new(launch, &self.environment)?;
        preloads::put(&mut prepared, &launch.preloads, &mut self.delivery)?;
        self.remember(launch, prepared.clone());
        Ok(prepared)
    }

    fn remember(&mut self, launch: &Launch, prepared: Prepared) {
        self.prepared.retain(|(known, _)| known != launch);
        if self.prepared.len() == PREPARED_LIMIT {
            self.prepared.remove(0);
        }
        self.prepared.push((launch.clone(), prepared));
    }

    fn outcome(&mut self, attempt: Attempt, metrics: &[Metric]) -> Outcome {
        let text = attempt.output.text.as_deref();
        let seen = Seen {
            reply: &attempt.reply,
            output_bytes: attempt.output.bytes,
            printed: &metrics.iter().map(|metric| self.printed(metric, text)).collect::<Vec<_>>(),
        };
        let exit = values::exit(&attempt.reply);
        let values = values::values(metrics, &seen, &self.abilities);
        Outcome {
            exit,
            values,
            conditions: attempt.conditions,
            stderr_tail: attempt.stderr_tail,
            leftovers: attempt.reply.leftovers.unwrap_or(0),
            output_digest: attempt.output.digest,
        }
    }

    /// The number that the program itself printed for this metric.
    fn printed(&mut self, metric: &Metric, text: Option<&[u8]>) -> Option<f64> {
        self.extractor.number(metric.source.as_ref()?, text?)
    }
}

impl Machine for Local {
    fn host(&mut self) -> Host {
        host::host()
    }

    fn circumstances(&mut self) -> Circumstances {
        circumstances::circumstances()
    }

    fn can_measure(&mut self, metric: &Metric) -> Result<(), Missing> {
        // Whether a program prints something is known when it has.
        if metric.source.is_some() { Ok(()) } else { self.abilities.check(&metric.name) }
    }

    fn can_probe(&mut self, probe: Probe) -> Result<(), Missing> {
        probe::can(probe)
    }

    fn can_preload(&mut self, launch: &Launch) -> Result<(), Missing> {
        // Whoever runs it will say why it cannot be run.
        let Ok(prepared) = self.prepare(launch) else { return Ok(()) };
        match preloadable::obstacle(&prepared) {
            (program, Some(obstacle)) if obstacle.keeps_out() => Err(Missing {
                what: "preloaded libraries".to_owned(),
                why: format!("{} {}", program.display(), obstacle.why()),
                remedy: Some(obstacle.remedy().to_owned()),
            }),
            _ => Ok(()),
        }
    }

    fn probe(&mut self, launch: &Launch, probe: Probe) -> ProbeSeen {
        self.probe_at(launch, probe, None)
    }

    fn probe_at(&mut self, launch: &Launch, probe: Probe, least_hz: Option<f64>) -> ProbeSeen {
        let prepared = match self.prepare(launch) {
            Ok(prepared) => prepared,
            Err(refused) => return probe::refused(probe, &refused),
        };
        let looker = probe::Looker {
            launch,
            prepared: &prepared,
            interrupt: &self.interrupt,
            settings: &self.settings,
            least_hz,
        };
        probe::look(&looker, probe)
    }

    fn allocators(&mut self) -> Vec<Preload> {
        preloads::allocators()
    }

    fn settings(&self) -> Vec<String> {
        self.settings_done.clone()
    }

    fn blind_spots(&self) -> Vec<Missing> {
        self.abilities.blind_spots()
    }

    fn wait_until_quiet(&mut self) {
        if self.settings.wait_quiet {
            quiet::wait(&self.interrupt);
        }
    }

    fn floor(&mut self) -> Option<Floor> {
        let mut replies = Vec::with_capacity(FLOOR_RUNS);
        while replies.len() < FLOOR_RUNS && !self.interrupt.is_raised() {
            replies.push(null_run(&mut self.launcher, &self.nothing).ok()?);
        }
        values::floor(&replies)
    }

    fn run(&mut self, launch: &Launch, metrics: &[Metric]) -> Result<Outcome, MachineError> {
        self.try_to_run(launch, metrics, &self.interrupt.clone())
    }

    fn run_hook(&mut self, launch: &Launch, kind: HookKind) -> Result<Outcome, MachineError> {
        // A user who stops the experiment still wants it cleaned up; who does not, interrupts twice.
        let interrupt = match kind {
            HookKind::Setup | HookKind::Prepare => self.interrupt.clone(),
            HookKind::Conclude => self.interrupt.beyond(0),
            HookKind::Cleanup => self.interrupt.beyond(1),
        };
        let _expecting = interrupt.expect();
        self.try_to_run(launch, &[], &interrupt)
    }

    fn pause(&mut self, seconds: f64) {
        self.interrupt.wait(seconds);
    }

    fn now_s(&mut self) -> f64 {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call fills the structure; this clock cannot fail on Linux.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
        now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
    }

    fn interrupted(&self) -> bool {
        self.interrupt.is_raised()
    }
}

fn not_tried(refused: Refused, metrics: &[Metric]) -> Outcome {
    Outcome {
        exit: Exit::NotStarted { errno: refused.errno, step: refused.step.to_owned() },
        values: vec![None; metrics.len()],
        conditions: Conditions::default(),
        stderr_tail: Vec::new(),
        leftovers: 0,
        output_digest: None,
    }
}
