//! Processes and threads are all seen, however they start and end.

use std::time::{Duration, Instant};

use whyslow::machine::Machine;
use whyslow::machine::local::{Interrupt, Local, Settings};
use whyslow::model::{Exit, Launch, Probe};

use super::programs::{compiled, launch, program, recorded, shell, syscalls, traced, turn};

#[test]
fn forks() {
    let _turn = turn();
    let body =
        "for (int i = 0; i < 50; i++) { if (fork() == 0) { syscall(SYS_getppid); _exit(0); } wait(0); }";
    let (seen, probed) = syscalls(&program(body));
    assert_eq!((probed.exit, seen.processes, seen.count("getppid")), (Exit::Code(0), 51, 50));
}

#[test]
fn threads_that_all_call_at_once() {
    let _turn = turn();
    let body = "static void *f(void *p) { for (int i = 0; i < 100; i++) syscall(SYS_getppid); return 0; }
        int main(void) { static pthread_t t[256];
            for (int i = 0; i < 256; i++) if (pthread_create(&t[i], 0, f, 0)) return 1;
            for (int i = 0; i < 256; i++) pthread_join(t[i], 0); return 0; }";
    let (seen, probed) = syscalls(&program(body));
    assert_eq!(probed.exit, Exit::Code(0));
    assert_eq!((seen.processes, seen.threads, seen.count("getppid")), (1, 256, 25_600));
}

#[test]
fn a_tree_that_grows_fast() {
    let _turn = turn();
    // 3 + 9 + 27 + 81 + 243 = 363 below the first.
    let body = "static void grow(int d) { if (d == 0) return;
            for (int i = 0; i < 3; i++) if (fork() == 0) { syscall(SYS_getppid); grow(d - 1); while (wait(0) > 0); _exit(0); } }
        int main(void) { grow(5); while (wait(0) > 0); return 9; }";
    let (seen, probed) = syscalls(&program(body));
    assert_eq!((probed.exit, seen.processes, seen.count("getppid")), (Exit::Code(9), 364, 363));
}

