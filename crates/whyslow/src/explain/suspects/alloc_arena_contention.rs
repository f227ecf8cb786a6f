//! Threads that wait for each other inside malloc.

use super::evidence::specific;
use super::settings::Setting;
use super::{Suspect, Suspicion, allocating, settings, signs};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "alloc.arena-contention",
    title: "threads share an arena",
    about: "malloc has several arenas so that threads need not wait for each other. Where their number is limited to save \
            memory, all threads queue for the same lock.",
    shows: "User and system time; futex calls and switches by the thousand; time in the lock below malloc.",
    test: "The setting of the fast side on the slow side, or a limit that both have away on both; where none is set, mimalloc, \
           which has no arenas to share, on both.",
    fix: "unset MALLOC_ARENA_MAX (glibc.malloc.arena_max, narenas)",
    report: "singnet/das PR 1171 and chojs23/concord PR 319 cap the arenas to save memory.",
    look,
};

const SETTINGS: [&str; 6] = [
    "MALLOC_ARENA_MAX",
    "MALLOC_ARENA_TEST",
    "glibc.malloc.arena_max",
    "glibc.malloc.arena_test",
    "MALLOC_CONF:narenas",
    "MALLOC_CONF:percpu_arena",
];
const LOCKS: [&str; 4] = ["lll_lock_wait_private", "lll_lock_wake_private", "malloc_mutex_lock", "futex"];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let more = case.more(waiting_in_malloc_s).filter(|more| specific(case.share(*more)).is_some());
    let mut signs: Vec<String> =
        more.map(|more| format!("{} more in locks below malloc", signs::seconds(more))).into_iter().collect();
    let calls = signs::more_calls(case, &["futex"]).filter(|calls| *calls > 1000.0);
    signs.extend(calls.map(|calls| format!("{calls:.0} more futex calls")));
    if let Some(mut found) =
        settings::suspicion(case, |setting: &Setting| SETTINGS.contains(&setting.name.as_str()))
    {
        found.signs.extend(signs);
        return Some(found);
    }
    let weight = specific(case.share(more?))?;
    let mut found = Suspicion::located(case, weight, signs);
    let is_limited = |name: &&&str| case.slow.env(name).is_some();
    match ["MALLOC_ARENA_MAX", "GLIBC_TUNABLES"].iter().find(is_limited) {
        Some(name) => found.ideas.extend(settings::removed_on_both_sides(case, name)),
        None => found.ideas.push(allocating::mimalloc()),
    }
    Some(found)
}

/// CPU time in locks that malloc or free takes, in programs with threads.
fn waiting_in_malloc_s(side: &Side<'_>) -> Option<f64> {
    let is_lock = |name: &&str| LOCKS.iter().any(|lock| name.contains(lock));
    side.cpu_in_stacks(|_, names| {
        let lock = names.iter().position(&is_lock);
        lock.is_some_and(|lock| names.iter().skip(lock + 1).take(3).any(|name| allocating::is_malloc(name)))
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn contended(share: f64) -> TestCase {
        let lock = "start_thread;malloc;_int_malloc;__lll_lock_wait_private";
        TestCase::new("alloc 2 800000", "alloc 2 800000")
            .seconds(0.134, 2.17)
            .syscalls(|_, slow| slow.call("futex", 100_000))
            .cpu(&[("start_thread;malloc", 1.0)], &[(lock, share), ("start_thread", 1.0 - share)])
    }

    #[test]
    fn the_variable_is_the_experiment() {
        let test = contended(0.8).slow_env("MALLOC_ARENA_MAX", "1");
        assert!(test.claim_on(&SUSPECT, "MALLOC_ARENA_MAX").unwrap().is_experiment);
    }

    #[test]
    fn an_allocator_without_arenas_is_tried() {
        assert_eq!(contended(0.8).look(&SUSPECT).unwrap().ideas, [allocating::mimalloc()]);
    }

    #[test]
    fn many_futex_calls_that_cost_nothing_are_innocent() {
        assert!(contended(0.01).look(&SUSPECT).is_none());
    }
}
