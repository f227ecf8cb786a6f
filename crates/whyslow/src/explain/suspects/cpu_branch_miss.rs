//! Branches that the CPU cannot foresee.

use super::evidence::{
    changed_numbers, hot_functions, instruction_ratio, is_nothing_but_user_time, is_same_program,
};
use super::{Suspect, Suspicion};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "cpu.branch-miss",
    title: "branches that cannot be foreseen",
    about: "The same code decides by data in random order, and the CPU guesses wrong half of the time.",
    shows: "More user time for as many instructions or fewer, in the same function of the same program; branch misses \
            in perf stat, where the machine counts them.",
    test: "Nothing can be changed from outside; everything else is ruled out. Sort the data and measure again.",
    fix: "sort the data first, or write the decision without a branch",
    report: "Stack Overflow, question 11227809: why processing a sorted array is faster.",
    look,
};

/// Any pair of runs of one program shows as much: below code.more-work.
const UNSPECIFIC: f64 = 0.16;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let weight = elimination(case)?;
    // A size that differs is more work, or another place in the cache.
    let is_flag = changed_numbers(case).iter().all(|(fast, slow)| fast.abs() < 2.0 && slow.abs() < 2.0);
    let weight = if is_flag && !exceeds_caches(case) { weight } else { weight * 0.8 };
    Some(Suspicion::located(case, weight, signs(case)))
}

/// So much memory is in no cache of one core: then its lines are waited for rather than its branches.
const LARGEST_CACHE_BYTES: f64 = 16.0 * 1024.0 * 1024.0;

/// Both sides use as much memory, and more than fits.
pub fn exceeds_caches(case: &Case<'_>) -> bool {
    let both = case.fast.median("peak_rss_bytes").zip(case.slow.median("peak_rss_bytes"));
    both.is_some_and(|(fast, slow)| fast.min(slow) > LARGEST_CACHE_BYTES && (slow / fast - 1.0).abs() < 0.2)
}

/// How much speaks for the CPU itself: the same code does the same, and takes longer.
pub fn elimination(case: &Case<'_>) -> Option<f64> {
    if !is_same_program(case)
        || !is_nothing_but_user_time(case)
        || case.slow.threads() > 0
        || case.gap.ratio < 1.1
    {
        return None;
    }
    match instruction_ratio(case) {
        Some(ratio) if ratio > 1.1 => return None,
        Some(_) => return Some(0.6),
        None => {}
    }
    // In the same function as on the fast side, where the profile tells.
    let hot = hot_functions(case).into_iter().next();
    hot.is_none_or(|(_, more, fast)| case.share(more) > 0.6 && fast > 0.03 * more).then_some(UNSPECIFIC)
}

pub fn signs(case: &Case<'_>) -> Vec<String> {
    let mut signs = vec!["user time only, in the same code".to_owned()];
    signs.extend(instruction_ratio(case).map(|ratio| format!("{ratio:.2} times as many instructions")));
    let hot = hot_functions(case).into_iter().next().filter(|(_, more, _)| case.share(*more) > 0.3);
    signs.extend(
        hot.map(|(name, more, _)| format!("{name} has {:.0} % of the gap", case.share(more) * 100.0)),
    );
    signs
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn sums() -> TestCase {
        let same = [("main", 1.0)];
        TestCase::new("branch 32768 3000 1", "branch 32768 3000 0").seconds(0.045, 0.079).cpu(&same, &same)
    }

    #[test]
    fn unsorted_data_are_among_the_first() {
        let candidates = sums().candidates();
        assert!(candidates[..3].contains(&"cpu.branch-miss"), "{candidates:?}");
    }

    #[test]
    fn more_memory_than_any_cache_holds_speaks_for_the_cache() {
        let bytes = 64.0 * 1024.0 * 1024.0;
        let candidates = sums().median("peak_rss_bytes", bytes, bytes).candidates();
        let place = |name: &str| candidates.iter().position(|known| *known == name).unwrap();
        assert!(place("cpu.cache") < place("cpu.branch-miss") && place("cpu.cache") < 3, "{candidates:?}");
    }

    #[test]
    fn another_function_is_other_work() {
        let test = TestCase::new("a 0", "a 1").cpu(&[("x", 1.0)], &[("y", 1.0)]);
        assert_eq!(test.weight(&SUSPECT), 0.0);
    }

    #[test]
    fn system_calls_are_no_branches() {
        let test = sums().syscalls(|_, slow| slow.call("write", 50_000));
        assert_eq!(test.weight(&SUSPECT), 0.0);
    }
}
