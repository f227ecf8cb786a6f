//! Threads that wait for the same lock.

use super::evidence::{has_no_surrounding_difference, more_waiting, on_one_cpu, specific};
use super::signs::{counts, more_calls, seconds};
use super::{Suspect, Suspicion};
use crate::explain::Case;
use crate::model::WaitKind;

pub const SUSPECT: Suspect = Suspect {
    name: "conc.lock",
    title: "a lock that threads fight for",
    about: "Threads spend their time in handing a lock to each other instead of working.",
    shows: "Tens of thousands of futex calls and voluntary switches; system time; user + system time above wall time.",
    test: "all threads on one CPU, on both sides: nobody waits for a lock that nobody else can hold meanwhile",
    fix: "hold the lock for less, split it, or use fewer threads",
    report: "lalinsky/zio PR 573: handing the lock over made every waiter wait for the scheduler; the old interpreter lock of \
             CPython, with which two threads were slower than one.",
    look,
};

fn look(case: &Case<'_>) -> Option<Suspicion> {
    if case.slow.threads() < 1 {
        return None;
    }
    let calls = more_calls(case, &["futex", "futex_wait", "futex_wake", "sched_yield"])?;
    let switches = case.more(|side| side.median("voluntary_switches")).unwrap_or(0.0);
    let waited = more_waiting(case, WaitKind::Lock).unwrap_or(0.0) / (case.slow.threads() as f64 + 1.0);
    let work = calls.max(0.0) * case.prices.syscall_s + switches.max(0.0) * case.prices.switch_s;
    let waited_share = if case.gap.metric == "wall_s" { case.share(waited) } else { 0.0 };
    let weight = specific(case.share(work).max(waited_share).min(1.0)).filter(|_| calls >= 100.0)?;
    let count =
        |side: &crate::explain::Side<'_>| side.syscalls().map_or(0, |seen| seen.count("futex")) as f64;
    let mut signs = vec![counts("futex calls", count(&case.slow), count(&case.fast))];
    signs.extend((waited > 0.0).then(|| format!("{} more waiting for locks", seconds(waited))));
    let suspicion = Suspicion::located(case, weight, signs);
    // Anything else that differs may be why they fight: a setting of the allocator, a number of threads.
    Some(if has_no_surrounding_difference(case) { suspicion.with_idea(on_one_cpu(case)) } else { suspicion })
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn fights(slow_s: f64) -> TestCase {
        TestCase::new("locked 1", "locked 2")
            .seconds(0.1, slow_s)
            .median("voluntary_switches", 5.0, 60_000.0)
            .syscalls(|fast, slow| {
                (fast.threads, slow.threads) = (1, 2);
                slow.call("futex", 120_000);
            })
    }

    #[test]
    fn threads_that_hand_over_a_lock() {
        let suspicion = fights(0.4).look(&SUSPECT).unwrap();
        assert!(suspicion.weight > 0.5 && suspicion.ideas.len() == 1);
    }

    #[test]
    fn a_lock_that_costs_nothing_is_innocent() {
        assert_eq!(fights(9.0).weight(&SUSPECT), 0.0);
    }

    #[test]
    fn with_another_difference_one_cpu_would_prove_nothing() {
        assert!(fights(0.4).slow_env("MALLOC_ARENA_MAX", "1").look(&SUSPECT).unwrap().ideas.is_empty());
    }
}
