//! The allocator itself: how long one malloc takes.

use super::allocating::{self, Preloaded};
use super::evidence::{LEAST, specific};
use super::rt_debug_mode::is_checked_malloc;
use super::{Suspect, Suspicion, settings, signs};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "alloc.allocator",
    title: "allocator",
    about: "Both sides ask for memory as often, but one of the allocators takes longer to give it.",
    shows: "User time in malloc and free; the same number of calls; another library owns malloc.",
    test: "mimalloc preloaded on both sides, or the allocator of the fast side on the slow side. A malloc that is built \
           into the program, or a static program, cannot be changed from outside.",
    fix: "preload another allocator, or build with one",
    report: "vercel/next.js PR 88426: ten times as slow with the allocator of musl, until mimalloc took its place; hatoo/oha#208 \
             swaps it as well.",
    look,
};

/// Fewer calls are too cheap to matter.
const FEWEST_CALLS: u64 = 10_000;
/// No allocator takes longer for a usual block...
const LONGEST_CALL_S: f64 = 1e-6;
/// ... and where it starts as often as this, its start is the likelier part, unless an allocator so many times as slow as the
/// usual one could account for it.
const MANY_STARTS: u64 = 20;
const SLOWER: f64 = 3.0;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let preloaded =
        allocating::preloaded(case).filter(|found| found.all().any(|file| allocating::is_allocator(file)));
    if let Some(preloaded) = preloaded {
        return Some(by_preload(case, &preloaded));
    }
    if let Some(found) = settings::suspicion(case, is_choice) {
        return Some(found);
    }
    if allocating::has_own_malloc(&case.fast) != allocating::has_own_malloc(&case.slow) {
        return built_in(case);
    }
    by_time(case)
}

/// PYTHONMALLOC chooses an allocator, unless it asks for checks.
fn is_choice(setting: &settings::Setting) -> bool {
    setting.name == "PYTHONMALLOC" && !is_checked_malloc(setting)
}

fn by_preload(case: &Case<'_>, preloaded: &Preloaded) -> Suspicion {
    let is_alike = allocating::counted(case).is_none_or(|(fast, slow)| allocating::asks_alike(fast, slow));
    let are_allocators = preloaded.all().all(|file| allocating::is_allocator(file));
    // Programs that ask for next to nothing have no use for an allocator: what is left is loading it into each.
    let asked = case.slow.allocations().map(|seen| seen.allocations() as f64);
    let starts = case.slow.starts().unwrap_or(1);
    let call_s = if starts >= MANY_STARTS { SLOWER * case.prices.malloc_s } else { LONGEST_CALL_S };
    let is_asked = asked.is_none_or(|calls| case.share(calls * call_s) > LEAST);
    let weight = if is_asked { 0.9 } else { 0.2 };
    let claim = preloaded.claim(weight, is_alike && are_allocators && is_asked);
    let sign = case.differences[preloaded.difference].title();
    Suspicion {
        weight: if is_asked { 0.5 } else { 0.1 },
        signs: vec![sign],
        claims: vec![claim],
        ideas: Vec::new(),
    }
}

/// One of the programs has a malloc of its own, so that its calls were not counted.
fn built_in(case: &Case<'_>) -> Option<Suspicion> {
    let calls = case.slow.allocations().map_or(0, |seen| seen.allocations());
    let by_count = calls as f64 * case.prices.malloc_s;
    let seconds = allocating::more_in_malloc(case).unwrap_or(by_count);
    let which = if allocating::has_own_malloc(&case.slow) { "slow" } else { "fast" };
    let sign = format!("the {which} side has a malloc of its own inside, where no preloaded one can act");
    let times = allocating::more_in_malloc(case)
        .map(|more| format!("{} more in malloc and free", signs::seconds(more)));
    let found = Suspicion::located(
        case,
        specific(case.share(seconds))?,
        [Some(sign), times].into_iter().flatten().collect(),
    );
    Some(if allocating::has_own_malloc(&case.slow) { found } else { found.with_idea(allocating::mimalloc()) })
}

