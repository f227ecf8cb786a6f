//! Calls, errors and bytes are those that the program makes, no more and no less.

use whyslow::model::{Exit, Syscalls};

use super::programs::{program, shell, syscalls, traced, turn};

#[test]
fn calls_are_counted_one_by_one() {
    let _turn = turn();
    let body = "for (int i = 0; i < 12345; i++) syscall(SYS_getppid);";
    let (seen, probed) = syscalls(&program(body));
    assert_eq!((probed.exit, seen.count("getppid")), (Exit::Code(0), 12345));
    assert_eq!((seen.count("execve"), seen.count("exit_group")), (1, 1));
    assert_eq!((seen.processes, seen.threads, seen.starts), (1, 0, 1));
    assert!(probed.cpu_s.unwrap() > 0.0 && probed.wall_s > 0.0 && probed.blind_spots.is_empty());
    // What it takes to be held is not the program's.
    assert_eq!((seen.count("setpgid"), seen.count("dup2"), seen.count("prctl")), (0, 0, 0));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn calls_by_the_numbers_of_32_bit_programs_are_named_so() {
    let _turn = turn();
    // 64 is getppid there.
    let body = "int r; for (int i = 0; i < 10; i++) asm volatile(\"int $0x80\" : \"=a\"(r) : \"a\"(64) : \"memory\");
        return r == getppid() ? 0 : r < 0 ? 1 : 2;";
    // The kernel's records do not say which numbers are meant.
    let (seen, probed) = traced(&program(body));
    if probed.exit == Exit::Code(0) {
        assert_eq!((seen.count("getppid (32-bit)"), seen.count("getppid")), (10, 1));
    } else {
        // A kernel without 32-bit programs.
        assert!(matches!(probed.exit, Exit::Signal(_) | Exit::Code(1)), "{:?}", probed.exit);
    }
}

#[test]
fn bytes_are_those_that_were_moved() {
    let _turn = turn();
    let body = "char b[4096]; int z = open(\"/dev/zero\", O_RDONLY), n = open(\"/dev/null\", O_WRONLY);
        for (int i = 0; i < 1000; i++) read(z, b, 1);
        for (int i = 0; i < 10; i++) { pread(z, b, 100, 0); write(n, b, 4096); }
        struct iovec v[2] = {{b, 7}, {b, 5}};
        for (int i = 0; i < 3; i++) { readv(z, v, 2); writev(n, v, 2); }
        int s[2]; socketpair(AF_UNIX, SOCK_DGRAM, 0, s);
        struct mmsghdr m[2] = {{{0, 0, &v[0], 1}}, {{0, 0, &v[1], 1}}};
        sendmmsg(s[0], m, 2, 0); send(s[0], b, 9, 0); recv(s[1], b, 100, 0);";
    let (seen, _) = syscalls(&program(body));
    let plain = seen.calls["read"].bytes;
    // The loader reads as well.
    assert!(seen.count("read") > 1000 && plain > 1000 && plain < 10_000, "{plain}");
    assert_eq!(seen.bytes_of(&["write"]), 40_960);
    assert_eq!((seen.bytes_of(&["readv"]), seen.bytes_of(&["writev"])), (36, 36));
    assert_eq!((seen.bytes_of(&["sendmmsg"]), seen.bytes_of(&["sendto"])), (12, 9));
    assert_eq!(seen.bytes_of(&["recvfrom"]), 7);
}

#[test]
fn errors_have_their_names() {
    let _turn = turn();
    let body = "for (int i = 0; i < 321; i++) open(\"/no/such/file\", O_RDONLY);
        for (int i = 0; i < 123; i++) close(-1);
        for (int i = 0; i < 11; i++) syscall(1023);";
    let (seen, probed) = syscalls(&program(body));
    assert_eq!(probed.exit, Exit::Code(0));
    // The loader misses some as well.
    let (without, _) = syscalls(&program(""));
    let missed = |seen: &Syscalls| seen.errors("openat", "ENOENT") + seen.errors("open", "ENOENT");
    assert_eq!(missed(&seen) - missed(&without), 321);
    assert_eq!((seen.errors("close", "EBADF"), seen.calls["close"].errors), (123, 123));
    assert_eq!(seen.errors("syscall_1023", "ENOSYS"), 11);
}

#[test]
fn interrupted_calls_are_restarted_and_handlers_run_as_often() {
    let _turn = turn();
    let body = "static volatile int n; static void h(int s) { n++; }
        int main(void) {
            struct sigaction a = {.sa_handler = h, .sa_flags = SA_RESTART}; sigaction(SIGALRM, &a, 0);
            int p[2]; pipe(p); char c; pid_t me = getpid();
            if (fork() == 0) {
                for (int i = 0; i < 20; i++) { usleep(5000); kill(me, SIGALRM); }
                usleep(5000); write(p[1], \"x\", 1); _exit(0);
            }
            if (read(p[0], &c, 1) != 1) return 1;
            a.sa_flags = 0; sigaction(SIGALRM, &a, 0);
            struct itimerval t = {{0, 0}, {0, 5000}}; setitimer(ITIMER_REAL, &t, 0);
            if (read(p[0], &c, 1) != -1 || errno != EINTR) return 2;
            while (wait(0) > 0); return n == 21 ? 7 : 3;
        }";
    let (seen, probed) = syscalls(&program(body));
    assert_eq!(probed.exit, Exit::Code(7));
    // One for each of the twenty signals and the timer; one that comes before the call interrupts nothing, and the end of
    // the child may interrupt it once more.
    let interrupted = seen.errors("read", "ERESTARTSYS");
    assert!((19..=23).contains(&interrupted), "{interrupted}");
    assert_eq!(seen.count("kill"), 20);
}

#[test]
fn programs_that_are_started_are_named_and_counted() {
    let _turn = turn();
    let (seen, probed) = syscalls(&shell("for i in 1 2 3 4 5; do /bin/true; done; cd /bin; ./false; exit 4"));
    assert_eq!(probed.exit, Exit::Code(4));
    assert_eq!((seen.processes, seen.starts), (7, 7));
    let starts = |path: &str| seen.programs.iter().find(|started| started.path == path).map(|s| s.starts);
    assert_eq!(starts("/bin/true"), Some(5), "{:?}", seen.programs);
    let at_home = std::fs::canonicalize("/bin").unwrap().join("false");
    assert_eq!(starts(at_home.to_str().unwrap()), Some(1), "{:?}", seen.programs);
}
