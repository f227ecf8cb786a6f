//! Commands that are made to end: by a timeout, by an interrupt, by the death of whyslow or of the
//! launcher.

mod common;

use common::{Command, exits, is_soon_gone, read_line};
use std::cell::Cell;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use whyslow_launcher::{Ended, Launcher, LauncherError, Reader, Watch};

const FAR_TOO_LONG_NS: u64 = 100_000_000_000;

#[test]
fn a_timeout_kills_the_group() {
    let mut launcher = Launcher::start().unwrap();
    let (mut reader, writer) = common::pipe();
    let mut command =
        Command::shell("sh -c 'echo $$; exec sleep 1000' & trap '' TERM; sleep 1000").timeout_ms(1500);
    command.request.stdout = writer.as_raw_fd();
    let reply = launcher.run(&command.request, Watch::nothing()).unwrap();
    assert_eq!(reply.outcome, Ended::TimedOut);
    assert!(reply.end_ns - reply.exec_ns >= 1_500_000_000);
    assert!(is_soon_gone(&read_line(&mut reader)));
    assert_eq!(Command::new("/bin/true", &[]).timeout_ms(60_000).run(&mut launcher).outcome, exits(0));
}

#[test]
fn a_command_that_left_its_group_is_killed_too() {
    let mut launcher = Launcher::start().unwrap();
    // Into the group of the launcher, which is the only other one in its session.
    let script = "setpgrp(0, getpgrp(getppid)) or exit 1; sleep 1000";
    let command = Command::new("/usr/bin/perl", &["-e", script]).timeout_ms(1500);
    let outcome = command.run(&mut launcher).outcome;
    let has_perl = outcome != Ended::NotStarted { errno: libc::ENOENT, step: "exec" };
    assert!(!has_perl || outcome == Ended::TimedOut, "{outcome:?}");
}

#[test]
fn an_interrupt_cancels() {
    let mut launcher = Launcher::start().unwrap();
    let (wake, mut call) = common::pipe();
    let interrupted = AtomicBool::new(false);
    let reply = std::thread::scope(|scope| {
        scope.spawn(|| {
            // First a wake-up without reason, then one with.
            call.write_all(b"x").unwrap();
            std::thread::sleep(std::time::Duration::from_millis(100));
            interrupted.store(true, Ordering::SeqCst);
            call.write_all(b"x").unwrap();
        });
        let watch = Watch {
            readers: &mut [],
            interrupted: &|| interrupted.load(Ordering::SeqCst),
            wake: Some(wake.as_raw_fd()),
        };
        launcher.run(&Command::new("/bin/sleep", &["1000"]).request, watch).unwrap()
    });
    assert_eq!(reply.outcome, Ended::Cancelled);
    assert_eq!(Command::new("/bin/false", &[]).run(&mut launcher).outcome, exits(1));
}

#[test]
fn one_that_ignores_the_term_signal_is_killed_after_the_grace() {
    let mut launcher = Launcher::start().unwrap();
    let (reader, writer) = common::pipe();
    let mut command = Command::shell("trap '' TERM; echo deaf; while :; do sleep 1000; done");
    command.request.stdout = writer.as_raw_fd();
    let deaf = Cell::new(false);
    let mut sink = |_: &[u8]| deaf.set(true);
    let mut readers = [Reader::new(reader.as_raw_fd(), &mut sink)];
    // Without `wake` the question is asked from time to time.
    let watch = Watch { readers: &mut readers, interrupted: &|| deaf.get(), wake: None };
    let reply = launcher.run(&command.request, watch).unwrap();
    assert_eq!(reply.outcome, Ended::Cancelled);
    assert!(reply.end_ns - reply.exec_ns >= whyslow_launcher::CANCEL_GRACE_NS);
}

