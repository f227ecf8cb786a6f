//! What a command finds: signals, process group, descriptors, and what it leaves behind.

mod common;

use common::{Command, exits, read_line};
use std::os::fd::AsRawFd;
use whyslow_launcher::{Launcher, Watch};

#[test]
fn no_signal_is_blocked_or_ignored() {
    // Rust ignores SIGPIPE; the test runner may have done more.
    // SAFETY: plain dispositions and masks of this thread, restored below.
    let before = unsafe {
        libc::signal(libc::SIGUSR1, libc::SIG_IGN);
        let mut set = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGUSR2);
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut before);
        before
    };
    let mut launcher = Launcher::start().unwrap();
    let (output, reply) = Command::new("/bin/grep", &["-E", "^Sig(Blk|Ign|Pnd|Cgt)", "/proc/self/status"])
        .output(&mut launcher);
    // SAFETY: as above.
    unsafe {
        let mut after: libc::sigset_t = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, &mut after);
        assert_eq!(libc::sigismember(&after, libc::SIGUSR2), 1, "the caller's mask is as before");
        assert_eq!(libc::sigismember(&after, libc::SIGTERM), 0, "the caller's mask is as before");
    }
    assert_eq!(reply.outcome, exits(0));
    assert_eq!(output.lines().count(), 4);
    // Caught: grep itself handles SIGSEGV.
    let mut others = output.lines().filter(|line| !line.starts_with("SigCgt"));
    assert!(others.all(|line| line.ends_with("\t0000000000000000")), "{output}");
}

#[test]
fn own_process_group_and_no_terminal() {
    let mut launcher = Launcher::start().unwrap();
    let (output, _) = Command::shell("exec cat /proc/self/stat").output(&mut launcher);
    let fields: Vec<&str> = output.rsplit(')').next().unwrap().split_whitespace().collect();
    let pid = output.split(' ').next().unwrap();
    let [parent, group, session, terminal] = fields[1..5] else { panic!("{output}") };
    assert_eq!(group, pid);
    let launcher = launcher.process_id().to_string();
    assert_eq!((parent, session), (launcher.as_str(), launcher.as_str()));
    assert_eq!(terminal, "0");
}

#[test]
fn only_the_standard_descriptors_are_open() {
    // One that exec does not close, as a careless parent may leave it.
    // SAFETY: no memory is involved.
    let leaked = unsafe { libc::fcntl(2, libc::F_DUPFD, 40) };
    let mut launcher = Launcher::start().unwrap();
    let (output, _) = Command::shell("exec ls /proc/self/fd").output(&mut launcher);
    // SAFETY: the descriptor made above.
    unsafe { libc::close(leaked) };
    // The fourth is that of the directory being listed.
    assert_eq!(output, "0\n1\n2\n3\n");
}

#[test]
fn a_thousand_runs_leave_nothing_behind() {
    let mut launcher = Launcher::start().unwrap();
    let command = Command::new("/bin/true", &[]);
    command.run(&mut launcher);
    let before = (descriptors(std::process::id()), descriptors(launcher.process_id()));
    for _ in 0..1000 {
        let reply = command.run(&mut launcher);
        assert_eq!((reply.outcome, reply.leftovers), (exits(0), Some(0)));
    }
    let after = (descriptors(std::process::id()), descriptors(launcher.process_id()));
    // Other tests of this process open and close their own.
    assert!(before.0.abs_diff(after.0) < 100, "{before:?} {after:?}");
    assert_eq!(before.1, after.1);
    assert_eq!(children(launcher.process_id()), "");
}

#[test]
fn orphans_are_counted_while_they_live_and_reaped_afterwards() {
    let mut launcher = Launcher::start().unwrap();
    let (mut reader, writer) = common::pipe();
    let mut command = Command::shell("setsid sh -c 'echo $$; exec sleep 1000' &");
    command.request.stdout = writer.as_raw_fd();
    let reply = launcher.run(&command.request, Watch::nothing()).unwrap();
    assert_eq!((reply.outcome, reply.leftovers), (exits(0), Some(1)));
    let orphan = read_line(&mut reader);
    // SAFETY: the process is a child of the launcher and not reaped, so the number is its own.
    unsafe { libc::kill(orphan.parse().unwrap(), libc::SIGKILL) };
    let gone = (0..1000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        Command::new("/bin/true", &[]).run(&mut launcher).strangers == Some(0)
    });
    assert!(gone && common::is_soon_gone(&orphan));
}

#[test]
fn the_launcher_ends_with_its_owner() {
    let launcher = Launcher::start().unwrap();
    let process = launcher.process_id().to_string();
    assert!(std::path::Path::new("/proc").join(&process).exists());
    drop(launcher);
    assert!(!std::path::Path::new("/proc").join(&process).exists());
}

fn descriptors(process: u32) -> usize {
    std::fs::read_dir(format!("/proc/{process}/fd")).unwrap().count()
}

fn children(process: u32) -> String {
    std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap()
}
