//! A traced program does what it does untraced: exit code, output, signals, stops.

use std::time::{Duration, Instant};

use whyslow::machine::Machine;
use whyslow::model::{Exit, Launch, Output, Probe, Seen};

use super::programs::{files, into, launch, machine, program, recorded, shell, syscalls, traced, turn};

#[test]
fn signals_kill_and_codes_are_kept() {
    let _turn = turn();
    assert_eq!(syscalls(&shell("exit 7")).1.exit, Exit::Code(7));
    assert_eq!(syscalls(&program("kill(getpid(), SIGUSR1); pause();")).1.exit, Exit::Signal(libc::SIGUSR1));
    assert_eq!(syscalls(&program("volatile int *p = 0; *p = 1;")).1.exit, Exit::Signal(libc::SIGSEGV));
    assert_eq!(syscalls(&program("raise(SIGKILL);")).1.exit, Exit::Signal(libc::SIGKILL));
    assert_eq!(syscalls(&program("raise(SIGTRAP);")).1.exit, Exit::Signal(libc::SIGTRAP));
    assert_eq!(syscalls(&program("abort();")).1.exit, Exit::Signal(libc::SIGABRT));
}

#[test]
fn a_child_that_stops_is_seen_stopped_and_continued() {
    let _turn = turn();
    let body = "int s; pid_t p = fork(); if (p == 0) { raise(SIGSTOP); syscall(SYS_getppid); usleep(200000); _exit(5); }
        if (waitpid(p, &s, WUNTRACED) != p || !WIFSTOPPED(s) || WSTOPSIG(s) != SIGSTOP) return 1;
        usleep(50000); if (waitpid(p, &s, WNOHANG) != 0) return 2;
        kill(p, SIGCONT); if (waitpid(p, &s, WCONTINUED) != p || !WIFCONTINUED(s)) return 3;
        if (waitpid(p, &s, 0) != p || WEXITSTATUS(s) != 5) return 4; return 21;";
    let (seen, probed) = syscalls(&program(body));
    assert_eq!((probed.exit, seen.count("getppid")), (Exit::Code(21), 1));
}

#[test]
fn a_program_that_is_stopped_by_its_child_and_continued() {
    let _turn = turn();
    let body = "static void *f(void *p) { for (;;) syscall(SYS_getppid); }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pid_t me = getpid();
            if (fork() == 0) for (int i = 0; ; i++) { if (i == 5) _exit(0); kill(me, SIGSTOP); usleep(20000);
                kill(me, SIGCONT); usleep(20000); }
            wait(0); return 17; }";
    for look in [traced, recorded] {
        assert_eq!(look(&program(body)).1.exit, Exit::Code(17));
    }
}

#[test]
fn a_program_that_nobody_continues_is_ended() {
    let _turn = turn();
    let start = Instant::now();
    let (seen, probed) = syscalls(&program("raise(SIGSTOP); syscall(SYS_getppid); return 1;"));
    assert_eq!((probed.exit, seen.count("getppid")), (Exit::Stopped(libc::SIGSTOP), 0));
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[test]
fn output_is_the_same() {
    let _turn = turn();
    let directory = tempfile::tempdir().unwrap();
    let [plain, traced] = ["plain", "traced"].map(|name| directory.path().join(name));
    let script = "for i in 1 2 3; do echo $i; ls -d /usr/*; done; printf end; exit 3";
    let untraced = machine().run(&into(shell(script), &plain), &[]).unwrap();
    for look in [|launch: &Launch| syscalls(launch).1, |launch: &Launch| files(launch).1] {
        let probed = look(&into(shell(script), &traced));
        assert_eq!(probed.exit, untraced.exit);
        let [plain, traced] = [&plain, &traced].map(|path| std::fs::read(path).unwrap());
        assert!(plain.ends_with(b"end") && plain == traced);
    }
}

#[test]
fn a_flood_of_output_goes_through() {
    let _turn = turn();
    let (seen, probed) = syscalls(&launch(&["head", "-c", "100000000", "/dev/zero"]));
    assert_eq!(probed.exit, Exit::Code(0));
    assert_eq!(seen.bytes_of(&["write"]), 100_000_000);
    let both = shell("head -c 3000000 /dev/zero >&2; head -c 3000000 /dev/zero");
    assert_eq!(syscalls(&both).1.exit, Exit::Code(0));
}

#[test]
fn a_terminal_of_its_own() {
    let _turn = turn();
    let terminal = Launch { stdout: Output::Terminal, ..shell("test -t 0 && test -t 1 && exit 11") };
    assert_eq!(syscalls(&terminal).1.exit, Exit::Code(11));
}

#[test]
fn commands_that_cannot_be_started_say_so_and_scripts_go_through_the_shell() {
    let _turn = turn();
    let seen = machine().probe(&launch(&["no-such-program-anywhere"]), Probe::Syscalls);
    assert!(matches!(&seen, Seen::Missing(missing) if missing.why.contains("cannot be started")), "{seen:?}");
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("script");
    std::fs::write(&script, "exit 14\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (seen, probed) = syscalls(&launch(&[script.to_str().unwrap()]));
    assert_eq!((probed.exit, seen.starts), (Exit::Code(14), 1));
}
