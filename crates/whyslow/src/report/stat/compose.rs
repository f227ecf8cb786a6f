//! A study as a document: verdicts first, then medians and ratios, then what the other tools said themselves.

use super::notes::notes;
use super::{Compared, Layout, Pair, Said, Study};
use crate::analysis::Verdict;
use crate::model::{DataSet, Unit};
use crate::report::compose::or_letters;
use crate::report::document::{Document, Line, Part, Table, Tone, plain, toned};
use crate::report::printable;
use crate::report::quantity::seconds_with_interval;
use crate::report::views::Judgement;
use crate::report::views::units::with_unit;

/// More comparisons than this have a table and no sentences.
const MOST_SENTENCES: usize = 6;
/// Longer names are letters in tables, explained below.
const LONGEST_IN_TABLE: usize = 14;

/// The whole study.
pub fn compose(study: &Study) -> Document {
    let mut parts = Vec::new();
    if study.pairs().count() <= MOST_SENTENCES {
        parts.push(Part::Text(study.groups.iter().flat_map(|group| sentences(study, group)).collect()));
    }
    for group in &study.groups {
        parts.push(Part::Table(table(study, group)));
        parts.extend(legend(group));
    }
    parts.push(Part::Text(printed(study)));
    let notes = notes(study).into_iter().chain([terms(study)]);
    parts.push(Part::Notes(notes.map(|note| vec![plain(note)]).collect()));
    Document { parts }
}

/// The verdicts alone.
pub fn compose_quietly(study: &Study) -> Document {
    let sentences = study.groups.iter().flat_map(|group| sentences(study, group));
    Document { parts: vec![Part::Text(sentences.collect())] }
}

fn terms(study: &Study) -> String {
    let percent = |share: f64| number((share * 1e7).round() / 1e5);
    format!("{} % confidence, margin {} %", percent(study.confidence), percent(study.margin))
}

fn sentences(study: &Study, group: &Compared) -> Vec<Line> {
    let has_metrics = study.sets.iter().any(|described| described.set.metric != study.sets[0].set.metric);
    let sentence = |pair: &Pair| {
        let metric = &study.sets[pair.base].set.metric;
        let of_metric = if has_metrics { format!(" ({})", metric.name) } else { String::new() };
        let base = base_name(study, group);
        let text = pair.judgement.sentence_about(&base, metric);
        vec![
            toned(Tone::Strong, pair.name.clone()),
            plain(of_metric + ": "),
            toned(tone(&pair.judgement), text),
        ]
    };
    group.pairs.iter().map(sentence).collect()
}

fn tone(judgement: &Judgement) -> Tone {
    match judgement.said {
        Said::Verdict(Verdict::Faster) => Tone::Faster,
        Said::Verdict(Verdict::Slower) => Tone::Slower,
        Said::Verdict(Verdict::Same) | Said::Identical => Tone::Same,
        Said::Verdict(Verdict::Undecided) | Said::Unsafe => Tone::Undecided,
        Said::NotEnough | Said::NoRatio => Tone::Plain,
    }
}

/// What the others are compared with, as it is called in sentences.
fn base_name(study: &Study, group: &Compared) -> String {
    match &group.layout {
        Layout::Series { names, .. } => names[0].clone(),
        Layout::Files { base, .. } => study.short(base),
    }
}

fn table(study: &Study, group: &Compared) -> Table {
    match &group.layout {
        Layout::Series { places, names } => series_table(study, group, (places, names)),
        Layout::Files { base, other } => files_table(study, group, base, other),
    }
}

fn series_table(study: &Study, group: &Compared, (places, names): (&[usize], &[String])) -> Table {
    let labels = labels(names);
    let metric = &study.sets[places[0]].set.metric.name;
    let mut header = vec![metric.clone(), "values".to_owned(), "median".to_owned()];
    if !group.pairs.is_empty() {
        header.extend([format!("vs {}", labels[0]), "p".to_owned(), "verdict".to_owned()]);
    }
    let row = |(row, (&place, label)): (usize, (&usize, &String))| {
        let set = study.sets[place].set;
        let mut cells = vec![label.clone(), set.values.len().to_string(), median(study, place, true)];
        match row.checked_sub(1).map(|pair| &group.pairs[pair]) {
            Some(pair) => cells.extend(judged(study, pair)),
            None => cells.resize(header.len(), String::new()),
        }
        cells
    };
    let rows = places.iter().zip(&labels).enumerate().map(row).collect();
    Table { header, rows }
}

