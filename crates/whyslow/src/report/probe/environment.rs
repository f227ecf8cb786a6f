//! Environment: facts in groups, or those that differ.

use std::collections::BTreeMap;

use super::{Pair, seen};
use crate::model::{Environment, Probed, Trace};
use crate::report::compose::printable;
use crate::report::document::{Definition, Line, Part, Tone, plain, toned};

/// Longer values are cut: a list of flags may fill a screen.
const LONGEST_VALUE: usize = 200;
/// How a value begins that is not to be seen.
const HIDDEN: &str = "hidden";
/// What is shown beside other probes: names of facts, or how they begin.
const MAIN: [&str; 14] = [
    "cpu.affinity",
    "cpu.model",
    "cgroup.cpu_quota",
    "env.count",
    "interpreter.name",
    "interpreter.version",
    "kernel.release",
    "kernel.thp",
    "libc",
    "locale",
    "malloc_owner",
    "program.",
    "tunables",
    "tz",
];
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

/// All facts: for somebody who asked for nothing else.
pub fn whole(looks: &[&Probed]) -> Vec<Part> {
    let Some(&first) = of(looks).first() else { return Vec::new() };
    groups(first.facts.iter())
}

/// Those that tell what is run, and how many there are.
pub fn one(looks: &[&Probed]) -> Vec<Part> {
    let Some(&first) = of(looks).first() else { return Vec::new() };
    let is_main = |(name, _): &(&String, &String)| MAIN.iter().any(|main| name.starts_with(main));
    let mut parts = groups(first.facts.iter().filter(is_main));
    let more = first.facts.iter().filter(|fact| !is_main(fact)).count();
    if more > 0 {
        let text = format!("  and {more} more facts: --with environment alone shows them");
        parts.push(Part::Text(vec![vec![toned(Tone::Faint, text)]]));
    }
    parts
}

fn groups<'a>(facts: impl Iterator<Item = (&'a String, &'a String)>) -> Vec<Part> {
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut hidden: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, value) in facts {
        let (group, rest) = split(name);
        if value.starts_with(HIDDEN) {
            hidden.entry(group).or_default().push(rest);
            continue;
        }
        groups.entry(group).or_default().push(fact(rest, value));
    }
    for (group, names) in hidden {
        groups
            .entry(group)
            .or_default()
            .push(format!("with values not shown: {}", printable(&names.join(", "))));
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

/// A path says its file name itself.
fn fact(name: &str, value: &str) -> String {
    let path = value.split([' ', '\n']).next().unwrap_or(value);
    match name {
        "" => shown(value),
        name if path.rsplit('/').next() == Some(name) => shown(value),
        name => format!("{}={}", printable(name), shown(value)),
    }
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
