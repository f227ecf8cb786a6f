//! Small pages where the other side has huge ones.

use super::allocating::{counted, more_faults};
use super::evidence::specific;
use super::settings::Setting;
use super::{Suspect, Suspicion, settings, signs};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "mem.thp-off",
    title: "no huge pages",
    about: "Large blocks are made of pages of 4 KiB where huge pages of 2 MiB would do: 512 times as many page faults, and \
            more misses of the TLB.",
    shows: "System time and hundreds of times as many page faults for the same requests; or user time with random access.",
    test: "glibc.malloc.hugetlb=1 (madvise for what malloc gets), or the setting of the other side.",
    fix: "GLIBC_TUNABLES=glibc.malloc.hugetlb=1, madvise(MADV_HUGEPAGE), or transparent huge pages set to always",
    report: "microsoft/snmalloc#251: 22 million page faults against half a million.",
    look,
};

const TUNABLE: &str = "glibc.malloc.hugetlb";
const HUGE_BYTES: u64 = 2 * 1024 * 1024;

/// Whether a setting switches huge pages on.
fn is_on(value: &Option<String>) -> bool {
    value.as_deref().is_some_and(|value| !matches!(value, "" | "0" | "false" | "never"))
}

/// Settings about huge pages that are on for one side only: `true` where it is the fast one.
pub fn is_switch(setting: &Setting, on_fast: bool) -> bool {
    let names = [
        TUNABLE,
        "MALLOC_CONF:thp",
        "MALLOC_CONF:metadata_thp",
        "MIMALLOC_ALLOW_LARGE_OS_PAGES",
        "MIMALLOC_LARGE_OS_PAGES",
        "MIMALLOC_ALLOW_THP",
    ];
    let (fast, slow) = (is_on(&setting.fast), is_on(&setting.slow));
    names.contains(&setting.name.as_str()) && if on_fast { fast || !slow } else { slow && !fast }
}

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let more = more_faults(case);
    let sign = format!("{more:.0} more page faults");
    if let Some(mut found) = settings::suspicion(case, |setting| is_switch(setting, true)) {
        found.signs.push(sign);
        return Some(found);
    }
    let allowed = case.fact_difference("memory.thp_allowed");
    let weight = specific(case.share(more * case.prices.fault_s))?;
    if allowed.is_some() {
        let signs = vec![sign, "huge pages are forbidden on one side".to_owned()];
        return Some(Suspicion::located(case, weight, signs));
    }
    if !asks_for_the_same(case) {
        return None;
    }
    let mut found = Suspicion::located(case, weight, vec![format!("{sign} for the same requests")]);
    found.ideas.extend(settings::more_on_both_sides(case, "GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"));
    Some(found)
}

/// The same large blocks and maps, and yet many times as many faults: the pages are of another size.
fn asks_for_the_same(case: &Case<'_>) -> bool {
    let faults = |side: &crate::explain::Side<'_>| side.median("page_faults").unwrap_or(0.0);
    let is_many = faults(&case.slow) > 5.0 * faults(&case.fast);
    let is_same = counted(case).is_some_and(|(fast, slow)| {
        let (few, many) = (fast.at_least(HUGE_BYTES) as f64, slow.at_least(HUGE_BYTES) as f64);
        few > 0.0 && many <= 1.1 * few && slow.asked_bytes as f64 <= 1.1 * fast.asked_bytes as f64
    });
    let has_same_maps =
        signs::more_calls(case, &["mmap", "munmap", "brk", "madvise"]).is_some_and(|more| more.abs() < 20.0);
    is_many && is_same && has_same_maps
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn buffers(maps: u64) -> TestCase {
        TestCase::new("churn 6 131072", "./churn 6 131072")
            .seconds(0.0774, 0.34)
            .system(0.0774, 0.3156)
            .faults(3587.0, 196_745.0)
            .syscalls(|_, slow| slow.call("mmap", maps))
            .allocations(|fast, slow| {
                for side in [fast, slow] {
                    side.sizes = vec![0; 27];
                    side.sizes.push(6);
                    side.asked_bytes = 6 << 27;
                }
            })
    }

    #[test]
    fn the_tunable_of_the_fast_side_is_the_experiment() {
        let test = TestCase::new("a", "a").fast_env("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
        assert!(test.claim_on(&SUSPECT, "GLIBC_TUNABLES").unwrap().is_experiment);
    }

    #[test]
    fn the_same_requests_with_many_more_faults_are_worth_a_try() {
        assert!(buffers(0).look(&SUSPECT).unwrap().ideas[0].title.contains("hugetlb=1"));
    }

    #[test]
    fn more_maps_are_somebody_else() {
        assert!(buffers(300).look(&SUSPECT).is_none());
    }
}
