//! Data that do not stay in the cache.

use super::cpu_branch_miss::{elimination, exceeds_caches, signs};
use super::evidence::changed_numbers;
use super::{Suspect, Suspicion};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "cpu.cache",
    title: "cache misses",
    about: "The same work touches memory in an order or at distances that the caches do not like: columns instead of rows, \
            rows of a power of two, more data than fit.",
    shows: "More user time for as many instructions, in the same function of the same program; a size that hardly differs, \
            or is a power of two; cache misses in perf stat, where the machine counts them.",
    test: "Nothing can be changed from outside; everything else is ruled out. Change the size a little and measure again.",
    fix: "go through memory in its order, work in blocks, pad rows that are a power of two long",
    report: "Stack Overflow, questions 11413855 and 7905760: transposing 512 x 512 is slower than 513 x 513.",
    look,
};

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let weight = elimination(case)?;
    let numbers = changed_numbers(case);
    let Some((fast, slow)) = numbers.iter().copied().find(|(fast, slow)| *fast > 8.0 && *slow > 8.0) else {
        let weight = if exceeds_caches(case) { weight * 1.1 } else { weight * 0.9 };
        return Some(Suspicion::located(case, weight, signs(case)));
    };
    let mut signs = signs(case);
    signs.push(format!("a number differs by {:.1} %: {fast} and {slow}", (slow / fast - 1.0).abs() * 100.0));
    // As much work, and much more time.
    let is_as_much = (slow / fast).powi(2) < 1.0 + (case.gap.ratio - 1.0) * 0.3;
    let weight = match (is_as_much, is_round(slow) && !is_round(fast)) {
        (true, true) => weight.max(0.7),
        (true, false) => weight.max(0.5),
        _ => weight * 0.7,
    };
    Some(Suspicion::located(case, weight, signs))
}

/// A multiple of a large power of two.
fn is_round(number: f64) -> bool {
    let number = number as u64;
    number >= 64 && number.trailing_zeros() >= 6
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    #[test]
    fn rows_of_a_power_of_two() {
        let same = [("main", 1.0)];
        let test =
            TestCase::new("transpose 1023 20", "transpose 1024 20").seconds(0.026, 0.1).cpu(&same, &same);
        assert_eq!(test.candidates()[0], "cpu.cache");
    }

    #[test]
    fn twice_as_much_work_is_more_work() {
        let same = [("main", 1.0)];
        let test = TestCase::new("sum 1000 1", "sum 2000 1").seconds(0.1, 0.2).cpu(&same, &same);
        assert!(test.weight(&SUSPECT) < 0.15);
        assert_eq!(test.candidates()[0], "code.more-work");
    }
}
