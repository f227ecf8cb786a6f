//! Rows about how programs were built, what the CPU may use, and interpreters.

use whyslow::model::{Edit, ElfFacts, LoadedProgram};

use super::scene::Row;
use super::signs::Signs;

pub fn rows() -> Vec<Row> {
    [builds(), interpreters(), settings()].concat()
}

/// A program file of this name with what its file says.
fn built(signs: Signs, path: &str, change: impl FnOnce(&mut ElfFacts)) -> Signs {
    let mut elf = ElfFacts::default();
    change(&mut elf);
    signs.loading(|seen| {
        seen.programs.push(LoadedProgram {
            path: path.to_owned(),
            elf: Some(elf),
            ..LoadedProgram::default()
        });
    })
}

fn builds() -> Vec<Row> {
    vec![
        Row::new("build.hardening", "/w/a run", "/w/b run")
            .user(0.02)
            .fast_signs(|s| built(s, "/w/a", |_| {}))
            .signs(|s| built(s, "/w/b", |elf| elf.instrumentation = vec!["stack protector".to_owned()])),
        Row::new("build.instrumentation", "/w/calc-a run", "/w/calc-b run")
            .user(0.25)
            .fast_signs(|s| built(s, "/w/a", |_| {}))
            .signs(|s| {
                built(s, "/w/b", |elf| elf.instrumentation = vec!["gprof".to_owned()])
                    .cpu(&[("main;libc.so.6!__mcount_internal", 0.25)])
            }),
        Row::new("build.optimisation", "/w/calc-a run", "/w/calc-b run")
            .user(0.4)
            .signs(|s| s.cpu(&[("main", 0.4)])),
        Row::set("cpu.features-off", "openssl enc", "OPENSSL_ia32cap", "~0x200000200000000")
            .user(0.3)
            .signs(|s| s.cpu(&[("main;libcrypto.so.3!vpaes_ctr", 0.3)])),
    ]
}

fn interpreters() -> Vec<Row> {
    vec![
        Row::new("rt.build", "/usr/bin/perl a.pl", "/usr/bin/debugperl a.pl")
            .user(0.02)
            .both(|s| s.fact("interpreter.version", "5.36.0").fact("interpreter.build.ccflags", "-O2"))
            .signs(|s| s.fact("interpreter.build.ccflags", "-DDEBUGGING -O2")),
        Row::new("rt.c-extension", "python3 load.py fast", "python3 load.py pure")
            .user(0.4)
            .fast_signs(|s| s.cpu(&[("main;libyaml-0.so.2!yaml_parser_parse", 0.05)]))
            .signs(|s| s.cpu(&[("main;_PyEval_EvalFrameDefault", 0.4)])),
        Row::new("rt.gc", "python3 heavy.py frozen", "python3 heavy.py collected")
            .user(0.45)
            .signs(|s| s.cpu(&[("main;_PyEval_EvalFrameDefault;gc_collect_main;subtract_refs", 0.45)])),
        Row::new("rt.import", "python3 -c print(1)", "python3 -c import-asyncio")
            .user(0.06)
            .both(|s| s.file("/w/x", |file| file.opened = 1))
            .signs(|s| {
                (0..160).fold(s, |s, number| {
                    let path = format!("/usr/lib/python3.11/__pycache__/m{number}.cpython-311.pyc");
                    s.file(&path, |file| file.opened = 1)
                })
            }),
        Row::new("rt.interpreter", "dash loop.sh", "bash loop.sh")
            .user(0.15)
            .signs(|s| s.cpu(&[("main;execute_command", 0.15)])),
        Row::new("rt.version", "/v/3.12.1/bin/python3 b.py", "/v/3.8.18/bin/python3 b.py").user(0.05),
    ]
}

fn settings() -> Vec<Row> {
    vec![
        Row::set("rt.debug-mode", "python3 b.py", "PYTHONDEVMODE", "1").user(0.1),
        Row::set("rt.jit-off", "node jit.js", "NODE_OPTIONS", "--jitless").user(0.5),
        Row::set("rt.module-path", "perl a.pl", "PERL5LIB", "/a:/b:/c")
            .user(0.01)
            .system(0.1)
            .both(|s| s.file("/w/x", |file| file.opened = 1))
            .signs(|s| {
                s.errors("newfstatat", "ENOENT", 50_000).file("/a/POSIX.pm", |file| file.stat_missed = 50_000)
            }),
        Row::set("rt.no-bytecode", "python3 -c import-bigpkg", "PYTHONDONTWRITEBYTECODE", "1")
            .fast_edit(Edit::SetEnv("PYTHONPATH".into(), "/w/pkg".into()))
            .slow_edit(Edit::SetEnv("PYTHONPATH".into(), "/w/pkg2".into()))
            .user(0.15)
            .both(|s| s.file("/w/x", |file| file.opened = 1))
            .signs(|s| s.file("/w/pkg2/bigpkg/__pycache__/m1.cpython-311.pyc", |file| file.missed = 61)),
    ]
}
