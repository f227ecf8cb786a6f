//! Everything the machine adds to a run that is not the program's doing: noise, drift, load, steal. Knows no
//! program and keeps no generator.

use super::drift::Drift;
use super::load::{Competition, LoadState};
use super::noise::NoiseState;
use super::streams::{Purpose, of_machine};
use super::world::World;

/// The state of the machine from run to run.
#[derive(Clone, Debug)]
pub struct Climate {
    seed: u64,
    run: usize,
    noise: NoiseState,
    load: LoadState,
    drift: Drift,
    steal: f64,
}

/// What one run meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weather {
    /// Factor on all the time that the run spends by itself, on a CPU or off it.
    pub pace: f64,
    /// Further factor on CPU time, by a slower clock.
    pub clock: f64,
    pub competition: Competition,
    /// Seconds taken by a hypervisor for each second on a CPU.
    pub steal: f64,
}

impl Climate {
    pub fn new(world: &World) -> Self {
        Climate {
            seed: world.seed,
            run: 0,
            noise: NoiseState::new(world.noise),
            load: LoadState::new(world.load),
            drift: world.drift,
            steal: world.steal,
        }
    }

    /// The weather of the next run, whichever program it is.
    pub fn next(&mut self) -> Weather {
        let run = self.run;
        self.run += 1;
        let noise = self.noise.next(run, &mut of_machine(self.seed, Purpose::Noise, run));
        let load = self.load.next(&mut of_machine(self.seed, Purpose::Load, run));
        Weather {
            pace: noise.pace,
            clock: self.drift.factor(run),
            competition: noise.competition.with(load),
            steal: self.steal,
        }
    }
}

impl Weather {
    /// Factor on the CPU time of a program.
    pub fn on_cpu(&self) -> f64 {
        self.pace * self.clock * (1.0 + self.competition.slowdown)
    }
}

#[cfg(test)]
mod tests {
    use super::super::load::Load;
    use super::super::noise::Noise;
    use super::*;

    #[test]
    fn a_plain_world_disturbs_nothing() {
        let calm = Weather { pace: 1.0, clock: 1.0, competition: Competition::default(), steal: 0.0 };
        assert_eq!(Climate::new(&World::default()).next(), calm);
    }

    #[test]
    fn drift_slows_the_clock_and_not_the_noise() {
        let drift = Drift::Step { change: 0.5, at_run: 1 };
        let mut climate = Climate::new(&World::default().with_drift(drift));
        assert_eq!(climate.next().on_cpu(), 1.0);
        let later = climate.next();
        assert_eq!((later.pace, later.clock, later.on_cpu()), (1.0, 1.5, 1.5));
    }

    #[test]
    fn a_load_beside_noise_leaves_the_noise_as_it_was() {
        let noisy = World::default().with_noise(Noise::White { scatter: 0.02 });
        let busy = Load::Steady(Competition { waiting: 1.0, slowdown: 0.0 });
        let (mut plain, mut loaded) = (Climate::new(&noisy), Climate::new(&noisy.clone().with_load(busy)));
        for _ in 0..10 {
            let (plain, loaded) = (plain.next(), loaded.next());
            assert_eq!(plain.pace, loaded.pace);
            assert!(loaded.competition.waiting > 0.4);
        }
    }
}
