//! The built program where a sandbox, a limit or a missing /proc keeps things from it.

use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use super::common::soon;

const WHYSLOW: &str = env!("CARGO_BIN_EXE_whyslow");

fn whyslow(arguments: &[&str]) -> Command {
    let mut command = Command::new(WHYSLOW);
    command.args(["compare", "true", "true", "--runs", "2"]).args(arguments).stdin(Stdio::null());
    command
}

fn texts(output: &Output) -> [String; 2] {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// Runs the command with this system call failing by EPERM, in all its descendants too.
fn without(mut command: Command, call: libc::c_long) -> Output {
    let statement =
        |code: u32, yes: u8, no: u8, k: u32| libc::sock_filter { code: code as u16, jt: yes, jf: no, k };
    let load_number = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let filter = [
        statement(load_number, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, call as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let install = move || {
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
        // SAFETY: two system calls, of which the second reads the filter.
        let result = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
        };
        if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: the closure only makes system calls.
    unsafe { command.pre_exec(install) };
    command.output().unwrap()
}

#[test]
fn a_launcher_that_may_not_speak_is_an_error_and_not_a_hang() {
    let output = without(whyslow(&[]), libc::SYS_sendto);
    let [_, complaint] = texts(&output);
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert!(complaint.contains("the launcher process has ended unexpectedly"), "{complaint}");
}

#[test]
fn nobody_needs_to_sleep() {
    let output = without(whyslow(&[]), libc::SYS_clock_nanosleep);
    let [text, complaint] = texts(&output);
    assert_eq!(output.status.code(), Some(0), "{text}{complaint}");
    assert!(text.contains("wall time") && !complaint.contains("panic"), "{text}{complaint}");
}

#[test]
fn a_start_that_fails_says_so_once_and_what_to_do() {
    let script = format!("ulimit -n 4; exec {WHYSLOW} compare true true --runs 2");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let [_, complaint] = texts(&output);
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert_eq!(complaint.matches("(os error 24)").count(), 1, "{complaint}");
    assert!(complaint.contains("hint: too many files"), "{complaint}");
}

/// Processes with this text among their arguments.
fn is_running(text: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.into_iter().any(|process| {
        let words = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains(text)
    })
}

#[test]
fn without_proc_nobody_is_blamed_for_what_another_left_and_nothing_stays() {
    // A number that nobody else sleeps for.
    let nap = format!("{}.25", 1_000_000 + std::process::id());
    let script = format!(
        "mount -t tmpfs none /proc; {WHYSLOW} compare \"sh -c 'sleep {nap} & exit 0'\" true --runs 3 --json"
    );
    let output = Command::new("unshare").args(["-rm", "sh", "-c", &script]).output();
    // Where we may not make such a system there is nothing to see.
    let Ok(output) = output else { return };
    let [text, complaint] = texts(&output);
    if complaint.starts_with("unshare:") || complaint.starts_with("mount:") {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{text}{complaint}");
    assert!(text.contains("descendants cannot be seen without /proc"), "{text}");
    assert!(!text.contains("still alive"), "{text}");
    assert!(soon(|| !is_running(&nap)));
}

#[test]
fn descendants_are_waited_for_where_that_is_asked() {
    let busy = "sh -c 'i=0; (while [ $i -lt 200000 ]; do i=$((i+1)); done) & exit 0'";
    let told = |options: &[&str]| {
        let arguments = [&["compare", busy, busy, "--runs", "2", "--json"], options].concat();
        texts(&Command::new(WHYSLOW).args(arguments).output().unwrap())[0].clone()
    };
    assert!(told(&[]).contains("--wait-descendants"), "the way to wait is named");
    assert!(!told(&["--wait-descendants", "100s"]).contains("still alive"));
}
