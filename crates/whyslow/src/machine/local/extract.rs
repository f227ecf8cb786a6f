//! Numbers that a program prints: found in its standard output by a regular expression or a JSON pointer. What is not
//! there, or is no number, is unknown and never 0. Pure.

use regex::bytes::{Regex, RegexBuilder};
use serde_json::Value;

use crate::model::{Pattern, Source};

/// How much of the end of the output is looked at. A number in what comes before it is not found.
pub const LOOKED_AT_BYTES: usize = 16 << 20;

/// Expressions that are kept ready; an experiment has a few.
const READY_LIMIT: usize = 64;

/// Expressions that were compiled before; `None` for one that is none.
#[derive(Default)]
pub struct Extractor {
    ready: Vec<(String, Option<Regex>)>,
}

impl Extractor {
    /// The number in the unit of the metric.
    pub fn number(&mut self, source: &Source, output: &[u8]) -> Option<f64> {
        let printed = match &source.pattern {
            Pattern::Regex(expression) => last_match(self.compiled(expression)?, output)?,
            Pattern::JsonPointer(pointer) => at_pointer(pointer, output)?,
        };
        Some(printed * source.scale).filter(|number| number.is_finite())
    }

    fn compiled(&mut self, expression: &str) -> Option<&Regex> {
        let place = self.ready.iter().position(|(known, _)| known == expression).unwrap_or_else(|| {
            self.ready.truncate(READY_LIMIT - 1);
            self.ready
                .push((expression.to_owned(), RegexBuilder::new(expression).unicode(false).build().ok()));
            self.ready.len() - 1
        });
        self.ready[place].1.as_ref()
    }
}

/// The last, because a program that reports more than once reports its total at the end.
fn last_match(expression: &Regex, output: &[u8]) -> Option<f64> {
    let found = expression.captures_iter(output).last()?;
    let text = if expression.captures_len() > 1 { found.get(1)? } else { found.get(0)? };
    parse(std::str::from_utf8(text.as_bytes()).ok()?)
}

/// The output is one JSON value, and the number in it a number or a text that is one.
fn at_pointer(pointer: &str, output: &[u8]) -> Option<f64> {
    let whole: Value = serde_json::from_slice(output).ok()?;
    match whole.pointer(pointer)? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => parse(text),
        _ => None,
    }
}

/// `12`, `-1.5e-3`, `.5`, `1,234,567.8`; nothing before or after it but space.
fn parse(text: &str) -> Option<f64> {
    let text = text.trim();
    // Rust's own parser also takes words such as "inf".
    let is_number =
        text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b',' | b'+' | b'-' | b'e' | b'E'));
    if !is_number {
        return None;
    }
    let plain = if text.contains(',') { without_commas(text)? } else { text.to_owned() };
    plain.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Commas must stand before groups of three digits: `1,5` may be a fraction where it was written.
fn without_commas(text: &str) -> Option<String> {
    let whole_part = text.split('.').next()?;
    let rest = &text[whole_part.len()..];
    let mut groups = whole_part.split(',');
    let first = groups.next()?.trim_start_matches(['+', '-']);
    let is_group = |group: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&group.len()) && group.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_grouped =
        is_group(first, 1..=3) && groups.all(|group| is_group(group, 3..=3)) && !rest.contains(',');
    is_grouped.then(|| whole_part.replace(',', "") + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regex(expression: &str, output: &[u8]) -> Option<f64> {
        let source = Source { pattern: Pattern::Regex(expression.into()), scale: 1.0 };
        Extractor::default().number(&source, output)
    }

    fn pointer(pointer: &str, output: &str) -> Option<f64> {
        let source = Source { pattern: Pattern::JsonPointer(pointer.into()), scale: 0.5 };
        Extractor::default().number(&source, output.as_bytes())
    }

    #[test]
    fn the_first_group_of_the_last_match_or_all_of_it() {
        let output = b"time: 1.5 ms\n\xff\xfe\ntime: 2.5 ms, 7 items\n";
        assert_eq!(regex(r"time: ([0-9.]+) ms", output), Some(2.5));
        assert_eq!(regex(r"[0-9]+", output), Some(7.0));
        assert_eq!(regex(r"items: ([0-9]+)", output), None);
        assert_eq!(regex(r"time(r)?:", output), None, "the group took no part");
        assert_eq!(regex(r"(ms)", output), None);
        assert_eq!(regex(r"([0-9]", output), None, "no expression");
        assert_eq!(regex(r"x*", b""), None);
    }

    #[test]
    fn numbers_as_people_and_programs_write_them() {
        for (text, number) in [
            (" 12 ", 12.0),
            ("-1.5e-3", -0.0015),
            ("+.5", 0.5),
            ("1E6", 1e6),
            ("1,234,567.25", 1_234_567.25),
            ("-1,000", -1000.0),
            ("0", 0.0),
        ] {
            assert_eq!(parse(text), Some(number), "{text}");
        }
        for text in
            ["", ".", "inf", "NaN", "1e999", "1,5", "1,2345", ",123", "1.5,000", "12ms", "0x10", "1 2", "--1"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn json() {
        let text = r#"{"result": {"times": [1, 2.5e3], "count": "1,000", "ok": true, "none": null}}"#;
        assert_eq!(pointer("/result/times/1", text), Some(1250.0));
        assert_eq!(pointer("/result/count", text), Some(500.0));
        for absent in ["/result/ok", "/result/none", "/result/times", "/result/times/2", "/other", "result"] {
            assert_eq!(pointer(absent, text), None, "{absent}");
        }
        assert_eq!(pointer("", "4\n"), Some(2.0));
        assert_eq!(pointer("", "4 4"), None, "not one value");
    }

    #[test]
    fn scales_and_what_is_beyond_all_numbers() {
        let source = |scale| Source { pattern: Pattern::Regex(r"\S+".into()), scale };
        let mut extractor = Extractor::default();
        assert_eq!(extractor.number(&source(1e-3), b"250"), Some(0.25));
        assert_eq!(extractor.number(&source(1e300), b"1e300"), None);
        for other in 0..200 {
            let source = Source { pattern: Pattern::Regex(format!("a{{{other}}}([0-9])")), scale: 1.0 };
            extractor.number(&source, b"1");
        }
        assert!(extractor.ready.len() <= READY_LIMIT);
    }
}
