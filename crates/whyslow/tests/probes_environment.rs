//! The probe of the environment on programs whose surroundings are known.

#[path = "probes/common.rs"]
mod common;

use common::{facts, launch, probed, shell};
use whyslow::model::{ByteText, Environment, Exit, Launch, Probe, Trace};

fn get<'a>(facts: &'a Environment, name: &str) -> &'a str {
    facts.get(name).unwrap_or_else(|| panic!("no {name} in {facts:#?}"))
}

fn with_env(launch: Launch, name: &str, value: &str) -> Launch {
    let env = vec![(ByteText::from(name), Some(ByteText::from(value)))];
    Launch { env, ..launch }
}

#[test]
fn limits_and_program_are_those_after_the_last_exec() {
    let facts = facts(&shell("ulimit -n 512; LC_ALL=C exec cat"));
    assert_eq!(get(&facts, "limit.nofile.soft"), "512");
    assert!(get(&facts, "program.path").ends_with("/cat"), "{facts:#?}");
    assert!(get(&facts, "program.chain").contains("sh > "), "{facts:#?}");
    assert_eq!(get(&facts, "argv.0"), "cat");
    assert_eq!(get(&facts, "env.LC_ALL"), "C");
    assert_eq!(get(&facts, "locale"), "C");
    assert_eq!(get(&facts, "stream.stdin"), "/dev/null");
    assert_eq!(get(&facts, "stream.stdout"), "pipe");
    assert!(get(&facts, "program.build_id").len() >= 16);
    assert!(get(&facts, "library.libc.so.6").contains("/libc"), "{facts:#?}");
    assert!(get(&facts, "libc").contains("GNU C Library"), "{facts:#?}");
    assert!(get(&facts, "malloc_owner").contains("/libc"), "{facts:#?}");
    assert_eq!(get(&facts, "tracer"), "none");
}

#[test]
fn secrets_are_hidden_and_size_is_told() {
    let small = facts(&with_env(launch(&["true"]), "MY_API_TOKEN", "hunter2"));
    assert!(get(&small, "env.MY_API_TOKEN").starts_with("hidden"), "{small:#?}");
    let text = format!("{small:?}");
    assert!(!text.contains("hunter2"));
    let padded = facts(&with_env(launch(&["true"]), "MY_API_TOKEN", &"x".repeat(10_007)));
    let size = |facts: &Environment| get(facts, "env.size").parse::<i64>().unwrap();
    assert_eq!(size(&padded) - size(&small), 10_000);
}

#[test]
fn affinity_and_directory() {
    let launch = Launch { affinity: Some(vec![0]), cwd: Some("/".into()), ..launch(&["true"]) };
    let facts = facts(&launch);
    assert_eq!(get(&facts, "cpu.affinity"), "0");
    assert_eq!(get(&facts, "cwd"), "/");
}

#[test]
fn niceness_and_address_layout() {
    let facts = facts(&launch(&["setarch", "-R", "nice", "-n", "7", "true"]));
    assert_eq!(get(&facts, "nice"), "7");
    assert_eq!(get(&facts, "aslr"), "off for this process");
}

#[test]
fn libraries_that_come_late_are_seen() {
    let facts = facts(&launch(&["/usr/bin/perl", "-MPOSIX", "-e", "1"]));
    assert!(get(&facts, "library.POSIX.so").contains("/POSIX.so"), "{facts:#?}");
    assert_eq!(get(&facts, "interpreter.name"), "perl");
    assert!(get(&facts, "interpreter.version").starts_with("5."), "{facts:#?}");
    assert!(facts.get("interpreter.build.ccflags").is_some(), "{facts:#?}");
}

#[test]
fn tunables_are_what_the_loader_makes_of_them() {
    let value = "glibc.malloc.tcache_count=0:glibc.no.such=1";
    let facts = facts(&with_env(launch(&["true"]), "GLIBC_TUNABLES", value));
    assert_eq!(get(&facts, "tunable.glibc.malloc.tcache_count"), "0x0");
    assert_eq!(get(&facts, "tunable.glibc.no.such"), "unknown to the loader");
    assert_eq!(get(&facts, "tunables"), value);
}

#[test]
fn the_command_ends_as_without_the_probe() {
    let end = |launch: &Launch| probed(launch, Probe::Environment).exit;
    assert_eq!(end(&shell("exit 3")), Exit::Code(3));
    assert_eq!(end(&shell("kill -9 $$")), Exit::Signal(9));
    assert_eq!(end(&shell("trap 'exit 9' TERM; kill $$; sleep 1; exit 1")), Exit::Code(9));
    assert_eq!(end(&shell("sleep 0.1 & wait; head -c 3000000 /dev/zero; exit 4")), Exit::Code(4));
    let stuck = Launch { timeout_s: Some(0.2), ..shell("while :; do sleep 1; done") };
    assert_eq!(end(&stuck), Exit::TimedOut);
    assert_eq!(end(&shell("kill -STOP $$")), Exit::Stopped(libc::SIGSTOP));
}

#[test]
fn the_process_that_does_the_work_is_told_about() {
    let script = "LC_ALL=C /usr/bin/perl -e 'for (1..8_000_000) { $x += $_ }'; true";
    let facts = facts(&shell(script));
    assert_eq!(get(&facts, "process"), "a descendant");
    assert_eq!(get(&facts, "interpreter.name"), "perl");
    assert_eq!(get(&facts, "locale"), "C");
    assert!(
        get(&facts, "program.chain").contains("sh > ") || get(&facts, "program.chain").contains("dash > ")
    );
}

/// The group is gone before the command ends. Only who may make groups can see that.
#[test]
fn limits_of_a_group_that_is_thrown_away_are_seen() {
    let (name, root) = (format!("whyslow-test-{}", std::process::id()), "/sys/fs/cgroup");
    let work = "i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done";
    let version_one = format!("{root}/cpu/{name}");
    let set = "echo 50000 > $g/cpu.cfs_quota_us || exit 9";
    let script = format!(
        "g={version_one}; mkdir $g || exit 9; {set}; ( sh -c 'echo $PPID' > $g/cgroup.procs; {work} ); rmdir $g"
    );
    let probed = probed(&shell(&script), Probe::Environment);
    if probed.exit == Exit::Code(9) {
        let _ = std::fs::remove_dir(version_one);
        eprintln!("skipped: no group can be made here");
        return;
    }
    let Trace::Environment(facts) = &probed.trace else { panic!("{probed:?}") };
    assert_eq!(get(facts, "cgroup.cpu_quota"), "50000", "{facts:#?}");
}

#[test]
fn signals_do_not_hold_a_run_up() {
    let began = std::time::Instant::now();
    let probed =
        probed(&shell("i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done"), Probe::Environment);
    assert_eq!(probed.exit, Exit::Code(0));
    // An order of magnitude: each of the 300 signals once took five milliseconds.
    assert!(began.elapsed().as_secs() < 20);
}

#[test]
fn a_killed_one_still_has_its_beginning() {
    let probed = probed(&shell("ulimit -n 300; exec perl -e 'kill 9, $$'"), Probe::Environment);
    assert_eq!(probed.exit, Exit::Signal(9));
    let Trace::Environment(facts) = &probed.trace else { panic!("{probed:?}") };
    assert_eq!(get(facts, "limit.nofile.soft"), "300");
}
