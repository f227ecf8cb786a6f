//! Asking the kernel for the time.

use super::evidence::specific;
use super::signs::{more_calls, share_of_calls};
use super::{Suspect, Suspicion};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "sys.clock",
    title: "time by system call",
    about: "The time is asked for by a system call, where usually it is read from memory (vDSO): by the program's own \
            choice, by a static build, or since the clock source of the machine cannot be read otherwise.",
    shows: "clock_gettime or gettimeofday among the system calls, where they never are seen otherwise; system time.",
    test: "Nothing can be changed from outside; the calls are counted and priced.",
    fix: "use a clock source with vDSO (tsc, kvm-clock), libc's clock_gettime, or ask for the time less often",
    report: "Packagecloud: two frequently used system calls are about 77 % slower on AWS EC2 (the clock source xen).",
    look,
};

const CALLS: [&str; 4] = ["clock_gettime", "clock_gettime64", "gettimeofday", "time"];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let more = more_calls(case, &CALLS).filter(|more| *more >= 100.0)?;
    let weight = specific(share_of_calls(case, more))?;
    let mut signs = vec![format!("{more:.0} system calls for the time more")];
    signs.extend(case.host.clocksource.as_ref().map(|source| format!("clock source {source}")));
    Some(Suspicion::located(case, weight, signs))
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn clocks(slow_s: f64) -> TestCase {
        let test = TestCase::new("clock 2000000 0", "clock 2000000 1").seconds(0.046, slow_s);
        test.syscalls(|_, slow| slow.call("clock_gettime", 2_000_000))
    }

    #[test]
    fn two_million_questions() {
        let test = clocks(0.5).system(0.0, 0.43);
        assert!(test.weight(&SUSPECT) > 0.8);
        assert_eq!(test.candidates()[0], "sys.clock");
    }

    #[test]
    fn questions_that_cost_nothing_accuse_nobody() {
        assert_eq!(clocks(60.0).weight(&SUSPECT), 0.0);
    }
}
