//! Without the library and with it.

use std::path::Path;

use whyslow::model::{Preload, Shim};

use super::programs::{compile, printed};

/// What the program prints without the shim must be the first text, and with it the second, for each libc.
fn check(source: &str, shim: Shim, without: &str, with: &str) {
    let directory = tempfile::tempdir().unwrap();
    for program in compile(directory.path(), shim.name(), source) {
        let scratch = directory.path().join("scratch");
        let argv = [program.to_str().unwrap(), scratch.to_str().unwrap()];
        assert_eq!(printed(&argv, &[]), without, "{argv:?}");
        assert_eq!(printed(&argv, &[Preload::Shim(shim)]), with, "{argv:?}");
    }
}

/// A descriptor that nothing can be synced on (a pipe) tells whether the kernel was asked; O_SYNC is in the flags.
#[test]
fn no_sync() {
    let source = r#"
        #define _GNU_SOURCE
        #include <errno.h>
        #include <fcntl.h>
        #include <stdio.h>
        #include <sys/mman.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
            int ends[2], reached = 0, bad, i;
            pipe(ends);
            for (i = 0; i < 50; i++)
                reached += (fsync(ends[0]) == -1) + (fdatasync(ends[0]) == -1) + (sync_file_range(ends[0], 0, 0, 0) == -1);
            errno = 0;
            bad = fsync(99) == -1 && errno == EBADF;
            unlink(argv[1]);
            int synced = open(argv[1], O_RDWR | O_CREAT | O_SYNC, 0640);
            int also = openat(AT_FDCWD, argv[1], O_RDWR | O_DSYNC);
            int none = open("/no/such/file", O_RDONLY | O_SYNC);
            int missed = none == -1 && errno == ENOENT;
            ftruncate(synced, 4096);
            void *memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, synced, 0);
            int mapped = msync(memory, 4096, MS_SYNC);
            sync();
            printf("%d reached, %d told, %d %d synchronous, %d missed, %d\n", reached, bad,
                (fcntl(synced, F_GETFL) & O_SYNC) != 0, (fcntl(also, F_GETFL) & O_DSYNC) != 0, missed, mapped);
            return synced < 0 || also < 0;
        }"#;
    let without = "150 reached, 1 told, 1 1 synchronous, 1 missed, 0\n";
    check(source, Shim::NoSync, without, "0 reached, 1 told, 0 0 synchronous, 1 missed, 0\n");
}

#[test]
fn populate() {
    let source = r#"
        #define _GNU_SOURCE
        #include <stdio.h>
        #include <sys/mman.h>
        #include <sys/resource.h>
        static long faults(void) { struct rusage use; getrusage(RUSAGE_SELF, &use); return use.ru_minflt; }
        int main(void) {
            size_t length = 8 << 20, at;
            char *memory = mmap(0, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            madvise(memory, length, MADV_NOHUGEPAGE);
            long before = faults();
            for (at = 0; at < length; at += 4096) memory[at] = 1;
            long after = faults() - before;
            printf("%s\n", after > 1900 ? "all" : after < 100 ? "none" : "some");
            void *nowhere = mmap(0, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            return nowhere != MAP_FAILED;
        }"#;
    check(source, Shim::Populate, "all\n", "none\n");
}

#[test]
fn no_delay() {
    let source = r#"
        #include <netinet/in.h>
        #include <netinet/tcp.h>
        #include <stdio.h>
        #include <sys/socket.h>
        static int option(int one) {
            int value = -1;
            socklen_t length = sizeof value;
            getsockopt(one, IPPROTO_TCP, TCP_NODELAY, &value, &length);
            return value > 0 ? 1 : value;
        }
        int main(void) {
            struct sockaddr_in here = { .sin_family = AF_INET };
            socklen_t length = sizeof here;
            int zero = 0;
            here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            bind(listening, (void *)&here, sizeof here);
            listen(listening, 1);
            getsockname(listening, (void *)&here, &length);
            int near = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
            if (connect(near, (void *)&here, sizeof here)) return 1;
            int far = accept(listening, 0, 0);
            setsockopt(near, IPPROTO_TCP, TCP_NODELAY, &zero, sizeof zero);
            printf("%d %d %d %d\n", option(near), option(far), option(socket(AF_INET, SOCK_DGRAM, 0)),
                option(socket(AF_UNIX, SOCK_STREAM, 0)));
            return 0;
        }"#;
    check(source, Shim::NoDelay, "0 0 -1 -1\n", "1 1 -1 -1\n");
}

#[test]
fn few_files() {
    let script = "ulimit -Sn; sh -c 'ulimit -Sn'; ulimit -Hn";
    let limits = |preloads: &[Preload], command: &str| -> Vec<u64> {
        let printed = printed(&["sh", "-c", command], preloads);
        printed.lines().map(|line| line.parse().unwrap_or(u64::MAX)).collect()
    };
    let shim = [Preload::Shim(Shim::FewFiles)];
    let before = limits(&[], script);
    let few = before[0].min(1024);
    assert_eq!(limits(&shim, script), [few, few, before[2]]);
    // A smaller limit stays.
    assert_eq!(limits(&shim, "ulimit -Sn 100; sh -c 'ulimit -Sn'"), [100]);
}

#[cfg(feature = "bundled-mimalloc")]
#[test]
fn mimalloc_runs_and_is_in_the_program() {
    let script = "open M, '</proc/self/maps'; $m = join '', <M>; my @a = map { $_ x 3 } 1..1e5;
        print scalar(@a), ' ', $m =~ /whyslow-mimalloc/ ? 'mapped' : 'missing'";
    assert_eq!(printed(&["perl", "-e", script], &[Preload::Mimalloc]), "100000 mapped");
    assert_eq!(printed(&["perl", "-e", script], &[]), "100000 missing");
}

#[test]
fn several_libraries_and_one_of_the_environment() {
    let shims: Vec<Preload> = Shim::ALL.map(Preload::Shim).to_vec();
    let maps = printed(&["sh", "-c", "cat /proc/self/maps"], &shims);
    for shim in Shim::ALL {
        assert!(maps.contains(&format!("whyslow-{}.so", shim.name())), "{shim:?}\n{maps}");
    }
    let place = maps.split_whitespace().find(|word| word.contains("whyslow-")).unwrap();
    assert!(!Path::new(place).parent().unwrap().exists(), "{place} is left behind");
}
