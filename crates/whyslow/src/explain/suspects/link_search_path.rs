//! How many directories are searched for every library.

use super::evidence::specific;
use super::settings::Setting;
use super::{Claim, Suspect, Suspicion, settings, signs, starting};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "link.search-path",
    title: "search path of libraries",
    about: "The loader looks for each library in every directory of LD_LIBRARY_PATH or RPATH, in all of them up to the right \
            one, at each start.",
    shows: "System time; openat of *.so that finds no such file, as many as directories times libraries times starts.",
    test: "The LD_LIBRARY_PATH of the fast side on the slow side.",
    fix: "shorten LD_LIBRARY_PATH, put the right directory first, use RUNPATH or the cache of ldconfig",
    report: "JCSDA/spack-stack#2076: 79 directories, 0.75 s become 1.70 s, confirmed by unsetting only that variable.",
    look,
};

/// Of a variable that differs without more searches: less than any sign that was counted.
const BARE: f64 = 0.31;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let misses = starting::more_search_misses(case);
    let weight = misses.and_then(|misses| specific(signs::share_of_calls(case, misses)));
    let mut signs: Vec<String> = weight
        .and(misses)
        .map(|misses| format!("{misses:.0} more places searched for a library in vain"))
        .into_iter()
        .collect();
    let is_mine = |setting: &Setting| matches!(setting.name.as_str(), "LD_LIBRARY_PATH" | "LD_ORIGIN_PATH");
    let variable = settings::changed(case)
        .into_iter()
        .find(|(_, settings)| settings.iter().any(is_mine))
        .map(|(index, _)| index);
    if weight.is_none() && variable.is_none() {
        return None;
    }
    if settings::hidden(case).iter().any(is_mine) {
        signs.push("another LD_LIBRARY_PATH on the way to the program".to_owned());
    }
    let mut found = match weight {
        Some(weight) => Suspicion::located(case, weight, signs),
        None => Suspicion { weight: 0.1, signs, ..Suspicion::default() },
    };
    // The variable also decides which libraries are found, so it takes a count to call it an experiment.
    found.claims.extend(variable.map(|difference| Claim {
        difference,
        weight: weight.unwrap_or(BARE),
        is_experiment: weight.is_some(),
    }));
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::model::FileUse;

    fn searched(misses: u64) -> TestCase {
        TestCase::new("spawn 20 main", "spawn 20 main")
            .seconds(0.168, 1.367)
            .system(0.097, 1.245)
            .syscalls(|_, slow| slow.fail("openat", "ENOENT", misses))
            .files(|_, slow| {
                let path = "/w/ldp/m1/libz_gen1.so".to_owned();
                slow.file(FileUse { path, missed: misses, ..FileUse::default() });
            })
    }

    #[test]
    fn many_misses_with_another_variable() {
        let test = searched(600_000).slow_env("LD_LIBRARY_PATH", "/a:/b");
        assert!(test.claim_on(&SUSPECT, "LD_LIBRARY_PATH").unwrap().is_experiment);
    }

    #[test]
    fn a_wrapper_is_located() {
        let test = TestCase::new("spawn 20 main", "longpath.sh spawn 20 main")
            .seconds(0.168, 1.367)
            .system(0.097, 1.245)
            .fast_env("LD_LIBRARY_PATH", "/w/libs120")
            .syscalls(|_, slow| slow.fail("openat", "ENOENT", 600_000));
        assert_eq!(test.candidates()[0], "link.search-path");
    }

    #[test]
    fn other_libraries_are_not_about_the_search() {
        let test = searched(100).slow_env("LD_LIBRARY_PATH", "/debug");
        assert!(!test.claim_on(&SUSPECT, "LD_LIBRARY_PATH").unwrap().is_experiment);
        assert!(searched(100).look(&SUSPECT).is_none());
    }
}
