//! Calls, bytes, sizes, moves and peaks, to the last one.

use std::process::Command;

use super::programs::{ALL, GLIBC, compile, work_of, work_of_program};

#[test]
fn mallocs_of_known_sizes() {
    let source = r#"
        static void work(int argc, char **argv) {
            int i;
            for (i = 0; i < 1000; i++) kept = malloc(100);
            for (i = 0; i < 300; i++) { kept = malloc(5000); free(kept); }
            kept = malloc(0); kept = malloc(1); kept = malloc((size_t)-1 / 4);
            free(0);
        }"#;
    for seen in work_of(ALL, source) {
        assert_eq!((seen.malloc_calls, seen.free_calls, seen.allocations()), (1303, 300, 1303));
        assert_eq!((seen.sizes[0], seen.sizes[6], seen.sizes[12], seen.sizes[61]), (2, 1000, 300, 1));
        assert_eq!((seen.at_least(4096), seen.at_least(8192)), (301, 1));
        assert_eq!(seen.asked_bytes, 100_000 + 1_500_000 + 1 + u64::MAX / 4);
    }
}

#[test]
fn every_way_to_get_a_block_counts_once() {
    let source = r#"
        static void work(int argc, char **argv) {
            void *block;
            int i;
            for (i = 0; i < 50; i++) {
                kept = calloc(10, 3);
                posix_memalign(&block, 64, 40);
                free(block);
                kept = aligned_alloc(64, 128);
                kept = memalign(32, 32);
                kept = valloc(8);
                kept = reallocarray(0, 4, 5);
                kept = strdup("text");
            }
            if (reallocarray(0, (size_t)-1 / 2, 3) || errno != ENOMEM) abort();
            if (calloc((size_t)-1 / 2, 3)) abort();
            if (posix_memalign(&block, 3, 8) != EINVAL) abort();
        }"#;
    for seen in work_of(ALL, source) {
        assert_eq!((seen.calloc_calls, seen.aligned_calls, seen.malloc_calls), (51, 201, 50));
        assert_eq!((seen.realloc_calls, seen.realloc_new, seen.free_calls), (50, 50, 50));
        assert_eq!(seen.allocations(), 51 + 201 + 50 + 50);
    }
}

/// A block behind each keeps it from growing where it is.
#[test]
fn moves_and_the_bytes_that_they_copy() {
    let source = r#"
        static void work(int argc, char **argv) {
            static char *blocks[500], *blockers[500];
            int i;
            for (i = 0; i < 500; i++) {
                blocks[i] = malloc(1000);
                blockers[i] = malloc(1000);
            }
            for (i = 0; i < 500; i++) blocks[i] = realloc(blocks[i], 3000);
            for (i = 0; i < 500; i++) blocks[i] = realloc(blocks[i], 3000);
            for (i = 0; i < 40; i++) if (realloc(blocks[i], 0)) abort();
        }"#;
    for seen in work_of(GLIBC, source) {
        assert_eq!((seen.realloc_calls, seen.realloc_moved, seen.realloc_in_place), (1040, 500, 500));
        assert_eq!((seen.realloc_freed, seen.realloc_new, seen.realloc_remapped), (40, 0, 0));
        // 1000 bytes are 1000 in the chunks of glibc.
        assert_eq!(seen.realloc_moved_bytes, 500 * 1000);
    }
}

