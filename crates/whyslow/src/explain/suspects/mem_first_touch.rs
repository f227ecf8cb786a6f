//! Memory that is used for the first time, again and again.

use super::allocating::{mapped_s, more_faults};
use super::evidence::specific_or_little;
use super::{Idea, Suspect, Suspicion, signs};
use crate::explain::{Case, Side};
use crate::model::Shim;

pub const SUSPECT: Suspect = Suspect {
    name: "mem.first-touch",
    title: "first touch of pages",
    about: "The kernel makes each page when it is touched for the first time: it stops the program, finds a page and clears \
            it. A buffer that is mapped anew for every use pays for all its pages each time.",
    shows: "System time; page faults times their price explain it; faults far above the peak memory.",
    test: "What the program maps is filled at once (MAP_POPULATE, by a preloaded library), on both sides. Faults that remain \
           cannot be avoided from outside.",
    fix: "keep and reuse buffers; map with MAP_POPULATE or huge pages what is used as a whole",
    report: "sonos/tract PR 2783: millions of page faults; hw-native-sys/simpler PR 2022: the cost is pages touched times \
             their price.",
    look,
};

/// Blocks that a program maps for itself are hardly fewer.
const FEWEST_MAPS: u64 = 1;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let more = more_faults(case);
    let share = case.share(more * case.prices.fault_s);
    let Some(weight) = specific_or_little(share) else { return by_price(case) };
    // The allocator that makes them has a name of its own.
    let is_of_malloc = mapped_s(case).is_some_and(|seconds| case.share(seconds) > 0.5 * share);
    let weight = if is_of_malloc { weight * 0.7 } else { weight };
    let sign = format!("{more:.0} more page faults, {} each", signs::seconds(case.prices.fault_s));
    let found = Suspicion::located(case, weight, vec![sign]);
    Some(if maps_itself(&case.slow) { found.with_idea(populate()) } else { found })
}

/// As many faults on both sides, but they could be dearer on one of them: those that MAP_POPULATE makes are cheap.
fn by_price(case: &Case<'_>) -> Option<Suspicion> {
    let faults = case.slow.median("page_faults")?;
    let is_system = case.share(case.gap.budget.system_s) > 0.5;
    let is_possible = case.share(faults * case.prices.fault_s) > 0.8 && case.gap.metric == "cpu_s";
    let is_less = case.more(|side| side.median("page_faults")).is_none_or(|more| more.abs() < 0.1 * faults);
    let has_alike_calls = super::evidence::has_alike_syscalls(case);
    if !(is_system && is_possible && is_less && has_alike_calls) {
        return None;
    }
    let sign = format!("{faults:.0} page faults could account for it");
    let found = Suspicion::located(case, 0.25, vec![sign]);
    Some(if maps_itself(&case.slow) { found.with_idea(populate()) } else { found })
}

/// Maps that are not those of malloc or of the loader, as far as they can be counted.
fn maps_itself(side: &Side<'_>) -> bool {
    let maps = side.syscalls().map_or(0, |syscalls| syscalls.count("mmap"));
    let of_malloc = side.allocations().map_or(0, |seen| seen.at_least(super::allocating::LARGE_BYTES));
    maps >= of_malloc + FEWEST_MAPS
}

fn populate() -> Idea {
    Idea::with_shim("mapped memory filled at once on both sides", Shim::Populate)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn frames(faults: f64) -> TestCase {
        TestCase::new("frames 40 32 0", "frames 40 32 1")
            .seconds(0.07, 0.785)
            .system(0.02, 0.7415)
            .faults(8328.0, 8328.0 + faults)
            .syscalls(|_, slow| slow.call("mmap", 50))
    }

    #[test]
    fn a_buffer_mapped_for_each_frame() {
        let test = frames(319_489.0);
        assert_eq!(test.candidates()[0], "mem.first-touch");
        assert_eq!(test.look(&SUSPECT).unwrap().ideas, [populate()]);
    }

    #[test]
    fn some_faults_beside_more_work_are_no_cause() {
        let test = frames(2_500.0).seconds(0.2, 0.25).system(0.02, 0.03);
        assert_eq!(test.candidates()[0], "code.more-work");
    }

    #[test]
    fn a_thousand_faults_accuse_nobody() {
        assert!(frames(900.0).look(&SUSPECT).is_none());
    }

    #[test]
    fn as_many_faults_that_may_be_dearer() {
        let test = TestCase::new("touch 512 1", "touch 512 0")
            .seconds(0.203, 0.281)
            .system(0.199, 0.2615)
            .faults(131_206.0, 131_207.0)
            .syscalls(|fast, slow| {
                fast.call("mmap", 10);
                slow.call("mmap", 10);
            });
        assert!(test.weight(&SUSPECT) > 0.2);
    }
}
