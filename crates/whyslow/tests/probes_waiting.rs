//! The probe of waiting on programs that wait for something known. Times are lower bounds and orders of magnitude only.

#[path = "probes/common.rs"]
mod common;

use common::{compiled, launch, probed, shell};
use whyslow::model::{Exit, Launch, Probe, Trace, WaitKind, Waiting};

fn look(launch: &Launch) -> Waiting {
    let probed = probed(launch, Probe::Waiting);
    assert_eq!(probed.exit, Exit::Code(0), "{probed:?}");
    match probed.trace {
        Trace::Waiting(waiting) => waiting,
        other => panic!("{other:?}"),
    }
}

fn seconds(waiting: &Waiting, kind: WaitKind, what: &str) -> f64 {
    let places = waiting.places.iter().filter(|place| place.kind == kind && place.what.contains(what));
    places.map(|place| place.seconds).sum()
}

/// Within a factor of what is known: a busy machine looks late.
fn is_about(seconds: f64, known: f64) -> bool {
    (0.5 * known..3.0 * known).contains(&seconds)
}

fn compile_and_look(source: &str) -> Option<Waiting> {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "waits", source, &["-pthread"])?;
    Some(look(&launch(&[program.to_str().unwrap()])))
}

#[test]
fn sleeping() {
    let waiting = look(&launch(&["sleep", "0.4"]));
    assert!(is_about(seconds(&waiting, WaitKind::Sleep, "nanosleep"), 0.4), "{waiting:#?}");
    assert!(waiting.blocked_s.is_none_or(|seconds| is_about(seconds, 0.4)), "{waiting:#?}");
    assert!(waiting.looks >= 5 && waiting.look_s < 0.2, "{waiting:#?}");
    let perl = look(&launch(&["/usr/bin/perl", "-e", "select(undef, undef, undef, 0.4)"]));
    assert!(is_about(seconds(&perl, WaitKind::Sleep, "select"), 0.4), "{perl:#?}");
}

#[test]
fn waiting_for_a_child_and_for_a_pipe() {
    let waiting = look(&shell("sleep 0.4; true"));
    assert!(is_about(seconds(&waiting, WaitKind::Child, "wait4"), 0.4), "{waiting:#?}");
    assert!(is_about(seconds(&waiting, WaitKind::Sleep, "nanosleep"), 0.4), "{waiting:#?}");
    let waiting = look(&shell("sleep 0.4 | cat"));
    assert!(is_about(seconds(&waiting, WaitKind::Pipe, "read pipe"), 0.4), "{waiting:#?}");
}

#[test]
fn waiting_for_a_lock() {
    let source = "#include <pthread.h>\n#include <unistd.h>\n
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static void *other(void *x) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); return x; }
        int main(void) { pthread_t t; pthread_mutex_lock(&lock); pthread_create(&t, 0, other, 0);
            usleep(400000); pthread_mutex_unlock(&lock); pthread_join(t, 0); return 0; }";
    let Some(waiting) = compile_and_look(source) else { return };
    assert!(is_about(seconds(&waiting, WaitKind::Lock, "futex"), 0.4), "{waiting:#?}");
    assert!(is_about(seconds(&waiting, WaitKind::Sleep, "nanosleep"), 0.4), "{waiting:#?}");
    assert!(waiting.threads.len() >= 2, "{waiting:#?}");
}

/// A server of names that never answers, and another that answers late.
#[test]
fn waiting_for_a_network() {
    let source = "#include <arpa/inet.h>\n#include <sys/socket.h>\n#include <unistd.h>\n#include <poll.h>\n
        int main(void) { struct sockaddr_in a = { .sin_family = AF_INET };
            a.sin_addr.s_addr = htonl(INADDR_LOOPBACK); a.sin_port = htons(53);
            int names = socket(AF_INET, SOCK_DGRAM, 0); connect(names, (void *)&a, sizeof a);
            struct pollfd p = { names, POLLIN, 0 }; poll(&p, 1, 400);
            int server = socket(AF_INET, SOCK_STREAM, 0); a.sin_port = 0; socklen_t n = sizeof a;
            bind(server, (void *)&a, sizeof a); listen(server, 1); getsockname(server, (void *)&a, &n);
            if (fork() == 0) { int c = accept(server, 0, 0); usleep(400000); return write(c, \"x\", 1) != 1; }
            int c = socket(AF_INET, SOCK_STREAM, 0); connect(c, (void *)&a, sizeof a);
            char b; return read(c, &b, 1) != 1; }";
    let Some(waiting) = compile_and_look(source) else { return };
    assert!(is_about(seconds(&waiting, WaitKind::NameLookup, "poll 127.0.0.1:53"), 0.4), "{waiting:#?}");
    assert!(is_about(seconds(&waiting, WaitKind::Socket, "read 127.0.0.1:"), 0.4), "{waiting:#?}");
}

#[test]
fn many_threads_and_processes_are_bounded() {
    let source = "#include <pthread.h>\n#include <unistd.h>\n
        static void *nap(void *x) { usleep(400000); return x; }
        int main(void) { pthread_t t[256]; for (int i = 0; i < 256; i++) pthread_create(&t[i], 0, nap, 0);
            for (int i = 0; i < 256; i++) pthread_join(t[i], 0); return 0; }";
    let Some(waiting) = compile_and_look(source) else { return };
    let slept = seconds(&waiting, WaitKind::Sleep, "nanosleep");
    assert!(is_about(slept, 256.0 * 0.4), "{slept}");
    let many = look(&shell("i=0; while [ $i -lt 700 ]; do sleep 0.5 & i=$((i+1)); done; wait"));
    assert!(seconds(&many, WaitKind::Sleep, "nanosleep") > 50.0, "{:?}", many.places);
}
