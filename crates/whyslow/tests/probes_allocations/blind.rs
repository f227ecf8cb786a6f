//! What cannot be counted is told, with the reason, and is never a zero.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use whyslow::machine::Machine;
use whyslow::machine::local::{Interrupt, Local, Settings};
use whyslow::model::{Exit, Launch, Probe};

use super::programs::{GLIBC, compile, launch, missing, probed, seen};

const SIMPLE: &str = "static void work(int argc, char **argv) { kept = malloc(10); puts(\"works\"); }";

fn why_not(source: &str, flags: &[&str]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let program = compile(directory.path(), GLIBC, source, flags).remove(0);
    let missing = missing(&launch(&[program.to_str().unwrap(), "work"]));
    assert!(missing.why.starts_with("not measured: ") && missing.remedy.is_some(), "{missing:?}");
    missing.why
}

#[test]
fn static_programs() {
    for flags in [&["-static"][..], &["-static-pie"]] {
        assert!(why_not(SIMPLE, flags).contains("is a static program"));
    }
}

#[test]
fn a_malloc_of_its_own() {
    let source = r#"
        void *malloc(size_t bytes) { static char all[1 << 20], *next = all; char *block = next; next += (bytes + 15) & ~15; return block; }
        void free(void *block) {}
        static void work(int argc, char **argv) { kept = malloc(10); }"#;
    assert!(why_not(source, &["-rdynamic"]).contains("has a malloc of its own"));
    // Then the loader puts it there by itself, for the libc to use.
    assert!(why_not(source, &[]).contains("has a malloc of its own"));
}

#[test]
fn sanitizers() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("none.c"), "int main(void) { return 0; }").unwrap();
    let mut probe = Command::new("gcc");
    probe.current_dir(directory.path()).args(["-fsanitize=address", "none.c"]);
    if probe.output().is_ok_and(|output| output.status.success()) {
        assert!(why_not(SIMPLE, &["-fsanitize=address"]).contains("sanitizer"));
    }
}

/// Of what a program starts nothing is known beforehand.
#[test]
fn programs_below_with_a_malloc_of_their_own() {
    let source = r#"
        void *malloc(size_t bytes) { static char all[1 << 20], *next = all; char *block = next; next += (bytes + 15) & ~15; return block; }
        void free(void *block) {}
        static void work(int argc, char **argv) { kept = malloc(10); }"#;
    let directory = tempfile::tempdir().unwrap();
    let program = compile(directory.path(), GLIBC, source, &[]).remove(0);
    let probed =
        probed(&launch(&["sh", "-c", &format!("{} work; {} work; :", program.display(), program.display())]));
    assert_eq!(probed.blind_spots.len(), 1);
    let why = &probed.blind_spots[0].why;
    assert!(why.contains("a malloc of their own") && why.ends_with("(seen 2 times)"), "{why}");
}

#[test]
fn an_environment_that_was_taken_away() {
    let with = probed(&launch(&["sh", "-c", "perl -e 1; :"]));
    let without = probed(&launch(&["sh", "-c", "env -i /usr/bin/perl -e 1; :"]));
    // The shell, its fork, and env; perl is not seen.
    let calls = |probed| seen(probed).malloc_calls;
    assert!(calls(&without) < calls(&with), "{without:?}");
    assert_eq!(seen(&without).processes_unseen, None, "that is unknown");
}

#[test]
fn programs_with_the_rights_of_another() {
    let directory = tempfile::tempdir().unwrap();
    let program = compile(directory.path(), GLIBC, SIMPLE, &[]).remove(0);
    // Only root can give it to somebody else.
    if chown(&program, Some(65534), None).is_ok() {
        fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
        let missing = missing(&launch(&[program.to_str().unwrap(), "work"]));
        assert!(missing.why.contains("setuid"), "{missing:?}");
    }
}

#[test]
fn programs_that_cannot_be_started() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("text"), "text").unwrap();
    let missing = missing(&launch(&[directory.path().join("text").to_str().unwrap()]));
    assert!(missing.why.starts_with("the command cannot be started"), "{missing:?}");
}

/// A script that tells where the library is, and what the probed run of it was like.
fn placed(rest: &str, timeout_s: Option<f64>, interrupt: &Interrupt) -> Exit {
    let directory = tempfile::tempdir().unwrap();
    let told = directory.path().join("told");
    let script = format!("printf %s \"$LD_PRELOAD\" > {}; {rest}", told.display());
    let mut machine = Local::start(interrupt.clone(), Settings::default()).unwrap();
    let seen = machine.probe(&Launch { timeout_s, ..launch(&["sh", "-c", &script]) }, Probe::Allocations);
    let library = PathBuf::from(fs::read_to_string(told).unwrap());
    assert!(library.ends_with("whyslow-agent.so"), "{library:?}");
    assert!(!library.parent().unwrap().exists(), "{library:?} is left behind");
    seen.probed().unwrap().exit.clone()
}

#[test]
fn nothing_is_left_behind() {
    let interrupt = Interrupt::new().unwrap();
    assert_eq!(placed("exit 7", None, &interrupt), Exit::Code(7));
    assert_eq!(placed("kill -9 $$", None, &interrupt), Exit::Signal(9));
    assert_eq!(placed("sleep 60 & sleep 60", Some(0.3), &interrupt), Exit::TimedOut);
    let waker = interrupt.clone();
    let waker = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        waker.raise();
    });
    assert_eq!(placed("sleep 60 & sleep 60", None, &interrupt), Exit::Interrupted);
    waker.join().unwrap();
}

#[test]
fn programs_that_give_up_their_rights_are_counted() {
    // Only root has some.
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return;
    }
    let probed = probed(&launch(&[
        "setpriv",
        "--reuid=65534",
        "--clear-groups",
        "perl",
        "-e",
        "fork; fork; 1 while wait > 0",
    ]));
    assert_eq!((&probed.exit, &*probed.blind_spots), (&Exit::Code(0), &[][..]));
    assert_eq!(seen(&probed).processes, 5, "setpriv, and four times perl");
}
