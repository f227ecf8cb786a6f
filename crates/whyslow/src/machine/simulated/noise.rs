//! How much longer or shorter one run takes than another for no reason of its own: ten models of it, from a
//! quiet machine to heavy tails. Pure state machines over the number of the run; they know no program and no time.
//!
//! Noise belongs to the machine: it goes on from run to run whichever program runs, and only a
//! randomised order turns it into chance. All effects are on the logarithm of time unless the text says
//! otherwise, so that 0.02 is 2 %.

use benchmath::random::SplitMix64;
use serde::{Deserialize, Serialize};

use super::drift::Drift;
use super::load::{Competition, Load, LoadState, switched};

/// A model of noise. `scatter` is the standard deviation of the independent part of every run.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Noise {
    /// Every run is exactly as its program says.
    #[default]
    None,
    /// Independent and normal.
    White { scatter: f64 },
    /// A share `chance` of the runs takes longer by an exponential amount with this mean.
    RightTail { scatter: f64, chance: f64, mean: f64 },
    /// Wanders with standard deviation `wander`; `memory` is the correlation between neighbouring runs.
    Autoregressive { scatter: f64, wander: f64, memory: f64 },
    /// A share `chance` of the runs, each for itself, is slower by `step`.
    Bimodal { scatter: f64, step: f64, chance: f64 },
    /// Slower by `step` in spells; before each run the mode changes with `switch_chance`.
    StickyBimodal { scatter: f64, step: f64, switch_chance: f64 },
    /// Every run with an odd number is slower by `step`.
    Alternating { scatter: f64, step: f64 },
    /// Other work comes and goes: runs wait for a CPU and their CPU time hardly changes.
    Loaded { scatter: f64, load: Load },
    /// The machine becomes slower, wall and CPU alike, and no sensor shows it.
    Drifting { scatter: f64, drift: Drift },
    /// Student's t with two degrees of freedom times `scale`, cut off at `limit` times `scale`: the variance
    /// without the cut would be infinite.
    HeavyTail { scale: f64, limit: f64 },
}

/// What noise does to one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disturbance {
    /// Factor on everything the run does.
    pub pace: f64,
    pub competition: Competition,
}

/// Runs over which the drift of [`Noise::all_ten`] happens; for another length see [`Noise::drift_over`].
const DRIFT_RUNS: usize = 400;

impl Noise {
    /// The ten models that a procedure must withstand, with names for messages.
    pub fn all_ten() -> [(&'static str, Noise); 10] {
        let busy = Competition { waiting: 0.5, slowdown: 0.02 };
        let load = Load::Regimes { busy, switch_chance: 0.05 };
        [
            ("quiet", Noise::White { scatter: 0.005 }),
            ("independent", Noise::White { scatter: 0.02 }),
            ("right tail", Noise::RightTail { scatter: 0.01, chance: 0.15, mean: 0.10 }),
            ("autoregressive", Noise::Autoregressive { scatter: 0.01, wander: 0.02, memory: 0.9 }),
            ("bimodal", Noise::Bimodal { scatter: 0.01, step: 0.08, chance: 0.3 }),
            ("sticky bimodal", Noise::StickyBimodal { scatter: 0.01, step: 0.08, switch_chance: 0.05 }),
            ("alternating", Noise::Alternating { scatter: 0.01, step: 0.05 }),
            ("busy and idle", Noise::Loaded { scatter: 0.02, load }),
            ("linear drift", Noise::drift_over(DRIFT_RUNS)),
            ("heavy tail", Noise::HeavyTail { scale: 0.03, limit: 10.0 }),
        ]
    }

    /// 10 % slower by the end of that many runs.
    pub fn drift_over(runs: usize) -> Noise {
        Noise::Drifting { scatter: 0.01, drift: Drift::Linear { change: 0.10, over_runs: runs } }
    }

    fn scatter(self) -> f64 {
        match self {
            Noise::None | Noise::HeavyTail { .. } => 0.0,
            Noise::White { scatter }
            | Noise::RightTail { scatter, .. }
            | Noise::Autoregressive { scatter, .. }
            | Noise::Bimodal { scatter, .. }
            | Noise::StickyBimodal { scatter, .. }
            | Noise::Alternating { scatter, .. }
            | Noise::Loaded { scatter, .. }
            | Noise::Drifting { scatter, .. } => scatter,
        }
    }

    fn load(self) -> Load {
        match self {
            Noise::Loaded { load, .. } => load,
            _ => Load::Idle,
        }
    }
}

/// The noise of a machine from run to run.
#[derive(Clone, Debug)]
pub struct NoiseState {
    noise: Noise,
    /// Where a wandering machine is; unknown before the first run, which is drawn from the long-run spread.
    wandered: Option<f64>,
    slow_mode: Option<bool>,
    load: LoadState,
}

impl NoiseState {
    pub fn new(noise: Noise) -> Self {
        NoiseState { noise, wandered: None, slow_mode: None, load: LoadState::new(noise.load()) }
    }

