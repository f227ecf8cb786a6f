//! Which samples are compared with which. Within a file the first is the base; between files, names are what belongs
//! together; files with one sample each are compared whatever the names.

use std::collections::{BTreeMap, BTreeSet};

use super::Layout;
use crate::model::DataSet;
use crate::report::printable;
use crate::report::views::keys_of_rows;

/// What is compared, before it is: names with the places of two sets.
pub struct Group {
    pub layout: Layout,
    pub pairs: Vec<(String, usize, usize)>,
    pub left_out: Vec<String>,
}

/// The groups of each metric. Names of files are told without the first `folder` bytes.
pub fn arrange(sets: &[DataSet], folder: usize) -> Vec<Vec<Group>> {
    let metrics = distinct(sets.iter().map(|set| set.metric.name.as_str()));
    let of_metric = |metric: &&str| {
        let places = (0..sets.len()).filter(|&place| sets[place].metric.name == *metric);
        arrange_metric(sets, places.collect(), folder)
    };
    metrics.iter().map(of_metric).collect()
}

/// The sets of one metric, and how to call them.
struct Named<'a> {
    sets: &'a [DataSet],
    /// Settings that tell sets of a file apart.
    keys: BTreeSet<&'a str>,
    folder: usize,
}

fn arrange_metric(sets: &[DataSet], places: Vec<usize>, folder: usize) -> Vec<Group> {
    let files = distinct(places.iter().map(|&place| sets[place].origin.file.as_str()));
    let keys = keys_of_rows(&places.iter().map(|&place| &sets[place]).collect::<Vec<_>>());
    let named = Named { sets, keys, folder };
    if files.len() == 1 || files.len() == places.len() {
        return vec![named.series(places)];
    }
    let of_file = |file: &&str| -> Vec<usize> {
        places.iter().copied().filter(|&place| sets[place].origin.file == *file).collect()
    };
    let base = named.in_file(&of_file(&files[0]));
    let others = files[1..].iter().map(|file| (*file, named.in_file(&of_file(file))));
    let by_file: Vec<Group> =
        others.map(|(file, other)| between((files[0], &base), (file, &other))).collect();
    if by_file.iter().any(|group| !group.pairs.is_empty()) {
        return by_file;
    }
    // No name in common: each file is about something else.
    files.iter().map(|file| named.series(of_file(file))).collect()
}

impl Named<'_> {
    fn series(&self, places: Vec<usize>) -> Group {
        let names = self.in_series(&places);
        let others = places.iter().zip(&names).skip(1);
        let pairs = others.map(|(&place, name)| (name.clone(), places[0], place)).collect();
        Group { layout: Layout::Series { places, names }, pairs, left_out: Vec::new() }
    }

    /// What tells the sets of a series apart: the name, or the file where all have the same name.
    fn in_series(&self, places: &[usize]) -> Vec<String> {
        let file = |set: &DataSet| printable(&set.origin.file[self.folder..]);
        let name = |set: &DataSet| if set.name == set.origin.file { file(set) } else { self.full_name(set) };
        let are_distinct = |names: &[String]| distinct(names.iter().map(String::as_str)).len() == names.len();
        let names: Vec<String> = places.iter().map(|&place| name(&self.sets[place])).collect();
        let files: Vec<String> = places.iter().map(|&place| file(&self.sets[place])).collect();
        if !are_distinct(&names) && are_distinct(&files) { files } else { numbered(names) }
    }

    /// The sets of a file by name; the second of the same name is called so. A file of plain numbers gives them no name
    /// but its own.
    fn in_file(&self, places: &[usize]) -> Vec<(String, usize)> {
        let name = |set: &DataSet| match set.name == set.origin.file {
            true => "values".to_owned(),
            false => self.full_name(set),
        };
        let names = numbered(places.iter().map(|&place| name(&self.sets[place])).collect());
        names.into_iter().zip(places.iter().copied()).collect()
    }

    /// The name with the settings that belong to it.
    fn full_name(&self, set: &DataSet) -> String {
        let settings = set.parameters.iter().filter(|(key, _)| self.keys.contains(key.as_str()));
        let settings = settings.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ");
        let name = printable(&set.name);
        if settings.is_empty() { name } else { format!("{name} ({})", printable(&settings)) }
    }
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

/// How many bytes of the names of several files are a folder that all are in.
pub fn common_folder(sets: &[DataSet]) -> usize {
    let files = distinct(sets.iter().map(|set| set.origin.file.as_str()));
    let Some((first, others)) = files.split_first().filter(|(_, others)| !others.is_empty()) else {
        return 0;
    };
    let alike = |file: &&str| file.bytes().zip(first.bytes()).take_while(|(a, b)| a == b).count();
    let alike = others.iter().map(alike).min().unwrap_or(0);
    first.as_bytes()[..alike].iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1)
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
