//! Huge pages of which only a little is used.

use super::mem_thp_off::is_switch;
use super::{Suspect, Suspicion, settings};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "mem.thp-sparse",
    title: "huge pages for sparse memory",
    about: "With huge pages the kernel clears 2 MiB where a program touches a few bytes, so that memory that is used here \
            and there costs many times its size.",
    shows: "System time in clearing pages and far more peak memory, with no more page faults.",
    test: "The setting of the fast side on the slow side.",
    fix: "unset glibc.malloc.hugetlb (or thp:always), or set transparent huge pages to madvise",
    report: "Databases ask to switch transparent huge pages off: sparse access makes them slow and large.",
    look,
};

/// So many times the peak memory cannot be by chance.
const MORE_MEMORY: f64 = 1.5;
const LARGE_BYTES: f64 = 64.0 * 1024.0 * 1024.0;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let memory = case.fast.median("peak_rss_bytes").zip(case.slow.median("peak_rss_bytes"));
    let grown = memory.filter(|(fast, slow)| *slow > MORE_MEMORY * fast && *slow > LARGE_BYTES);
    let sign = grown.map(|(fast, slow)| {
        format!("{:.0} MiB in use against {:.0} MiB", slow / 1048576.0, fast / 1048576.0)
    });
    if let Some(mut found) = settings::suspicion(case, |setting| is_switch(setting, false)) {
        found.signs.extend(sign);
        return Some(found);
    }
    let faults = case.more(|side| side.median("page_faults"))?;
    let is_system = case.share(case.gap.budget.system_s) > 0.5;
    let has_few_faults = case.share(faults * case.prices.fault_s) < 0.2;
    (is_system && has_few_faults).then_some(())?;
    Some(Suspicion::located(case, 0.3, vec![sign?]))
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn sparse(slow_mib: f64) -> TestCase {
        TestCase::new("sparse 0", "sparse 1")
            .seconds(0.02, 0.7)
            .system(0.01, 0.68)
            .faults(20_000.0, 20_100.0)
            .median("peak_rss_bytes", 80.0 * 1048576.0, slow_mib * 1048576.0)
    }

    #[test]
    fn the_tunable_of_the_slow_side_is_the_experiment() {
        let test = TestCase::new("a", "a").slow_env("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
        assert!(test.claim_on(&SUSPECT, "GLIBC_TUNABLES").unwrap().is_experiment);
        assert!(!test.suspected().contains(&"mem.thp-off"));
    }

    #[test]
    fn more_memory_without_more_faults_is_located() {
        assert!(sparse(2000.0).weight(&SUSPECT) > 0.2);
    }

    #[test]
    fn a_little_more_memory_accuses_nobody() {
        assert!(sparse(90.0).look(&SUSPECT).is_none());
    }
}