    /// The disturbance of one run; runs come in order, counted from 0.
    pub fn next(&mut self, run: usize, random: &mut SplitMix64) -> Disturbance {
        let white = self.noise.scatter() * random.normal();
        let shaped = self.shaped(run, random);
        Disturbance { pace: (white + shaped).exp(), competition: self.load.next(random) }
    }

    /// Logarithm of the part of the noise that is not white.
    fn shaped(&mut self, run: usize, random: &mut SplitMix64) -> f64 {
        match self.noise {
            Noise::None | Noise::White { .. } | Noise::Loaded { .. } => 0.0,
            Noise::RightTail { chance, mean, .. } => tail(chance, mean, random).ln_1p(),
            Noise::Autoregressive { wander, memory, .. } => self.wander(wander, memory, random),
            Noise::Bimodal { step, chance, .. } => stepped(random.unit() < chance, step),
            Noise::StickyBimodal { step, switch_chance, .. } => {
                let slow = switched(self.slow_mode, switch_chance, random);
                self.slow_mode = Some(slow);
                stepped(slow, step)
            }
            Noise::Alternating { step, .. } => stepped(run % 2 == 1, step),
            Noise::Drifting { drift, .. } => drift.factor(run).ln(),
            Noise::HeavyTail { scale, limit } => scale * student_two(random).clamp(-limit, limit),
        }
    }

    /// The share of fresh noise is chosen so that the spread over many runs is `spread` whatever the memory.
    fn wander(&mut self, spread: f64, memory: f64, random: &mut SplitMix64) -> f64 {
        let fresh = spread * random.normal();
        let now = match self.wandered {
            None => fresh,
            Some(before) => memory * before + (1.0 - memory * memory).max(0.0).sqrt() * fresh,
        };
        self.wandered = Some(now);
        now
    }
}

fn tail(chance: f64, mean: f64, random: &mut SplitMix64) -> f64 {
    let amount = mean * exponential(random);
    if random.unit() < chance { amount } else { 0.0 }
}

fn stepped(slow: bool, step: f64) -> f64 {
    if slow { step.ln_1p() } else { 0.0 }
}

/// A normal number over the root of half a chi square of two degrees of freedom, which is exponential.
fn student_two(random: &mut SplitMix64) -> f64 {
    random.normal() / exponential(random).max(f64::MIN_POSITIVE).sqrt()
}

fn exponential(random: &mut SplitMix64) -> f64 {
    -(1.0 - random.unit()).ln()
}

#[cfg(test)]
mod tests {
    use super::super::streams::{Purpose, of_machine};
    use super::*;

    const RUNS: usize = 20_000;

    fn disturbances(noise: Noise) -> Vec<Disturbance> {
        let mut state = NoiseState::new(noise);
        (0..RUNS).map(|run| state.next(run, &mut of_machine(7, Purpose::Noise, run))).collect()
    }

    /// Logarithms of the pace, run by run.
    fn series(noise: Noise) -> Vec<f64> {
        disturbances(noise).iter().map(|disturbance| disturbance.pace.ln()).collect()
    }

    fn named(name: &str) -> Vec<f64> {
        series(Noise::all_ten().into_iter().find(|(known, _)| *known == name).unwrap().1)
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    fn spread(values: &[f64]) -> f64 {
        let centre = mean(values);
        mean(&values.iter().map(|value| (value - centre).powi(2)).collect::<Vec<_>>()).sqrt()
    }

    fn lag_one(values: &[f64]) -> f64 {
        let centre = mean(values);
        let products: Vec<f64> =
            values.windows(2).map(|pair| (pair[0] - centre) * (pair[1] - centre)).collect();
        mean(&products) / spread(values).powi(2)
    }

    fn share(values: &[f64], holds: impl Fn(f64) -> bool) -> f64 {
        values.iter().filter(|value| holds(**value)).count() as f64 / values.len() as f64
    }

    #[track_caller]
    fn about(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected} within {tolerance}");
    }

