//! Large blocks that are mapped and unmapped one by one.

use super::evidence::specific;
use super::settings::Setting;
use super::{Suspect, Suspicion, allocating, settings, signs};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "alloc.mmap-threshold",
    title: "threshold of mapped blocks",
    about: "malloc gets large blocks from the kernel one by one and gives each of them back at once, so that all their \
            pages are made anew the next time. glibc raises the threshold by itself, unless somebody fixes it.",
    shows: "System time; mmap and munmap for every large malloc and free; page faults far above the peak memory.",
    test: "No block mapped by itself (glibc.malloc.mmap_max=0), on both sides; or the settings of the fast side.",
    fix: "unset the tunable, or raise glibc.malloc.mmap_threshold above the usual size; in the program: keep the buffer",
    report: "sonos/tract PR 2783: the same binary in one of two modes, millions of page faults apart; taskflow/taskflow#264.",
    look,
};

const SETTINGS: [&str; 6] = [
    "glibc.malloc.mmap_threshold",
    "glibc.malloc.mmap_max",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_MMAP_MAX_",
    "MALLOC_CONF:retain",
    "MALLOC_CONF:oversize_threshold",
];
/// Blocks come from the heap, which is not given back either: else brk would do what munmap did.
const KEEP: &str =
    "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184:glibc.malloc.top_pad=67108864";

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let share = allocating::mapped_s(case).map(|seconds| case.share(seconds));
    let sign =
        share.and_then(specific).and_then(|_| signs::more_calls(case, &["mmap", "munmap"])).map(|calls| {
            format!("{calls:.0} more mmap and munmap, {:.0} more page faults", allocating::more_faults(case))
        });
    let is_mine = |setting: &Setting| SETTINGS.contains(&setting.name.as_str());
    if let Some(mut found) = settings::suspicion(case, is_mine) {
        found.signs.extend(sign);
        return Some(found);
    }
    // It must be the allocator that maps more for the same requests, or the requests are the difference.
    let (fast, slow) = allocating::counted(case)?;
    let large = |seen: &crate::model::Allocations| seen.at_least(allocating::LARGE_BYTES) as f64;
    let is_alike = large(slow) <= large(fast) * 1.2;
    let weight = specific(share?)? * if is_alike { 1.0 } else { 0.8 };
    let mut found = Suspicion::located(case, weight, sign.into_iter().collect());
    let is_glibc = allocating::owner(&case.slow).is_none_or(|owner| owner.contains("libc.so.6"));
    if is_glibc {
        found.ideas.extend(settings::more_on_both_sides(case, "GLIBC_TUNABLES", KEEP));
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn churn(maps: u64, faults: f64) -> TestCase {
        TestCase::new("churn 300 1024", "churn 300 1024")
            .seconds(0.0025, 0.11)
            .system(0.0, 0.1)
            .faults(646.0, faults)
            .syscalls(|_, slow| {
                slow.call("mmap", maps);
                slow.call("munmap", maps);
            })
            .allocations(|fast, slow| {
                for side in [fast, slow] {
                    side.malloc_calls = 300;
                    side.sizes = vec![0; 20];
                    side.sizes.push(300);
                }
            })
    }

    #[test]
    fn the_tunable_is_the_experiment() {
        let test = churn(299, 76_935.0).slow_env("GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=131072");
        assert!(test.claim_on(&SUSPECT, "GLIBC_TUNABLES").unwrap().is_experiment);
    }

    #[test]
    fn without_one_no_block_is_mapped_on_both_sides() {
        let found = churn(299, 76_935.0).look(&SUSPECT).unwrap();
        assert!(found.weight > 0.5 && found.ideas[0].title.contains("mmap_max=0"));
    }

    #[test]
    fn maps_of_the_program_itself_are_not_of_malloc() {
        let test = TestCase::new("frames 40 0", "frames 40 1")
            .seconds(0.07, 0.8)
            .system(0.02, 0.74)
            .faults(8328.0, 327_817.0)
            .syscalls(|_, slow| slow.call("mmap", 80))
            .allocations(|_, _| {});
        assert!(test.look(&SUSPECT).is_none());
    }

    #[test]
    fn a_few_maps_accuse_nobody() {
        assert!(churn(60, 700.0).seconds(0.1, 0.2).look(&SUSPECT).is_none());
    }
}