/// An allocator that always copies, as a library of the program's own.
#[test]
fn an_allocator_that_copies_every_time() {
    let allocator = r#"
        #include <stddef.h>
        #include <string.h>
        #include <sys/mman.h>
        static char *next, *end;
        void *malloc(size_t bytes) {
            size_t whole = (bytes + 31) & ~(size_t)15;
            if (!next || end - next < whole) {
                next = mmap(0, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                end = next + (64 << 20);
            }
            char *block = next + 16;
            next += whole;
            *(size_t *)(block - 16) = bytes;
            return block;
        }
        size_t malloc_usable_size(void *block) { return block ? *(size_t *)((char *)block - 16) : 0; }
        void free(void *block) {}
        /* By its public name, so that the agent sees both. */
        void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); }
        void *realloc(void *block, size_t bytes) {
            void *now = malloc(bytes);
            size_t had = malloc_usable_size(block);
            if (block) memcpy(now, block, had < bytes ? had : bytes);
            free(block);
            return now;
        }"#;
    let source = r#"
        static void work(int argc, char **argv) {
            char *text = malloc(1000);
            int i;
            for (i = 1; i <= 100; i++) text = realloc(text, 1000 + i * 10);
            kept = text;
            for (i = 0; i < 70; i++) kept = calloc(3, 7);
        }"#;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("copying.c");
    let library = directory.path().join("copying.so");
    std::fs::write(&file, allocator).unwrap();
    let flags = ["-O1", "-fno-builtin", "-w", "-shared", "-fPIC", "-o"];
    assert!(Command::new("gcc").args(flags).arg(&library).arg(&file).status().unwrap().success());
    for program in compile(directory.path(), GLIBC, source, &[]) {
        let seen = work_of_program(&program, &[&library]);
        assert!(seen.allocators[0].ends_with("/copying.so"), "{:?}", seen.allocators);
        assert_eq!(
            (seen.malloc_calls, seen.calloc_calls, seen.free_calls),
            (1, 70, 0),
            "nested ones are not asked for"
        );
        assert_eq!((seen.realloc_calls, seen.realloc_moved, seen.realloc_in_place), (100, 100, 0));
        assert_eq!(seen.realloc_moved_bytes, (0..100).map(|grown| 1000 + grown * 10).sum::<u64>());
    }
}

#[test]
fn large_blocks_are_remapped_and_not_copied() {
    let source = r#"
        static void work(int argc, char **argv) {
            char *block = malloc(1 << 20);
            int i;
            for (i = 2; i <= 60; i++) {
                /* Something behind it, so that it cannot grow where it is. */
                kept = malloc(1 << 20);
                block = realloc(block, (size_t)i << 20);
                block[(size_t)i << 19] = 1;
            }
        }"#;
    for seen in work_of(ALL, source) {
        assert_eq!((seen.realloc_calls, seen.realloc_moved), (59, 0), "{seen:?}");
        assert_eq!(seen.realloc_remapped + seen.realloc_in_place, 59);
        assert!(
            seen.realloc_remapped > 0 && seen.realloc_remapped_bytes >= seen.realloc_remapped << 20,
            "{seen:?}"
        );
    }
}

#[test]
fn the_peak_of_live_bytes() {
    let source = r#"
        static void work(int argc, char **argv) {
            static void *blocks[1000];
            int round, i;
            for (round = 0; round < 3; round++) {
                for (i = 0; i < 1000; i++) blocks[i] = malloc(1000);
                for (i = 0; i < 1000; i++) free(blocks[i]);
            }
            /* Less than what was there before. */
            for (i = 0; i < 10; i++) kept = malloc(1000);
        }"#;
    for seen in work_of(ALL, source) {
        assert!((1_000_000..1_200_000).contains(&seen.peak_live_bytes), "{}", seen.peak_live_bytes);
        assert_eq!((seen.malloc_calls, seen.free_calls), (3010, 3000));
    }
}

#[test]
fn small_peaks_are_no_zeros() {
    let source = "static void work(int argc, char **argv) { kept = malloc(500); free(kept); }";
    for seen in work_of(ALL, source) {
        assert!(seen.peak_live_bytes >= 500 && seen.peak_live_bytes < 100_000, "{}", seen.peak_live_bytes);
    }
}

#[test]
fn the_break_is_moved_by_programs_with_an_allocator_of_their_own() {
    let source = r#"
        static void work(int argc, char **argv) {
            int i;
            for (i = 0; i < 30; i++) sbrk(4096);
            brk(sbrk(0));
        }"#;
    for seen in work_of(GLIBC, source) {
        assert_eq!(seen.sbrk_calls, 32);
    }
}
