//! Parameters: lists and scans of values, and their placeholders `{name}` in everything that is typed.

use rust_decimal::Decimal;

use super::PlanError;
use crate::model::{ByteText, Edit, Launch};

/// More values than anybody measures are a mistake in the step.
const MOST_VALUES: usize = 100_000;

/// A name with the values that it takes, as they are written into commands.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub values: Vec<String>,
}

/// A value of a parameter, put in for its placeholder.
pub type Binding<'a> = (&'a str, &'a str);

/// `a,b,c`; `\,` is a comma in a value and `\\` a backslash, any other backslash stays.
pub fn list(name: &str, text: &str) -> Parameter {
    let mut values = vec![String::new()];
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let last = values.len() - 1;
        match c {
            '\\' if matches!(characters.peek(), Some(',' | '\\')) => values[last].extend(characters.next()),
            ',' => values.push(String::new()),
            c => values[last].push(c),
        }
    }
    Parameter { name: name.to_owned(), values }
}

/// From `min` to `max`, both included, by a step; whole numbers need none.
pub fn scan(name: &str, min: &str, max: &str, step: Option<&str>) -> Result<Parameter, PlanError> {
    let (low, high) = (decimal(name, min)?, decimal(name, max)?);
    let step = match step {
        Some(step) => decimal(name, step)?,
        None if low.is_integer() && high.is_integer() => Decimal::ONE,
        None => return Err(scan_error(name, "a scan of fractions needs --parameter-step-size")),
    };
    if step <= Decimal::ZERO {
        return Err(scan_error(name, "the step must be more than 0"));
    }
    collect(name, low, high, |value| value.checked_add(step))
}

/// From `min` to `max` by a factor: the sizes for a growth curve.
pub fn geometric(name: &str, min: &str, max: &str, factor: &str) -> Result<Parameter, PlanError> {
    let (low, high, factor) = (decimal(name, min)?, decimal(name, max)?, decimal(name, factor)?);
    if factor <= Decimal::ONE || low <= Decimal::ZERO {
        return Err(scan_error(name, "a geometric scan starts above 0 and has a factor above 1"));
    }
    collect(name, low, high, |value| value.checked_mul(factor))
}

/// Decimals are added exactly, so that the third step of 0.1 is 0.3.
fn collect(
    name: &str,
    low: Decimal,
    high: Decimal,
    next: impl Fn(Decimal) -> Option<Decimal>,
) -> Result<Parameter, PlanError> {
    if low > high {
        return Err(scan_error(name, "the end is below the start"));
    }
    let scale = low.scale();
    let values: Vec<String> = std::iter::successors(Some(low), |&value| next(value))
        .take_while(|&value| value <= high)
        .take(MOST_VALUES + 1)
        .map(|value| written(value, scale))
        .collect();
    if values.len() > MOST_VALUES {
        return Err(scan_error(name, "these are more than 100000 values"));
    }
    Ok(Parameter { name: name.to_owned(), values })
}

/// `0`, `0.1`, ... `1.0`: as many places as the value needs, at least those of the start.
fn written(value: Decimal, scale: u32) -> String {
    let mut value = value.normalize();
    if value.scale() < scale {
        value.rescale(scale);
    }
    value.to_string()
}

fn decimal(name: &str, text: &str) -> Result<Decimal, PlanError> {
    let parsed = text.trim().parse::<Decimal>().or_else(|_| Decimal::from_scientific(text.trim()));
    parsed.map_err(|_| PlanError::Scan { name: name.to_owned(), what: format!("`{text}` is not a number") })
}

fn scan_error(name: &str, what: &str) -> PlanError {
    PlanError::Scan { name: name.to_owned(), what: what.to_owned() }
}

