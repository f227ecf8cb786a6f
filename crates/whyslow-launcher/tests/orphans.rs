//! Descendants that outlive their command, and commands that are stopped.

mod common;

use common::{Command, exits, is_soon_gone, pipe, read_line};
use std::os::fd::AsRawFd;
use std::path::Path;
use whyslow_launcher::{Ended, Launcher, Watch};

/// Runs the script, which writes the process number of a descendant as its first line.
fn run(launcher: &mut Launcher, script: &str, timeout_ms: u64) -> (Ended, String) {
    let (mut reader, writer) = pipe();
    let mut command = Command::shell(script).timeout_ms(timeout_ms);
    command.request.stdout = writer.as_raw_fd();
    let reply = launcher.run(&command.request, Watch::nothing()).unwrap();
    (reply.outcome, read_line(&mut reader))
}

fn is_alive(pid: &str) -> bool {
    Path::new("/proc").join(pid).exists()
}

const AWAY: &str =
    "setsid sh -c 'echo $$; exec >&- 2>&-; trap \"\" TERM HUP; while :; do sleep 1000; done' &";

#[test]
fn a_timeout_ends_who_left_the_group_but_nobody_of_earlier_runs() {
    let mut launcher = Launcher::start().unwrap();
    let (outcome, daemon) = run(&mut launcher, &format!("{AWAY} sleep 0.3"), 60_000);
    assert_eq!(outcome, exits(0));
    let (outcome, away) = run(&mut launcher, &format!("{AWAY} sleep 1000"), 1500);
    assert_eq!(outcome, Ended::TimedOut);
    assert!(!is_alive(&away), "{away}");
    assert!(is_alive(&daemon), "{daemon}");
    drop(launcher);
    assert!(is_soon_gone(&daemon));
}

#[test]
fn a_cancellation_ends_who_left_the_group() {
    let mut launcher = Launcher::start().unwrap();
    let (mut reader, writer) = pipe();
    let mut command = Command::shell(&format!("{AWAY} sleep 1000"));
    command.request.stdout = writer.as_raw_fd();
    let asked = std::cell::Cell::new(0);
    let interrupted = || asked.replace(asked.get() + 1) > 5;
    let watch = Watch { readers: &mut [], interrupted: &interrupted, wake: None };
    let reply = launcher.run(&command.request, watch).unwrap();
    assert_eq!((reply.outcome, reply.leftovers), (Ended::Cancelled, Some(0)));
    assert!(!is_alive(&read_line(&mut reader)));
}

#[test]
fn one_is_of_its_run_and_afterwards_a_stranger() {
    let mut launcher = Launcher::start().unwrap();
    let counts = |script: &str, launcher: &mut Launcher| {
        let reply = Command::shell(script).run(launcher);
        (reply.leftovers.unwrap(), reply.strangers.unwrap())
    };
    assert_eq!(counts("sleep 1000 & sleep 1000 &", &mut launcher), (2, 2));
    assert_eq!(counts("exit 0", &mut launcher), (0, 2));
    assert_eq!(counts("sleep 1000 &", &mut launcher), (1, 3));
}

#[test]
fn waiting_for_descendants_adds_what_they_use() {
    let mut launcher = Launcher::start().unwrap();
    let script = "(i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sleep 0.1) & exit 0";
    let mut command = Command::shell(script);
    command.request.wait_for_descendants_ns = 100_000_000_000;
    let reply = command.run(&mut launcher);
    assert_eq!((reply.outcome, reply.leftovers), (exits(0), Some(0)));
    assert!(reply.leftover_user_ns + reply.leftover_system_ns > 1_000_000, "{reply:?}");
    // The wait has an end.
    let mut command = Command::shell("sleep 1000 & exit 0");
    command.request.wait_for_descendants_ns = 50_000_000;
    assert_eq!(command.run(&mut launcher).leftovers, Some(1));
}

#[test]
fn many_that_left_are_all_ended() {
    let mut launcher = Launcher::start().unwrap();
    let script = "i=0; while [ $i -lt 300 ]; do setsid sleep 1000 & i=$((i+1)); done; exit 0";
    let reply = Command::shell(script).run(&mut launcher);
    assert_eq!(reply.outcome, exits(0));
    assert!(reply.leftovers >= Some(250), "some may still be on their way: {:?}", reply.leftovers);
    let children = format!("/proc/{0}/task/{0}/children", launcher.process_id());
    let text = std::fs::read_to_string(children).unwrap();
    drop(launcher);
    for pid in text.split_whitespace() {
        assert!(is_soon_gone(pid), "{pid}");
    }
}

#[test]
fn a_command_that_stops_is_ended_and_says_so() {
    let mut launcher = Launcher::start().unwrap();
    assert_eq!(Command::shell("kill -STOP $$; exit 3").run(&mut launcher).outcome, Ended::Stopped(19));
    assert_eq!(Command::shell("kill -TSTP $$; exit 3").run(&mut launcher).outcome, Ended::Stopped(20));
    let limited = Command::shell("kill -STOP $$").timeout_ms(100);
    assert_eq!(limited.run(&mut launcher).outcome, Ended::TimedOut);
}

#[test]
fn one_that_somebody_continues_goes_on() {
    let mut launcher = Launcher::start().unwrap();
    let script = "(sleep 0.1; kill -CONT $$) & kill -STOP $$; wait; exit 3";
    assert_eq!(Command::shell(script).run(&mut launcher).outcome, exits(3));
}
