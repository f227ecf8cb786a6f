//! Values that have a form of their own: times, shares, CPUs, outputs, exports. Each says what it expected.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use clap::Arg;
use clap::builder::{
    OsStringValueParser, PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser,
};

use super::probe::ProbeList;
use crate::model::{Edit, Expectation, KNOWN_METRICS, KNOWN_PROBES, Preload, Shim};
use crate::report;

/// `FORM=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    pub form: String,
    pub file: PathBuf,
}

/// Where the standard output goes, as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputPolicy {
    Pipe,
    Null,
    Inherit,
    File(PathBuf),
}

/// Numbers of CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpus(pub Vec<usize>);

/// `30` is seconds; `90s`, `5m`, `1h 30m` and `500ms` have units.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let wrong = || "not a time such as 30, 90s, 5m or 1h".to_owned();
    if let Ok(seconds) = text.trim().parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).map_err(|_| wrong());
    }
    let span: jiff::SignedDuration = text.parse().map_err(|_| wrong())?;
    Duration::try_from(span).map_err(|_| wrong())
}

/// `2`, `2%` and `2 %`.
pub fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    number.parse().map_err(|_| "not a number of per cent such as 2 or 0.5".to_owned())
}

pub fn parse_output(text: &str) -> Result<OutputPolicy, String> {
    match text {
        "pipe" => Ok(OutputPolicy::Pipe),
        "null" => Ok(OutputPolicy::Null),
        "inherit" => Ok(OutputPolicy::Inherit),
        file if file.contains('/') => Ok(OutputPolicy::File(file.into())),
        other => Err(format!("not pipe, null or inherit; write ./{other} for a file of that name")),
    }
}

/// `0,2-3`.
pub fn parse_cpus(text: &str) -> Result<Cpus, String> {
    let wrong = || "not a list of CPUs such as 0,2-3".to_owned();
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) =
            (first.trim().parse().map_err(|_| wrong())?, last.trim().parse().map_err(|_| wrong())?);
        if first > last || last >= MOST_CPUS {
            return Err(wrong());
        }
        cpus.extend(first..=last);
    }
    Ok(Cpus(cpus))
}

/// More than any machine that Linux runs on.
const MOST_CPUS: usize = 8_192;

/// An edit as typed, with what the child must have then.
#[derive(Clone, Debug, PartialEq)]
pub struct TypedEdit {
    pub text: String,
    pub edit: Edit,
    pub expect: Option<Expectation>,
}

/// `NAME=VALUE`, `-NAME`, `preload=LIBRARY`, `cpus=LIST`, `wrap=WORDS`.
pub fn parse_edit(text: &str) -> Result<TypedEdit, String> {
    let typed = |edit, expect| Ok(TypedEdit { text: text.to_owned(), edit, expect });
    let has = |fact: String, contains: &str| Some(Expectation { fact, contains: contains.to_owned() });
    if let Some(name) = text.strip_prefix('-').filter(|name| is_variable(name)) {
        return typed(Edit::UnsetEnv(name.into()), None);
    }
    let Some((name, value)) = text.split_once('=') else {
        return Err(
            "not an edit such as LC_ALL=C, -LANG, preload=mimalloc, cpus=0 or wrap='nice -n 5'".to_owned()
        );
    };
    match name {
        "preload" if value.is_empty() => Err("preload= needs a library, or mimalloc".to_owned()),
        "preload" => {
            let preload = preload(value);
            // The child tells libraries by what their links lead to.
            let file = std::fs::canonicalize(value).unwrap_or_else(|_| value.into());
            let name = file.file_name().map_or(value.into(), OsStr::to_string_lossy);
            typed(Edit::Preload(preload), has("library.".to_owned(), &name))
        }
        "cpus" => typed(Edit::Affinity(parse_cpus(value)?.0), has("cpu.affinity".to_owned(), "")),
        "wrap" => match shell_words::split(value) {
            Ok(words) if !words.is_empty() => {
                typed(Edit::Wrap(words.iter().map(|word| word.as_str().into()).collect()), None)
            }
            Ok(_) => Err("wrap= needs words to put in front of the command".to_owned()),
            Err(_) => Err("a quote in wrap= is not closed".to_owned()),
        },
        name if is_variable(name) => {
            typed(Edit::SetEnv(name.into(), value.into()), has(format!("env.{name}"), value))
        }
        name => Err(format!("`{name}` is neither preload, cpus, wrap nor the name of a variable")),
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn preload(name: &str) -> Preload {
    let shim = Shim::ALL.into_iter().find(|shim| shim.name() == name);
    match (name, shim) {
        ("mimalloc", _) => Preload::Mimalloc,
        (_, Some(shim)) => Preload::Shim(shim),
        (library, None) => Preload::File(library.into()),
    }
}

/// A run that may take no time at all cannot succeed.
pub fn parse_limit(text: &str) -> Result<Duration, String> {
    match parse_time(text)? {
        Duration::ZERO => Err("must be above 0".to_owned()),
        limit => Ok(limit),
    }
}

pub fn views() -> PossibleValuesParser {
    PossibleValuesParser::new(report::VIEWS.iter().map(|view| view.name))
}

/// Any text, and shells are told the metrics that every experiment has.
#[derive(Clone)]
pub struct MetricParser;

impl TypedValueParser for MetricParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(KNOWN_METRICS.iter().map(|metric| PossibleValue::new(metric.name))))
    }
}

