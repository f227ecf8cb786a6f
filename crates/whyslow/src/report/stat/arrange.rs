//! Which samples are compared with which. Within a file the first is the base; between files, names are what belongs
//! together; files with one sample each are compared whatever the names.

use std::collections::BTreeMap;

use super::Layout;
use crate::model::DataSet;

/// What is compared, before it is: names with the places of two sets.
pub struct Group {
    pub layout: Layout,
    pub pairs: Vec<(String, usize, usize)>,
    pub left_out: Vec<String>,
}

/// The groups of each metric.
pub fn arrange(sets: &[DataSet]) -> Vec<Vec<Group>> {
    let metrics = distinct(sets.iter().map(|set| set.metric.name.as_str()));
    let of_metric = |metric: &&str| {
        let places = (0..sets.len()).filter(|&place| sets[place].metric.name == *metric);
        arrange_metric(sets, places.collect())
    };
    metrics.iter().map(of_metric).collect()
}

fn arrange_metric(sets: &[DataSet], places: Vec<usize>) -> Vec<Group> {
    let files = distinct(places.iter().map(|&place| sets[place].origin.file.as_str()));
    if files.len() == 1 || files.len() == places.len() {
        return vec![series(sets, places)];
    }
    let of_file = |file: &&str| -> Vec<usize> {
        places.iter().copied().filter(|&place| sets[place].origin.file == *file).collect()
    };
    let base = named(sets, &of_file(&files[0]));
    let others = files[1..].iter().map(|file| (*file, named(sets, &of_file(file))));
    let by_file: Vec<Group> =
        others.map(|(file, other)| between((files[0], &base), (file, &other))).collect();
    if by_file.iter().any(|group| !group.pairs.is_empty()) {
        return by_file;
    }
    // No name in common: each file is about something else.
    files.iter().map(|file| series(sets, of_file(file))).collect()
}

fn series(sets: &[DataSet], places: Vec<usize>) -> Group {
    let names = names_in_series(sets, &places);
    let others = places.iter().zip(names).skip(1);
    let pairs = others.map(|(&place, name)| (name, places[0], place)).collect();
    Group { layout: Layout::Series(places), pairs, left_out: Vec::new() }
}

/// What tells the sets of a series apart: the name, or the file where all have the same name.
pub fn names_in_series(sets: &[DataSet], places: &[usize]) -> Vec<String> {
    let names: Vec<String> = places.iter().map(|&place| full_name(&sets[place])).collect();
    let files: Vec<&str> = places.iter().map(|&place| sets[place].origin.file.as_str()).collect();
    let files_differ = distinct(files.iter().copied()).len() == files.len() && files.len() > 1;
    let names_differ = distinct(names.iter().map(String::as_str)).len() == names.len();
    match (names_differ, files_differ) {
        (true, _) => names,
        (false, true) => files.into_iter().map(str::to_owned).collect(),
        (false, false) => numbered(names),
    }
}

/// The sets of a file by name; the second of the same name is called so.
fn named(sets: &[DataSet], places: &[usize]) -> Vec<(String, usize)> {
    let names = numbered(places.iter().map(|&place| name_in_file(&sets[place])).collect());
    names.into_iter().zip(places.iter().copied()).collect()
}

fn numbered(names: Vec<String>) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let number = |name: String| {
        let count = seen.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { name } else { format!("{name} ({count})") }
    };
    names.into_iter().map(number).collect()
}

/// A file of plain numbers gives them no name but its own.
fn name_in_file(set: &DataSet) -> String {
    if set.name == set.origin.file { "values".to_owned() } else { full_name(set) }
}

/// The name with the settings that belong to it.
pub fn full_name(set: &DataSet) -> String {
    let settings = set.parameters.iter().map(|(key, value)| format!("{key}={value}"));
    let settings = settings.collect::<Vec<_>>().join(", ");
    let name = crate::report::printable(&set.name);
    if settings.is_empty() { name } else { format!("{name} ({})", crate::report::printable(&settings)) }
}

fn between(
    (base_file, base): (&str, &[(String, usize)]),
    (file, other): (&str, &[(String, usize)]),
) -> Group {
    let has = |sets: &[(String, usize)], name: &str| sets.iter().any(|(known, _)| known == name);
    let partner = |name: &str| other.iter().find(|(known, _)| known == name).map(|(_, place)| *place);
    let pairs = base.iter().filter_map(|(name, place)| Some((name.clone(), *place, partner(name)?)));
    let only_base = base.iter().filter(|(name, _)| !has(other, name));
    let only_other = other.iter().filter(|(name, _)| !has(base, name));
    Group {
        pairs: pairs.collect(),
        left_out: only_base.chain(only_other).map(|(name, _)| name.clone()).collect(),
        layout: Layout::Files { base: base_file.to_owned(), other: file.to_owned() },
    }
}

/// In order of first appearance.
fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found = Vec::new();
    for text in texts {
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}
