//! Free pages that an allocator gives back after a while, or at once.

use super::evidence::specific;
use super::settings::Setting;
use super::{Suspect, Suspicion, allocating, settings, signs};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "alloc.decay",
    title: "decay of free pages",
    about: "jemalloc, mimalloc and tcmalloc give free pages back to the kernel after a time that can be set; where that is \
            short, the same pages are made again and again.",
    shows: "System time; many madvise calls; page faults far above the peak memory.",
    test: "Free pages are kept (dirty_decay_ms:-1, muzzy_decay_ms:-1; MIMALLOC_PURGE_DELAY=-1), on both sides.",
    fix: "lengthen the decay (MALLOC_CONF=dirty_decay_ms:10000), or let a background thread do it",
    report: "The jemalloc manual, opt.dirty_decay_ms; ibigbug/clash-rs PR 1512 shortens the decay to save memory.",
    look,
};

const SETTINGS: [&str; 10] = [
    "MALLOC_CONF:dirty_decay_ms",
    "MALLOC_CONF:muzzy_decay_ms",
    "MALLOC_CONF:decay_time",
    "MALLOC_CONF:lg_dirty_mult",
    "MALLOC_CONF:background_thread",
    "MIMALLOC_PURGE_DELAY",
    "MIMALLOC_RESET_DELAY",
    "MIMALLOC_PAGE_RESET",
    "TCMALLOC_RELEASE_RATE",
    "TCMALLOC_AGGRESSIVE_DECOMMIT",
];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let weight = allocating::returned_s(case, &["madvise"]).and_then(|seconds| specific(case.share(seconds)));
    let sign = weight.and_then(|_| signs::more_calls(case, &["madvise"])).map(|calls| {
        format!("{calls:.0} more madvise calls, {:.0} more page faults", allocating::more_faults(case))
    });
    let is_mine = |setting: &Setting| {
        let name = setting.name.trim_start_matches("_RJEM_").trim_start_matches("JE_");
        SETTINGS.contains(&name)
    };
    if let Some(mut found) = settings::suspicion(case, is_mine) {
        found.signs.extend(sign);
        return Some(found);
    }
    let mut found = Suspicion::located(case, weight?, sign.into_iter().collect());
    let owner = allocating::owner(&case.slow).unwrap_or_default();
    if owner.contains("jemalloc") {
        let keep = "dirty_decay_ms:-1,muzzy_decay_ms:-1";
        found.ideas.extend(settings::more_on_both_sides(case, "MALLOC_CONF", keep));
    } else if owner.contains("mimalloc") {
        found.ideas.extend(settings::on_both_sides(case, "MIMALLOC_PURGE_DELAY", "-1"));
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn purged(calls: u64, faults: f64) -> TestCase {
        TestCase::new("a 1", "a 2")
            .seconds(0.1, 0.3)
            .system(0.01, 0.2)
            .faults(1000.0, faults)
            .syscalls(|_, slow| slow.call("madvise", calls))
            .allocations(|fast, slow| {
                for side in [fast, slow] {
                    side.allocators = vec!["/usr/lib/libjemalloc.so.2".to_owned()];
                }
            })
    }

    #[test]
    fn jemalloc_that_purges_is_told_to_keep() {
        let found = purged(20_000, 150_000.0).look(&SUSPECT).unwrap();
        assert!(found.ideas[0].title.contains("dirty_decay_ms:-1"));
    }

    #[test]
    fn the_setting_is_the_experiment() {
        let test = TestCase::new("a", "a")
            .env("LD_PRELOAD", "libjemalloc.so.2")
            .slow_env("MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0");
        assert!(test.claim_on(&SUSPECT, "MALLOC_CONF").unwrap().is_experiment);
    }

    #[test]
    fn a_few_calls_accuse_nobody() {
        assert!(purged(60, 1200.0).look(&SUSPECT).is_none());
    }
}
