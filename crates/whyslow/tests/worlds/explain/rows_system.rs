//! Rows about the environment, linking, processes and the kernel.

use whyslow::machine::simulated::Condition;
use whyslow::model::{Edit, FileUse};

use super::scene::Row;

pub fn rows() -> Vec<Row> {
    [environment(), linking(), processes(), kernel()].concat()
}

fn environment() -> Vec<Row> {
    let long: String = (0..1500).map(|number| format!("/mnt/c/dir{number}:")).collect();
    vec![
        Row::set("env.locale", "sort words", "LC_ALL", "en_US.UTF-8")
            .fast_edit(Edit::SetEnv("LC_ALL".into(), "C".into()))
            .user(0.32)
            .signs(|s| s.cpu(&[("main;sort;libc.so.6!strcoll_l", 0.32)])),
        Row::set("env.path", "xargs true", "PATH", &format!("{long}/usr/bin:/bin"))
            .fast_edit(Edit::SetEnv("PATH".into(), "/usr/bin:/bin".into()))
            .system(0.3)
            .signs(|s| s.errors("execve", "ENOENT", 450_000)),
        limited(),
        Row::unset("env.tz", "perl now.pl", "TZ", ":/etc/localtime")
            .system(0.25)
            .user(0.05)
            .both(|s| s.file("/w/now.pl", |file| file.opened = 1))
            .signs(|s| {
                s.calls(&[("newfstatat", 200_000)])
                    .file("/etc/localtime", |file: &mut FileUse| file.stated = 200_000)
            }),
    ]
}

/// A script: the number behind `ulimit -n` is the only difference.
fn limited() -> Row {
    let argv = |limit: &str| {
        let script = format!("ulimit -n {limit} && exec python2.7 subproc.py");
        Edit::Argv(["sh", "-c", script.as_str()].map(Into::into).to_vec())
    };
    Row::new("env.rlimit-nofile", "sh", "sh")
        .confirmed()
        .fast_edit(argv("1024"))
        .slow_edit(argv("20000"))
        .when(Condition::WordContains("-n 20000".into()))
        .system(0.3)
        .both(|s| s.errors("close", "EBADF", 60_000))
        .signs(|s| s.errors("close", "EBADF", 1_140_000))
}

fn linking() -> Vec<Row> {
    vec![
        Row::set("link.bind-now", "spawn now", "LD_BIND_NOW", "1")
            .user(0.05)
            .both(|s| s.loads("now", 50, 5, |seen| seen.relocations = 8_700).tree(50, 0, 50))
            .signs(|s| s.loading(|seen| seen.relocations = 300_000)),
        Row::new("link.dynamic", "spawn 40 nop-s", "spawn 40 nop-d")
            .user(0.02)
            .system(0.03)
            .both(|s| s.loads("nop-s", 40, 0, |_| {}).tree(40, 0, 40))
            .counts(|cost| cost.page_faults = 3400.0)
            .signs(|s| s.loads("nop-d", 40, 4, |seen| seen.startup_s = Some(0.04))),
        Row::new("link.lazy-binding", "dash-static fork.sh", "dash-lazy fork.sh")
            .cured_by(Condition::env_is_set("LD_BIND_NOW"))
            .user(0.01)
            .system(0.03)
            .both(|s| s.loads("dash-static", 1, 0, |_| {}).tree(500, 0, 0))
            .counts(|cost| cost.page_faults = 30_000.0)
            .signs(|s| s.loads("dash-lazy", 1, 1, |_| {})),
        Row::new("link.libs-count", "spawn 20 few", "spawn 20 many")
            .user(0.1)
            .system(0.07)
            .both(|s| s.loads("main", 20, 2, |_| {}).tree(20, 0, 20))
            .counts(|cost| cost.page_faults = 12_000.0)
            .signs(|s| s.loads("main", 20, 120, |seen| seen.loads = None)),
        Row::set("link.preload", "spawn true", "LD_PRELOAD", "/w/slowctor.so")
            .user(0.035)
            .both(|s| s.tree(150, 0, 150)),
        Row::set("link.search-path", "spawn main", "LD_LIBRARY_PATH", "/a:/b")
            .fast_edit(Edit::SetEnv("LD_LIBRARY_PATH".into(), "/a".into()))
            .system(1.0)
            .user(0.05)
            .both(|s| s.file("/w/main", |file| file.opened = 1))
            .signs(|s| {
                s.errors("openat", "ENOENT", 600_000).file("/b/libz_gen1.so", |file| file.missed = 600_000)
            }),
        Row::new("link.symbol-lookup", "spawn 20 gnu", "spawn 20 sysv")
            .user(0.1)
            .both(|s| {
                s.tree(20, 0, 20).loads("main", 20, 40, |seen| {
                    (seen.relocations, seen.relocation_cycles) = (184_640, Some(20_000_000));
                    seen.startup_s = Some(0.01);
                })
            })
            .signs(|s| {
                s.loading(|seen| {
                    (seen.relocation_cycles, seen.startup_s) = (Some(46_000_000), Some(0.08));
                })
            }),
    ]
}

fn processes() -> Vec<Row> {
    vec![
        Row::new("proc.fork-loop", "loop arithmetic", "loop expr")
            .user(0.15)
            .system(0.2)
            .signs(|s| s.tree(400, 0, 200).calls(&[("clone", 400)])),
        Row::new("proc.shim", "/v/bin/python3 -c pass", "/pyenv/shims/python3 -c pass")
            .user(0.02)
            .system(0.025)
            .both(|s| s.started(&["/v/bin/python3.11"]))
            .signs(|s| s.started(&["/usr/bin/bash", "/usr/bin/env"]).tree(19, 0, 11)),
        Row::set("proc.startup-file", "bash x.sh", "BASH_ENV", "/w/rc").user(0.02).system(0.03),
    ]
}

fn kernel() -> Vec<Row> {
    vec![
        Row::new("sys.clock", "clock vdso", "clock syscall")
            .user(0.05)
            .system(0.43)
            .signs(|s| s.calls(&[("clock_gettime", 2_000_000)])),
        Row::new("sys.seccomp", "getppid", "filtered getppid")
            .wrapper("filtered")
            .confirmed()
            .user(0.01)
            .system(0.2)
            .both(|s| s.calls(&[("getppid", 1_000_000)]).fact("seccomp", "off"))
            .signs(|s| s.fact("seccomp", "filter").tree(0, 0, 1)),
        Row::new("sys.tracer", "getppid", "strace -f -o /dev/null getppid")
            .wrapper("strace")
            .confirmed()
            .user(0.1)
            .system(0.3)
            .counts(|cost| cost.voluntary_switches = 80_000.0)
            .signs(|s| s.tree(0, 0, 1)),
    ]
}
