//! Units as other tools write them: what they measure, how to get to seconds or bytes, and whether more is better.

use crate::model::{Direction, Unit};

/// What a unit means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measure {
    /// `None` for what is neither time, nor bytes, nor a count: rates above all.
    pub unit: Option<Unit>,
    pub better: Direction,
    scale: Scale,
}

/// Two factors, since dividing by 1e9 is exact where multiplying by 1e-9 is not.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scale {
    times: f64,
    over: f64,
}

const AS_IS: Scale = Scale { times: 1.0, over: 1.0 };

impl Measure {
    /// A quantity of which less is better, in the unit itself.
    pub fn less(unit: Option<Unit>) -> Self {
        Measure { unit, better: Direction::Less, scale: AS_IS }
    }

    /// A quantity of which more is better; rates have no unit of their own.
    fn rate() -> Self {
        Measure { unit: None, better: Direction::More, scale: AS_IS }
    }

    /// The same with the direction that the file tells.
    pub fn better(self, better: Direction) -> Self {
        Measure { better, ..self }
    }

    /// From the unit of the file to the unit of the data set.
    pub fn convert(&self, value: f64) -> f64 {
        value * self.scale.times / self.scale.over
    }

    /// Reads a unit such as `ns/op`, `msec`, `MB/s`, `p99-ns`, `allocs/op`. What is not known stays as it is.
    pub fn of(text: &str) -> Self {
        let (above, below) = text.split_once('/').unwrap_or((text, ""));
        if time_scale(below).is_some() {
            return Measure::rate();
        }
        let last = above.rsplit('-').next().unwrap_or(above);
        let known = |unit, scale| Measure { unit: Some(unit), better: Direction::Less, scale };
        if let Some(scale) = time_scale(last) {
            known(Unit::Seconds, scale)
        } else if let Some(scale) = byte_scale(last) {
            known(Unit::Bytes, scale)
        } else if matches!(last, "allocs" | "count" | "counts" | "integer") {
            known(Unit::Count, AS_IS)
        } else {
            Measure::less(None)
        }
    }
}

fn time_scale(unit: &str) -> Option<Scale> {
    let over = |over| Some(Scale { times: 1.0, over });
    let times = |times| Some(Scale { times, over: 1.0 });
    match unit {
        "s" | "sec" | "secs" | "second" | "seconds" => times(1.0),
        "ms" | "msec" | "millisecond" | "milliseconds" => over(1e3),
        "us" | "µs" | "μs" | "usec" | "microsecond" | "microseconds" => over(1e6),
        "ns" | "nsec" | "nanosecond" | "nanoseconds" => over(1e9),
        "ps" | "picosecond" | "picoseconds" => over(1e12),
        "min" | "minute" | "minutes" => times(60.0),
        "h" | "hr" | "hour" | "hours" => times(3_600.0),
        "day" | "days" => times(86_400.0),
        _ => None,
    }
}

fn byte_scale(unit: &str) -> Option<Scale> {
    let times = match unit {
        "B" | "byte" | "bytes" | "Bytes" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" => 1_024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        _ => return None,
    };
    Some(Scale { times, over: 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_the_tools_are_understood() {
        let known = |text: &str| (Measure::of(text).unit, Measure::of(text).better);
        assert_eq!(known("ns/op"), (Some(Unit::Seconds), Direction::Less));
        assert_eq!(known("p99-ns"), (Some(Unit::Seconds), Direction::Less));
        assert_eq!(known("B/op"), (Some(Unit::Bytes), Direction::Less));
        assert_eq!(known("allocs/op"), (Some(Unit::Count), Direction::Less));
        assert_eq!(known("MB/s"), (None, Direction::More));
        assert_eq!(known("ops/us"), (None, Direction::More));
        assert_eq!(known("Joules"), (None, Direction::Less));
        assert_eq!(known(""), (None, Direction::Less));
    }

    #[test]
    fn conversion_is_rounded_once() {
        assert_eq!(Measure::of("ns/op").convert(1234.0), 1.234e-6);
        assert_eq!(Measure::of("msec").convert(0.7972), 0.0007972);
        assert_eq!(Measure::of("hr/op").convert(0.5), 1_800.0);
        assert_eq!(Measure::of("MiB").convert(2.0), 2_097_152.0);
        assert_eq!(Measure::of("MB/s").convert(5.5), 5.5);
    }
}
