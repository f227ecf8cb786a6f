//! How a machine becomes slower or faster in the course of an experiment. Only says by how much; what it
//! slows down is decided by whoever asks.

use serde::{Deserialize, Serialize};

/// A slow change of the machine, by run number.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Drift {
    #[default]
    None,
    /// Grows evenly to `change` over the first `over_runs` runs of the machine and stays there.
    Linear { change: f64, over_runs: usize },
    /// Comes at once, with the run of that number (from 0).
    Step { change: f64, at_run: usize },
}

impl Drift {
    /// Factor on time in a run of the machine, counted from 0: 1.1 is 10 % slower.
    pub fn factor(self, run: usize) -> f64 {
        match self {
            Drift::None => 1.0,
            Drift::Linear { change, over_runs } => 1.0 + change * progress(run, over_runs),
            Drift::Step { change, at_run } if run >= at_run => 1.0 + change,
            Drift::Step { .. } => 1.0,
        }
    }
}

fn progress(run: usize, over_runs: usize) -> f64 {
    (run as f64 / over_runs.max(1) as f64).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_drift_grows_and_then_stays() {
        let drift = Drift::Linear { change: 0.1, over_runs: 200 };
        let factors: Vec<f64> = [0, 100, 200, 900].into_iter().map(|run| drift.factor(run)).collect();
        assert_eq!(factors, [1.0, 1.05, 1.1, 1.1]);
    }

    #[test]
    fn a_step_comes_at_its_run() {
        let drift = Drift::Step { change: -0.2, at_run: 3 };
        assert_eq!((drift.factor(2), drift.factor(3)), (1.0, 0.8));
    }
}
