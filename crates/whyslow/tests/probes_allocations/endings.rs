//! Threads, forks and ends of every kind: what was counted is not lost.

use whyslow::model::Exit;

use super::programs::{ALL, GLIBC, compile, launch, probed, seen, work_of};

const THREADS: &str = r#"
    static void *loop(void *count) {
        intptr_t i;
        for (i = 0; i < (intptr_t)count; i++) { void *volatile block = malloc(24); free(block); }
        return 0;
    }
"#;

#[test]
fn threads_count_exactly() {
    let source = format!(
        r#"{THREADS}
        static void work(int argc, char **argv) {{
            pthread_t threads[8];
            int i;
            for (i = 0; i < 8; i++) pthread_create(&threads[i], 0, loop, (void *)100000);
            for (i = 0; i < 8; i++) pthread_join(threads[i], 0);
        }}"#
    );
    for seen in work_of(ALL, &source) {
        assert_eq!(seen.sizes[4], 800_000);
        assert!((800_000..800_100).contains(&seen.malloc_calls), "{seen:?}");
        assert_eq!(seen.processes, 1);
    }
}

/// Many more than there are places for at once: a thread takes over from one that has ended.
#[test]
fn threads_come_and_go() {
    let source = format!(
        r#"{THREADS}
        static void *free_it(void *block) {{ free(block); return loop((void *)10); }}
        static void work(int argc, char **argv) {{
            int i;
            for (i = 0; i < 3000; i++) {{
                pthread_t thread;
                void *block = malloc(9000);
                pthread_create(&thread, 0, free_it, block);
                pthread_join(thread, 0);
            }}
        }}"#
    );
    for seen in work_of(ALL, &source) {
        assert_eq!((seen.sizes[4], seen.sizes[13]), (30_000, 3000));
        // What one thread allocates and another frees is not live for ever.
        assert!(seen.peak_live_bytes < 400_000, "{}", seen.peak_live_bytes);
    }
}

#[test]
fn hundreds_of_threads_at_once() {
    let source = format!(
        r#"{THREADS}
        static void work(int argc, char **argv) {{
            static pthread_t threads[256];
            int i;
            for (i = 0; i < 256; i++) pthread_create(&threads[i], 0, loop, (void *)1000);
            for (i = 0; i < 256; i++) pthread_join(threads[i], 0);
        }}"#
    );
    for seen in work_of(GLIBC, &source) {
        assert_eq!(seen.sizes[4], 256_000);
    }
}

#[test]
fn forks_from_threads_and_every_end() {
    let source = format!(
        r#"{THREADS}
        static void *forks(void *nothing) {{
            int i;
            for (i = 0; i < 10; i++) {{
                pid_t child = fork();
                if (child == 0) {{
                    loop((void *)1000);
                    if (i % 3 == 0) kill(getpid(), SIGKILL);
                    if (i % 3 == 1) abort();
                    _exit(0);
                }}
                loop((void *)500);
                waitpid(child, 0, 0);
            }}
            return 0;
        }}
        static void work(int argc, char **argv) {{
            pthread_t threads[4];
            int i;
            for (i = 0; i < 4; i++) pthread_create(&threads[i], 0, forks, 0);
            for (i = 0; i < 4; i++) pthread_join(threads[i], 0);
            loop((void *)7);
            kill(getpid(), SIGKILL);
        }}"#
    );
    let directory = tempfile::tempdir().unwrap();
    for program in compile(directory.path(), ALL, &source, &[]) {
        let probed = probed(&launch(&[program.to_str().unwrap(), "work"]));
        assert_eq!((&probed.exit, &*probed.blind_spots), (&Exit::Signal(9), &[][..]));
        let seen = seen(&probed);
        assert_eq!(seen.sizes[4], 4 * 10 * (1000 + 500) + 7, "{}", program.display());
        assert_eq!(seen.processes, 1 + 40);
    }
}

/// A forked process has what its parent had.
#[test]
fn the_peak_of_a_fork_goes_on_from_that_of_its_parent() {
    let source = r#"
        static void work(int argc, char **argv) {
            static void *blocks[1000];
            int i;
            for (i = 0; i < 1000; i++) blocks[i] = malloc(1000);
            if (fork() == 0) {
                for (i = 0; i < 1000; i++) kept = malloc(1000);
                _exit(0);
            }
            wait(0);
            for (i = 0; i < 1000; i++) free(blocks[i]);
        }"#;
    for seen in work_of(ALL, source) {
        assert!((2_000_000..2_300_000).contains(&seen.peak_live_bytes), "{}", seen.peak_live_bytes);
    }
}

#[test]
fn what_vfork_and_exec_start_is_counted_apart() {
    let source = format!(
        r#"{THREADS}
        static void work(int argc, char **argv) {{
            if (argc > 2) {{ loop((void *)300); return; }}
            int i;
            for (i = 0; i < 20; i++) {{
                pid_t child = vfork();
                if (child == 0) {{ execl(argv[0], argv[0], "work", "more", (char *)0); _exit(1); }}
                waitpid(child, 0, 0);
                loop((void *)10);
            }}
            execl(argv[0], argv[0], "work", "more", (char *)0);
        }}"#
    );
    for seen in work_of(ALL, &source) {
        assert_eq!(seen.sizes[4], 21 * 300 + 20 * 10);
        // The first image, the twenty, and what the first became.
        assert_eq!(seen.processes, 22);
    }
}

#[test]
fn thousands_of_processes() {
    let probed = probed(&launch(&["sh", "-c", "i=0; while [ $i -lt 2000 ]; do (:); i=$((i+1)); done"]));
    assert_eq!((&probed.exit, seen(&probed).processes), (&Exit::Code(0), 2001));
}
