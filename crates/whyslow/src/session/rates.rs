//! How often variants are to be sampled, so that their times can be compared: as often as the one that needs it most.

use crate::model::{Probe, Recording, SAME_RATE, Trace, TraceEntry, usual_rate_hz};

/// More would be lost, and cost more time than they are worth: such a variant is so much longer than the other one that
/// the cost of the samples is not what makes the difference.
const MOST_SAMPLES: f64 = 50_000.0;

/// The least rate for the next look at this variant, in samples a second; `None`: it is looked at for its own sake. The
/// time is that of a run, where no look has told its CPU time.
pub fn least_rate_hz(
    recording: &Recording,
    (stage, variant): (Option<usize>, usize),
    run_s: Option<f64>,
) -> Option<f64> {
    let own = looks(recording, stage, variant);
    let highest_hz = highest_rate_hz(recording)?;
    let cpu_s = own.iter().find_map(|entry| cpu_time_s(entry)).or(run_s)?;
    if cpu_s * highest_hz <= MOST_SAMPLES { Some(highest_hz) } else { usual_rate_hz(&own) }
}

/// A variant that this probe has sampled once, and at a lower rate than another one.
pub fn sampled_too_seldom(recording: &Recording, (stage, probe): (Option<usize>, Probe)) -> Option<usize> {
    let is_too_seldom = |variant: &usize| {
        let [only] = looks(recording, stage, *variant)[..] else { return false };
        let wanted_hz = least_rate_hz(recording, (stage, *variant), None);
        wanted_hz
            .zip(only.profile_rate_hz())
            .is_some_and(|(wanted_hz, own_hz)| wanted_hz > SAME_RATE * own_hz)
    };
    let of_stage = recording.traces.iter().filter(|entry| entry.stage == stage && entry.probe == probe);
    of_stage.map(|entry| entry.variant).filter(|_| probe == Probe::Cpu).find(is_too_seldom)
}

/// With those that saw nothing.
fn looks(recording: &Recording, stage: Option<usize>, variant: usize) -> Vec<&TraceEntry> {
    let is_wanted =
        |entry: &&TraceEntry| entry.stage == stage && entry.variant == variant && entry.probe == Probe::Cpu;
    recording.traces.iter().filter(is_wanted).collect()
}

/// Of the usual rates of all that were looked at.
fn highest_rate_hz(recording: &Recording) -> Option<f64> {
    let of_profiles = recording.traces.iter().filter(|entry| entry.probe == Probe::Cpu);
    let usual_hz =
        of_profiles.filter_map(|entry| usual_rate_hz(&looks(recording, entry.stage, entry.variant)));
    usual_hz.max_by(f64::total_cmp)
}

fn cpu_time_s(entry: &TraceEntry) -> Option<f64> {
    match &entry.seen.probed()?.trace {
        Trace::Cpu(profile) => profile.total,
        _ => None,
    }
}
