//! A value of a data set with its unit.

use super::printf::general;
use crate::model::{DataMetric, Unit};
use crate::report::quantity;

/// As people write it: `41.2 ms`, `5.24 MB`, `1,234`, or a plain number.
pub fn with_unit(value: f64, metric: &DataMetric) -> String {
    match metric.unit {
        Some(Unit::Seconds) => quantity::seconds(value),
        Some(Unit::Bytes) => quantity::bytes(value),
        Some(Unit::Count) if value.fract() == 0.0 => quantity::count(value),
        Some(Unit::Count) | None => general(value, 4),
    }
}

/// What the larger and the smaller of two values are called.
pub fn words(metric: &DataMetric) -> (&'static str, &'static str) {
    match metric.unit {
        Some(Unit::Seconds) => ("slower", "faster"),
        _ => ("larger", "smaller"),
    }
}
