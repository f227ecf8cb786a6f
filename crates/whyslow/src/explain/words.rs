//! Sentences about experiments that the diagnosis itself is made of.

use super::case::Case;
use super::diagnosis::Outcome;
use super::shares::NoEffect;
use crate::model::Missing;

/// Several causes are called independent while their shares add up this well.
const ADDS_UP: f64 = 0.15;

/// Why a what-if has no result.
pub fn no_result(outcome: &Outcome<'_>) -> String {
    let title = &outcome.what_if.title;
    if let Some(missing) = &outcome.what_if.no_effect {
        return format!("{title}: it did not take effect, {}", missing.why);
    }
    match outcome.effect {
        Err(NoEffect::Fails) => format!("{title}: the command fails with it"),
        Err(NoEffect::GapGone) => format!("{title}: the gap was gone in that round"),
        Err(NoEffect::TooFewRuns) => format!("{title}: too few runs to tell"),
        Ok(_) => format!("{title}: too few runs to tell it from nothing"),
    }
}

pub fn interaction(together: f64, apart: f64) -> Option<String> {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    if (together - apart).abs() <= ADDS_UP {
        return None;
    }
    let how =
        if together > apart { "each alone closes less" } else { "each alone closes a part of the same" };
    Some(format!("together they close {}, apart {}: they interact, {how}", percent(together), percent(apart)))
}

/// What could not be looked at on either side, each once.
pub fn not_checked(case: &Case<'_>) -> Vec<Missing> {
    let mut all: Vec<Missing> = Vec::new();
    for missing in case.fast.missing().chain(case.slow.missing()) {
        if !all.iter().any(|known| known.what == missing.what && known.why == missing.why) {
            all.push(missing.clone());
        }
    }
    all
}
