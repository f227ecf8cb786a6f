//! What the machine did meanwhile: other load, a hypervisor, frequencies, drift.

use benchmath::{quantiles, spearman};

use super::Concern;
use crate::analysis::{Samples, VariantSummary};
use crate::model::{Recording, Run};

const DRIFT_SIGNIFICANCE: f64 = 0.001;
const BUSY_WAIT_SHARE: f64 = 0.05;
const BUSY_PRESSURE: f64 = 0.10;
const STEAL_SHARE: f64 = 0.02;
const FREQUENCY_CHANGE: f64 = 0.05;

pub fn machine_concerns(samples: &Samples, variants: &[VariantSummary]) -> Vec<Concern> {
    let mut wait_share = Mean::default();
    variants.iter().filter_map(|variant| variant.wait_share).for_each(|share| wait_share.add(share));
    let wait_share = wait_share.value();
    let Told { pressure, stolen_s, slept, slept_s, frequencies } =
        Told::by((0..variants.len()).flat_map(|variant| samples.runs(variant)));
    let wall_s: f64 = (0..variants.len()).flat_map(|variant| samples.known(variant, "wall_s")).sum();

    let busy =
        wait_share.filter(|&share| share > BUSY_WAIT_SHARE).map(|wait_share| Concern::Busy { wait_share });
    // The wait of the program itself says more; the pressure of the machine stands in where it is unknown.
    let pressed = pressure
        .value()
        .filter(|&share| wait_share.is_none() && share > BUSY_PRESSURE)
        .map(|share| Concern::Pressure { share: share.min(1.0) });
    let steal = (wall_s > 0.0 && stolen_s / wall_s > STEAL_SHARE)
        .then(|| Concern::Steal { share: stolen_s / wall_s });
    let suspended = (slept > 0).then_some(Concern::Suspended { runs: slept, seconds: slept_s });
    let frequency = first_to_last_quarter(&in_order_of_time(frequencies))
        .filter(|ratio| (ratio - 1.0).abs() > FREQUENCY_CHANGE)
        .map(|ratio| Concern::Frequency { change: ratio - 1.0 });
    [suspended, busy, pressed, steal, frequency].into_iter().flatten().collect()
}

/// What all runs tell about the machine, gathered in one walk: there may be a million of them.
#[derive(Default)]
struct Told {
    pressure: Mean,
    stolen_s: f64,
    /// Runs during which the computer slept, and for how long.
    slept: usize,
    slept_s: f64,
    /// With the time at which the run began.
    frequencies: Vec<(f64, f64)>,
}

impl Told {
    fn by<'a>(runs: impl Iterator<Item = &'a Run>) -> Told {
        let mut told = Told::default();
        for run in runs {
            let conditions = &run.conditions;
            conditions.cpu_pressure.into_iter().for_each(|share| told.pressure.add(f64::from(share)));
            told.stolen_s += conditions.steal_s.map_or(0.0, f64::from);
            let slept_s = conditions.suspended_s.map_or(0.0, f64::from);
            told.slept += usize::from(slept_s > 0.0);
            told.slept_s += slept_s.max(0.0);
            told.frequencies.extend(conditions.frequency_hz.map(|hertz| (run.start_s, f64::from(hertz))));
        }
        told
    }
}

/// A mean of what is known.
#[derive(Default)]
struct Mean {
    sum: f64,
    count: usize,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

fn in_order_of_time(mut timed: Vec<(f64, f64)>) -> Vec<f64> {
    timed.sort_by(|a, b| a.0.total_cmp(&b.0));
    timed.into_iter().map(|(_, value)| value).collect()
}

/// Median of the last quarter over median of the first.
fn first_to_last_quarter(values: &[f64]) -> Option<f64> {
    let quarter = values.len() / 4;
    if quarter == 0 {
        return None;
    }
    let first = quantiles::median(&values[..quarter])?;
    let last = quantiles::median(&values[values.len() - quarter..])?;
    (first > 0.0).then(|| last / first)
}

/// The level of each block is the mean logarithm of its wall times.
pub fn drift(samples: &Samples, recording: &Recording, variants: usize) -> Option<Concern> {
    let base = recording.header.experiment.design.base;
    // A command by itself is both.
    let other = (0..variants).find(|&other| other != base).unwrap_or(base);
    let levels: Vec<f64> = samples.log_ratios(base, other, "wall_s").iter().map(|block| block.mean).collect();
    let factors: Vec<f64> = levels.iter().map(|level| level.exp()).collect();
    let change = first_to_last_quarter(&factors)? - 1.0;
    // Before the test, which has to sort all blocks.
    if change.abs() <= recording.header.experiment.design.margin {
        return None;
    }
    let time: Vec<f64> = (0..levels.len()).map(|block| block as f64).collect();
    let correlation = spearman::spearman(&time, &levels)?;
    (correlation.p < DRIFT_SIGNIFICANCE).then_some(Concern::Drift { change })
}