fn files_table(study: &Study, group: &Compared, base: &str, other: &str) -> Table {
    let metric = group.pairs.first().map_or("", |pair| &study.sets[pair.base].set.metric.name);
    let header = [metric, &study.short(base), &study.short(other), "ratio", "p", "verdict"];
    let row = |pair: &Pair| {
        let medians = [pair.base, pair.other].map(|place| median(study, place, false));
        std::iter::once(pair.name.clone()).chain(medians).chain(judged(study, pair)).collect()
    };
    let mut rows: Vec<Vec<String>> = group.pairs.iter().map(row).collect();
    if let Some(mean) = &group.geometric_mean {
        let cells = [&format!("geomean of {}", mean.rows), "", "", &format!("{:.3}", mean.ratio), "", ""];
        rows.push(cells.map(String::from).to_vec());
    }
    Table { header: header.map(String::from).to_vec(), rows }
}

/// Ratio, p and verdict of a pair.
fn judged(study: &Study, pair: &Pair) -> [String; 3] {
    let change =
        || pair.change_of_medians(study).map_or("?".to_owned(), |change| format!("{:+.0} %", 100.0 * change));
    let ratio = if pair.judgement.ratio.is_some() { pair.judgement.range() } else { change() };
    let p = match pair.judgement.p {
        Some(p) if p < 0.001 => "<0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
        None => "?".to_owned(),
    };
    [ratio, p, pair.judgement.word(study.sets[pair.base].set).to_owned()]
}

fn median(study: &Study, place: usize, with_interval: bool) -> String {
    let metric = &study.sets[place].set.metric;
    let Some(figures) = study.sets[place].figures() else { return "?".to_owned() };
    let median = with_unit(figures.median, metric);
    match figures.interval.filter(|_| with_interval) {
        Some((low, high)) if metric.unit == Some(Unit::Seconds) => {
            seconds_with_interval(figures.median, Some(low), Some(high))
        }
        Some((low, high)) => format!("{median} [{}, {}]", with_unit(low, metric), with_unit(high, metric)),
        None => median,
    }
}

fn labels(names: &[String]) -> Vec<String> {
    or_letters(names.to_vec(), LONGEST_IN_TABLE)
}

fn legend(group: &Compared) -> Option<Part> {
    let Layout::Series { names, .. } = &group.layout else { return None };
    let labels = labels(names);
    let line = |(label, name): (&String, &String)| -> Line {
        vec![plain(format!("{label}  ")), toned(Tone::Strong, name.clone())]
    };
    (*names != labels).then(|| Part::Text(labels.iter().zip(names).map(line).collect()))
}

/// What the tools themselves say, unchanged.
fn printed(study: &Study) -> Vec<Line> {
    let sets = study.sets.iter().map(|described| described.set).filter(|set| !set.printed.is_empty());
    let is_one_file =
        study.sets.iter().all(|described| described.set.origin.file == study.sets[0].set.origin.file);
    let line = |set: &DataSet| -> Line {
        let numbers = set.printed.iter().map(|(name, value)| format!("{name} {}", number(*value)));
        let numbers = numbers.collect::<Vec<_>>().join(", ");
        let (name, form) = (printable(&set.name), &set.origin.form);
        let file = if is_one_file { String::new() } else { format!(" in {}", study.short(&set.origin.file)) };
        vec![toned(Tone::Strong, name), plain(format!(" by {form}{file}: {numbers}"))]
    };
    sets.map(line).collect()
}

/// Every digit that the file had; very small and very large ones with an exponent.
pub fn number(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
