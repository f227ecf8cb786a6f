//! A machine that runs nothing: costs, noise, load and failures are drawn from a stated [`World`], and its clock
//! moves without anybody waiting. The truth is known, so whatever is concluded from its runs can be checked, and
//! half a minute of measuring takes milliseconds. It never starts a process, reads a clock or touches a file.

mod bookkeeping;
mod cause;
mod course;
mod drift;
mod execution;
mod failure;
mod load;
mod noise;
mod probes;
mod program;
mod readings;
mod rights;
mod sights;
mod streams;
#[cfg(test)]
mod tests;
mod weather;
mod world;

pub use cause::{Cause, Condition, Effect, Growth};
pub use drift::Drift;
pub use failure::{Failure, How, When};
pub use load::{Competition, Load};
pub use noise::Noise;
pub use program::{ColdStart, Cost, Program};
pub use rights::Rights;
pub use world::{Interrupt, Sleep, World};

use cause::Surroundings;
use course::Course;
use execution::{Execution, not_started};
use weather::{Climate, Weather};

use super::{Machine, MachineError, Outcome};
use crate::model::{
    Circumstances, Exit, Floor, HookKind, Host, Launch, Metric, Missing, Preload, Probe, Seen,
};

/// The program that a launch is about.
#[derive(Clone, Copy, Debug)]
struct Found {
    program: usize,
    /// The number of the word that names it.
    word: usize,
}

/// The machine of a world.
#[derive(Clone, Debug)]
pub struct Simulated {
    world: World,
    climate: Climate,
    now_s: f64,
    /// Runs of each program of the world so far.
    runs_of: Vec<usize>,
    /// Runs that ended without an interrupt.
    whole_runs: usize,
    /// The hook since the last run.
    prepared: Option<Launch>,
    interrupted: bool,
}

impl Simulated {
    pub fn new(world: World) -> Self {
        let climate = Climate::new(&world);
        let runs_of = vec![0; world.programs.len()];
        Simulated { world, climate, now_s: 0.0, runs_of, whole_runs: 0, prepared: None, interrupted: false }
    }
}

impl Machine for Simulated {
    fn host(&mut self) -> Host {
        self.world.host()
    }

    fn circumstances(&mut self) -> Circumstances {
        self.world.circumstances()
    }

    fn can_measure(&mut self, metric: &Metric) -> Result<(), Missing> {
        if metric.source.is_some() { Ok(()) } else { self.world.rights.check(metric) }
    }

    fn allocators(&mut self) -> Vec<Preload> {
        vec![Preload::Mimalloc]
    }

    fn can_probe(&mut self, probe: Probe) -> Result<(), Missing> {
        self.world.rights.check_probe(probe)
    }

    fn probe(&mut self, launch: &Launch, probe: Probe) -> Seen {
        self.look(launch, probe).map_or_else(Seen::Missing, |probed| Seen::Probed(Box::new(probed)))
    }

    fn probe_at(&mut self, launch: &Launch, probe: Probe, least_hz: Option<f64>) -> Seen {
        probes::at_least(self.probe(launch, probe), least_hz)
    }

    fn floor(&mut self) -> Option<Floor> {
        self.world.floor
    }

    fn run(&mut self, launch: &Launch, metrics: &[Metric]) -> Result<Outcome, MachineError> {
        // Weather passes whatever is run, or one failed start would shift the noise of all later runs.
        let weather = self.climate.next();
        let prepared = self.prepared.take();
        let mut outcome = match self.find(launch) {
            Some(found) => self.run_program(found, (launch, prepared.as_ref()), metrics, &weather)?,
            None => not_started(Exit::NotStarted { errno: libc::ENOENT, step: "exec".into() }, metrics),
        };
        if let Some(sleep) = self.world.sleep.filter(|sleep| sleep.after_runs == self.whole_runs) {
            outcome.conditions.suspended_s = Some(sleep.seconds as f32);
        }
        self.now_s += self.world.overhead_s.max(0.0);
        match outcome.exit {
            Exit::Interrupted => self.interrupted = true,
            _ => self.whole_runs += 1,
        }
        Ok(outcome)
    }

    /// A hook is a program of the world like any other; what it changes is not simulated.
    fn run_hook(&mut self, launch: &Launch, kind: HookKind) -> Result<Outcome, MachineError> {
        let was_interrupted = std::mem::take(&mut self.interrupted);
        // The user of a world asks once, and that is not meant for these.
        let is_deaf = matches!(kind, HookKind::Conclude | HookKind::Cleanup);
        let interrupt = self.world.interrupt.take_if(|_| is_deaf);
        let outcome = self.run(launch, &[]);
        self.prepared = (kind == HookKind::Prepare).then(|| launch.clone());
        self.interrupted |= was_interrupted;
        self.world.interrupt = self.world.interrupt.or(interrupt);
        outcome
    }

    fn pause(&mut self, seconds: f64) {
        self.now_s += seconds.max(0.0);
    }

    fn now_s(&mut self) -> f64 {
        self.now_s
    }

    fn interrupted(&self) -> bool {
        let passed = |interrupt| matches!(interrupt, Interrupt::AtSecond(at_s) if at_s <= self.now_s);
        self.interrupted || self.world.interrupt.is_some_and(passed)
    }
}

impl Simulated {
    fn find(&self, launch: &Launch) -> Option<Found> {
        let (program, word) = self.world.find(&launch.argv)?;
        Some(Found { program, word })
    }

    /// What is around a run of a program.
    fn surroundings<'a>(
        &'a self,
        found: Found,
        launch: &'a Launch,
        prepared: Option<&'a Launch>,
        run: usize,
    ) -> Surroundings<'a> {
        Surroundings {
            launch,
            inherited: &self.world.environment,
            program: found.word,
            shields: &self.world.programs[found.program].shields,
            prepared,
            run,
        }
    }

    /// One run of a program of the world; the clock moves to its end.
    fn run_program(
        &mut self,
        found: Found,
        (launch, prepared): (&Launch, Option<&Launch>),
        metrics: &[Metric],
        weather: &Weather,
    ) -> Result<Outcome, MachineError> {
        self.runs_of[found.program] += 1;
        let program = &self.world.programs[found.program];
        let surroundings = self.surroundings(found, launch, prepared, self.runs_of[found.program]);
        let execution = Execution { world: &self.world, program, surroundings, weather };
        let planned = execution.undisturbed();
        let interrupt_s = self.interrupt_s(&planned);
        let (course, exit) = execution.ended(planned, interrupt_s)?;
        let outcome = execution.outcome(&course, exit, metrics);
        self.now_s += course.wall_s().max(0.0);
        Ok(outcome)
    }

    /// When the user interrupts this run, in seconds from its start.
    fn interrupt_s(&self, course: &Course) -> Option<f64> {
        if self.interrupted {
            return Some(0.0);
        }
        match self.world.interrupt? {
            Interrupt::AtSecond(at_s) => Some((at_s - self.now_s).max(0.0)),
            Interrupt::AfterRuns(runs) => (self.whole_runs >= runs).then(|| course.wall_s() / 2.0),
        }
    }
}