#[test]
fn interrupted_before_the_start() {
    let mut launcher = Launcher::start().unwrap();
    let watch = Watch { readers: &mut [], interrupted: &|| true, wake: None };
    let reply = launcher.run(&Command::new("/bin/true", &[]).request, watch).unwrap();
    assert_eq!((reply.outcome, reply.exec_ns), (Ended::Cancelled, 0));
}

#[test]
fn a_flood_does_not_keep_an_interrupt_out() {
    let mut launcher = Launcher::start().unwrap();
    let (reader, writer) = common::pipe();
    let (wake, mut call) = common::pipe();
    let mut command = Command::new("/usr/bin/yes", &[]);
    command.request.stdout = writer.as_raw_fd();
    let received = Cell::new(0u64);
    let mut sink = |part: &[u8]| {
        let before = received.replace(received.get() + part.len() as u64);
        if before < 50_000_000 && received.get() >= 50_000_000 {
            call.write_all(b"x").unwrap();
        }
    };
    let mut readers = [Reader::new(reader.as_raw_fd(), &mut sink)];
    let interrupted = || received.get() >= 50_000_000;
    let watch = Watch { readers: &mut readers, interrupted: &interrupted, wake: Some(wake.as_raw_fd()) };
    let reply = launcher.run(&command.request, watch).unwrap();
    assert_eq!(reply.outcome, Ended::Cancelled);
}

#[test]
fn a_wake_descriptor_that_is_closed_is_replaced_by_the_clock() {
    let mut launcher = Launcher::start().unwrap();
    let (wake, call) = common::pipe();
    drop(call);
    let asked = Cell::new(0);
    let interrupted = || asked.replace(asked.get() + 1) >= 3;
    let watch = Watch { readers: &mut [], interrupted: &interrupted, wake: Some(wake.as_raw_fd()) };
    let reply = launcher.run(&Command::new("/bin/sleep", &["1000"]).request, watch).unwrap();
    assert_eq!(reply.outcome, Ended::Cancelled);
}

#[test]
fn all_output_arrives() {
    let mut launcher = Launcher::start().unwrap();
    let (output, reply) =
        Command::shell("head -c 30000000 /dev/zero | tr '\\0' x; echo end").output(&mut launcher);
    assert_eq!(reply.outcome, exits(0));
    assert_eq!(output.len(), 30_000_004);
    assert!(output.ends_with("xend\n"));
}

#[test]
fn a_descendant_that_holds_the_pipe_does_not_hold_the_run() {
    let mut launcher = Launcher::start().unwrap();
    let (reader, writer) = common::pipe();
    let mut command = Command::shell("sleep 1000 & echo $!");
    command.request.stdout = writer.as_raw_fd();
    let mut bytes = Vec::new();
    let mut sink = |part: &[u8]| bytes.extend_from_slice(part);
    let mut readers = [Reader::new(reader.as_raw_fd(), &mut sink)];
    let watch = Watch { readers: &mut readers, interrupted: &|| false, wake: None };
    let reply = launcher.run(&command.request, watch).unwrap();
    assert_eq!((reply.outcome, reply.leftovers), (exits(0), Some(1)));
    let orphan: i32 = String::from_utf8(bytes).unwrap().trim().parse().unwrap();
    // SAFETY: a child of the launcher that nobody has reaped.
    unsafe { libc::kill(orphan, libc::SIGKILL) };
}

#[test]
fn the_death_of_the_launcher_is_an_error_and_ends_the_command() {
    let mut launcher = Launcher::start().unwrap();
    let process = launcher.process_id() as i32;
    let (reader, writer) = common::pipe();
    let mut command = Command::shell("echo $$; exec sleep 1000");
    command.request.stdout = writer.as_raw_fd();
    let pid = std::cell::RefCell::new(String::new());
    let mut sink = |part: &[u8]| {
        pid.borrow_mut().push_str(std::str::from_utf8(part).unwrap());
        // SAFETY: our child, reaped only when the launcher is dropped.
        unsafe { libc::kill(process, libc::SIGKILL) };
    };
    let mut readers = [Reader::new(reader.as_raw_fd(), &mut sink)];
    let watch = Watch { readers: &mut readers, interrupted: &|| false, wake: None };
    let error = launcher.run(&command.request, watch).unwrap_err();
    assert!(matches!(error, LauncherError::Gone), "{error:?}");
    assert!(is_soon_gone(pid.borrow().trim()));
    let again = launcher.run(&command.request, Watch::nothing()).unwrap_err();
    assert!(matches!(again, LauncherError::Gone), "{again:?}");
}

