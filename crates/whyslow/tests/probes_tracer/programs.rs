//! Small C programs, compiled once each, and looking at a command with a probe.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use whyslow::machine::Machine;
use whyslow::machine::local::{Interrupt, Local, Settings};
use whyslow::model::{Files, Launch, Missing, Output, Probe, Probed, Seen, Syscalls, Trace};

/// One at a time: what a command leaves behind is given to this whole process, and ended with it.
static TURN: Mutex<()> = Mutex::new(());

pub fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

static DIRECTORY: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    // Somebody else runs some of them.
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    directory
});

static COMPILED: LazyLock<Mutex<HashMap<String, PathBuf>>> = LazyLock::new(Mutex::default);

/// Compiles the body of a `main`, or a whole program.
pub fn compiled(body: &str) -> PathBuf {
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = compiled.get(body) {
        return path.clone();
    }
    let path = DIRECTORY.path().join(format!("program{}", compiled.len()));
    let source = path.with_extension("c");
    let text = if body.contains("int main(") {
        body.to_owned()
    } else {
        format!("int main(int argc, char **argv) {{ {body}\nreturn 0; }}")
    };
    std::fs::write(&source, format!("{HEADERS}{text}\n")).unwrap();
    let done = Command::new("cc").args(["-O1", "-w", "-pthread", "-o"]).arg(&path).arg(&source).status();
    assert!(done.unwrap().success(), "{body}");
    compiled.insert(body.to_owned(), path.clone());
    path
}

const HEADERS: &str = "#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
extern char **environ;
";

pub fn launch(argv: &[&str]) -> Launch {
    Launch { argv: argv.iter().map(|argument| (*argument).into()).collect(), ..Launch::default() }
}

pub fn shell(script: &str) -> Launch {
    launch(&["sh", "-c", script])
}

pub fn program(body: &str) -> Launch {
    launch(&[compiled(body).to_str().unwrap()])
}

/// Into a file.
pub fn into(launch: Launch, path: &Path) -> Launch {
    Launch { stdout: Output::File(path.to_owned()), ..launch }
}

pub fn machine() -> Local {
    Local::start(Interrupt::new().unwrap(), Settings::default()).unwrap()
}

pub fn probed(launch: &Launch, probe: Probe) -> Result<Probed, Missing> {
    result(machine().probe(launch, probe))
}

fn result(seen: Seen) -> Result<Probed, Missing> {
    match seen {
        Seen::Probed(probed) => Ok(*probed),
        Seen::Missing(missing) => Err(missing),
    }
}

/// By the tracer; where the kernel records calls for us, it must have seen the same.
pub fn syscalls(launch: &Launch) -> (Syscalls, Probed) {
    let traced = traced(launch);
    if records() {
        same(&traced, &recorded(launch));
    }
    traced
}

pub fn traced(launch: &Launch) -> (Syscalls, Probed) {
    calls(by_tracer(launch))
}

/// As where the kernel records nothing for us.
pub fn try_to_trace(launch: &Launch) -> Result<Probed, Missing> {
    result(by_tracer(launch))
}

fn by_tracer(launch: &Launch) -> Seen {
    let settings = Settings { only_traces: true, ..Settings::default() };
    Local::start(Interrupt::new().unwrap(), settings).unwrap().probe(launch, Probe::Syscalls)
}

pub fn recorded(launch: &Launch) -> (Syscalls, Probed) {
    calls(machine().probe(launch, Probe::Syscalls))
}

fn calls(seen: Seen) -> (Syscalls, Probed) {
    let probed = seen.probed().unwrap_or_else(|| panic!("{seen:?}")).clone();
    match probed.trace.clone() {
        Trace::Syscalls(syscalls) => (syscalls, probed),
        other => panic!("{other:?}"),
    }
}

/// Whether the kernel records calls here.
pub fn records() -> bool {
    let id = "events/raw_syscalls/sys_exit/id";
    ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"]
        .iter()
        .any(|directory| std::fs::read(format!("{directory}/{id}")).is_ok())
}

/// How often these are called depends on who is faster.
const UNSTEADY: [&str; 7] =
    ["clock_nanosleep", "futex", "pause", "restart_syscall", "rt_sigreturn", "sched_yield", "wait4"];

fn same(traced: &(Syscalls, Probed), recorded: &(Syscalls, Probed)) {
    let steady = |seen: &Syscalls| {
        let mut calls = seen.calls.clone();
        calls.retain(|name, _| !UNSTEADY.contains(&name.as_str()));
        // Only who stops the program can read how long the messages are.
        calls.entry("sendmmsg".to_owned()).or_default().bytes = 0;
        // A call that is begun anew is counted anew, and a signal may come before it or after it.
        for call in calls.values_mut() {
            for error in ["ERESTARTNOINTR", "ERESTARTSYS"] {
                let anew = call.by_error.remove(error).unwrap_or(0);
                (call.calls, call.errors) = (call.calls - anew, call.errors - anew);
            }
        }
        calls
    };
    assert_eq!(traced.1.exit, recorded.1.exit);
    let (traced, recorded) = (&traced.0, &recorded.0);
    let of_tree = |seen: &Syscalls| (seen.processes, seen.threads, seen.starts);
    assert_eq!(of_tree(traced), of_tree(recorded));
    assert_eq!(traced.programs, recorded.programs);
    assert_eq!(steady(traced), steady(recorded));
}

pub fn files(launch: &Launch) -> (Files, Probed) {
    let probed = probed(launch, Probe::Files).unwrap();
    match probed.trace.clone() {
        Trace::Files(files) => (files, probed),
        other => panic!("{other:?}"),
    }
}