/// The name of a probe, or `all`; a wrong one is told the nearest.
#[derive(Clone)]
pub struct ProbeParser;

impl TypedValueParser for ProbeParser {
    type Value = ProbeList;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<ProbeList, clap::Error> {
        StringValueParser::new().try_map(|text| parse_probe(&text)).parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = KNOWN_PROBES.iter().map(|known| known.name).chain(["all"]);
        Some(Box::new(names.map(PossibleValue::new)))
    }
}

fn parse_probe(text: &str) -> Result<ProbeList, String> {
    let text = text.trim();
    if text == "all" {
        return Ok(ProbeList::All);
    }
    if let Some(known) = KNOWN_PROBES.iter().find(|known| known.name == text) {
        return Ok(ProbeList::One(known.probe));
    }
    let names: Vec<&str> = KNOWN_PROBES.iter().map(|known| known.name).collect();
    let likeness = |name: &str| strsim::jaro_winkler(&text.to_lowercase(), name);
    let near = names.iter().max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    let near = near.filter(|name| likeness(name) > 0.7).map(|name| format!("did you mean {name}? "));
    Err(format!("{}known are {}, and all", near.unwrap_or_default(), names.join(", ")))
}

/// `FORM=FILE`, and shells are told the forms.
#[derive(Clone)]
pub struct ExportParser;

impl TypedValueParser for ExportParser {
    type Value = Exported;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Exported, clap::Error> {
        OsStringValueParser::new().try_map(|text| parse_export(&text)).parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(forms().map(|form| PossibleValue::new(format!("{form}=")))))
    }
}

/// The name of a file may be any bytes.
fn parse_export(text: &OsStr) -> Result<Exported, String> {
    let bytes = text.as_bytes();
    let sign =
        bytes.iter().position(|&byte| byte == b'=').ok_or("not FORM=FILE, such as markdown=result.md")?;
    let form = String::from_utf8_lossy(&bytes[..sign]);
    let form = parse_name(&form, forms())?;
    Ok(Exported { form, file: OsStr::from_bytes(&bytes[sign + 1..]).into() })
}

/// Of results and of profiles.
fn forms() -> impl Iterator<Item = &'static str> + Clone {
    let profiles = report::exports::PROFILE_EXPORTS.iter().map(|export| export.name);
    report::EXPORTS.iter().map(|export| export.name).chain(profiles)
}

fn parse_name<'a>(text: &str, mut known: impl Iterator<Item = &'a str> + Clone) -> Result<String, String> {
    if known.clone().any(|name| name == text) {
        return Ok(text.to_owned());
    }
    let first = known.next().unwrap_or_default().to_owned();
    Err(format!("known are {}", known.fold(first, |names, name| names + ", " + name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_shares_take_the_usual_forms() {
        assert_eq!(parse_time("30"), Ok(Duration::from_secs(30)));
        assert_eq!(parse_time("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_time("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(parse_time("1h 30m"), Ok(Duration::from_secs(5_400)));
        for wrong in ["", "-1", "x", "1e999", "nan"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
        assert!(parse_limit("0").is_err() && parse_limit("1ms").is_ok());
        assert_eq!(parse_percent("2 %"), Ok(2.0));
        assert!(parse_percent("two").is_err());
    }
}
