//! Forks of large processes.

use super::evidence::specific;
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

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let seconds = case.more(copied_s)?;
    let weight = specific(case.share(seconds))?;
    let memory = case.slow.median("peak_rss_bytes").unwrap_or(0.0) / 1048576.0;
    let sign = format!("{:.0} forks of up to {memory:.0} MiB", forks(&case.slow)?);
    Some(Suspicion::located(case, weight, vec![sign]))
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
    fn forks_of_a_small_one_accuse_nobody() {
        assert!(forking(20.0).look(&SUSPECT).is_none());
    }
}
