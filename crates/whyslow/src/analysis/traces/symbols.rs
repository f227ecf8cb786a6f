//! Functions of two profiles beside each other: those that both have, those that only one has, and those that have
//! another name because a compiler or a processor chose another version of them.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::{Difference, pair_modules};
use crate::model::{Frame, Profile};

/// One function in both variants.
#[derive(Clone, Debug, PartialEq)]
pub struct SymbolDifference {
    pub name: String,
    /// As the base calls it; in the other variant it may be a part of another file.
    pub module: String,
    pub fate: Fate,
    /// In the function itself.
    pub own: Difference,
    /// With what it calls.
    pub inclusive: Difference,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    InBoth,
    New,
    Gone,
    /// The other variant calls it so.
    Renamed(String),
}

/// A function as it is known on both sides: name, and module of the base.
type Key = (String, String);

/// Weights in each look.
#[derive(Clone, Default)]
struct Weights {
    own: Vec<f64>,
    inclusive: Vec<f64>,
}

impl Weights {
    fn none(looks: usize) -> Weights {
        Weights { own: vec![0.0; looks], inclusive: vec![0.0; looks] }
    }

    fn add(&mut self, more: &Weights) {
        self.own.iter_mut().zip(&more.own).for_each(|(sum, more)| *sum += more);
        self.inclusive.iter_mut().zip(&more.inclusive).for_each(|(sum, more)| *sum += more);
    }
}

/// Every function that was seen in either, by the absolute difference of what was seen in itself. `programs` are the
/// names of the programs that the commands start.
pub fn compare_symbols(
    base: &[&Profile],
    other: &[&Profile],
    programs: (&str, &str),
) -> Vec<SymbolDifference> {
    let pairs = pair_modules(&own_by_module(base), &own_by_module(other), programs.0, programs.1);
    let both = [weights(base, &BTreeMap::new()), weights(other, &pairs)];
    let renamed = renamed(&both[0], &both[1]);
    let mut rows = rows([base, other], &both, &renamed);
    for row in rows.iter_mut().filter(|row| row.fate == Fate::New) {
        // What only the other has is called as the other calls it.
        let own = pairs.iter().find(|(_, of_base)| **of_base == row.module);
        row.module = own.map_or(std::mem::take(&mut row.module), |(of_other, _)| of_other.clone());
    }
    rows
}

/// The same of whole files.
pub fn compare_modules(
    base: &[&Profile],
    other: &[&Profile],
    programs: (&str, &str),
) -> Vec<SymbolDifference> {
    let pairs = pair_modules(&own_by_module(base), &own_by_module(other), programs.0, programs.1);
    let both = [weights(base, &BTreeMap::new()), weights(other, &pairs)].map(without_names);
    rows([base, other], &both, &BTreeMap::new())
}

fn without_names(weights: BTreeMap<Key, Weights>) -> BTreeMap<Key, Weights> {
    let mut modules: BTreeMap<Key, Weights> = BTreeMap::new();
    for ((_, module), weights) in weights {
        match modules.entry((module, String::new())) {
            Entry::Vacant(entry) => drop(entry.insert(weights)),
            Entry::Occupied(mut entry) => entry.get_mut().add(&weights),
        }
    }
    modules
}

