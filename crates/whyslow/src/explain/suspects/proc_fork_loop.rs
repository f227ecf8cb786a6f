//! A process for every step.

use super::evidence::specific;
use super::signs::counts;
use super::{Suspect, Suspicion};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "proc.fork-loop",
    title: "a process for every step",
    about: "Work that one process could do is done by a new process for every item: $(expr ...) in a loop, xargs -n1, \
            find -exec ... \\;.",
    shows: "Tens to thousands of processes more, with the page faults of each; time per process.",
    test: "an option is swapped where it differs (-n1); a loop in a script can only be located",
    fix: "use what the shell can do itself, or hand many items to one process (xargs without -n1, find -exec ... +)",
    report: "koalaman/shellcheck, check SC2003 (expr), and the work on autoconf to fork less.",
    look,
};

const FEWEST: f64 = 10.0;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let processes = |side: &Side<'_>| side.processes().map(|count| count as f64);
    let more = case.more(processes).filter(|more| *more >= FEWEST)?;
    let weight = specific(case.share(more * case.prices.process_s))?;
    let mut signs = vec![counts("processes", processes(&case.slow)?, processes(&case.fast)?)];
    signs.extend(most_started(case).map(|(path, starts)| format!("{path} is started {starts} times")));
    Some(Suspicion::located(case, weight, signs))
}

fn most_started(case: &Case<'_>) -> Option<(String, u64)> {
    let program = case.slow.syscalls()?.programs.iter().max_by_key(|program| program.starts)?;
    (program.starts > 1).then(|| (program.path.clone(), program.starts))
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn loops(slow_s: f64) -> TestCase {
        TestCase::new("sh arithloop.sh 250", "sh exprloop.sh 250").seconds(0.002, slow_s).syscalls(
            |_, slow| {
                slow.processes = 501;
                slow.starts = 251;
                slow.call("clone", 500);
            },
        )
    }

    #[test]
    fn expr_in_a_loop() {
        assert!(loops(0.24).weight(&SUSPECT) > 0.8);
        assert_eq!(loops(0.24).candidates()[0], "proc.fork-loop");
    }

    #[test]
    fn processes_in_a_much_larger_gap_are_innocent() {
        assert_eq!(loops(20.0).weight(&SUSPECT), 0.0);
    }
}
