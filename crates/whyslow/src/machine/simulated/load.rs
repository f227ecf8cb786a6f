//! What else runs on a simulated machine. Load makes a run wait for a CPU; it hardly changes what the run costs,
//! because a waiting program is not charged. Never draws from anything but the generator it is given.

use benchmath::random::SplitMix64;
use serde::{Deserialize, Serialize};

/// Other work that competes for the CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Load {
    #[default]
    Idle,
    /// Always the same competition.
    Steady(Competition),
    /// Busy and idle spells; before each run the machine changes over with `switch_chance`.
    Regimes { busy: Competition, switch_chance: f64 },
}

/// How hard it is to get a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Competition {
    /// Mean seconds of waiting for each second on a CPU. Single runs get between half and one and a half of it.
    pub waiting: f64,
    /// Extra CPU time as a share, by caches that others have used meanwhile.
    pub slowdown: f64,
}

/// The load of a machine from run to run.
#[derive(Clone, Debug)]
pub struct LoadState {
    load: Load,
    /// Unknown before the first run, which is as likely to be busy as not.
    busy: Option<bool>,
}

impl LoadState {
    pub fn new(load: Load) -> Self {
        LoadState { load, busy: None }
    }

    /// The competition that the next run meets.
    pub fn next(&mut self, random: &mut SplitMix64) -> Competition {
        match self.load {
            Load::Idle => Competition::default(),
            Load::Steady(competition) => competition.varied(random),
            Load::Regimes { busy, switch_chance } => {
                let now = switched(self.busy, switch_chance, random);
                self.busy = Some(now);
                if now { busy.varied(random) } else { Competition::default() }
            }
        }
    }
}

impl Competition {
    fn varied(self, random: &mut SplitMix64) -> Self {
        Competition { waiting: self.waiting * (0.5 + random.unit()), ..self }
    }

    /// Both at once.
    pub fn with(self, other: Competition) -> Self {
        let slowdown = (1.0 + self.slowdown) * (1.0 + other.slowdown) - 1.0;
        Competition { waiting: self.waiting + other.waiting, slowdown }
    }
}

/// The state after one chance to switch; an unknown state is drawn evenly.
pub fn switched(state: Option<bool>, chance: f64, random: &mut SplitMix64) -> bool {
    match state {
        None => random.unit() < 0.5,
        Some(state) => state != (random.unit() < chance),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(load: Load, runs: usize) -> Vec<f64> {
        let mut state = LoadState::new(load);
        let mut random = SplitMix64::new(11);
        (0..runs).map(|_| state.next(&mut random).waiting).collect()
    }

    #[test]
    fn an_idle_machine_never_waits() {
        assert!(waits(Load::Idle, 100).iter().all(|&waiting| waiting == 0.0));
    }

    #[test]
    fn a_steady_load_scatters_around_its_mean() {
        let waits = waits(Load::Steady(Competition { waiting: 2.0, slowdown: 0.0 }), 4000);
        let mean = waits.iter().sum::<f64>() / waits.len() as f64;
        assert!((mean - 2.0).abs() < 0.05, "{mean}");
        assert!(waits.iter().all(|&waiting| (1.0..3.0).contains(&waiting)));
    }

    #[test]
    fn regimes_last_as_long_as_the_switch_chance_says() {
        let busy = Competition { waiting: 1.0, slowdown: 0.02 };
        let waits = waits(Load::Regimes { busy, switch_chance: 0.05 }, 20_000);
        let busy: Vec<bool> = waits.iter().map(|&waiting| waiting > 0.0).collect();
        let switches = busy.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let share = busy.iter().filter(|&&busy| busy).count() as f64 / busy.len() as f64;
        assert!((900..1100).contains(&switches), "{switches}");
        assert!((0.42..0.58).contains(&share), "{share}");
    }
}
