//! Metrics that stand in the output of a program, as typed: `NAME[,OPTIONS]=PATTERN`.

use super::PlanError;
use crate::model::{Direction, Metric, Noise, Pattern, Source, Unit, known_metric};

/// What a pattern starts with when it is a JSON pointer.
const JSON_MARK: &str = "json:";

/// `qps,more=QPS: ([0-9.]+)` or `latency,ms=json:/p99`.
pub fn metric_from(text: &str) -> Result<Metric, PlanError> {
    let wrong = |what: String| PlanError::OutputMetric { text: text.to_owned(), what };
    let (head, pattern) = text.split_once('=').ok_or_else(|| wrong("it has no `=`".into()))?;
    let mut words = head.split(',').map(str::trim);
    let name = words.next().unwrap_or_default();
    if name.is_empty() || known_metric(name).is_some() {
        return Err(wrong(format!("`{name}` cannot be its name")));
    }
    let mut metric = Metric {
        name: name.to_owned(),
        unit: Unit::Number,
        better: Direction::Less,
        noise: Noise::Noisy,
        source: None,
    };
    let mut scale = 1.0;
    for word in words {
        match (word, unit(word)) {
            ("more", _) => metric.better = Direction::More,
            ("less", _) => metric.better = Direction::Less,
            (_, Some((unit, factor))) => (metric.unit, scale) = (unit, factor),
            _ => return Err(wrong(format!("`{word}` is neither a unit nor `more` or `less`"))),
        }
    }
    metric.source = Some(Source { pattern: self::pattern(pattern).map_err(wrong)?, scale });
    Ok(metric)
}

fn unit(word: &str) -> Option<(Unit, f64)> {
    Some(match word {
        "s" => (Unit::Seconds, 1.0),
        "ms" => (Unit::Seconds, 1e-3),
        "us" | "µs" => (Unit::Seconds, 1e-6),
        "ns" => (Unit::Seconds, 1e-9),
        "B" => (Unit::Bytes, 1.0),
        "kB" => (Unit::Bytes, 1e3),
        "MB" => (Unit::Bytes, 1e6),
        "GB" => (Unit::Bytes, 1e9),
        "KiB" => (Unit::Bytes, 1024.0),
        "MiB" => (Unit::Bytes, 1_048_576.0),
        "count" => (Unit::Count, 1.0),
        _ => return None,
    })
}

fn pattern(text: &str) -> Result<Pattern, String> {
    if let Some(pointer) = text.strip_prefix(JSON_MARK) {
        let is_pointer = pointer.is_empty() || pointer.starts_with('/');
        return if is_pointer {
            Ok(Pattern::JsonPointer(pointer.to_owned()))
        } else {
            Err("a JSON pointer starts with `/`".to_owned())
        };
    }
    // Bytes, not characters: output need not be UTF-8, and tables of characters would be most of the program.
    let expression = regex::bytes::RegexBuilder::new(text).unicode(false).build();
    expression.map_err(|error| error.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" "))?;
    Ok(Pattern::Regex(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_units_and_directions_are_read() {
        let metric = metric_from("qps,more=QPS: ([0-9.]+)=x").unwrap();
        assert_eq!(
            (metric.name.as_str(), metric.better, metric.unit),
            ("qps", Direction::More, Unit::Number)
        );
        let source = metric.source.unwrap();
        assert_eq!(source.pattern, Pattern::Regex("QPS: ([0-9.]+)=x".into()));
        let metric = metric_from("p99,ms=json:/a/b").unwrap();
        assert_eq!(metric.unit, Unit::Seconds);
        let source = metric.source.unwrap();
        assert_eq!((source.pattern, source.scale), (Pattern::JsonPointer("/a/b".into()), 1e-3));
    }

    #[test]
    fn mistakes_are_named() {
        for wrong in ["qps", "=x", "wall_s=x", "a,furlong=x", "a=(", "a=json:b"] {
            assert!(metric_from(wrong).is_err(), "{wrong}");
        }
    }
}
