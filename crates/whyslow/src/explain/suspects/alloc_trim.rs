//! The top of the heap that is given back and fetched again.

use super::evidence::specific;
use super::settings::Setting;
use super::{Idea, Suspect, Suspicion, allocating, settings, signs};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "alloc.trim",
    title: "heap given back",
    about: "free gives the top of the heap back to the kernel whenever enough of it is free, and the next malloc fetches it \
            again, page by page.",
    shows: "System time; many brk calls; page faults far above the peak memory.",
    test: "glibc.malloc.trim_threshold and top_pad so large that nothing is given back, on both sides; or the settings of the \
           fast side.",
    fix: "raise glibc.malloc.trim_threshold and top_pad, or remove what lowers them; or another allocator",
    report: "ZettaScaleLabs/hiroz PR 350 pins one threshold of malloc, then both, to tell them apart.",
    look,
};

const SETTINGS: [&str; 4] =
    ["glibc.malloc.trim_threshold", "glibc.malloc.top_pad", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_"];
const KEEP: &str = "glibc.malloc.trim_threshold=17179869184:glibc.malloc.top_pad=67108864";

const KEPT: &str = "a heap that is never given back (GLIBC_TUNABLES) on both sides";

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let weight = allocating::returned_s(case, &["brk"]).and_then(|seconds| specific(case.share(seconds)));
    let sign = weight.and_then(|_| signs::more_calls(case, &["brk"])).map(|calls| {
        format!("{calls:.0} more brk calls, {:.0} more page faults", allocating::more_faults(case))
    });
    let is_mine = |setting: &Setting| SETTINGS.contains(&setting.name.as_str());
    if let Some(mut found) = settings::suspicion(case, is_mine) {
        found.signs.extend(sign);
        return Some(found);
    }
    let mut found = Suspicion::located(case, weight?, sign.into_iter().collect());
    if !allocating::has_own_malloc(&case.slow) {
        let keep = settings::more_on_both_sides(case, "GLIBC_TUNABLES", KEEP);
        found.ideas.extend(keep.map(|idea| Idea { title: KEPT.to_owned(), ..idea }));
        // What one malloc gives back, another one may keep, and it may do more that helps.
        found.ideas.push(allocating::mimalloc());
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn trimmed(calls: u64, faults: f64) -> TestCase {
        TestCase::new("a 1", "a 2")
            .seconds(0.1, 0.3)
            .system(0.01, 0.2)
            .faults(1000.0, faults)
            .syscalls(|_, slow| slow.call("brk", calls))
    }

    #[test]
    fn brk_again_and_again_is_worth_a_try() {
        let found = trimmed(20_000, 150_000.0).look(&SUSPECT).unwrap();
        assert!(found.weight > 0.6 && found.ideas.len() == 2);
    }

    #[test]
    fn the_variable_is_the_experiment() {
        let test = TestCase::new("a", "a").slow_env("MALLOC_TRIM_THRESHOLD_", "0");
        assert!(test.claim_on(&SUSPECT, "MALLOC_TRIM_THRESHOLD_").unwrap().is_experiment);
    }

    #[test]
    fn a_heap_that_only_grows_more_is_innocent() {
        assert!(trimmed(60, 1500.0).look(&SUSPECT).is_none());
    }
}
