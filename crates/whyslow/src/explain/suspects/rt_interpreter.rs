//! The same script by another interpreter.

use super::programs::{Swapped, interpreter, swapped_interpreter};
use super::{Suspect, Suspicion};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "rt.interpreter",
    title: "interpreter",
    about: "The same script is run by another interpreter of the same language, such as bash for dash or gawk for mawk.",
    shows: "User time in the interpreter; the same script, and about the same system calls.",
    test: "Only the interpreter is swapped; that locates it, since interpreters differ in everything.",
    fix: "use the faster interpreter where the script allows it",
    report: "Ubuntu's DashAsBinSh: scripts of the system start run by dash instead of bash.",
    look,
};

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let swapped = swapped_interpreter(case)?;
    let ((fast, _), (slow, _)) = (interpreter(&swapped.fast)?, interpreter(&swapped.slow)?);
    if fast == slow {
        return None;
    }
    let weight = 0.9 * part_of_programs(case);
    let Swapped { difference, fast, slow } = swapped;
    let sign = format!("run by {slow} instead of {fast}");
    Some(Suspicion::of_difference(difference, weight, vec![sign]))
}

/// What additional processes do not account for.
pub fn part_of_programs(case: &Case<'_>) -> f64 {
    let more = case.more(|side| side.processes().map(|count| count as f64)).unwrap_or(0.0);
    1.0 - case.share(more.max(0.0) * case.prices.process_s).clamp(0.0, 0.9)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    #[test]
    fn bash_instead_of_dash() {
        let test = TestCase::new("dash loop.sh 300000", "bash loop.sh 300000").seconds(0.296, 0.74);
        assert_eq!(test.candidates()[0], "rt.interpreter");
    }

    #[test]
    fn the_same_interpreter_or_no_interpreter_is_innocent() {
        assert!(TestCase::new("bash a.sh", "/bin/bash a.sh").look(&SUSPECT).is_none());
        assert!(TestCase::new("grep a", "sort a").look(&SUSPECT).is_none());
    }

    #[test]
    fn more_processes_take_the_blame_from_it() {
        let test = TestCase::new("dash a.sh", "bash a.sh").seconds(0.1, 0.3).syscalls(|fast, slow| {
            fast.processes = 1;
            slow.processes = 400;
        });
        assert!(test.weight(&SUSPECT) < 0.2);
    }
}
