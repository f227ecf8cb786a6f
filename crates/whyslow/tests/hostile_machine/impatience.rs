//! Users who do not want to wait, and programs that make them.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use super::common::{is_soon_gone, soon, word_in};

const WHYSLOW: &str = env!("CARGO_BIN_EXE_whyslow");

/// A hook or a command that says its number and then neither ends nor listens.
fn deaf(file: &Path) -> String {
    format!("trap \"\" TERM INT HUP QUIT; echo $$ > {}; sleep 1000 & wait; wait", file.display())
}

/// Hears a hang-up even where the tests run under nohup, whose children are to ignore it.
fn compare(arguments: &[&str]) -> Child {
    let mut command = Command::new(WHYSLOW);
    // SAFETY: a single system call between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGHUP, libc::SIG_DFL);
            Ok(())
        });
    }
    command
        .args(["compare", "true", "true", "--runs", "2"])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn send(child: &Child, signal: i32) {
    // SAFETY: our child, and not reaped.
    unsafe { libc::kill(child.id() as libc::pid_t, signal) };
}

fn end(child: Child) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn one_signal_ends_a_hook_that_hangs_and_cleans_up() {
    for (hook, signal) in [
        ("--setup", libc::SIGTERM),
        ("--prepare", libc::SIGHUP),
        ("--conclude", libc::SIGINT),
        ("--setup", libc::SIGQUIT),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let (started, cleaned) = (directory.path().join("pid"), directory.path().join("cleaned"));
        let cleanup = format!("echo yes > {}", cleaned.display());
        let child = compare(&[hook, &deaf(&started), "--cleanup", &cleanup]);
        let pid = word_in(&started);
        send(&child, signal);
        let (code, _, complaint) = end(child);
        assert_eq!(code, Some(130), "{hook} {signal}: {complaint}");
        assert!(!complaint.contains("error"), "it is nobody's failure: {complaint}");
        assert!(cleaned.exists(), "{hook} {signal}");
        assert!(is_soon_gone(&pid));
    }
}

#[test]
fn a_cleanup_is_ended_by_the_second_signal_and_the_result_is_shown() {
    let directory = tempfile::tempdir().unwrap();
    let started = directory.path().join("pid");
    let child = compare(&["--cleanup", &deaf(&started), "--cleanup", ""]);
    let pid = word_in(&started);
    send(&child, libc::SIGTERM);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(Path::new("/proc").join(&pid).exists(), "the first is not meant for a cleanup");
    send(&child, libc::SIGTERM);
    let (code, text, complaint) = end(child);
    assert_eq!(code, Some(130), "{complaint}");
    assert!(text.contains("wall time"), "{text}{complaint}");
    assert!(is_soon_gone(&pid));
}

#[test]
fn a_command_that_stops_its_parent_holds_nobody() {
    let stopper = "sh -c 'kill -STOP $PPID; exec sleep 1000'";
    let child = compare(&[stopper]);
    let (code, _, complaint) = end(child);
    assert_eq!(code, Some(2), "{complaint}");
    assert!(complaint.contains("was stopped by a signal") && complaint.contains("hint: "), "{complaint}");

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pid");
    let stopper = format!("sh -c 'echo $$ > {}; kill -STOP $PPID; exec sleep 1000'", file.display());
    let child = compare(&[&stopper]);
    word_in(&file);
    send(&child, libc::SIGTERM);
    assert_eq!(end(child).0, Some(130));
    let pid = fs::read_to_string(file).unwrap();
    assert!(soon(|| !Path::new("/proc").join(pid.trim()).exists()));
}
