//! How commands end, and how that is told.

mod common;

use common::{Command, exits, text};
use std::os::fd::AsRawFd;
use whyslow_launcher::{Ended, Launcher, Program};

#[test]
fn exit_codes() {
    let mut launcher = Launcher::start().unwrap();
    assert_eq!(Command::new("/bin/true", &[]).run(&mut launcher).outcome, exits(0));
    assert_eq!(Command::new("/bin/false", &[]).run(&mut launcher).outcome, exits(1));
    assert_eq!(Command::shell("exit 255").run(&mut launcher).outcome, exits(255));
}

#[test]
fn signals() {
    let mut launcher = Launcher::start().unwrap();
    assert_eq!(Command::shell("kill -TERM $$").run(&mut launcher).outcome, Ended::Signaled(15, false));
    let aborted = Command::shell("ulimit -c 0; kill -ABRT $$").run(&mut launcher).outcome;
    assert!(matches!(aborted, Ended::Signaled(6, _)), "{aborted:?}");
}

#[test]
fn what_cannot_be_executed() {
    let mut launcher = Launcher::start().unwrap();
    let mut errno = |path: &str| match Command::new(path, &[]).run(&mut launcher).outcome {
        Ended::NotStarted { errno, step: "exec" } => errno,
        other => panic!("{path}: {other:?}"),
    };
    assert_eq!(errno("/nowhere/to/be/found"), libc::ENOENT);
    assert_eq!(errno("/bin"), libc::EACCES);
    assert_eq!(errno("/etc/passwd"), libc::EACCES);

    let nonsense = temporary_program("neither ELF nor script");
    let result = errno(nonsense.to_str().unwrap());
    std::fs::remove_file(nonsense).unwrap();
    assert_eq!(result, libc::ENOEXEC);
    // And it goes on working.
    assert_eq!(Command::new("/bin/true", &[]).run(&mut launcher).outcome, exits(0));
}

#[test]
fn the_other_steps_of_a_start() {
    let mut launcher = Launcher::start().unwrap();
    let mut lost = Command::new("/bin/true", &[]);
    lost.request.cwd = Some(text("/nowhere"));
    assert_eq!(lost.run(&mut launcher).outcome, Ended::NotStarted { errno: libc::ENOENT, step: "chdir" });
    let mut unbound = Command::new("/bin/true", &[]);
    unbound.request.affinity = Some(vec![0]);
    assert_eq!(
        unbound.run(&mut launcher).outcome,
        Ended::NotStarted { errno: libc::EINVAL, step: "affinity" }
    );
}

#[test]
fn descriptors_that_are_not_open() {
    let mut launcher = Launcher::start().unwrap();
    let mut deaf = Command::new("/bin/true", &[]);
    deaf.request.stderr = 1_000_000;
    assert_eq!(deaf.run(&mut launcher).outcome, Ended::NotStarted { errno: libc::EBADF, step: "stderr" });
    let nothing = Command::of(Program::Descriptor(1_000_000), &[]);
    assert_eq!(nothing.run(&mut launcher).outcome, Ended::NotStarted { errno: libc::EBADF, step: "exec" });
    assert_eq!(Command::new("/bin/true", &[]).run(&mut launcher).outcome, exits(0));
}

#[test]
fn a_script_runs_by_path_but_not_by_descriptor() {
    let mut launcher = Launcher::start().unwrap();
    let script = temporary_program("#!/bin/sh\nexit 3\n");
    let by_path = Command::new(script.to_str().unwrap(), &[]).run(&mut launcher).outcome;
    let file = std::fs::File::open(&script).unwrap();
    std::fs::remove_file(&script).unwrap();
    let by_descriptor = Command::of(Program::Descriptor(file.as_raw_fd()), &[]).run(&mut launcher).outcome;
    assert_eq!(by_path, exits(3));
    assert_eq!(by_descriptor, Ended::NotStarted { errno: libc::ENOENT, step: "exec" });
}

#[test]
fn directory_affinity_environment_and_arguments_arrive() {
    let mut launcher = Launcher::start().unwrap();
    let mut command = Command::shell("pwd; echo $NAME; grep Cpus_allowed: /proc/self/status");
    command.request.cwd = Some(text("/usr"));
    command.request.env.push(text("NAME=a b"));
    command.request.affinity = Some(vec![1]);
    let (output, reply) = command.output(&mut launcher);
    assert_eq!(reply.outcome, exits(0));
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[..2], ["/usr", "a b"]);
    assert!(lines[2].ends_with('1') && !lines[2].ends_with("11"), "{}", lines[2]);
}

#[test]
fn a_relative_program_counts_from_the_directory() {
    let mut launcher = Launcher::start().unwrap();
    let mut command = Command::new("./true", &[]);
    command.request.cwd = Some(text("/bin"));
    assert_eq!(command.run(&mut launcher).outcome, exits(0));
}

#[test]
fn programs_by_descriptor() {
    let mut launcher = Launcher::start().unwrap();
    let file = std::fs::File::open("/bin/false").unwrap();
    let command = Command::of(Program::Descriptor(file.as_raw_fd()), &[]);
    assert_eq!(command.run(&mut launcher).outcome, exits(1));
    let null = Command::of(launcher.null_program(), &["any", "thing"]);
    assert_eq!(null.run(&mut launcher).outcome, exits(0));
}

#[test]
fn arguments_and_environment_of_two_megabytes() {
    let mut launcher = Launcher::start().unwrap();
    let long = "x".repeat(100_000);
    let mut command = Command::shell("echo ${#NAME0} ${#NAME9} $# ${#10}");
    command.request.argv.push(text("name"));
    command.request.argv.extend((0..10).map(|_| text(&long)));
    command.request.env.extend((0..9).map(|index| text(&format!("NAME{index}={long}"))));
    command.request.env.push(text("NAME9=1"));
    let (output, reply) = command.output(&mut launcher);
    assert_eq!((output.as_str(), reply.outcome), ("100000 1 10 100000\n", exits(0)));
    // Memory that the request needed does not weigh on later commands.
    let peak = Command::new("/bin/true", &[]).run(&mut launcher).maxrss_bytes;
    assert!(peak < 2_000_000, "{peak}");
}

#[test]
fn many_small_arguments() {
    let mut launcher = Launcher::start().unwrap();
    let mut command = Command::shell("echo $#");
    command.request.argv.push(text("name"));
    command.request.argv.extend((0..50_000).map(|index| text(&index.to_string())));
    assert_eq!(command.output(&mut launcher).0, "50000\n");
}

#[test]
fn more_than_the_kernel_takes_is_not_started() {
    let mut launcher = Launcher::start().unwrap();
    let mut command = Command::new("/bin/true", &[]);
    command.request.argv.push(text(&"x".repeat(1 << 20)));
    assert_eq!(command.run(&mut launcher).outcome, Ended::NotStarted { errno: libc::E2BIG, step: "exec" });
}

fn temporary_program(content: &str) -> std::path::PathBuf {
    let name = format!("whyslow-launcher-test-{}-{}", std::process::id(), content.len());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, content).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    path
}
