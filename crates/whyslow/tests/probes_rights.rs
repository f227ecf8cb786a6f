//! The probes of surroundings, loading, waiting and the course of a run as somebody without rights, and where ptrace and
//! perf are refused: less is seen, and that is said. So it is of programs that the kernel hides, of those that behave
//! otherwise when they are looked at, and of what goes on after the command.

#[path = "probes/common.rs"]
mod common;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use common::compiled;
use serde_json::Value;

const PROBES: &str = "environment,loading,waiting,series";
const SCRIPT: &str =
    "ulimit -n 300; sleep 0.3; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exec sleep 0.2";
const NOBODY: u32 = 65534;

/// Refuses ptrace and perf_event_open, then becomes the program of its arguments.
const CONFINE: &str =
    "#include <errno.h>\n#include <linux/filter.h>\n#include <linux/seccomp.h>\n#include <stddef.h>\n
    #include <sys/prctl.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n
    int main(int count, char **words) {
        struct sock_filter filter[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_perf_event_open, 1, 0),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_ptrace, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
        struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &program)) return 126;
        execv(words[1], words + 1); return 127; }";

/// What was seen by each probe, in the order of the probes.
fn traces(mut command: Command, whyslow: &Path) -> Vec<Value> {
    if command.get_program() != whyslow {
        command.arg(whyslow);
    }
    command.args(["probe", "--json", "--with", PROBES, "--", "sh", "-c", SCRIPT]);
    let output = command.env("HOME", "/").current_dir("/").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let document: Value = serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("{error}: {text} {}", String::from_utf8_lossy(&output.stderr)));
    document["traces"].as_array().unwrap().clone()
}

fn soft_limit(environment: &Value) -> &Value {
    &environment["seen"]["environment"]["facts"]["limit.nofile.soft"]
}

/// Seconds in `nanosleep`.
fn slept_s(waiting: &Value) -> f64 {
    let places = waiting["seen"]["waiting"]["places"].as_array().unwrap();
    let sleeps = places.iter().filter(|place| place["kind"] == "sleep");
    sleeps.filter_map(|place| place["seconds"].as_f64()).sum()
}

fn most_cpu_s(series: &Value) -> f64 {
    let moments = series["seen"]["series"]["moments"].as_array().unwrap();
    moments.iter().filter_map(|moment| moment["cpu_s"].as_f64()).fold(0.0, f64::max)
}

#[test]
fn where_ptrace_and_perf_are_refused_less_is_seen_and_that_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let Some(confine) = compiled(directory.path(), "confine", CONFINE, &[]) else { return };
    let seen = traces(Command::new(confine), Path::new(env!("CARGO_BIN_EXE_whyslow")));
    let text = serde_json::to_string_pretty(&seen).unwrap();
    let [environment, loading, waiting, series] = seen.as_slice() else { panic!("{text}") };
    assert_eq!(soft_limit(environment), "300", "{text}");
    assert!(loading["seen"]["loading"]["loads"].is_null(), "{text}");
    assert!(!loading["seen"]["loading"]["programs"][0]["elf"].is_null(), "{text}");
    assert!((0.2..2.0).contains(&slept_s(waiting)), "{text}");
    assert!(waiting["seen"]["waiting"]["blocked_s"].as_f64().unwrap() > 0.2, "{text}");
    assert!(most_cpu_s(series) > 0.0, "{text}");
    assert!(series["seen"]["series"]["moments"][1]["switches"].is_null(), "{text}");
    for seen in &seen {
        let spots = seen["blind_spots"].as_array().unwrap_or_else(|| panic!("{text}"));
        assert!(spots.iter().any(|spot| !spot["remedy"].is_null()), "{seen:#}");
    }
}

/// The program as somebody without rights, in a directory where everybody may run it.
fn as_nobody(directory: &Path) -> Option<Command> {
    let whyslow = directory.join("whyslow");
    std::fs::copy(env!("CARGO_BIN_EXE_whyslow"), &whyslow).unwrap();
    std::fs::set_permissions(directory, Permissions::from_mode(0o755)).unwrap();
    let can_be_nobody = Command::new("true").uid(NOBODY).gid(NOBODY).status().is_ok();
    let mut command = Command::new(&whyslow);
    command.uid(NOBODY).gid(NOBODY);
    can_be_nobody.then_some(command)
}

/// A traced program would run without them.
#[test]
fn a_program_with_capabilities_keeps_them() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("sleep");
    std::fs::copy("/bin/sleep", &program).unwrap();
    let given = Command::new("setcap").arg("cap_net_raw+ep").arg(&program).status();
    let Some(mut command) = as_nobody(directory.path()) else { return };
    if !given.is_ok_and(|status| status.success()) {
        return;
    }
    command.args(["probe", "--json", "--with", "environment", "--"]).arg(&program).arg("0.2");
    let output = command.env("HOME", "/").current_dir("/").output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let spots = document["traces"][0]["blind_spots"].as_array().unwrap_or_else(|| panic!("{document:#}"));
    let is_said = |spot: &Value| spot["why"].as_str().unwrap().contains("with the rights of its file");
    assert!(spots.iter().any(is_said), "{document:#}");
}

