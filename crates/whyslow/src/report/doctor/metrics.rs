//! What can be measured.

use super::{Finding, Mark};
use crate::model::{CheckUp, CheckedMetric, known_metric};

/// Without this one there is nothing to compare.
const INDISPENSABLE: &str = "wall_s";

pub fn findings(check_up: &CheckUp) -> Vec<Finding> {
    let (can, cannot): (Vec<_>, Vec<_>) =
        check_up.metrics.iter().partition(|checked| checked.missing.is_none());
    let titles: Vec<&str> = can.iter().map(|checked| title(checked)).collect();
    let seen = format!("{} of {}: {}", can.len(), check_up.metrics.len(), titles.join(", "));
    let first = (!titles.is_empty()).then(|| Finding::fine("can be measured", seen));
    first.into_iter().chain(cannot.into_iter().map(without)).collect()
}

fn without(checked: &CheckedMetric) -> Finding {
    let missing = checked.missing.as_ref();
    let why = missing.map_or("", |missing| &missing.why);
    let mark = if checked.metric.name == INDISPENSABLE { Mark::Failure } else { Mark::Warning };
    let finding = Finding::new(title(checked), mark, format!("not measured: {why}"));
    match missing.and_then(|missing| missing.remedy.clone()) {
        Some(remedy) => finding.advice(remedy),
        None => finding,
    }
}

fn title(checked: &CheckedMetric) -> &str {
    known_metric(&checked.metric.name).map_or(&checked.metric.name, |known| known.title)
}