/// Everything that is in either, the largest difference first.
fn rows(
    [base, other]: [&[&Profile]; 2],
    both: &[BTreeMap<Key, Weights>; 2],
    renamed: &BTreeMap<Key, Key>,
) -> Vec<SymbolDifference> {
    let grain = grain(base).max(grain(other));
    let (no_base, no_other) = (Weights::none(base.len()), Weights::none(other.len()));
    let new_names: BTreeSet<&Key> = renamed.values().collect();
    let keys: BTreeSet<&Key> = both[0].keys().chain(both[1].keys()).collect();
    let row = |key: &Key| {
        let in_base = both[0].get(key);
        let in_other = both[1].get(renamed.get(key).unwrap_or(key));
        let fate = match (in_base, in_other) {
            (Some(_), Some(_)) => {
                renamed.get(key).map_or(Fate::InBoth, |(name, _)| Fate::Renamed(name.clone()))
            }
            (None, _) => Fate::New,
            (_, None) => Fate::Gone,
        };
        let (in_base, in_other) = (in_base.unwrap_or(&no_base), in_other.unwrap_or(&no_other));
        Some(SymbolDifference {
            name: key.0.clone(),
            module: key.1.clone(),
            fate,
            own: Difference::of(&in_base.own, &in_other.own, grain)?,
            inclusive: Difference::of(&in_base.inclusive, &in_other.inclusive, grain)?,
        })
    };
    let mut rows: Vec<SymbolDifference> =
        keys.into_iter().filter(|key| !new_names.contains(key)).filter_map(row).collect();
    rows.sort_by(|one, other| other.own.amount().abs().total_cmp(&one.own.amount().abs()));
    rows
}

/// What one sample of the mean of the looks stands for.
fn grain(profiles: &[&Profile]) -> f64 {
    let each = profiles.iter().map(|profile| if profile.rate_hz > 0.0 { 1.0 / profile.rate_hz } else { 0.0 });
    each.fold(0.0, f64::max) / profiles.len().max(1) as f64
}

/// What was seen in each file itself.
pub fn own_by_module<'a>(profiles: &[&'a Profile]) -> BTreeMap<&'a str, f64> {
    let mut weights = BTreeMap::new();
    for profile in profiles {
        for (frame, own) in profile.frames.iter().zip(profile.own()) {
            *weights.entry(frame.module.as_str()).or_insert(0.0) += own;
        }
    }
    weights
}

/// `pairs` tells what a module is called on the other side.
fn weights(profiles: &[&Profile], pairs: &BTreeMap<String, String>) -> BTreeMap<Key, Weights> {
    let mut all: BTreeMap<Key, Weights> = BTreeMap::new();
    for (look, profile) in profiles.iter().enumerate() {
        let (own, inclusive) = (profile.own(), profile.inclusive());
        for (index, Frame { name, module }) in profile.frames.iter().enumerate() {
            let module = pairs.get(module).unwrap_or(module).clone();
            let entry = all.entry((name.clone(), module)).or_insert_with(|| Weights::none(profiles.len()));
            entry.own[look] += own[index];
            entry.inclusive[look] += inclusive[index];
        }
    }
    all
}

/// Functions that are in the base only, with the one in the other variant only that is the same in another version.
fn renamed(base: &BTreeMap<Key, Weights>, other: &BTreeMap<Key, Weights>) -> BTreeMap<Key, Key> {
    let mut candidates: BTreeMap<(String, &str), &Key> = BTreeMap::new();
    for key in other.keys().filter(|key| !base.contains_key(key)) {
        candidates.insert((plain_name(&key.0), key.1.as_str()), key);
    }
    let gone = base.keys().filter(|key| !other.contains_key(key));
    gone.filter_map(|key| {
        let found = candidates.remove(&(plain_name(&key.0), key.1.as_str()))?;
        Some((key.clone(), found.clone()))
    })
    .collect()
}

/// Whether two names are versions of one function.
pub fn is_same_but_for_the_compiler(one: &str, other: &str) -> bool {
    plain_name(one) == plain_name(other)
}

/// Versions of a function for one processor or another.
const PROCESSORS: [&str; 12] = [
    "_avx512_unaligned_erms",
    "_avx_unaligned_erms",
    "_evex_unaligned_erms",
    "_sse2_unaligned_erms",
    "_avx512_unaligned",
    "_avx_unaligned",
    "_evex_unaligned",
    "_sse2_unaligned",
    "_avx512",
    "_evex",
    "_avx2",
    "_sse2",
];
/// What compilers put behind the names of functions that they cloned or split.
const CLONES: [&str; 7] = [".isra", ".constprop", ".part", ".cold", ".lto_priv", ".llvm", "@plt"];

