//! What to keep in mind about a study, in sentences.

use super::{Compared, Layout, Pair, Said, Study, prediction};
use crate::model::Schedule;
use crate::report::printable;
use crate::report::views::UNSAFE;
use crate::report::views::units::with_unit;

/// More names than this are counted.
const MOST_NAMES: usize = 8;

/// The whole study first.
pub fn notes(study: &Study) -> Vec<String> {
    let mut notes = Vec::new();
    if study.pairs().any(Pair::is_unsafe) {
        notes.push(format!(
            "unsafe: {UNSAFE}. `whyslow compare` runs commands side by side; columns that were taken so are told by \
             --interleaved"
        ));
    }
    notes.extend(study.groups.iter().filter_map(|group| about_names(study, group)));
    notes.extend(no_common_name(study));
    notes.extend(study.groups.iter().filter_map(|group| about_mean(study, group)));
    notes.extend(study.pairs().filter_map(|pair| about_length(study, pair)));
    notes.extend(study.pairs().filter_map(|pair| about_left_out_values(study, pair)));
    notes.extend(study.pairs().filter_map(|pair| about_one_value(study, pair)));
    notes.extend(only_summaries(study));
    without_repetition(notes)
}

/// Every metric of two files may lack the same names.
fn without_repetition(notes: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for note in notes {
        if !kept.contains(&note) {
            kept.push(note);
        }
    }
    kept
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MOST_NAMES).map(|name| printable(name)).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(MOST_NAMES) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

fn about_names(study: &Study, group: &Compared) -> Option<String> {
    let Layout::Files { base, other } = &group.layout else { return None };
    let (base, other) = (study.short(base), study.short(other));
    let (count, names) = (group.left_out.len(), listed(&group.left_out));
    (count > 0).then(|| {
        format!("{} names are in both {base} and {other}, {count} in one only: {names}", group.pairs.len())
    })
}

/// Several series of several files.
fn no_common_name(study: &Study) -> Option<String> {
    let mut files: Vec<(&str, &str)> = Vec::new();
    for group in &study.groups {
        let Layout::Series { places, .. } = &group.layout else { continue };
        let set = study.sets[places[0]].set;
        files.push((&set.metric.name, &set.origin.file));
    }
    let is_split = |(metric, file): &(&str, &str)| files.iter().any(|(m, f)| m == metric && f != file);
    files
        .iter()
        .any(is_split)
        .then(|| "no name is in more than one file, so each file is compared within itself".to_owned())
}

fn about_mean(study: &Study, group: &Compared) -> Option<String> {
    let mean = group.geometric_mean.as_ref()?;
    let Layout::Files { base, other } = &group.layout else { return None };
    let (base, other) = (study.short(base), study.short(other));
    let without = match mean.without.is_empty() {
        true => String::new(),
        false => format!(", without {}, which have no ratio of medians", listed(&mean.without)),
    };
    Some(format!("geomean: over the {} names that both {base} and {other} have{without}", mean.rows))
}

/// Sets that were said to be taken side by side, and cannot have been.
fn about_length(study: &Study, pair: &Pair) -> Option<String> {
    let count = |place: usize| study.sets[place].set.values.len();
    let (base, other) = (count(pair.base), count(pair.other));
    let is_said = pair.schedule(study) == Schedule::Interleaved;
    (is_said && base != other).then(|| {
        format!(
            "{}: {base} values against {other} are no pairs, so they are judged as if not taken side by side",
            printable(&pair.name)
        )
    })
}

fn about_left_out_values(study: &Study, pair: &Pair) -> Option<String> {
    let (base, other) = (study.sets[pair.base].set, study.sets[pair.other].set);
    let has_ratio = |value: &f64| *value > 0.0 && value.is_finite();
    let pairs = base.values.iter().zip(&other.values);
    let count =
        if pair.is_paired { pairs.filter(|(a, b)| !has_ratio(a) || !has_ratio(b)).count() } else { 0 };
    let is_judged = matches!(pair.judgement.said, Said::Verdict(_));
    (count > 0 && is_judged).then(|| {
        format!(
            "{}: {count} pairs with a value that is not above zero have no ratio and are left out",
            printable(&pair.name)
        )
    })
}

/// A new value against a baseline: nothing can be said about its scatter, but it can be usual or unusual.
fn about_one_value(study: &Study, pair: &Pair) -> Option<String> {
    let (base, other) = (study.sets[pair.base].set, study.sets[pair.other].set);
    let &[value] = other.values.as_slice() else { return None };
    let (low, high) = prediction(&base.values, study.confidence)?;
    let place = if (low..=high).contains(&value) { "within" } else { "outside" };
    let [value, low, high] = [value, low, high].map(|value| with_unit(value, &base.metric));
    Some(format!(
        "{}: its one value, {value}, is {place} {low} .. {high}, where one more value of the base is expected",
        printable(&pair.name)
    ))
}

fn only_summaries(study: &Study) -> Option<String> {
    let without = study.sets.iter().filter(|described| described.set.values.is_empty());
    let names: Vec<String> = without.map(|described| described.set.name.clone()).collect();
    (!names.is_empty()).then(|| format!("only a summary, so nothing can be judged: {}", listed(&names)))
}
