//! Threads that write to the same piece of memory.

use super::evidence::{
    LEAST, has_no_surrounding_difference, instruction_ratio, is_nothing_but_user_time, is_same_program,
    on_one_cpu,
};
use super::{Suspect, Suspicion};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "conc.false-sharing",
    title: "threads that write to the same cache line",
    about: "Threads on several CPUs write to memory that lies in the same cache line, together or by accident, and the line \
            goes to and fro between the CPUs.",
    shows: "More user time on all threads for the same instructions, without locks, switches or system calls.",
    test: "all threads on one CPU, on both sides: the CPU time falls back to that of the fast side",
    fix: "put what each thread writes into cache lines of its own (64 or 128 bytes apart), or collect per thread",
    report: "Java's @Contended and DPDK's cache alignment exist for this.",
    look,
};

const FEWEST_RATIO: f64 = 1.15;
/// Two threads that take turns with a line take about half each.
const MOST_OF_FIRST: f64 = 0.8;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let (fast, slow) = (case.fast.syscalls()?, case.slow.syscalls()?);
    let has_threads = fast.threads >= 1 && slow.threads >= 1 && fast.threads == slow.threads;
    let futexes = slow.count("futex").saturating_sub(fast.count("futex")) as f64;
    let fights = case.share(futexes * (case.prices.syscall_s + case.prices.switch_s)) > LEAST;
    let is_alike =
        is_same_program(case) && has_no_surrounding_difference(case) && is_nothing_but_user_time(case);
    let instructions = instruction_ratio(case);
    if !has_threads || one_does_it_all(&case.slow) || fights || !is_alike || case.gap.ratio < FEWEST_RATIO {
        return None;
    }
    let weight = match instructions {
        Some(ratio) if ratio > 1.1 => return None,
        Some(_) => 0.6,
        None => 0.4,
    };
    let mut signs = vec![format!(
        "{} threads need {:.1} times the user time, without locks or system calls",
        slow.threads + 1,
        case.gap.ratio
    )];
    signs.extend(instructions.map(|ratio| format!("{ratio:.2} times as many instructions")));
    Some(Suspicion::located(case, weight, signs).with_idea(on_one_cpu(case)))
}

/// Whether the first thread does nearly all of the work: many a runtime has others that do next to nothing.
fn one_does_it_all(side: &Side<'_>) -> bool {
    let first = side.median("main_cpu_s").zip(side.median("cpu_s"));
    first.is_some_and(|(first_s, all_s)| first_s > MOST_OF_FIRST * all_s)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::model::Edit;

    fn counters(threads: u64) -> TestCase {
        TestCase::new("falseshare 200000000 4096", "falseshare 200000000 8")
            .seconds(0.22, 0.68)
            .median("main_cpu_s", 0.11, 0.34)
            .facts(&[("cpu.affinity", "2-3")], &[("cpu.affinity", "2-3")])
            .syscalls(|fast, slow| (fast.threads, slow.threads) = (threads, threads))
    }

    #[test]
    fn two_counters_in_a_line() {
        let suspicion = counters(2).look(&SUSPECT).unwrap();
        assert_eq!(suspicion.ideas[0].slow, vec![Edit::Affinity(vec![2])]);
        assert_eq!(counters(2).candidates()[0], "conc.false-sharing");
    }

    #[test]
    fn one_thread_shares_with_nobody() {
        assert_eq!(counters(0).weight(&SUSPECT), 0.0);
    }

    #[test]
    fn threads_that_do_nothing_share_nothing() {
        assert_eq!(counters(6).median("main_cpu_s", 0.21, 0.65).weight(&SUSPECT), 0.0);
    }

    #[test]
    fn a_lock_is_something_else() {
        let test = TestCase::new("a 1", "a 2").seconds(0.2, 0.7).syscalls(|fast, slow| {
            (fast.threads, slow.threads) = (2, 2);
            slow.call("futex", 200_000);
        });
        assert_eq!(test.weight(&SUSPECT), 0.0);
    }
}