/// Without what compilers and processors add: clones, versions, the hash at the end of Rust's names.
fn plain_name(name: &str) -> String {
    let mut name = name;
    for clone in CLONES {
        name = name.split(clone).next().filter(|rest| !rest.is_empty()).unwrap_or(name);
    }
    let hash = name.rsplit_once("::h").filter(|(_, hash)| hash.len() == 16 && is_hexadecimal(hash));
    name = hash.map_or(name, |(rest, _)| rest);
    let version = PROCESSORS.iter().find_map(|processor| name.strip_suffix(processor));
    version.unwrap_or(name).to_owned()
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Stack;

    /// Functions with their modules and weights, each called by `main`.
    fn profile(main: &str, functions: &[(&str, &str, f64)]) -> Profile {
        let mut frames = vec![Frame { name: "main".into(), module: main.into() }];
        let mut stacks = Vec::new();
        for (name, module, weight) in functions {
            frames.push(Frame { name: (*name).into(), module: (*module).into() });
            let place = frames.len() as u32 - 1;
            stacks.push(Stack { frames: vec![place, 0], weight: *weight, thread: main.into() });
        }
        Profile { rate_hz: 1000.0, frames, stacks, ..Profile::default() }
    }

    fn row<'a>(rows: &'a [SymbolDifference], name: &str) -> &'a SymbolDifference {
        rows.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("no {name} in {rows:?}"))
    }

    #[test]
    fn functions_are_in_both_new_gone_or_renamed() {
        let base = profile(
            "old",
            &[("work", "old", 1.0), ("__memmove_avx_unaligned_erms", "libc.so.6", 0.1), ("lost", "old", 0.3)],
        );
        let other = profile(
            "new",
            &[
                ("work.isra.0", "new", 2.0),
                ("__memmove_evex_unaligned_erms", "libc.so.6", 0.5),
                ("found", "new", 0.2),
            ],
        );
        let rows = compare_symbols(&[&base], &[&other], ("old", "new"));
        assert_eq!(row(&rows, "main").fate, Fate::InBoth);
        assert_eq!(row(&rows, "main").inclusive.amount(), 1.3);
        assert_eq!(row(&rows, "work").fate, Fate::Renamed("work.isra.0".into()));
        assert_eq!((rows[0].name.as_str(), rows[0].own.amount()), ("work", 1.0));
        let moved = row(&rows, "__memmove_avx_unaligned_erms");
        assert_eq!(moved.fate, Fate::Renamed("__memmove_evex_unaligned_erms".into()));
        assert_eq!(row(&rows, "lost").fate, Fate::Gone);
        assert_eq!((&row(&rows, "found").fate, row(&rows, "found").module.as_str()), (&Fate::New, "new"));
        assert_eq!(rows.len(), 5);
        let modules = compare_modules(&[&base], &[&other], ("old", "new"));
        let amounts: Vec<(&str, f64)> =
            modules.iter().map(|row| (row.name.as_str(), (row.own.amount() * 10.0).round() / 10.0)).collect();
        assert_eq!(amounts, [("old", 0.9), ("libc.so.6", 0.4)]);
    }

    #[test]
    fn what_compilers_add_makes_no_other_function() {
        for (one, other) in [
            ("foo", "foo.constprop.0.isra.0"),
            ("core::fmt::write::h0123456789abcdef", "core::fmt::write::hfedcba9876543210"),
            ("foo.part.1", "foo.cold"),
            ("malloc@plt", "malloc"),
        ] {
            assert!(is_same_but_for_the_compiler(one, other), "{one} {other}");
        }
        assert!(!is_same_but_for_the_compiler("sort_fast", "sort_slow"));
        assert_eq!(plain_name(".isra"), ".isra");
    }
}
