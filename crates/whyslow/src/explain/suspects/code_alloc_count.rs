//! More allocations for the same work.

use super::evidence::specific_or_little;
use super::{Suspect, Suspicion, allocating, signs};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "code.alloc-count",
    title: "more allocations",
    about: "The slow side asks for memory more often to do the same work: copies where a reference would do, small objects \
            instead of one array.",
    shows: "User time in malloc and free; several times as many calls.",
    test: "Nothing can be changed from outside: the calls are in the code. They are counted, and priced by what one costs.",
    fix: "pass by reference, reserve room beforehand, keep and reuse objects",
    report: "clang-tidy, performance-unnecessary-value-param: strings passed by value are copied on the heap for each call.",
    look,
};

/// So many times as many calls at least.
const MORE: f64 = 1.2;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let (fast, slow) = allocating::counted(case)?;
    let (few, many) = (fast.allocations() as f64, slow.allocations() as f64);
    if many < few * MORE {
        return None;
    }
    let priced = (many - few) * case.prices.malloc_s;
    let seen = allocating::more_in_malloc(case).filter(|_| allocating::shows_malloc(&case.slow));
    let weight = specific_or_little(case.share(seen.unwrap_or(priced).max(0.0)))?;
    let mut signs = vec![signs::counts("allocations:", many, few)];
    signs.extend(seen.map(|more| format!("{} more in malloc and free", signs::seconds(more))));
    Some(Suspicion::located(case, weight, signs))
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn copies(more: u64) -> TestCase {
        TestCase::new("strref 8000000", "strval 8000000").seconds(0.018, 0.309).allocations(|fast, slow| {
            fast.malloc_calls = 4;
            slow.malloc_calls = 4 + more;
        })
    }

    #[test]
    fn twice_eight_million_copies() {
        let found = copies(16_000_000).look(&SUSPECT).unwrap();
        assert!(found.weight > 0.9 && !found.claims[0].is_experiment);
        assert_eq!(copies(16_000_000).candidates()[0], "code.alloc-count");
    }

    #[test]
    fn a_few_hundred_thousand_are_too_cheap() {
        assert!(copies(300_000).look(&SUSPECT).is_none());
    }

    #[test]
    fn a_static_program_is_not_one_without_allocations() {
        let test = TestCase::new("a-static", "a").allocations(|fast, slow| {
            fast.processes = 0;
            slow.malloc_calls = 50_000_000;
        });
        assert!(test.look(&SUSPECT).is_none());
    }
}
