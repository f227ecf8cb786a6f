//! `perf stat -j` (one JSON object a line) and `perf stat -x,` (fields with a delimiter). One data set per event, and
//! per CPU or socket where they were counted apart. Without `-r` the number is a value, and a file to which several
//! runs were appended holds a sample; intervals of `-I` are values too. With `-r` the number is a mean of runs
//! that are not in the file: it is printed, with the percentage that perf calls variance and that is the standard
//! error of the mean. Events that were not counted or not supported are left out.

use serde::Deserialize;

use crate::model::{DataSet, Schedule, Unit};

use super::error::{Fault, excerpt};
use super::gather::Gathering;
use super::glimpse::{Glimpse, Shape};
use super::json::{self, Number};
use super::source::{Source, metric};
use super::units::Measure;
use super::{Format, number};

pub(super) const FORMAT: Format =
    Format { name: "perf-stat", title: "output of perf stat -j or -x,", detect, read };

fn detect(glimpse: &Glimpse<'_>) -> bool {
    match glimpse.shape {
        Shape::Object => glimpse.has(&["counter-value", "event"]),
        Shape::Text => glimpse.lines().find(|line| is_data(line)).is_some_and(|line| fields(line).is_some()),
        _ => false,
    }
}

/// `-o` writes a comment with the date and an empty line.
fn is_data(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#')
}

fn read(source: &Source<'_>) -> Result<Vec<DataSet>, Fault> {
    let mut events = Gathering::default();
    for (number, line) in source.lines().filter(|(_, line)| is_data(line)) {
        let count = match line.trim_start().starts_with('{') {
            true => object(&line).map_err(|fault| at(number, fault))?,
            false => Some(fields(&line).ok_or_else(|| no_fields(number, &line))?),
        };
        if let Some(count) = count {
            add(source, &mut events, number, count)?;
        }
    }
    let mut sets = events.finish();
    sets.iter_mut().for_each(|set| set.schedule = Schedule::Unknown);
    Ok(sets)
}

/// What a line says about one event.
#[derive(Debug, PartialEq)]
struct Count {
    /// A number, or `<not counted>`.
    value: String,
    unit: String,
    event: String,
    variance_percent: Option<f64>,
    /// CPU, core, socket or thread that was counted.
    place: Option<String>,
    /// Share of the time in which the event was really counted; the value is scaled up from it.
    running_percent: Option<f64>,
}

fn add(source: &Source<'_>, events: &mut Gathering, line: usize, count: Count) -> Result<(), Fault> {
    if count.value.starts_with('<') || count.event.is_empty() {
        return Ok(());
    }
    let value = number::parse(count.value.as_bytes());
    let value = value.ok_or_else(|| Fault::not_a_number(line, count.value.as_bytes()))?;
    let measure =
        if count.unit.is_empty() { Measure::less(Some(Unit::Count)) } else { Measure::of(&count.unit) };
    let set = events.entry(format!("{}\n{:?}", count.event, count.place), || {
        let mut set = source.data_set(source.file, metric(count.event.as_str(), &measure));
        set.parameters.extend(count.place.map(|place| ("place".to_owned(), place)));
        set.origin.line = line;
        set
    });
    match count.variance_percent {
        None => set.values.push(measure.convert(value)),
        Some(percent) => set.printed.extend([mean(&count.unit, value), ("variance [%]".to_owned(), percent)]),
    }
    let scaled = count.running_percent.filter(|percent| *percent != 100.0);
    set.printed.extend(scaled.map(|percent| ("running [%]".to_owned(), percent)));
    Ok(())
}

