//! Dynamic programs where the other side has static ones.

use super::evidence::specific;
use super::starting::{any_elf, both, is_alike, more_s};
use super::{Suspect, Suspicion, signs};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "link.dynamic",
    title: "dynamic linking",
    about: "A dynamic program finds, maps and binds its libraries at each start, and calls into them through a table. A \
            static one has everything in one file.",
    shows: "System and user time for each program that is started, and page faults; openat, mmap and mprotect at the start; \
            also for forks, which copy more pages.",
    test: "Only another build is without it, so it can be located, not confirmed: the starts are counted and priced by the \
           loader's own clock.",
    fix: "link statically what is started often, or start it less often",
    report: "\"40 % slowdown with dynamic /bin/sh\": a fork-heavy script took 10 to 40 % longer.",
    look,
};

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let (fast, slow) = both(case)?;
    let has_more = slow.dynamic > fast.dynamic && !is_alike(slow.dynamic, fast.dynamic);
    // More starts of dynamic programs are about the starts, if nothing is static.
    if !has_more || !any_elf(&case.fast, |elf| elf.is_static) {
        return None;
    }
    let seconds = more_s(case, &fast, &slow);
    let weight = specific(case.share(seconds))?;
    let mut signs = vec![signs::counts("starts of dynamic programs:", slow.dynamic, fast.dynamic)];
    signs.extend(slow.in_loader());
    Some(Suspicion::located(case, weight.max(0.9), signs))
}

#[cfg(test)]
mod tests {
    use super::super::starting::tests::load;
    use super::super::testing::TestCase;
    use super::*;

    fn spawn(starts: u64) -> TestCase {
        TestCase::new("spawn 400 nop-s", "spawn 400 nop-d")
            .seconds(0.158, 0.415)
            .faults(11_270.0, 11_270.0 + 85.0 * starts as f64)
            .loading(|fast, slow| {
                load(fast, "nop-s", starts, 0);
                load(slow, "nop-d", starts, 4);
            })
    }

    #[test]
    fn many_starts_of_the_dynamic_one() {
        assert_eq!(spawn(400).candidates()[0], "link.dynamic");
    }

    #[test]
    fn one_start_accuses_nobody() {
        assert!(spawn(1).look(&SUSPECT).is_none());
    }

    #[test]
    fn more_starts_of_dynamic_programs_are_about_the_starts() {
        let test = TestCase::new("sh a.sh", "sh b.sh").loading(|fast, slow| {
            load(fast, "dash", 1, 1);
            load(slow, "dash", 400, 1);
        });
        assert!(test.look(&SUSPECT).is_none());
    }
}
