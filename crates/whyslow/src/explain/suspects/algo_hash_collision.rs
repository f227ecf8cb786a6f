//! Keys that meet in the same place of a hash table.

use super::algo_quadratic::{SEARCHES, outgrows};
use super::evidence::{LEAST, changed_numbers, is_nothing_but_user_time, is_same_program, runs, specific};
use super::signs::{more_in_functions, more_in_functions_alone, seconds};
use super::{Suspect, Suspicion};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "algo.hash-collision",
    title: "hash collisions",
    about: "Many keys hash to the same place, so that every look-up compares with all of them.",
    shows: "User time in the look-up of a hash table and in comparing keys, with the same program and as many keys; the \
            time grows with the square of their number.",
    test: "Where both command lines share a number, smaller ones are measured and give the exponent. Nothing can be taken \
           away from outside, so it is located at most.",
    fix: "other keys, a hash with a secret seed, or a tree",
    report: "python/cpython, issue bpo-13703: hash tables as a way to deny service; hacks of Python's dict on Codeforces.",
    look,
};

const LOOKUPS: [&str; 14] = [
    "lookdict",
    "dict_lookup",
    "insertdict",
    "set_lookkey",
    "set_add_entry",
    "hv_common",
    "zend_hash",
    "Hashtable",
    "HashMap",
    "hashmap",
    "hash_lookup",
    "hash_find",
    "find_node",
    "ht_lookup",
];
/// What Python compares keys with; its look-ups are static functions that a stripped file does not name.
const COMPARING: [&str; 3] = ["PyObject_RichCompare", "long_richcompare", "unicode_eq"];

const SORTS: [&str; 4] = ["list_sort", "binarysort", "heapq", "internal_bisect"];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    if !is_same_program(case) {
        return None;
    }
    let looking = more_in_functions_alone(case, &LOOKUPS)?;
    if let Some(weight) = specific(case.share(looking)).filter(|weight| *weight > 0.4) {
        let sign = format!("{} more in look-ups of hash tables", seconds(looking));
        return Some(Suspicion::located(case, weight, vec![sign]));
    }
    by_comparing(case)
}

fn by_comparing(case: &Case<'_>) -> Option<Suspicion> {
    // Searching and sorting a sequence compare as well, without a table.
    let elsewhere = [&SEARCHES[..], &SORTS].into_iter().filter_map(|names| more_in_functions(case, names));
    if case.share(elsewhere.sum()) > LEAST {
        return None;
    }
    let is_python = runs(&case.slow, "python") && is_nothing_but_user_time(case);
    let comparing = more_in_functions_alone(case, &COMPARING).filter(|_| is_python)?;
    let has_numbers = !changed_numbers(case).is_empty();
    let weight = specific(case.share(comparing))?.max(if has_numbers { 0.5 } else { 0.3 });
    let mut signs = vec![format!("{} more in comparing keys, with the same program", seconds(comparing))];
    signs.extend(case.growth.map(|growth| growth.text()));
    // Above what the growth alone says.
    let weight = if outgrows(case) { weight.max(0.9) } else { weight };
    Some(Suspicion::located(case, weight, signs))
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn keys(comparing: f64) -> TestCase {
        TestCase::new("python3 intkeys.py 2500 1", "python3 intkeys.py 2500 2305843009213693951")
            .seconds(0.012, 0.04)
            .cpu(
                &[("main;_PyEval_EvalFrameDefault", 1.0)],
                &[
                    ("main;python3.11!0x169f00", 1.0 - comparing),
                    ("main;python3.11!0x169f00;PyObject_RichCompare", comparing),
                ],
            )
    }

    #[test]
    fn keys_that_are_compared_with_all_the_others() {
        assert!(keys(0.2).weight(&SUSPECT) >= 0.5);
        assert_eq!(keys(0.2).candidates()[0], "algo.hash-collision");
    }

    #[test]
    fn some_comparing_is_innocent() {
        assert_eq!(keys(0.02).weight(&SUSPECT), 0.0);
    }

    #[test]
    fn a_search_in_a_list_has_no_table() {
        let test =
            TestCase::new("python3 in.py 20000 set", "python3 in.py 20000 list").seconds(0.1, 0.3).cpu(
                &[("main", 1.0)],
                &[
                    ("main", 0.1),
                    ("main;list_contains", 0.3),
                    ("main;list_contains;PyObject_RichCompare", 0.3),
                    ("main;list_contains;PyObject_RichCompare;long_richcompare", 0.3),
                ],
            );
        assert_eq!(test.weight(&SUSPECT), 0.0);
        assert_eq!(test.candidates()[0], "algo.quadratic");
    }

    #[test]
    fn a_named_look_up() {
        let test = TestCase::new("table keys1", "table keys2")
            .cpu(&[("main", 1.0)], &[("main", 0.5), ("main;std::_Hashtable<int>::_M_find_before_node", 0.5)]);
        assert!(test.weight(&SUSPECT) > 0.7);
    }
}
