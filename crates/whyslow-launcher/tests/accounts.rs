//! Whether the numbers mean what they say. Bounds are orders of magnitude, never thresholds of
//! time.

mod common;

use common::{Command, exits};
use whyslow_launcher::{Launcher, Reply};

const SPIN: &str = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";

#[test]
fn peak_memory_does_not_depend_on_the_caller() {
    let ballast = vec![1u8; 200 << 20];
    let mut launcher = Launcher::start().unwrap();
    let reply = Command::new("/bin/true", &[]).run(&mut launcher);
    assert!(reply.maxrss_bytes > 0 && reply.maxrss_bytes < 2_000_000, "{}", reply.maxrss_bytes);
    assert_eq!(std::hint::black_box(&ballast)[ballast.len() / 2], 1);
}

#[test]
fn peak_memory_of_a_large_command_is_its_own() {
    let mut launcher = Launcher::start().unwrap();
    let large =
        Command::shell("head -c 50000000 /dev/zero | tail -c 40000000 > /dev/null").run(&mut launcher);
    assert!((40_000_000..200_000_000).contains(&large.maxrss_bytes), "{}", large.maxrss_bytes);
    assert!(Command::new("/bin/true", &[]).run(&mut launcher).maxrss_bytes < 2_000_000);
}

#[test]
fn processor_time_agrees_among_its_sources() {
    let mut launcher = Launcher::start().unwrap();
    let reply = Command::shell(SPIN).run(&mut launcher);
    assert_eq!(reply.outcome, exits(0));
    let used_ns = reply.user_ns + reply.system_ns;
    assert!(used_ns > 0 && used_ns <= 2 * (reply.end_ns - reply.request_ns));
    if let Some(task_clock_ns) = reply.task_clock_ns {
        assert!(is_close(used_ns, task_clock_ns), "{used_ns} {task_clock_ns}");
    }
    let main = reply.main_thread.expect("/proc is mounted where tests run");
    assert!(is_close(used_ns, main.on_cpu_ns), "{used_ns} {main:?}");
    assert!(main.slices > 0);
}

#[test]
fn counters_hold_descendants_too() {
    let mut launcher = Launcher::start().unwrap();
    let command = Command::shell(&format!("for j in 1 2 3; do /bin/sh -c '{SPIN}' & done; wait"));
    let reply = command.run(&mut launcher);
    let used_ns = reply.user_ns + reply.system_ns;
    if let Some(task_clock_ns) = reply.task_clock_ns {
        assert!(is_close(used_ns, task_clock_ns), "{used_ns} {task_clock_ns}");
    }
    assert!(reply.main_thread.unwrap().on_cpu_ns < used_ns / 2);
}

/// A counter shared by all runs went blind after a few of them; see `src/launcher/counters.rs`.
#[test]
fn counters_count_in_every_run() {
    let mut launcher = Launcher::start().unwrap();
    let counters = *launcher.counters();
    let command = Command::shell("/bin/true; exit 0");
    for run in 0..300 {
        let reply = command.run(&mut launcher);
        assert_eq!(reply.task_clock_ns.is_some(), counters.task_clock.is_ok(), "run {run}: {reply:?}");
        assert_eq!(reply.page_faults.is_some(), counters.page_faults.is_ok(), "run {run}: {reply:?}");
    }
}

#[test]
fn page_faults_agree_among_their_sources() {
    let mut launcher = Launcher::start().unwrap();
    let reply =
        Command::shell("head -c 50000000 /dev/zero | tail -c 40000000 > /dev/null").run(&mut launcher);
    let faults = reply.minor_faults + reply.major_faults;
    assert!(faults > 5_000, "{faults}");
    if launcher.counters().page_faults == Ok(true) {
        assert!(
            faults.abs_diff(reply.page_faults.unwrap()) < faults / 10,
            "{faults} {:?}",
            reply.page_faults
        );
    }
}

#[test]
fn one_run_does_not_leak_into_the_next() {
    let mut launcher = Launcher::start().unwrap();
    let quiet = Command::new("/bin/true", &[]);
    let spin = Command::shell(SPIN);
    quiet.run(&mut launcher);
    for _ in 0..5 {
        let busy = spin.run(&mut launcher);
        let after = quiet.run(&mut launcher);
        assert!(after.user_ns + after.system_ns < busy.user_ns + busy.system_ns);
        if let (Some(after), Some(busy)) = (after.task_clock_ns, busy.task_clock_ns) {
            assert!(after < busy, "{after} {busy}");
        }
    }
}

#[test]
fn sleeping_takes_wall_clock_time_and_no_processor() {
    let mut launcher = Launcher::start().unwrap();
    let reply = Command::new("/bin/sleep", &["0.05"]).run(&mut launcher);
    let wall_ns = reply.end_ns - reply.exec_ns;
    assert!((50_000_000..10_000_000_000).contains(&wall_ns), "{wall_ns}");
    assert!(reply.request_ns <= reply.exec_ns);
    assert!(reply.user_ns + reply.system_ns < 50_000_000);
    assert!(reply.voluntary_switches >= 1);
}

#[test]
fn the_null_program_is_next_to_nothing() {
    let mut launcher = Launcher::start().unwrap();
    let null = Command::of(launcher.null_program(), &[]);
    let reply: Reply = null.run(&mut launcher);
    assert_eq!(reply.outcome, exits(0));
    assert!(reply.maxrss_bytes < 1_000_000, "{}", reply.maxrss_bytes);
    assert!(reply.minor_faults < 100, "{}", reply.minor_faults);
}

/// Times within a factor of two, or two milliseconds for small ones.
fn is_close(one: u64, other: u64) -> bool {
    let (small, large) = (one.min(other), one.max(other));
    large <= 2 * small + 2_000_000
}