/// Puts values in for placeholders, once, from left to right: a value that looks like a placeholder stays.
pub fn substitute(text: &[u8], bindings: &[Binding<'_>]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.iter().position(|&byte| byte == b'{') {
        result.extend_from_slice(&rest[..open]);
        rest = &rest[open..];
        match bindings.iter().find(|(name, _)| is_placeholder(rest, name)) {
            Some((name, value)) => {
                result.extend_from_slice(value.as_bytes());
                rest = &rest[name.len() + 2..];
            }
            None => {
                result.push(b'{');
                rest = &rest[1..];
            }
        }
    }
    result.extend_from_slice(rest);
    result
}

fn is_placeholder(text: &[u8], name: &str) -> bool {
    text.len() >= name.len() + 2 && &text[1..=name.len()] == name.as_bytes() && text[name.len() + 1] == b'}'
}

/// Names in braces that look like placeholders: letters, digits, `_` and `-`, starting with a letter.
pub fn placeholders(text: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    for (index, _) in text.iter().enumerate().filter(|&(_, &byte)| byte == b'{') {
        let rest = &text[index + 1..];
        let Some(close) = rest.iter().position(|&byte| byte == b'}') else { continue };
        let is_name = rest.first().is_some_and(u8::is_ascii_alphabetic)
            && rest[..close].iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        if is_name {
            names.push(String::from_utf8_lossy(&rest[..close]).into_owned());
        }
    }
    names
}

/// The text with its values.
pub fn bound(text: &ByteText, bindings: &[Binding<'_>]) -> ByteText {
    ByteText(substitute(&text.0, bindings))
}

/// Every placeholder of a launch.
pub fn bind_launch(launch: &mut Launch, bindings: &[Binding<'_>]) {
    launch.argv.iter_mut().for_each(|word| *word = bound(word, bindings));
    for (name, value) in &mut launch.env {
        *name = bound(name, bindings);
        *value = value.take().map(|value| bound(&value, bindings));
    }
    launch.cwd = launch.cwd.take().map(|path| bound_path(path, bindings));
    if let crate::model::Input::File(path) = &mut launch.stdin {
        *path = bound_path(std::mem::take(path), bindings);
    }
}

fn bound_path(path: std::path::PathBuf, bindings: &[Binding<'_>]) -> std::path::PathBuf {
    bound(&path.into_os_string().into(), bindings).as_os_str().into()
}

/// The texts of edits in which placeholders count.
pub fn texts(edit: &Edit) -> Vec<&[u8]> {
    match edit {
        Edit::Argv(words) | Edit::Hook(_, words) => words.iter().map(|word| word.0.as_slice()).collect(),
        Edit::SetEnv(name, value) => vec![&name.0, &value.0],
        Edit::UnsetEnv(name) => vec![&name.0],
        Edit::Directory(path) | Edit::Stdin(crate::model::Input::File(path)) => {
            vec![std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str())]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(parameter: Result<Parameter, PlanError>) -> Vec<String> {
        parameter.expect("values").values
    }

    #[test]
    fn lists_split_at_commas_that_are_not_escaped() {
        assert_eq!(list("p", "a,b,,c").values, ["a", "b", "", "c"]);
        assert_eq!(list("p", r"a\,b,c\\,\d").values, ["a,b", r"c\", r"\d"]);
        assert_eq!(list("p", "").values, [""]);
    }

    #[test]
    fn scans_are_exact_and_include_the_end() {
        let tenths = values(scan("p", "0", "1", Some("0.1")));
        assert_eq!(tenths.len(), 11);
        assert_eq!((tenths[0].as_str(), tenths[3].as_str(), tenths[10].as_str()), ("0", "0.3", "1"));
        assert_eq!(values(scan("p", "1", "3", None)), ["1", "2", "3"]);
        assert_eq!(values(scan("p", "1.0", "1.2", Some("0.1"))), ["1.0", "1.1", "1.2"]);
        assert_eq!(values(geometric("p", "1e3", "8000", "2")), ["1000", "2000", "4000", "8000"]);
    }

    #[test]
    fn impossible_scans_are_refused_at_once() {
        for (min, max, step) in [
            ("1", "10", Some("0")),
            ("1", "10", Some("-1")),
            ("1", "200000", None),
            ("0.1", "1", None),
            ("x", "1", None),
            ("5", "1", None),
        ] {
            assert!(scan("p", min, max, step).is_err(), "{min} {max} {step:?}");
        }
        assert!(geometric("p", "1", "10", "1").is_err());
        assert!(geometric("p", "0", "10", "2").is_err());
    }

    #[test]
    fn substitution_is_one_pass() {
        let text = |template: &str, bindings: &[Binding<'_>]| {
            String::from_utf8(substitute(template.as_bytes(), bindings)).unwrap()
        };
        assert_eq!(text("a {a} {b} {c}", &[("a", "x,{b}"), ("b", "1")]), "a x,{b} 1 {c}");
        assert_eq!(text("{{a}}", &[("a", "1")]), "{1}");
        assert_eq!(text("{", &[("a", "1")]), "{");
    }

    #[test]
    fn only_names_count_as_placeholders() {
        assert_eq!(placeholders(b"awk '{print $1}' {file} {a,b} {} {1..3} {n-2}"), ["file", "n-2"]);
    }
}