#[test]
fn a_chain_of_programs() {
    let _turn = turn();
    let body = "char n[9]; int k = argc > 1 ? atoi(argv[1]) : 20; if (k == 0) return 6;
        sprintf(n, \"%d\", k - 1); execl(argv[0], argv[0], n, (char *)0); return 1;";
    let (seen, probed) = syscalls(&program(body));
    assert_eq!(probed.exit, Exit::Code(6));
    assert_eq!((seen.processes, seen.starts, seen.count("execve")), (1, 21, 21));
    assert_eq!(seen.programs[0].starts, 21);
}

#[test]
fn a_thread_that_becomes_another_program_takes_the_name_of_the_process() {
    let _turn = turn();
    let body = "static char *me; static void *idle(void *p) { pause(); return 0; }
        static void *f(void *p) { usleep(20000); execl(me, me, \"again\", (char *)0); return 0; }
        int main(int argc, char **argv) { if (argc > 1) { syscall(SYS_getppid); return 8; } me = argv[0]; pthread_t t;
            for (int i = 0; i < 5; i++) pthread_create(&t, 0, idle, 0);
            pthread_create(&t, 0, f, 0); if (getenv(\"GONE\")) pthread_exit(0); pause(); return 1; }";
    for is_gone in [false, true] {
        let env = if is_gone { vec![("GONE".into(), Some("1".into()))] } else { Vec::new() };
        let (seen, probed) = syscalls(&Launch { env, ..program(body) });
        assert_eq!((probed.exit, seen.starts, seen.threads), (Exit::Code(8), 2, 6), "{is_gone}");
        assert_eq!((seen.processes, seen.count("getppid")), (1, 1));
    }
}

#[test]
fn children_that_share_the_memory_of_their_parent() {
    let _turn = turn();
    let body = "for (int i = 0; i < 20; i++) { pid_t p; int s; char *a[] = {\"/bin/true\", 0};
            if (posix_spawn(&p, a[0], 0, 0, a, environ)) return 1; waitpid(p, &s, 0); if (s) return 2; }
        for (int i = 0; i < 10; i++) { int s; pid_t p = vfork(); if (p == 0) _exit(3); waitpid(p, &s, 0);
            if (WEXITSTATUS(s) != 3) return 4; }
        char *a[] = {\"/no/such/program\", 0}; pid_t p;
        if (posix_spawn(&p, a[0], 0, 0, a, environ) != ENOENT) return 5; return 12;";
    let (seen, probed) = syscalls(&program(body));
    assert_eq!(probed.exit, Exit::Code(12));
    assert_eq!((seen.processes, seen.starts), (32, 21));
    assert_eq!(seen.errors("execve", "ENOENT"), 1);
}

#[test]
fn what_a_command_leaves_behind_is_ended_with_it() {
    let _turn = turn();
    let mark = "86399.25";
    let body = "if (fork()) { usleep(300000); return 3; } setsid(); if (fork()) _exit(0);
        execlp(\"sleep\", \"sleep\", argv[1], (char *)0);";
    let start = Instant::now();
    for look in [traced, recorded] {
        let (seen, probed) = look(&launch(&[compiled(body).to_str().unwrap(), mark]));
        assert_eq!((probed.exit, seen.processes), (Exit::Code(3), 3));
    }
    assert!(start.elapsed() < Duration::from_secs(20));
    assert!(!is_running(mark));
    // One that does not want to end.
    for look in [traced, recorded] {
        let (_, probed) = look(&shell(&format!("trap '' TERM; (while :; do sleep {mark}; done) & exit 5")));
        assert_eq!(probed.exit, Exit::Code(5));
    }
    assert!(!is_running(mark));
}

#[test]
fn descendants_are_waited_for_where_the_launch_says_so() {
    let _turn = turn();
    let body =
        "if (fork()) return 2; setsid(); usleep(100000); for (int i = 0; i < 77; i++) syscall(SYS_getppid);";
    let waiting = Launch { wait_for_descendants_s: Some(20.0), ..program(body) };
    let (seen, probed) = syscalls(&waiting);
    assert_eq!((probed.exit, seen.count("getppid")), (Exit::Code(2), 77));
}

#[test]
fn a_limit_of_time_ends_everything() {
    let _turn = turn();
    let mark = "86399.75";
    let launch = Launch { timeout_s: Some(0.3), ..shell(&format!("setsid sleep {mark} & sleep {mark}; :")) };
    for look in [traced, recorded] {
        let (seen, probed) = look(&launch);
        assert_eq!(probed.exit, Exit::TimedOut);
        assert!(seen.is_cut_short());
    }
    assert!(!is_running(mark));
}

#[test]
fn a_user_who_stops_it_ends_everything() {
    let _turn = turn();
    let mark = "86399.5";
    let interrupt = Interrupt::new().unwrap();
    let mut machine = Local::start(interrupt.clone(), Settings::default()).unwrap();
    let user = std::thread::spawn(move || {
        let until = Instant::now() + Duration::from_secs(20);
        while !is_running(mark) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        interrupt.raise();
    });
    let launch = shell(&format!("setsid sleep {mark} & trap '' INT TERM; sleep {mark}; :"));
    let seen = machine.probe(&launch, Probe::Syscalls);
    user.join().unwrap();
    assert_eq!(seen.probed().unwrap().exit, Exit::Interrupted);
    assert!(!is_running(mark));
}

#[test]
fn a_child_that_hides_from_tracers_is_a_blind_spot() {
    let _turn = turn();
    let body = "if (syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0) == 0) { syscall(SYS_getppid); _exit(0); }
        wait(0); return 2;";
    let (seen, probed) = traced(&program(body));
    assert_eq!((probed.exit, seen.processes, seen.count("getppid")), (Exit::Code(2), 1, 0));
    assert!(probed.blind_spots.iter().any(|spot| spot.why.contains("CLONE_UNTRACED")));
}

/// Whether some process has this among its arguments.
fn is_running(argument: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| line.split(|byte| *byte == 0).any(|word| word == argument.as_bytes()))
}
