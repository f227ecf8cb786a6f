//! Blocks that grow by copying.

use super::evidence::specific;
use super::{Suspect, Suspicion, allocating, signs};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "alloc.realloc-copy",
    title: "growing by copying",
    about: "realloc moves a growing block to another place each time and copies all that is in it, so that growing costs \
            the square of the size. Other allocators grow it where it is, move its pages instead, or leave room.",
    shows: "User time in memcpy below realloc, and page faults where the copies are; far more bytes copied by realloc than \
            the block ever holds.",
    test: "mimalloc preloaded on both sides, or the allocator of the fast side on the slow side.",
    fix: "another allocator; in the program: grow by a factor, or ask once for what is needed",
    report: "A string that grows by appending took 56 s on FreeBSD and 5 s with perl's own malloc.",
    look,
};

/// From here on, the name is clear enough to give it to a library that differs.
const CLEAR: f64 = 0.2;

/// Whether it carries so much of the gap that its growth is of interest.
pub fn is_likely(case: &Case<'_>) -> bool {
    look(case).is_some_and(|found| found.weight > CLEAR)
}

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let (fast, slow) = allocating::counted(case)?;
    let share = case.share(allocating::copied_s(case)?);
    let weight = specific(share)?;
    let mega = |bytes: u64| bytes as f64 / 1e6;
    let sign = format!(
        "realloc copies {:.1} MB against {:.1} MB, in {} moves against {}",
        mega(slow.realloc_moved_bytes),
        mega(fast.realloc_moved_bytes),
        slow.realloc_moved,
        fast.realloc_moved,
    );
    let mut found = Suspicion::located(case, weight, vec![sign]);
    let below = |name: &str| name.contains("realloc");
    let more = case.more(|side| side.cpu_in(below)).filter(|more| *more > 0.0);
    found.signs.extend(more.map(|more| format!("{} more in realloc", signs::seconds(more))));
    match allocating::preloaded(case) {
        Some(preloaded) if share > CLEAR => found.claims.push(preloaded.claim(0.95, true)),
        Some(_) => {}
        None => found.ideas.push(allocating::mimalloc()),
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn growing(moved_bytes: u64) -> TestCase {
        TestCase::new("python3 grow.py 6000", "python3 grow.py 6000")
            .seconds(0.013, 0.313)
            .system(0.004, 0.252)
            .faults(1030.0, 125_785.0)
            .allocations(|fast, slow| {
                fast.realloc_moved_bytes = 400_000;
                slow.realloc_moved = 6000;
                slow.realloc_moved_bytes = moved_bytes;
            })
    }

    #[test]
    fn the_preloaded_library_gets_this_name() {
        let test = growing(1_100_000_000).slow_env("LD_PRELOAD", "/w/slowrealloc.so");
        assert!(test.claim_on(&SUSPECT, "LD_PRELOAD").unwrap().is_experiment);
        assert_eq!(test.suspected()[0], "alloc.realloc-copy");
    }

    #[test]
    fn without_a_library_another_allocator_is_tried() {
        assert_eq!(growing(1_100_000_000).look(&SUSPECT).unwrap().ideas, [allocating::mimalloc()]);
    }

    #[test]
    fn a_few_megabytes_accuse_nobody() {
        assert_eq!(growing(20_000_000).weight(&SUSPECT), 0.0);
    }
}
