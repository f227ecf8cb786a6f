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
    let runs = || (0..variants.len()).flat_map(|variant| samples.runs(variant));
    let mean =
        |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let wait_share = mean(variants.iter().filter_map(|variant| variant.wait_share).collect());
    let pressure = mean(runs().filter_map(|run| run.conditions.cpu_pressure.map(f64::from)).collect());
    let stolen: f64 = runs().filter_map(|run| run.conditions.steal_s.map(f64::from)).sum();
    let wall: f64 = (0..variants.len()).flat_map(|variant| samples.values(variant, "wall_s")).sum();

    let busy =
        wait_share.filter(|&share| share > BUSY_WAIT_SHARE).map(|wait_share| Concern::Busy { wait_share });
    // The wait of the program itself says more; the pressure of the machine stands in where it is unknown.
    let pressed = pressure
        .filter(|&share| wait_share.is_none() && share > BUSY_PRESSURE)
        .map(|share| Concern::Pressure { share: share.min(1.0) });
    let steal = (wall > 0.0 && stolen / wall > STEAL_SHARE).then(|| Concern::Steal { share: stolen / wall });
    let slept: Vec<f64> =
        runs().filter_map(|run| run.conditions.suspended_s.map(f64::from)).filter(|&s| s > 0.0).collect();
    let suspended =
        (!slept.is_empty()).then(|| Concern::Suspended { runs: slept.len(), seconds: slept.iter().sum() });
    let frequency = |run: &Run| Some((run.start_s, f64::from(run.conditions.frequency_hz?)));
    let mut frequencies: Vec<(f64, f64)> = runs().filter_map(frequency).collect();
    frequencies.sort_by(|a, b| a.0.total_cmp(&b.0));
    let hertz: Vec<f64> = frequencies.into_iter().map(|(_, hertz)| hertz).collect();
    let frequency = first_to_last_quarter(&hertz)
        .filter(|ratio| (ratio - 1.0).abs() > FREQUENCY_CHANGE)
        .map(|ratio| Concern::Frequency { change: ratio - 1.0 });
    [suspended, busy, pressed, steal, frequency].into_iter().flatten().collect()
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
    let other = (0..variants).find(|&other| other != base)?;
    let levels: Vec<f64> = samples.log_ratios(base, other, "wall_s").iter().map(|block| block.mean).collect();
    let time: Vec<f64> = (0..levels.len()).map(|block| block as f64).collect();
    let correlation = spearman::spearman(&time, &levels)?;
    let factors: Vec<f64> = levels.iter().map(|level| level.exp()).collect();
    let change = first_to_last_quarter(&factors)? - 1.0;
    let is_drift =
        correlation.p < DRIFT_SIGNIFICANCE && change.abs() > recording.header.experiment.design.margin;
    is_drift.then_some(Concern::Drift { change })
}
