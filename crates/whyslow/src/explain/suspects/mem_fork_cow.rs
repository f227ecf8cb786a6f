//! Forks of large processes.

use super::evidence::specific;
use super::signs::{self, more_in_functions};
use super::{Suspect, Suspicion};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "mem.fork-cow",
    title: "forks of a large process",
    about: "fork copies the page tables of the whole process, and afterwards every page that one of the two changes. What a \
            fork costs grows with the memory of the process that forks.",
    shows: "System time and page faults for each fork, in proportion to the memory of the process.",
    test: "No library can make fork share memory safely, so it is located: forks times memory, priced.",
    fix: "start children with posix_spawn or vfork, early, or from a small helper process",
    report: "python/cpython#80004 (bpo-35823): subprocess with vfork, because fork of a large process takes long.",
    look,
};

/// Smaller processes fork at the price of any process.
const LARGE_BYTES: f64 = 32.0 * 1024.0 * 1024.0;
/// Measured: 20 us for each MiB.
const BYTE_S: f64 = 20e-6 / 1048576.0;
/// The copy is taken down again when the child ends or calls exec, and pages that are written meanwhile are copied.
const AFTERWARDS: f64 = 2.0;

/// Where the kernel copies the tables of a process.
const COPYING: [&str; 3] = ["copy_page_range", "dup_mmap", "dup_mm"];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    // As many forks cost more after the memory was filled, which only the kernel's own functions tell.
    let copying =
        more_in_functions(case, &COPYING).filter(|_| forks(&case.slow).is_none_or(|made| made > 0.0));
    let counted = case.more(copied_s).unwrap_or(0.0);
    let seconds = counted.max(AFTERWARDS * copying.unwrap_or(0.0));
    let weight = specific(case.share(seconds))?;
    let memory = case.slow.median("peak_rss_bytes").unwrap_or(0.0) / 1048576.0;
    let made = forks(&case.slow).map(|made| format!("{made:.0} forks of up to {memory:.0} MiB"));
    let copied = copying.filter(|more| *more > 0.0);
    let copied = copied.map(|more| format!("{} more in copying page tables", signs::seconds(more)));
    Some(Suspicion::located(case, weight, made.into_iter().chain(copied).collect()))
}

fn copied_s(side: &Side<'_>) -> Option<f64> {
    let memory = side.median("peak_rss_bytes")?;
    Some(if memory < LARGE_BYTES { 0.0 } else { forks(side)? * memory * BYTE_S })
}

/// Calls that copy memory: clone is that of fork, since threads and posix_spawn come from clone3 and vfork here.
fn forks(side: &Side<'_>) -> Option<f64> {
    let syscalls = side.syscalls()?;
    let made = syscalls.count_of(&["fork", "clone"]);
    let threads = if syscalls.count("clone3") == 0 { syscalls.threads } else { 0 };
    Some(made.saturating_sub(threads).min(syscalls.processes.saturating_sub(1)) as f64)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn forking(mib: f64) -> TestCase {
        TestCase::new("start spawn 50", "start fork 50")
            .seconds(0.1, 0.5)
            .system(0.05, 0.4)
            .median("peak_rss_bytes", mib * 1048576.0, mib * 1048576.0)
            .syscalls(|fast, slow| {
                fast.call("vfork", 50);
                slow.call("clone", 50);
                fast.processes = 51;
                slow.processes = 51;
            })
    }

    #[test]
    fn fifty_forks_of_a_large_process() {
        assert_eq!(forking(400.0).candidates()[0], "mem.fork-cow");
    }

    #[test]
    fn as_many_forks_after_the_memory_was_filled() {
        let forks = |copying: f64| {
            let stacks = [("main", 1.0 - copying), ("main;[kernel]!copy_page_range", copying)];
            TestCase::new("kids before", "kids after")
                .seconds(0.15, 0.4)
                .system(0.07, 0.3)
                .median("peak_rss_bytes", 2e8, 2e8)
                .faults(48_000.0, 87_000.0)
                .syscalls(|fast, slow| {
                    for side in [fast, slow] {
                        side.call("clone", 60);
                        side.processes = 61;
                    }
                })
                .cpu(&[("main", 1.0)], &stacks)
        };
        assert_eq!(forks(0.25).candidates()[0], "mem.fork-cow");
        assert!(forks(0.0).look(&SUSPECT).is_none());
    }

    #[test]
    fn forks_of_a_small_one_accuse_nobody() {
        assert!(forking(20.0).look(&SUSPECT).is_none());
    }
}