#[test]
fn nobody_sees_nearly_all() {
    let directory = tempfile::tempdir().unwrap();
    let Some(command) = as_nobody(directory.path()) else { return };
    let seen = traces(command, &directory.path().join("whyslow"));
    let text = serde_json::to_string_pretty(&seen).unwrap();
    let [environment, loading, waiting, series] = seen.as_slice() else { panic!("{text}") };
    assert_eq!(soft_limit(environment), "300", "{text}");
    if cfg!(target_arch = "x86_64") {
        assert_eq!(loading["seen"]["loading"]["loads"], 3, "{text}");
    }
    assert!((0.2..2.0).contains(&slept_s(waiting)), "{text}");
    assert!(most_cpu_s(series) > 0.0, "{text}");
}

/// What is said of a run, by probe: what was not seen of it, or why nothing was.
fn said(command: &mut Command, probes: &str, words: &[&str]) -> Vec<(String, String)> {
    command.args(["probe", "--json", "--with", probes, "--"]).args(words).env("HOME", "/").current_dir("/");
    let output = command.output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let of_trace = |trace: &Value| {
        let spots = trace["blind_spots"].as_array().cloned().unwrap_or_default();
        let all = spots.into_iter().chain([trace["missing"].clone()]);
        let texts =
            all.filter_map(|missing| Some(format!("{}: {}", missing["what"], missing["why"].as_str()?)));
        (trace["probe"].as_str().unwrap().to_owned(), texts.collect::<Vec<_>>().join("; "))
    };
    document["traces"].as_array().unwrap().iter().map(of_trace).collect()
}

const WORK: &str = "int main(void) { for (volatile long i = 0; i < 100000000; i++); return 0; }";

/// The records of it end where it gets its rights; a shell and another program around it are seen.
#[test]
fn programs_that_the_kernel_hides_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let Some(program) = compiled(directory.path(), "gifted", WORK, &[]) else { return };
    let Some(mut command) = as_nobody(directory.path()) else { return };
    std::fs::set_permissions(&program, Permissions::from_mode(0o4755)).unwrap();
    let script = format!("{}; /bin/true", program.display());
    for (probe, said) in said(&mut command, "cpu,faults,waiting,series", &["sh", "-c", &script]) {
        // Where nobody may open events nothing is hidden: it is sampled by /proc.
        let is_told = said.contains(" gifted") || said.contains("the kernel hides programs");
        assert!(is_told || said.contains("perf_event"), "{probe}: {said}");
        assert!(!said.contains("true"), "{probe}: {said}");
    }
}

#[test]
fn what_lives_on_is_told_by_every_probe() {
    let command = &mut Command::new(env!("CARGO_BIN_EXE_whyslow"));
    let probes = "loading,syscalls,files,allocations,cpu,faults,waiting,series";
    let script = "setsid sleep 100 & while [ \"$(cat /proc/$!/comm)\" != sleep ]; do :; done";
    for (probe, said) in said(command, probes, &["sh", "-c", script]) {
        let is_refused = said.contains("refused") || said.contains("perf_event");
        assert!(said.contains("one process lived on (sleep)") || is_refused, "{probe}: {said}");
    }
    for (probe, said) in
        said(&mut Command::new(env!("CARGO_BIN_EXE_whyslow")), probes, &["sh", "-c", "sleep 0.1 & wait"])
    {
        assert!(!said.contains("lived on"), "{probe}: {said}");
    }
}

/// Its own file does not say that it uses ptrace.
#[test]
fn a_run_that_ends_as_none_without_a_probe_is_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let library =
        "#include <sys/ptrace.h>\nint watched(void) { return ptrace(PTRACE_TRACEME, 0, 0, 0) == -1; }";
    let flags = ["-shared", "-fPIC"];
    let Some(library) = compiled(directory.path(), "libwatched.so", library, &flags) else { return };
    let program = "int watched(void); int main(void) { return watched() ? 3 : 0; }";
    let flags = [library.to_str().unwrap(), "-Wl,-rpath,$ORIGIN"];
    let program = compiled(directory.path(), "program", program, &flags).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    let said = said(&mut command, "environment,allocations,series", &[program.to_str().unwrap()]);
    let is_dropped =
        |said: &str| said.contains("exit status 3 under this probe, which no run without a probe did");
    assert!(is_dropped(&said[0].1) || said[0].1.contains("ptrace"), "{said:?}");
    assert!(!is_dropped(&said[1].1) && !is_dropped(&said[2].1), "{said:?}");
    // One that fails always is looked at as it is.
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    for (probe, said) in self::said(&mut command, "environment,allocations,series", &["sh", "-c", "exit 3"]) {
        assert!(!is_dropped(&said), "{probe}: {said}");
    }
}
