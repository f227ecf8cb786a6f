//! Less friendly places: without privileges, without /proc, without executable memory. Root only, as it takes
//! root to go there; otherwise the tests say that they did nothing.

mod common;

use common::{Command, exits};
use whyslow_launcher::Launcher;

#[test]
fn as_nobody() {
    let executable = copy_for_everyone();
    let program = executable.to_str().unwrap();
    in_place(
        "setpriv",
        &["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", program],
    );
    std::fs::remove_file(executable).unwrap();
}

#[test]
fn without_proc() {
    let script = "mount -t tmpfs none /proc && exec \"$@\"";
    in_place("unshare", &["--mount", "sh", "-c", script, "sh", &own_path()]);
}

/// The setting belongs to the process namespace, so the machine does not notice.
#[test]
fn where_memory_cannot_be_executed() {
    let setting = "/proc/sys/vm/memfd_noexec";
    let script =
        format!("mount -t proc none /proc && if test -e {setting}; then echo 2 > {setting}; fi; exec \"$@\"");
    in_place("unshare", &["--mount", "--pid", "--fork", "sh", "-c", &script, "sh", &own_path()]);
}

/// Not a test: what the others run in their places.
#[test]
#[ignore = "run by the other tests"]
fn the_usual() {
    let mut launcher = Launcher::start().unwrap();
    let reply =
        Command::shell("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exit 7").run(&mut launcher);
    assert_eq!(reply.outcome, exits(7));
    assert_eq!(reply.task_clock_ns.is_some(), launcher.counters().task_clock.is_ok());
    assert_eq!(reply.page_faults.is_some(), launcher.counters().page_faults.is_ok());
    assert_eq!(reply.main_thread.is_some(), std::path::Path::new("/proc/self/schedstat").exists());
    assert!(reply.user_ns + reply.system_ns > 0);
    println!("{:?} {reply:?}", launcher.counters());
}

/// Runs `the_usual` behind a program that goes to the place and then executes its last argument.
fn in_place(program: &str, arguments: &[&str]) {
    // SAFETY: no memory is involved.
    if unsafe { libc::geteuid() } != 0 {
        println!("not checked: this takes root");
        return;
    }
    let mut command = std::process::Command::new(program);
    command.args(arguments).args(["--exact", "the_usual", "--ignored", "--nocapture"]);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    println!("{text}");
    // A container may deny even root to go there.
    if text.contains("unshare failed") || text.contains("permission denied") {
        return;
    }
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

fn own_path() -> String {
    std::env::current_exe().unwrap().to_str().unwrap().to_owned()
}

/// The directory of the tests may be closed to nobody.
fn copy_for_everyone() -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("whyslow-launcher-elsewhere-{}", std::process::id()));
    std::fs::copy(own_path(), &path).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    path
}
