//! Looks that take samples, and how often they did: what samples cost is in the times that they tell, so two variants are
//! compared by looks at one rate, and a look at a lower one may have been repeated.

use super::{Probed, Seen, Trace, TraceEntry};

/// Rates up to so many times as high are taken as one.
pub const SAME_RATE: f64 = 1.2;

impl TraceEntry {
    /// Of a profile of CPU time.
    pub fn profile_rate_hz(&self) -> Option<f64> {
        match &self.seen {
            Seen::Probed(probed) => probed.profile_rate_hz(),
            Seen::Missing(_) => None,
        }
    }
}

impl Probed {
    fn profile_rate_hz(&self) -> Option<f64> {
        match &self.trace {
            Trace::Cpu(profile) => Some(profile.rate_hz),
            _ => None,
        }
    }
}

/// The rate of most of these looks; of several the highest.
pub fn usual_rate_hz(entries: &[&TraceEntry]) -> Option<f64> {
    let mut rates: Vec<f64> = entries.iter().filter_map(|entry| entry.profile_rate_hz()).collect();
    rates.sort_by(f64::total_cmp);
    rates.iter().copied().max_by_key(|rate| rates.iter().filter(|other| *other == rate).count())
}

/// Looks at one variant, without those profiles that were taken at another rate than most: they are no part of a mean.
pub fn at_one_rate(mut entries: Vec<&TraceEntry>) -> Vec<&TraceEntry> {
    let usual = usual_rate_hz(&entries);
    entries.retain(|entry| entry.profile_rate_hz().is_none_or(|rate| Some(rate) == usual));
    entries
}

#[cfg(test)]
mod tests {
    use super::super::{Probe, Profile};
    use super::*;
    use crate::model::Exit;

    fn look(rate_hz: f64) -> TraceEntry {
        let trace = Trace::Cpu(Profile { rate_hz, ..Profile::default() });
        let probed = Probed { trace, exit: Exit::Code(0), wall_s: 1.0, cpu_s: None, blind_spots: Vec::new() };
        TraceEntry { stage: None, variant: 0, probe: Probe::Cpu, seen: Seen::Probed(Box::new(probed)) }
    }

    fn kept(rates: &[f64]) -> Vec<f64> {
        let entries: Vec<TraceEntry> = rates.iter().copied().map(look).collect();
        at_one_rate(entries.iter().collect()).iter().filter_map(|entry| entry.profile_rate_hz()).collect()
    }

    #[test]
    fn a_look_that_was_repeated_more_often_is_left_out() {
        assert_eq!(kept(&[997.0]), [997.0]);
        assert_eq!(kept(&[997.0, 4999.0]), [4999.0]);
        assert_eq!(kept(&[997.0, 4999.0, 4999.0, 19997.0]), [4999.0, 4999.0]);
        assert!(kept(&[]).is_empty());
    }
}
