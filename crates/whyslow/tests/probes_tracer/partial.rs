//! More calls than the tracer can count in its time: the program still runs to its end, and what is said says so.

use whyslow::model::{Exit, Launch};

use super::programs::{program, traced, turn};

fn hurried(body: &str) -> Launch {
    Launch { timeout_s: Some(5.0), ..program(body) }
}

#[test]
fn reads_of_the_rest_are_estimated() {
    let _turn = turn();
    let body = "char c; int z = open(\"/dev/zero\", O_RDONLY); for (int i = 0; i < 1000000; i++) read(z, &c, 1); return 3;";
    let (seen, probed) = traced(&hurried(body));
    if probed.exit == Exit::TimedOut {
        return assert!(seen.is_cut_short());
    }
    assert_eq!(probed.exit, Exit::Code(3));
    let partial = seen.partial.unwrap();
    let share = partial.share.unwrap();
    assert!(share < 1.0 && partial.watched_s > 1.0, "{partial:?}");
    assert!((900_000..1_100_000).contains(&seen.count("read")), "{partial:?} {}", seen.count("read"));
    let bytes = seen.bytes_of(&["read"]);
    assert!((900_000..1_200_000).contains(&bytes) && seen.is_estimate(&["read"]), "{bytes} {partial:?}");
    // What it does at its start it does not do again.
    assert!(seen.count("execve") == 1 && seen.count("mmap") < 30 && !seen.is_estimate(&["mmap"]));
}

#[test]
fn of_other_calls_it_is_only_said_that_there_were_more() {
    let _turn = turn();
    let body = "for (int i = 0; i < 1000000; i++) { if (i == 999999 && fork() == 0) _exit(0); syscall(SYS_getppid); }
        wait(0); return 4;";
    let (seen, probed) = traced(&hurried(body));
    assert!(seen.is_cut_short() && seen.count("getppid") < 1_000_000, "{:?}", seen.partial);
    if probed.exit != Exit::TimedOut {
        assert_eq!((probed.exit, seen.processes), (Exit::Code(4), 2));
    }
}
