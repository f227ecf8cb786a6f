//! Rows about memory and allocators.

use whyslow::machine::simulated::Condition;
use whyslow::model::Edit;

use super::scene::Row;

const TUNABLES: &str = "GLIBC_TUNABLES";
const MIB: f64 = 1_048_576.0;

pub fn rows() -> Vec<Row> {
    [allocators(), pages()].concat()
}

fn allocators() -> Vec<Row> {
    vec![
        Row::set("alloc.allocator", "trees", "LD_PRELOAD", "/usr/lib/libjemalloc.so.2")
            .user(0.1)
            .both(|s| s.allocations(|seen| seen.malloc_calls = 9_000_000))
            .signs(|s| s.cpu(&[("main;malloc", 0.1)])),
        Row::set("alloc.arena-contention", "threads", "MALLOC_ARENA_MAX", "1")
            .user(0.2)
            .system(0.2)
            .both(|s| s.tree(0, 1, 0))
            .signs(|s| {
                s.calls(&[("futex", 100_000)])
                    .cpu(&[("start_thread;malloc;_int_malloc;__lll_lock_wait_private", 0.4)])
            }),
        Row::set("alloc.decay", "churn", "MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")
            .env("LD_PRELOAD", "/usr/lib/libjemalloc.so.2")
            .system(0.2)
            .counts(|cost| cost.page_faults = 150_000.0)
            .signs(|s| s.calls(&[("madvise", 20_000)])),
        Row::set("alloc.mmap-threshold", "churn", TUNABLES, "glibc.malloc.mmap_threshold=131072")
            .system(0.1)
            .counts(|cost| cost.page_faults = 76_935.0)
            .both(|s| {
                s.allocations(|seen| {
                    seen.malloc_calls = 300;
                    seen.sizes = vec![0; 20];
                    seen.sizes.push(300);
                })
            })
            .signs(|s| s.calls(&[("mmap", 299), ("munmap", 299)])),
        Row::set("alloc.perturb", "trees", "MALLOC_PERTURB_", "165")
            .user(0.1)
            .signs(|s| s.cpu(&[("main;malloc;_int_malloc;memset", 0.1)])),
        Row::set("alloc.realloc-copy", "python3 grow.py", "LD_PRELOAD", "/w/slowrealloc.so")
            .user(0.05)
            .system(0.25)
            .counts(|cost| cost.page_faults = 125_785.0)
            .signs(|s| {
                s.allocations(|seen| (seen.realloc_moved, seen.realloc_moved_bytes) = (6000, 1_100_000_000))
            }),
        Row::set("alloc.tcache", "trees", TUNABLES, "glibc.malloc.tcache_count=0")
            .user(0.09)
            .signs(|s| s.cpu(&[("main;malloc;_int_malloc", 0.09)])),
        Row::set("alloc.trim", "waves", "MALLOC_TRIM_THRESHOLD_", "0")
            .system(0.2)
            .counts(|cost| cost.page_faults = 150_000.0)
            .signs(|s| s.calls(&[("brk", 20_000)])),
    ]
}

fn pages() -> Vec<Row> {
    vec![
        Row::new("mem.first-touch", "frames kept", "frames anew")
            .cured_by(Condition::Preloads("populate".into()))
            .user(0.02)
            .system(0.7)
            .counts(|cost| cost.page_faults = 319_489.0)
            .both(|s| s.calls(&[("mmap", 10)]))
            .signs(|s| s.calls(&[("mmap", 40)])),
        Row::new("mem.fork-cow", "start spawn", "start fork")
            .user(0.01)
            .system(0.4)
            .both(|s| s.calls(&[("vfork", 50)]).tree(50, 0, 50))
            .counts(|cost| cost.peak_rss_bytes = 400.0 * MIB)
            .signs(|s| s.calls(&[("clone", 50)])),
        Row::set("mem.layout", "loop", "PAD", "xxxxxxxx")
            .cured_by(Condition::env_is_set("WHYSLOW_PADDING"))
            .user(0.3)
            .signs(|s| s.cpu(&[("main", 0.3)])),
        Row::unset("mem.thp-off", "buffers", TUNABLES, "glibc.malloc.hugetlb=1")
            .system(0.24)
            .counts(|cost| cost.page_faults = 193_000.0),
        Row::set("mem.thp-sparse", "sparse", TUNABLES, "glibc.malloc.hugetlb=1")
            .system(0.6)
            .counts(|cost| cost.peak_rss_bytes = 2000.0 * MIB),
        Row::set("env.size", "spawn", "BIG", &"x".repeat(100 * 1024))
            .slow_edit(Edit::SetEnv("SMALL".into(), "x".into()))
            .system(0.03)
            .both(|s| s.tree(200, 0, 200)),
    ]
}
