//! One run of one program of a world, from the launch to what is read of it. Changes nothing: the machine counts
//! runs and moves its clock by what it gets from here.

use benchmath::random::SplitMix64;

use super::bookkeeping::Booked;
use super::cause::Surroundings;
use super::course::{Course, Limit};
use super::failure::{Failure, How};
use super::program::Program;
use super::readings::Readings;
use super::streams::{Purpose, of_program};
use super::weather::Weather;
use super::world::World;
use crate::machine::{MachineError, Outcome};
use crate::model::{Conditions, Exit, Metric, Noise};

/// Everything that decides how the run goes.
#[derive(Clone, Copy)]
pub struct Execution<'a> {
    pub world: &'a World,
    pub program: &'a Program,
    pub surroundings: Surroundings<'a>,
    pub weather: &'a Weather,
}

impl Execution<'_> {
    /// How the run goes when nobody ends it.
    pub fn undisturbed(&self) -> Course {
        let cost = self.program.cost_of(&self.surroundings);
        let course = Course::of(cost, self.program.threads, self.weather);
        match self.failure() {
            Some(Failure { how: how @ How::NotStarted { .. }, .. }) => course.first_part(0.0, how.exit()),
            Some(Failure { how, after, .. }) => course.first_part(*after, how.exit()),
            None => course,
        }
    }

    /// The run as it ends: by itself, by the timeout of the launch or by an interrupt at that second of it.
    ///
    /// A real machine would wait for ever for a run that nothing ends; an error is kinder to tests.
    pub fn ended(&self, course: Course, interrupt_s: Option<f64>) -> Result<(Course, Exit), MachineError> {
        let timeout = self.surroundings.launch.timeout_s.map(|at_s| Limit { at_s, exit: Exit::TimedOut });
        let interrupt = interrupt_s.map(|at_s| Limit { at_s, exit: Exit::Interrupted });
        let limits = timeout.into_iter().chain(interrupt);
        let course = match limits.min_by(|one, other| one.at_s.total_cmp(&other.at_s)) {
            Some(limit) => course.ended_at(&limit),
            None => course,
        };
        let exit = course.exit.clone().ok_or_else(|| self.endless())?;
        Ok((course, exit))
    }

    /// What is reported of a run that has ended so.
    pub fn outcome(&self, course: &Course, exit: Exit, metrics: &[Metric]) -> Outcome {
        if matches!(exit, Exit::NotStarted { .. }) {
            return not_started(exit, metrics);
        }
        let readings = self.readings(course);
        let rights = &self.world.rights;
        Outcome {
            values: metrics.iter().map(|metric| self.value(metric, &readings)).collect(),
            conditions: readings.conditions(self.weather, rights),
            stderr_tail: self.complaint(&exit),
            leftovers: self.program.leftovers,
            output_digest: self.surroundings.launch.digest_output.then_some(self.program.output),
            exit,
        }
    }

    fn value(&self, metric: &Metric, readings: &Readings<'_>) -> Option<f64> {
        let Some(source) = &metric.source else { return readings.value(metric, &self.world.rights) };
        let pace = if metric.noise == Noise::Exact { 1.0 } else { self.weather.pace };
        self.program.prints.get(&metric.name).map(|number| number * source.scale * pace)
    }

    fn failure(&self) -> Option<&Failure> {
        self.program.failure_in(self.world.seed, &self.surroundings)
    }

    /// A run that is ended before it fails has not complained yet.
    fn complaint(&self, exit: &Exit) -> Vec<u8> {
        self.failure()
            .filter(|failure| failure.how.exit().as_ref() == Some(exit))
            .map_or(Vec::new(), |failure| failure.stderr(&self.program.name, self.surroundings.run))
    }

    /// Draws what is left to chance after the run has ended.
    fn readings<'a>(&self, course: &'a Course) -> Readings<'a> {
        let (user_s, system_s) = (course.cost.user_s, course.cost.system_s);
        let mut ticks = self.stream(Purpose::Bookkeeping);
        let booked = Booked::split(user_s, system_s, self.world.tick_s, &mut ticks);
        let most = self.world.stray_pages.saturating_add(1);
        Readings { course, booked, stray_pages: self.stream(Purpose::Memory).below(most) }
    }

    fn stream(&self, purpose: Purpose) -> SplitMix64 {
        of_program(self.world.seed, purpose, &self.program.name.0, self.surroundings.run)
    }

    fn endless(&self) -> MachineError {
        let name = self.program.name.lossy();
        let what =
            format!("simulated program {name} never ends, and there is neither a timeout nor an interrupt");
        MachineError::new(what)
    }
}

/// A run that never began has used nothing that could be known.
pub fn not_started(exit: Exit, metrics: &[Metric]) -> Outcome {
    Outcome {
        exit,
        values: vec![None; metrics.len()],
        conditions: Conditions::default(),
        stderr_tail: Vec::new(),
        leftovers: 0,
        output_digest: None,
    }
}
