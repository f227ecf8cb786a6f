//! The cache of small free blocks that each thread has.

use super::settings::Setting;
use super::{Suspect, Suspicion, allocating, settings, signs};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "alloc.tcache",
    title: "thread cache of malloc",
    about: "malloc keeps small free blocks of each thread at hand; switched off or too small, every call goes the long way \
            through the arena.",
    shows: "User time in _int_malloc and _int_free; the same number of calls.",
    test: "The setting of the fast side on the slow side.",
    fix: "unset glibc.malloc.tcache_count (or tcache:false of jemalloc)",
    report: "The glibc manual, Memory Allocation Tunables: tcache_count.",
    look,
};

const SETTINGS: [&str; 9] = [
    "glibc.malloc.tcache_count",
    "glibc.malloc.tcache_max",
    "glibc.malloc.tcache_unsorted_limit",
    "glibc.malloc.mxfast",
    "MALLOC_CONF:tcache",
    "MALLOC_CONF:lg_tcache_max",
    "MALLOC_CONF:tcache_max",
    "MALLOC_CONF:tcache_nslots_small_max",
    "TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES",
];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let mut found = settings::suspicion(case, |setting: &Setting| SETTINGS.contains(&setting.name.as_str()))?;
    let more = allocating::more_in_malloc(case);
    found.signs.extend(more.map(|more| format!("{} more in malloc and free", signs::seconds(more))));
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    #[test]
    fn the_tunable_is_the_experiment() {
        let test = TestCase::new("a", "a")
            .seconds(0.26, 0.35)
            .slow_env("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0")
            .cpu(&[("main;malloc", 1.0)], &[("main;malloc;_int_malloc", 1.0)]);
        assert!(test.claim_on(&SUSPECT, "GLIBC_TUNABLES").unwrap().is_experiment);
        assert!(test.look(&SUSPECT).unwrap().signs[1].starts_with("90.0 ms more"));
    }

    #[test]
    fn another_tunable_beside_it_makes_it_less_certain() {
        let both = "glibc.malloc.tcache_count=0:glibc.malloc.perturb=1";
        let test = TestCase::new("a", "a").slow_env("GLIBC_TUNABLES", both);
        assert!(!test.claim_on(&SUSPECT, "GLIBC_TUNABLES").unwrap().is_experiment);
    }

    #[test]
    fn malloc_without_the_setting_is_innocent() {
        let test = TestCase::new("a 1", "a 2").cpu(&[("main", 1.0)], &[("main;_int_malloc", 1.0)]);
        assert!(test.look(&SUSPECT).is_none());
    }
}