/// The same number of calls, and one of the sides takes longer for them.
fn by_time(case: &Case<'_>) -> Option<Suspicion> {
    let (fast, slow) = allocating::counted(case)?;
    let is_many = slow.allocations().min(fast.allocations()) >= FEWEST_CALLS;
    if !is_many || !allocating::asks_alike(fast, slow) || allocating::is_about_pages(case) {
        return None;
    }
    let differs = fast.allocators != slow.allocators;
    let more = allocating::more_in_malloc(case).filter(|_| allocating::shows_malloc(&case.slow));
    let by_count = || differs.then_some(slow.allocations() as f64 * case.prices.malloc_s);
    let share = case.share(more.or_else(by_count)?);
    if share <= LEAST {
        return None;
    }
    let mut signs = vec![signs::counts("allocations:", slow.allocations() as f64, fast.allocations() as f64)];
    signs.extend(more.map(|more| format!("{} more in malloc and free", signs::seconds(more))));
    if differs {
        signs.push(format!(
            "malloc is that of {} and of {}",
            fast.allocators.join(", "),
            slow.allocators.join(", ")
        ));
    }
    let weight = specific(share)?;
    // Where the same allocator takes longer, something else made it so, which has a name of its own.
    Some(
        Suspicion::located(case, if differs { weight } else { weight * 0.8 }, signs)
            .with_idea(allocating::mimalloc()),
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn malloc_heavy(calls: (u64, u64), in_malloc: f64) -> TestCase {
        TestCase::new("oha-gnu", "oha-musl")
            .seconds(1.0, 2.0)
            .allocations(|fast, slow| {
                fast.malloc_calls = calls.0;
                slow.malloc_calls = calls.1;
                slow.allocators = vec!["/lib/ld-musl-x86_64.so.1".to_owned()];
            })
            .cpu(&[("main", 1.0)], &[("main", 2.0 - in_malloc), ("main;malloc", in_malloc)])
    }

    #[test]
    fn the_same_calls_that_take_longer() {
        let found = malloc_heavy((9_000_000, 9_100_000), 1.0).look(&SUSPECT).unwrap();
        assert!(found.weight > 0.8);
        assert_eq!(found.ideas, [allocating::mimalloc()]);
    }

    #[test]
    fn more_calls_are_somebody_else() {
        assert_eq!(malloc_heavy((1_000, 9_000_000), 1.0).weight(&SUSPECT), 0.0);
    }

    #[test]
    fn another_allocator_without_time_in_it_is_innocent() {
        assert_eq!(malloc_heavy((9_000_000, 9_000_000), 0.02).weight(&SUSPECT), 0.0);
        assert_eq!(malloc_heavy((9_000, 9_000), 1.0).weight(&SUSPECT), 0.0, "a few calls cost nothing");
    }

    #[test]
    fn a_preloaded_allocator_is_the_experiment_and_another_library_is_not() {
        let test = |file: &str| TestCase::new("a", "a").slow_env("LD_PRELOAD", file);
        assert!(test("/usr/lib/libjemalloc.so.2").claim_on(&SUSPECT, "LD_PRELOAD").unwrap().is_experiment);
        assert!(test("/usr/lib/libfakeroot.so").claim_on(&SUSPECT, "LD_PRELOAD").is_none());
        let both = test("/usr/lib/libjemalloc.so.2:/usr/lib/libfakeroot.so");
        assert!(!both.claim_on(&SUSPECT, "LD_PRELOAD").unwrap().is_experiment);
    }

    #[test]
    fn an_allocator_that_is_loaded_again_and_again_and_hardly_asked() {
        let spawns = |calls: u64| {
            let test = TestCase::new("spawn 50 openssl", "spawn 50 openssl")
                .slow_env("LD_PRELOAD", "/usr/lib/libtcmalloc_minimal.so.4")
                .seconds(0.1, 0.4)
                .syscalls(|fast, slow| (fast.starts, slow.starts) = (51, 51))
                .allocations(|fast, slow| (fast.malloc_calls, slow.malloc_calls) = (calls, calls));
            (test.claim_on(&SUSPECT, "LD_PRELOAD").unwrap().is_experiment, test.candidates()[0])
        };
        assert_eq!(spawns(150_000), (false, "link.preload"));
        assert!(spawns(9_000_000).0);
    }

    #[test]
    fn a_malloc_of_its_own_is_not_counted_as_fewer_calls() {
        let test = TestCase::new("perl-own x.pl", "perl-system x.pl")
            .seconds(1.0, 1.2)
            .facts(&[("malloc_owner", "the program")], &[("malloc_owner", "/lib/libc.so.6")])
            .allocations(|fast, slow| {
                fast.malloc_calls = 285;
                slow.malloc_calls = 8_000_000;
                fast.allocators.clear();
            });
        assert!(test.weight(&SUSPECT) > 0.5);
    }
}
