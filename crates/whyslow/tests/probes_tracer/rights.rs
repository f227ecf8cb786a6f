//! As somebody without rights, and where tracing is not allowed. The user and the filter are those of a whole process,
//! so this program starts itself once more.

use std::process::Command;

use whyslow::machine::Machine;
use whyslow::model::{Exit, Missing, Probe};

use super::programs::{
    compiled, files, launch, machine, probed, program, recorded, records, syscalls, traced, try_to_trace,
    turn,
};

/// Says to the one test below that it is the second start, and what to do.
const PART: &str = "WHYSLOW_TEST_PART";

const NOBODY: [&str; 6] =
    ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"];

/// Refuses ptrace with EPERM, then becomes the program of its arguments.
const FILTERED: &str = "#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
int main(int argc, char **argv) {
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
    struct sock_fprog p = { 4, f };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &p)) return 1;
    execv(argv[1], argv + 1); return 2; }";

/// Starts this test program again, for the test `second_start` alone.
fn start_again(before: &[&str], part: &str) {
    let own = std::env::current_exe().unwrap();
    let mut words = before.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    words.push(own.to_str().unwrap().to_owned());
    words.extend(["--exact", "probes_tracer::rights::second_start", "--nocapture"].map(str::to_owned));
    let done = Command::new(&words[0])
        .args(&words[1..])
        .env(PART, part)
        .env("WHYSLOW_TEST_PROGRAM", compiled(COUNTED))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && text.contains(&format!("done {part}")), "{text}");
}

/// As strace and gdb do; 0 if it can.
const TRACES_ITS_CHILD: &str = "int s; pid_t p = fork();
    if (p == 0) { if (ptrace(PTRACE_TRACEME, 0, 0, 0)) _exit(1); raise(SIGSTOP); _exit(0); }
    if (waitpid(p, &s, 0) != p || !WIFSTOPPED(s)) return 2;
    if (ptrace(PTRACE_CONT, p, 0, 0)) return 3;
    return waitpid(p, &s, 0) == p && WIFEXITED(s) ? WEXITSTATUS(s) : 4;";

/// As `strace -D` does.
const TRACES_ITS_PARENT: &str = "int s; pid_t p = fork();
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    if (p == 0) _exit(ptrace(PTRACE_SEIZE, getppid(), 0, 0) != 0);
    return waitpid(p, &s, 0) == p && WIFEXITED(s) ? WEXITSTATUS(s) : 4;";

const COUNTED: &str = "for (int i = 0; i < 1000; i++) syscall(SYS_getppid); return 7;";

/// Does nothing unless it is started by the tests below.
#[test]
fn second_start() {
    let Ok(part) = std::env::var(PART) else { return };
    match part.as_str() {
        "counts" => {
            let path = std::env::var("WHYSLOW_TEST_PROGRAM").unwrap();
            let (seen, probed) = syscalls(&launch(&[&path]));
            assert_eq!((probed.exit, seen.count("getppid")), (Exit::Code(7), 1000));
            assert_eq!((seen.starts, seen.programs[0].path.as_str()), (1, path.as_str()));
            let (seen, _) = files(&launch(&["cat", "/etc/passwd"]));
            assert!(seen.files.iter().any(|file| file.path == "/etc/passwd" && file.read_bytes > 0));
        }
        "setuid" => {
            let missing = probed(&launch(&["/usr/bin/su", "--version"]), Probe::Syscalls).unwrap_err();
            assert!(missing.why.contains("more rights than you"), "{missing:?}");
            let (_, probed) = syscalls(&launch(&["sh", "-c", "/usr/bin/su --version; exit 2"]));
            assert_eq!(probed.exit, Exit::Code(2));
            assert!(probed.blind_spots[0].why.contains("/usr/bin/su"), "{:?}", probed.blind_spots);
            let later = launch(&["sh", "-c", "exec /usr/bin/su --version"]);
            let seen = super::programs::probed(&later, Probe::Environment).unwrap();
            let is_told = |spot: &Missing| spot.why.contains("/usr/bin/su") && spot.remedy.is_some();
            assert!(seen.blind_spots.iter().any(is_told), "{:?}", seen.blind_spots);
        }
        part => {
            let is_told = |refused: Missing| {
                assert!(refused.why.contains(part) && refused.remedy.is_some(), "{refused:?}");
            };
            is_told(machine().can_probe(Probe::Files).unwrap_err());
            is_told(probed(&launch(&["true"]), Probe::Files).unwrap_err());
            let can = machine().can_probe(Probe::Syscalls);
            let seen = probed(&launch(&["true"]), Probe::Syscalls);
            if records() {
                assert!(can.is_ok() && seen.is_ok(), "{can:?} {seen:?}");
            } else {
                is_told(can.unwrap_err());
                is_told(seen.unwrap_err());
            }
        }
    }
    println!("done {part}");
}

fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status").unwrap().contains("Uid:\t0\t")
}

#[test]
fn it_works_here() {
    let _turn = turn();
    assert_eq!(machine().can_probe(Probe::Syscalls), Ok(()));
    assert_eq!(machine().can_probe(Probe::Files), Ok(()));
}

#[test]
fn nobody_sees_as_much() {
    let _turn = turn();
    if !is_root() || !can_be_nobody() {
        return;
    }
    start_again(&NOBODY, "counts");
    if std::path::Path::new("/usr/bin/su").exists() {
        start_again(&NOBODY, "setuid");
    }
}

/// The test program must be where everybody may start it.
fn can_be_nobody() -> bool {
    let own = std::env::current_exe().unwrap();
    let start = Command::new(NOBODY[0]).args(&NOBODY[1..]).arg(own).arg("--list").output();
    start.is_ok_and(|done| done.status.success())
}

#[test]
fn where_ptrace_is_refused_the_reason_is_told() {
    let _turn = turn();
    start_again(&[compiled(FILTERED).to_str().unwrap()], "filter");
}

#[test]
fn under_a_tracer_that_is_told() {
    let _turn = turn();
    let has_strace = Command::new("strace").arg("-V").output().is_ok_and(|done| done.status.success());
    if has_strace {
        start_again(&["strace", "-f", "-o", "/dev/null", "-e", "trace=none"], "traced already");
    }
}

#[test]
fn a_program_that_cannot_be_traced_by_its_parent_gives_no_numbers() {
    let _turn = turn();
    for body in [TRACES_ITS_CHILD, TRACES_ITS_PARENT] {
        let looks = [
            (Probe::Loading, probed(&program(body), Probe::Loading)),
            (Probe::Files, probed(&program(body), Probe::Files)),
            (
                Probe::Loading,
                probed(&launch(&["sh", "-c", compiled(body).to_str().unwrap()]), Probe::Loading),
            ),
            (Probe::Syscalls, try_to_trace(&program(body))),
        ];
        for (probe, seen) in looks {
            let missing = seen.expect_err(body);
            assert!(missing.why.contains("ptrace") && missing.remedy.is_some(), "{probe:?} {missing:?}");
        }
        if records() {
            assert_eq!(recorded(&program(body)).1.exit, Exit::Code(0));
        }
    }
}

/// It traces its child, which nobody traces yet: only the first process is.
#[test]
fn the_environment_of_a_program_that_traces() {
    let _turn = turn();
    for body in [TRACES_ITS_CHILD, TRACES_ITS_PARENT] {
        let seen = probed(&program(body), Probe::Environment).unwrap();
        assert_eq!(seen.exit, Exit::Code(0));
        let is_told = |spot: &Missing| spot.why.contains("uses ptrace") && spot.remedy.is_some();
        assert!(seen.blind_spots.iter().any(is_told), "{:?}", seen.blind_spots);
        let later = format!("exec {}", compiled(body).display());
        let seen = probed(&launch(&["sh", "-c", &later]), Probe::Environment).unwrap();
        assert!(seen.blind_spots.iter().any(is_told), "{:?}", seen.blind_spots);
    }
}

#[test]
fn a_program_that_asks_ptrace_for_anything_else_is_counted() {
    let _turn = turn();
    let body = "return syscall(SYS_ptrace, PTRACE_CONT, 1, 0, 0) == -1 && errno == ESRCH ? 3 : 4;";
    assert_eq!(traced(&program(body)).1.exit, Exit::Code(3));
}
