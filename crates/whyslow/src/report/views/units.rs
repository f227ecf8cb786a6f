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
        _ => general(value, 4),
    }
}

/// What the larger and the smaller of two values are called.
pub fn words(metric: &DataMetric) -> (&'static str, &'static str) {
    match metric.unit {
        Some(Unit::Seconds) => ("slower", "faster"),
        _ => ("larger", "smaller"),
    }
}

/// A ratio with its interval, with as many decimals as tell its ends apart: `1.23 [1.19, 1.27]`.
pub(in crate::report) fn ratio_range(ratio: f64, interval: Option<(f64, f64)>) -> String {
    let width = interval.map_or(1.0, |(low, high)| high - low);
    // An interval without width needs no decimals.
    let needed = if width > 1e-5 { (-width.log10()).ceil().clamp(0.0, 4.0) as usize } else { 0 };
    let usual = match ratio {
        r if r >= 99.5 => 0,
        r if r >= 9.95 => 1,
        _ => 2,
    };
    let decimals = needed.max(usual);
    let interval =
        interval.map_or(String::new(), |(low, high)| format!(" [{low:.decimals$}, {high:.decimals$}]"));
    format!("{ratio:.decimals$}{interval}")
}

#[cfg(test)]
mod tests {
    use super::ratio_range;

    #[test]
    fn ends_of_an_interval_differ_where_they_can() {
        assert_eq!(ratio_range(1.2345, Some((1.1, 1.3))), "1.23 [1.10, 1.30]");
        assert_eq!(ratio_range(1.0, Some((0.9991, 1.0012))), "1.000 [0.999, 1.001]");
        assert_eq!(ratio_range(1.0, Some((1.0, 1.0))), "1.00 [1.00, 1.00]");
        assert_eq!(ratio_range(123.4, Some((100.0, 150.0))), "123 [100, 150]");
        assert_eq!(ratio_range(12.34, None), "12.3");
    }
}
