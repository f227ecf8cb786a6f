//! How many shared libraries a program needs.

use super::evidence::specific;
use super::starting::{both, is_alike, more_s};
use super::{Claim, Suspect, Suspicion, signs};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "link.libs-count",
    title: "number of libraries",
    about: "Every library that a program needs is searched, opened, mapped, and its symbols are looked up in all of those \
            before it, at each start.",
    shows: "System and user time and page faults for each start; several openat, mmap and mprotect for each library.",
    test: "Only another build is without them: the libraries are counted and priced by the loader's own clock.",
    fix: "link statically or into fewer libraries, or load what is seldom needed on demand",
    report: "NixOS/nixpkgs PR 207061 and Shrinkwrap (arXiv 2211.05118): programs with hundreds of libraries.",
    look,
};

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let (fast, slow) = both(case)?;
    let has_more = slow.libraries > fast.libraries && !is_alike(slow.libraries, fast.libraries);
    if !has_more || !is_alike(slow.dynamic, fast.dynamic) {
        return None;
    }
    let weight = specific(case.share(more_s(case, &fast, &slow)))?;
    let sign = signs::counts("libraries loaded:", slow.libraries, fast.libraries);
    let signs = std::iter::once(sign).chain(slow.in_loader()).collect();
    let mut found = Suspicion::located(case, weight, signs);
    // With it, other libraries of the same names are found, which need others; what is preloaded brings its own.
    let path = case.variable("LD_LIBRARY_PATH").filter(|_| case.variable("LD_PRELOAD").is_none());
    found.claims.extend(path.map(|(difference, _)| Claim { difference, weight, is_experiment: false }));
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::starting::tests::load;
    use super::super::testing::TestCase;
    use super::*;

    fn needing(libraries: u64, starts: u64) -> TestCase {
        TestCase::new("spawn 20 libs1/main", "spawn 20 libs120/main")
            .seconds(0.0131, 0.1826)
            .faults(1307.0, 1307.0 + 5.0 * (libraries * starts) as f64)
            .loading(|fast, slow| {
                load(fast, "libs1/main", starts, 2);
                load(slow, "libs120/main", starts, 2 + libraries);
            })
    }

    #[test]
    fn a_hundred_libraries_in_each_of_twenty_starts() {
        assert_eq!(needing(119, 20).candidates()[0], "link.libs-count");
    }

    #[test]
    fn libraries_that_a_preloaded_one_brings_are_not_those_of_the_path() {
        let test =
            needing(3, 20).slow_env("LD_LIBRARY_PATH", "/d1:/d2").slow_env("LD_PRELOAD", "/lib/tcmalloc.so");
        assert!(test.claim_on(&SUSPECT, "LD_LIBRARY_PATH").is_none());
    }

    #[test]
    fn the_path_to_other_libraries_is_about_those_libraries() {
        let test =
            needing(119, 20).fast_env("LD_LIBRARY_PATH", "/libs1").slow_env("LD_LIBRARY_PATH", "/libs120");
        assert!(!test.claim_on(&SUSPECT, "LD_LIBRARY_PATH").unwrap().is_experiment);
    }

    #[test]
    fn a_few_libraries_in_one_start_accuse_nobody() {
        assert!(needing(3, 1).look(&SUSPECT).is_none());
    }
}
