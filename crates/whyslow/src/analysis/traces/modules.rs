//! Which file of one variant stands for which of the other: the program of each side is one module, whatever it is
//! called, and so is a library in two versions.

use std::collections::{BTreeMap, BTreeSet};

/// For each module of the other side that the base does not have, the module of the base that it stands for. Weights
/// say how much was seen in each; the names of the programs that were started come from the commands.
pub fn pair_modules(
    base: &BTreeMap<&str, f64>,
    other: &BTreeMap<&str, f64>,
    base_program: &str,
    other_program: &str,
) -> BTreeMap<String, String> {
    let mut only_base: BTreeSet<&str> =
        base.keys().copied().filter(|name| !other.contains_key(name)).collect();
    let only_other: Vec<&str> = other.keys().copied().filter(|name| !base.contains_key(name)).collect();
    let mut pairs = BTreeMap::new();
    for &name in &only_other {
        let same_stem = only_base.iter().copied().find(|candidate| stem(candidate) == stem(name));
        if let Some(candidate) = same_stem.filter(|_| !name.starts_with('[')) {
            only_base.remove(candidate);
            pairs.insert(name.to_owned(), candidate.to_owned());
        }
    }
    let left: Vec<&str> = only_other.into_iter().filter(|name| !pairs.contains_key(*name)).collect();
    let base_main = main_program(&only_base.iter().copied().collect::<Vec<_>>(), base, base_program);
    let other_main = main_program(&left, other, other_program);
    if let Some((base_main, other_main)) = base_main.zip(other_main) {
        pairs.insert(other_main.to_owned(), base_main.to_owned());
    }
    pairs
}

/// The one that the command names, or else the program in which most was seen.
fn main_program<'a>(names: &[&'a str], weights: &BTreeMap<&str, f64>, program: &str) -> Option<&'a str> {
    let programs = || names.iter().copied().filter(|name| is_program(name));
    let named = programs().find(|name| *name == program || stem(name) == stem(program));
    let weight = |name: &str| weights.get(name).copied().unwrap_or(0.0);
    named.or_else(|| programs().max_by(|one, other| weight(one).total_cmp(&weight(other))))
}

fn is_program(name: &str) -> bool {
    !name.starts_with('[') && !name.ends_with(".so") && !name.contains(".so.")
}

/// Without the version: `libperl.so.5.36` and `libperl.so.5.38` are one, and so are `python3.11` and `python3.12`.
fn stem(name: &str) -> &str {
    let library = name.split(".so").next().unwrap_or(name);
    library.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(base: &[(&str, f64)], other: &[(&str, f64)], programs: (&str, &str)) -> Vec<(String, String)> {
        let [base, other] = [base, other].map(|list| list.iter().copied().collect());
        pair_modules(&base, &other, programs.0, programs.1).into_iter().collect()
    }

    fn one(other: &str, base: &str) -> (String, String) {
        (other.to_owned(), base.to_owned())
    }

    #[test]
    fn programs_of_different_names_are_one_module() {
        let found = pairs(
            &[("old", 1.0), ("libc.so.6", 1.0), ("[kernel]", 1.0)],
            &[("new", 1.0), ("libc.so.6", 1.0), ("[kernel]", 1.0)],
            ("old", "new"),
        );
        assert_eq!(found, [one("new", "old")]);
    }

    #[test]
    fn versions_of_a_library_are_one_module_and_other_libraries_are_not() {
        let found = pairs(
            &[("perl", 1.0), ("libperl.so.5.36", 3.0)],
            &[("perl", 1.0), ("libperl.so.5.38", 3.0), ("libmimalloc.so.2", 1.0)],
            ("perl", "perl"),
        );
        assert_eq!(found, [one("libperl.so.5.38", "libperl.so.5.36")]);
    }

    #[test]
    fn behind_a_wrapper_the_program_with_most_weight_counts() {
        let found = pairs(&[("sh", 0.1), ("mawk", 2.0)], &[("sh", 0.1), ("gawk", 3.0)], ("sh", "sh"));
        assert_eq!(found, [one("gawk", "mawk")]);
    }
}
