//! Environment: facts in groups, or those that differ.

use std::collections::BTreeMap;

use super::{Pair, seen};
use crate::model::{Environment, Probed, Trace};
use crate::report::compose::printable;
use crate::report::document::{Definition, Line, Part, Tone, plain, toned};

/// Longer values are cut: a list of flags may fill a screen.
const LONGEST_VALUE: usize = 200;
const MOST_DIFFERENCES: usize = 60;

fn of<'a>(looks: &[&'a Probed]) -> Vec<&'a Environment> {
    seen(looks, |trace| match trace {
        Trace::Environment(seen) => Some(seen),
        _ => None,
    })
}

/// A group and what it is about.
fn split(name: &str) -> (&str, &str) {
    name.split_once('.').unwrap_or((name, ""))
}

pub fn one(looks: &[&Probed]) -> Vec<Part> {
    let Some(&first) = of(looks).first() else { return Vec::new() };
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, value) in &first.facts {
        let (group, rest) = split(name);
        let fact =
            if rest.is_empty() { shown(value) } else { format!("{}={}", printable(rest), shown(value)) };
        groups.entry(group).or_default().push(fact);
    }
    let definitions: Vec<Definition> = groups
        .into_iter()
        .map(|(group, facts)| Definition {
            head: vec![plain(format!("  {}", printable(group)))],
            body: vec![vec![plain(facts.join("  "))]],
        })
        .collect();
    if definitions.is_empty() { Vec::new() } else { vec![Part::Definitions(definitions)] }
}

fn shown(value: &str) -> String {
    let text = printable(value);
    match text.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// The first look at each: an environment does not scatter.
pub fn two(pair: &Pair<'_>) -> Vec<Part> {
    let (base, other) = (of(&pair.base), of(&pair.other));
    let (Some(base), Some(other)) = (base.first(), other.first()) else { return Vec::new() };
    let different: Vec<_> = base.differences(other).collect();
    let same = base.facts.iter().filter(|(name, value)| other.get(name) == Some(value)).count();
    let side = |label: &str, value: Option<&str>| -> Line {
        match value {
            Some(value) => vec![toned(Tone::Faint, format!("{label}: ")), plain(shown(value))],
            None => vec![toned(Tone::Faint, format!("{label}: not there"))],
        }
    };
    let definitions: Vec<Definition> = different
        .iter()
        .take(MOST_DIFFERENCES)
        .map(|(name, mine, its)| Definition {
            head: vec![plain(format!("  {}", printable(name)))],
            body: vec![side(pair.labels[0], *mine), side(pair.labels[1], *its)],
        })
        .collect();
    let mut parts = Vec::new();
    if !definitions.is_empty() {
        parts.push(Part::Definitions(definitions));
    }
    let more = different.len().saturating_sub(MOST_DIFFERENCES);
    let more = if more > 0 { format!("and {more} more differences; ") } else { String::new() };
    let text = match different.is_empty() {
        true => format!("  {more}same: all {same} facts"),
        false => format!("  {more}same: {same} other facts"),
    };
    parts.push(Part::Text(vec![vec![toned(Tone::Faint, text)]]));
    parts
}