fn mean(unit: &str, value: f64) -> (String, f64) {
    (if unit.is_empty() { "mean".to_owned() } else { format!("mean [{unit}]") }, value)
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Object {
    counter_value: Option<serde_json::Value>,
    #[serde(default)]
    unit: String,
    event: Option<String>,
    variance: Option<Number>,
    pcnt_running: Option<Number>,
    cpu: Option<serde_json::Value>,
    core: Option<String>,
    socket: Option<String>,
    die: Option<String>,
    node: Option<String>,
    thread: Option<String>,
}

/// `None` for lines that only hold a derived metric.
fn object(line: &str) -> Result<Option<Count>, Fault> {
    let object: Object = json::parse(line.as_bytes())?;
    let (Some(value), Some(event)) = (&object.counter_value, object.event) else { return Ok(None) };
    let cpu = object.cpu.as_ref().map(json::plain_text);
    Ok(Some(Count {
        value: json::plain_text(value),
        unit: object.unit,
        event,
        variance_percent: object.variance.map(|number| number.0),
        place: cpu.or(object.core).or(object.socket).or(object.die).or(object.node).or(object.thread),
        running_percent: object.pcnt_running.map(|number| number.0),
    }))
}

/// The faults of a line of JSON know nothing of the lines before it.
fn at(line: usize, fault: Fault) -> Fault {
    match fault {
        Fault::Malformed { reason, .. } => Fault::at(line, reason),
        other => other,
    }
}

fn no_fields(line: usize, text: &str) -> Fault {
    Fault::at(line, format!("{:?} is no count of an event", excerpt(text.as_bytes())))
}

/// Reads a line with any of the usual delimiters. Before the value there may be a time and a place with the number of
/// CPUs in it, so that the value is found by what follows it: a unit that is no number, and an event.
fn fields(line: &str) -> Option<Count> {
    [',', ';', '\t', '|'].iter().find_map(|delimiter| {
        let fields: Vec<&str> = line.split(*delimiter).map(str::trim).collect();
        let start = (0..4).find(|start| is_count(fields.get(*start..).unwrap_or(&[])))?;
        Some(count(&fields[..start], &fields[start..]))
    })
}

/// A value, a unit or nothing, an event, and a time or a variance after it.
fn is_count(fields: &[&str]) -> bool {
    let [value, unit, event, after, ..] = fields else { return false };
    let counted = is_number(value) || matches!(*value, "<not counted>" | "<not supported>");
    let derived = value.is_empty() && unit.is_empty() && event.is_empty();
    let named = !event.is_empty() && !is_number(event) && !is_number(unit);
    derived || counted && named && is_number(after.trim_end_matches('%'))
}

fn is_number(text: &str) -> bool {
    number::parse(text.as_bytes()).is_some()
}

fn count(before: &[&str], fields: &[&str]) -> Count {
    let variance = fields[3].strip_suffix('%').and_then(|percent| number::parse(percent.as_bytes()));
    let running = fields.get(if variance.is_some() { 5 } else { 4 });
    let place = before.iter().find(|field| !is_number(field) && !field.is_empty());
    Count {
        value: fields[0].to_owned(),
        unit: fields[1].to_owned(),
        event: fields[2].to_owned(),
        variance_percent: variance,
        place: place.map(|place| (*place).to_owned()),
        running_percent: running.and_then(|percent| number::parse(percent.as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> (String, String, Option<String>) {
        let count = fields(line).unwrap();
        (count.value, count.event, count.place)
    }

    #[test]
    fn the_value_is_found_behind_times_and_places() {
        let expected = |value: &str, event: &str, place: Option<&str>| {
            (value.to_owned(), event.to_owned(), place.map(str::to_owned))
        };
        assert_eq!(
            found("0.74,msec,task-clock,739924,100.00,1.775,CPUs utilized"),
            expected("0.74", "task-clock", None)
        );
        assert_eq!(
            found("     0.103297795,75,,page-faults,1197455,100.00,62.633,K/sec"),
            expected("75", "page-faults", None)
        );
        assert_eq!(
            found("CPU0,39,,context-switches,101679568,100.00,383.562,/sec"),
            expected("39", "context-switches", Some("CPU0"))
        );
        assert_eq!(found("1.001;S0;2;39;;cycles;101679568;100.00;;"), expected("39", "cycles", Some("S0")));
        assert_eq!(found("<not supported>,,cycles,0,100.00,,"), expected("<not supported>", "cycles", None));
    }

    #[test]
    fn plain_columns_are_no_counts() {
        for line in ["1,2,3,4,5", "1 2 3", "1,a", "a,b,c,d", "", ",,,"] {
            assert!(fields(line).is_none() || line == ",,,", "{line}");
        }
    }
}