    #[test]
    fn no_noise_is_none() {
        assert!(series(Noise::None).iter().all(|&value| value == 0.0));
    }

    #[test]
    fn white_noise_has_its_scatter_and_no_memory() {
        for (name, scatter) in [("quiet", 0.005), ("independent", 0.02)] {
            let values = named(name);
            about(mean(&values), 0.0, scatter / 30.0);
            about(spread(&values), scatter, scatter / 30.0);
            about(lag_one(&values), 0.0, 0.03);
        }
    }

    #[test]
    fn the_right_tail_is_one_sided() {
        let values = named("right tail");
        // Three standard deviations of the white part leave exp(-0.3) of the tail above and nothing below.
        about(share(&values, |value| value > 0.03), 0.15 * (-0.3_f64).exp(), 0.01);
        assert!(share(&values, |value| value < -0.03) < 0.003);
        let excess: Vec<f64> = values.iter().map(|value| value.exp() - 1.0).collect();
        about(mean(&excess), 0.15 * 0.10, 0.002);
    }

    #[test]
    fn autoregressive_noise_remembers() {
        let values = named("autoregressive");
        about(spread(&values), (0.02_f64.powi(2) + 0.01_f64.powi(2)).sqrt(), 0.001);
        // The white fifth of the variance has no memory.
        about(lag_one(&values), 0.9 * 0.8, 0.03);
    }

    #[test]
    fn bimodal_noise_has_two_modes_without_memory() {
        let values = named("bimodal");
        about(share(&values, |value| value > 0.04), 0.3, 0.01);
        assert!(share(&values, |value| (0.036..0.042).contains(&value)) < 0.01);
        about(lag_one(&values), 0.0, 0.03);
    }

    #[test]
    fn sticky_modes_switch_once_in_twenty_runs() {
        let values = named("sticky bimodal");
        let slow: Vec<bool> = values.iter().map(|&value| value > 0.0385).collect();
        let switches = slow.windows(2).filter(|pair| pair[0] != pair[1]).count();
        about(switches as f64 / RUNS as f64, 0.05, 0.006);
        assert!(lag_one(&values) > 0.75);
    }

    #[test]
    fn alternation_goes_by_the_parity_of_the_run() {
        let values = named("alternating");
        let of_parity = |parity| values.iter().copied().skip(parity).step_by(2).collect::<Vec<f64>>();
        about(mean(&of_parity(1)) - mean(&of_parity(0)), 0.05_f64.ln_1p(), 0.001);
        about(spread(&of_parity(0)), 0.01, 0.0005);
    }

    #[test]
    fn load_is_waiting_and_hardly_any_cost() {
        let (_, noise) = Noise::all_ten()[7];
        let all = disturbances(noise);
        about(spread(&series(noise)), 0.02, 0.001);
        let waiting: Vec<f64> = all.iter().map(|one| one.competition.waiting).collect();
        about(share(&waiting, |value| value > 0.0), 0.5, 0.08);
        assert!(lag_one(&waiting) > 0.6);
        assert!(all.iter().all(|one| one.competition.slowdown <= 0.02));
    }

    #[test]
    fn drift_reaches_a_tenth_and_stays() {
        let values = named("linear drift");
        about(mean(&values[..20]), 0.0, 0.01);
        about(mean(&values[190..210]), 0.05_f64.ln_1p(), 0.01);
        about(mean(&values[DRIFT_RUNS..]), 0.10_f64.ln_1p(), 0.001);
    }

    #[test]
    fn heavy_tails_are_heavy_but_cut() {
        let values = named("heavy tail");
        // Quartile of t with two degrees of freedom: 0.8165.
        about(share(&values, |value| value.abs() < 0.03 * 0.8165), 0.5, 0.015);
        // Beyond 4.303 lie 5 % of t with two degrees of freedom; of a normal, nothing.
        about(share(&values, |value| value.abs() > 0.03 * 4.303), 0.05, 0.006);
        assert!(values.iter().all(|value| value.abs() <= 0.3 + 1e-9));
    }

    #[test]
    fn a_longer_drift_can_be_chosen() {
        let values = series(Noise::drift_over(10_000));
        about(mean(&values[4_900..5_100]), 0.05_f64.ln_1p(), 0.003);
    }
}
