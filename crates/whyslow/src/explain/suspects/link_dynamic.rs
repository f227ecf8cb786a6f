//! Dynamic programs where the other side has static ones.

use super::allocating::more_faults;
use super::evidence::specific;
use super::link_lazy_binding::FEWEST_FORKS;
use super::rt_version::same_interpreter;
use super::starting::{any_elf, both, forks, is_alike, more_s};
use super::{Suspect, Suspicion, signs};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "link.dynamic",
    title: "dynamic linking",
    about: "A dynamic program finds, maps and binds its libraries at each start, and calls into them through a table. A \
            static one has everything in one file.",
    shows: "System and user time for each program that is started, and page faults; openat, mmap and mprotect at the start; \
            also for forks, which copy more pages.",
    test: "Only another build is without it, so it can be located, not confirmed: the starts are counted and priced by the \
           loader's own clock.",
    fix: "starts: link statically, or start less often; forks and calls: -z now, -fno-plt",
    report: "\"40 % slowdown with dynamic /bin/sh\": a fork-heavy script took 10 to 40 % longer.",
    look,
};

/// Where starts do not account for the gap: the same interpreter, linked otherwise, which is more than another build.
const BY_CALLS: f64 = 0.6;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let (fast, slow) = both(case)?;
    let has_more = slow.dynamic > fast.dynamic && !is_alike(slow.dynamic, fast.dynamic);
    // More starts of dynamic programs are about the starts, if nothing is static.
    if !has_more || !any_elf(&case.fast, |elf| elf.is_static) {
        return None;
    }
    let by_starts = specific(case.share(more_s(case, &fast, &slow))).map(|weight| weight.max(0.9));
    let by_calls = || same_interpreter(case).map(|_| BY_CALLS);
    let mut starts = signs::counts("starts of dynamic programs:", slow.dynamic, fast.dynamic);
    if let Some(loader) = slow.in_loader() {
        starts += &format!(", {loader}");
    }
    let signs =
        [Some(starts), forks(&case.slow).map(|forks| children(case, forks))].into_iter().flatten().collect();
    Some(Suspicion::located(case, by_starts.or_else(by_calls)?, signs))
}

/// Where the time is that starts do not take.
fn children(case: &Case<'_>, forks: u64) -> String {
    let processes = case.slow.processes().unwrap_or(1);
    if processes <= 1 {
        return "it forks and starts no process, so this is no cost of starting".to_owned();
    }
    if forks < FEWEST_FORKS {
        return format!("{processes} processes, each started anew");
    }
    let faults = more_faults(case) / forks as f64;
    let mut sign = format!("{forks} forks that start no program, with {faults:.0} more page faults each");
    // What is bound when it is first called is bound again in every child, which is a suspect of its own.
    if is_bound_now(&case.slow) {
        sign += "; bound at the start (-z now), so LD_BIND_NOW can change nothing";
    }
    sign
}

fn is_bound_now(side: &Side<'_>) -> bool {
    any_elf(side, |elf| elf.is_bind_now && !elf.is_static)
}

#[cfg(test)]
pub mod tests {
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

    pub fn shells(forks: u64, is_bind_now: bool) -> TestCase {
        TestCase::new("bash-static f.sh", "bash f.sh")
            .seconds(0.1, 0.12)
            .faults(10_000.0, 10_000.0 + 10.0 * forks as f64)
            .loading(move |fast, slow| {
                load(fast, "bash-static", 1, 0);
                load(slow, "bash", 1, 3);
                slow.programs[0].elf.as_mut().unwrap().is_bind_now = is_bind_now;
            })
            .syscalls(move |fast, slow| {
                (fast.processes, slow.processes) = (1 + forks, 1 + forks);
                (fast.starts, slow.starts) = (1, 1);
            })
    }

    #[test]
    fn a_script_that_forks_nothing_is_not_about_starts() {
        let found = shells(0, true).look(&SUSPECT).unwrap();
        assert!(found.signs.iter().any(|sign| sign.contains("no process")), "{:?}", found.signs);
        assert_eq!(shells(0, true).candidates()[0], "link.dynamic");
    }

    #[test]
    fn functions_without_names_on_one_side_are_no_difference() {
        let test = |is_stripped: bool| {
            TestCase::new("bash-static f.sh", "bash f.sh")
                .seconds(0.1, 0.12)
                .cpu(&[("main", 1.0)], &[("main", 0.4), ("main;libc.so.6!__strlen_evex", 0.6)])
                .loading(move |fast, slow| {
                    load(fast, "bash-static", 1, 0);
                    load(slow, "bash", 1, 3);
                    fast.programs[0].elf.as_mut().unwrap().is_stripped = is_stripped;
                })
        };
        assert_eq!(test(true).candidates()[0], "link.dynamic");
        assert_eq!(test(false).candidates()[0], "algo.quadratic");
    }

    #[test]
    fn forks_are_counted_and_a_switch_without_effect_is_called_so() {
        let late = shells(500, false).look(&SUSPECT).unwrap();
        assert!(late.signs.iter().any(|sign| sign.starts_with("500 forks") && sign.contains("10 more")));
        let now = shells(500, true).look(&SUSPECT).unwrap();
        assert!(now.signs.iter().any(|sign| sign.contains("can change nothing")));
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