#[test]
fn a_panic_in_a_sink_ends_the_command() {
    let mut launcher = Launcher::start().unwrap();
    let (reader, writer) = common::pipe();
    let mut command = Command::shell("echo $$; exec sleep 1000");
    command.request.stdout = writer.as_raw_fd();
    let mut pid = String::new();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut sink = |part: &[u8]| {
            pid.push_str(std::str::from_utf8(part).unwrap());
            std::panic::resume_unwind(Box::new(()));
        };
        let mut readers = [Reader::new(reader.as_raw_fd(), &mut sink)];
        let watch = Watch { readers: &mut readers, interrupted: &|| false, wake: None };
        let _ = launcher.run(&command.request, watch);
    }));
    assert!(panicked.is_err());
    assert!(is_soon_gone(pid.trim()));
}

/// Not a test: the process that the next test kills.
#[test]
#[ignore = "runs until it is killed"]
fn victim() {
    let mut launcher = Launcher::start().unwrap();
    let mut command = Command::shell("sleep 1000 & echo WATCH $PPID $$ $! >&2; wait");
    command.request.stderr = 2;
    command.request.timeout_ns = Some(FAR_TOO_LONG_NS);
    launcher.run(&command.request, Watch::nothing()).unwrap();
}

#[test]
fn the_death_of_whyslow_ends_everything() {
    let mut victim = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim", "--ignored", "--nocapture"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let line = read_line(victim.stderr.as_mut().unwrap());
    victim.kill().unwrap();
    victim.wait().unwrap();
    let processes: Vec<&str> = line.split(' ').skip(1).collect();
    assert_eq!(processes.len(), 3, "{line}");
    for process in processes {
        assert!(is_soon_gone(process), "{line}");
    }
}

#[test]
fn a_launcher_that_is_stopped_goes_on_and_the_run_does_not_count() {
    let mut launcher = Launcher::start().unwrap();
    for script in [
        "kill -STOP $PPID; exit 0",
        "kill -STOP $PPID; exec sleep 1000",
        "kill -STOP $PPID; exec cat /dev/zero",
    ] {
        let mut command = Command::shell(script);
        // A flood is no excuse for not looking.
        let (reader, writer) = common::pipe();
        command.request.stdout = writer.as_raw_fd();
        let mut sink = |_: &[u8]| {};
        let mut readers = [Reader::new(reader.as_raw_fd(), &mut sink)];
        let watch = Watch { readers: &mut readers, interrupted: &|| false, wake: None };
        let error = launcher.run(&command.request, watch).unwrap_err();
        assert!(matches!(error, LauncherError::Stopped), "{script}: {error:?}");
        assert_eq!(Command::shell("exit 3").run(&mut launcher).outcome, exits(3));
    }
}

#[test]
fn a_stopped_launcher_hears_that_it_shall_end() {
    let mut launcher = Launcher::start().unwrap();
    let (mut reader, writer) = common::pipe();
    let mut command = Command::shell("(sleep 0.2; kill -STOP $PPID) & sleep 1000 & echo $!");
    command.request.stdout = writer.as_raw_fd();
    let reply = launcher.run(&command.request, Watch::nothing()).unwrap();
    assert_eq!(reply.outcome, exits(0));
    let left = read_line(&mut reader);
    let stat = format!("/proc/{}/stat", launcher.process_id());
    while !std::fs::read_to_string(&stat).unwrap().contains(") T ") {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    drop(launcher);
    assert!(is_soon_gone(&left));
}
