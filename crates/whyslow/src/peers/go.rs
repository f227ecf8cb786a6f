//! Text of Go's `testing` package: lines such as `BenchmarkName-8 1000 1234 ns/op 16 B/op 1 allocs/op` among
//! whatever else `go test` prints. Lines of the same name are one sample per unit. `key: value` lines are settings of
//! the results after them, `Unit NAME better=higher` says which way is better. As benchstat does, the name is kept without
//! `Benchmark`, and the `-8` becomes the setting `gomaxprocs`. The number of iterations of a line is not kept.

use std::collections::HashMap;

use crate::model::{DataSet, Direction};

use super::error::{Fault, excerpt};
use super::gather::Gathering;
use super::glimpse::Glimpse;
use super::source::{Source, metric};
use super::units::Measure;
use super::{Format, number};

pub(super) const FORMAT: Format = Format { name: "go", title: "benchmark text of Go", detect, read };

fn detect(glimpse: &Glimpse<'_>) -> bool {
    glimpse.lines().any(|line| result_line(line).is_some())
}

fn read(source: &Source<'_>) -> Result<Vec<DataSet>, Fault> {
    let mut file = File::default();
    for (number, line) in source.lines() {
        if let Some(result) = result_line(&line) {
            file.add(source, number, &result)?;
        } else if let Some(words) = line.strip_prefix("Unit ") {
            file.direction(words);
        } else if let Some((key, value)) = setting(&line) {
            file.set(key, value);
        }
    }
    Ok(file.finish())
}

#[derive(Default)]
struct File {
    settings: Vec<(String, String)>,
    /// The same as one text, since every line is looked up by it.
    settings_key: String,
    directions: HashMap<String, Direction>,
    samples: Gathering,
}

impl File {
    /// A later line with the same key replaces the earlier one; without a value it ends it. Who has more settings than
    /// that has a log in the file.
    fn set(&mut self, key: &str, value: &str) {
        const MOST: usize = 100;
        self.settings.retain(|(name, _)| name != key);
        if !value.is_empty() && self.settings.len() < MOST {
            self.settings.push((key.to_owned(), value.to_owned()));
        }
        self.settings_key = format!("{:?}", self.settings);
    }

    fn direction(&mut self, words: &str) {
        let mut words = words.split_whitespace();
        let Some(unit) = words.next() else { return };
        for word in words {
            let direction = match word {
                "better=higher" => Direction::More,
                "better=lower" => Direction::Less,
                _ => continue,
            };
            self.directions.insert(unit.to_owned(), direction);
        }
    }

    fn add(&mut self, source: &Source<'_>, line: usize, result: &ResultLine<'_>) -> Result<(), Fault> {
        let (name, processors) = split_name(result.name);
        let identity = format!("{name}\n{}\n{}", processors.unwrap_or(""), self.settings_key);
        self.samples.turn(&identity);
        for (value, unit) in pairs(line, result)? {
            let measure = Measure::of(unit);
            let set = self.samples.entry(format!("{identity}\n{unit}"), || {
                let mut set = source.data_set(name, metric(unit, &measure));
                set.parameters = self.settings.clone();
                set.parameters.extend(processors.map(|count| ("gomaxprocs".to_owned(), count.to_owned())));
                set.origin.line = line;
                set
            });
            set.values.push(measure.convert(value));
        }
        Ok(())
    }

    fn finish(self) -> Vec<DataSet> {
        let mut sets = self.samples.finish();
        for set in &mut sets {
            set.metric.better = *self.directions.get(&set.metric.name).unwrap_or(&set.metric.better);
        }
        sets
    }
}

struct ResultLine<'a> {
    name: &'a str,
    /// After the number of iterations.
    measurements: Vec<&'a str>,
}

/// A name that begins with `Benchmark` and no small letter after it, then a whole number. Anything else, such as the lone
/// name that `-v` prints or what a benchmark logs, is no result.
fn result_line(line: &str) -> Option<ResultLine<'_>> {
    let after = line.strip_prefix("Benchmark")?;
    if after.chars().next()?.is_lowercase() {
        return None;
    }
    let mut words = line.split_whitespace();
    let name = words.next()?;
    words.next()?.parse::<u64>().ok()?;
    Some(ResultLine { name, measurements: words.collect() })
}

fn pairs<'a>(line: usize, result: &ResultLine<'a>) -> Result<Vec<(f64, &'a str)>, Fault> {
    if result.measurements.is_empty() {
        return Err(Fault::at(line, format!("{} has no measurement", excerpt(result.name.as_bytes()))));
    }
    let pairs = result.measurements.chunks(2).map(|pair| match *pair {
        [value, unit] => match number::parse(value.as_bytes()) {
            Some(value) => Ok((value, unit)),
            None => Err(Fault::at(line, format!("{:?} is not a number", excerpt(value.as_bytes())))),
        },
        _ => Err(Fault::at(line, format!("{:?} has no unit", excerpt(pair[0].as_bytes())))),
    });
    pairs.collect()
}

/// `BenchmarkSort/n=10-8` is `Sort/n=10` on 8 processors.
fn split_name(name: &str) -> (&str, Option<&str>) {
    let short = name.strip_prefix("Benchmark").filter(|rest| !rest.is_empty()).unwrap_or(name);
    match short.rsplit_once('-') {
        Some((before, count)) if !before.is_empty() && is_whole_number(count) => (before, Some(count)),
        _ => (short, None),
    }
}

fn is_whole_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `pkg: example.org/sort`: the key begins with a small letter and has neither spaces nor capitals.
fn setting(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let plain =
        key.starts_with(char::is_lowercase) && !key.contains(|c: char| c.is_whitespace() || c.is_uppercase());
    let separate = value.is_empty() || value.starts_with([' ', '\t']);
    (plain && separate).then(|| (key, value.trim()))
}
