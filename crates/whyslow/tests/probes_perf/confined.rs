//! Without rights: less is seen, and it is said what, why and what to do about it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::Program;

const CONFINE: &str = r"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **words) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 126;
    execv(words[1], words + 1);
    return 127;
}";

/// Memory is mapped, touched and given back, again and again.
const FAULTING: &str = r"
#include <sys/mman.h>
int main(void) {
    for (int round = 0; round < 60; round++) {
        long size = 16l << 20;
        char *memory = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise(memory, size, MADV_NOHUGEPAGE);
        for (long place = 0; place < size; place += 4096) memory[place] = 1;
        munmap(memory, size);
    }
    return 0;
}";

fn traces(mut command: Command) -> Vec<Value> {
    let output = command.env("HOME", "/").current_dir("/").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let document: Value = serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("{error}: {text} {}", String::from_utf8_lossy(&output.stderr));
    });
    document["traces"].as_array().unwrap().clone()
}

#[test]
fn where_perf_is_denied_that_is_said_with_a_remedy() {
    let confine = Program::compile(CONFINE, &[]);
    let mut command = Command::new(confine.path());
    command.arg(env!("CARGO_BIN_EXE_whyslow")).args(["probe", "--json", "--with", "cpu,faults", "true"]);
    let traces = traces(command);
    assert_eq!(traces.len(), 2);
    for trace in traces {
        let missing = &trace["missing"];
        assert!(missing["why"].as_str().unwrap().contains("perf_event_open is not permitted"), "{missing}");
        assert!(missing["remedy"].as_str().unwrap().contains("seccomp"), "{missing}");
        assert_eq!(trace["seen"], Value::Null);
    }
}

/// The program, where somebody else may run it.
fn for_everybody(directory: &Path) -> PathBuf {
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o755)).unwrap();
    let copy = directory.join("whyslow");
    std::fs::copy(env!("CARGO_BIN_EXE_whyslow"), &copy).unwrap();
    copy
}

#[test]
fn an_ordinary_user_sees_programs_and_how_much_the_kernel_took() {
    // Only root may become somebody else.
    let become_nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let can = Command::new("setpriv").args(become_nobody).arg("true").status();
    if !can.is_ok_and(|status| status.success()) {
        return;
    }
    let faulting = Program::compile(FAULTING, &[]);
    let whyslow = for_everybody(faulting.directory.path());
    let mut command = Command::new("setpriv");
    command.args(become_nobody).arg(whyslow).args(["probe", "--json", "--with", "cpu,faults"]);
    command.arg(faulting.word());
    let traces = traces(command);
    let [cpu, faults] = &traces[..] else { panic!("{traces:?}") };
    let profile = &cpu["seen"]["cpu"];
    if profile["kernel"] == "seen" {
        return; // kernel.perf_event_paranoid is 1 or less here
    }
    assert_eq!(profile["kernel"], "missing", "{cpu}");
    let (sampled, total) = (profile["sampled"].as_f64().unwrap(), profile["total"].as_f64().unwrap());
    let kernel = 1.0 - sampled / total;
    assert!(kernel > 0.8 && kernel <= 1.0, "{kernel}");
    let remedy = cpu["blind_spots"][0]["remedy"].as_str().unwrap();
    assert!(remedy.contains("perf_event_paranoid=1"), "{remedy}");

    let profile = &faults["seen"]["faults"];
    let (sampled, total) = (profile["sampled"].as_f64().unwrap(), profile["total"].as_f64().unwrap());
    assert!(sampled <= total && total > 240_000.0 && total < 260_000.0, "{sampled} of {total}");
}
