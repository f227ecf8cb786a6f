//! Processes that do not end, do not go, or are very many.

use whyslow::machine::Machine;
use whyslow::model::{Exit, Launch, Metric};

use super::common::{is_soon_gone, machine, shell, value, word_in};

#[test]
fn stopped_and_not_continued() {
    let mut machine = machine();
    let outcome = machine.run(&shell("kill -STOP $$"), &[]).unwrap();
    assert_eq!(outcome.exit, Exit::Stopped(libc::SIGSTOP));
    assert_eq!(machine.run(&shell("exit 0"), &[]).unwrap().exit, Exit::Code(0));
}

#[test]
fn one_that_waits_for_ever_and_ignores_all_signals_ends_by_the_limit() {
    let script = "trap '' TERM INT HUP; exec 0<&- 1>&- 2>&-; while :; do sleep 1000; done";
    let launch = Launch { timeout_s: Some(0.3), ..shell(script) };
    assert_eq!(machine().run(&launch, &[]).unwrap().exit, Exit::TimedOut);
}

#[test]
fn a_program_that_closes_everything_is_waited_for() {
    let outcome = machine().run(&shell("exec 0<&- 1>&- 2>&-; sleep 0.2; exit 6"), &[]).unwrap();
    assert_eq!(outcome.exit, Exit::Code(6));
}

#[test]
fn a_daemon_lives_until_the_end_and_not_longer() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pid");
    let script = format!(
        "setsid sh -c 'trap \"\" TERM; echo $$ > {}; while :; do sleep 1000; done' > /dev/null 2>&1 &",
        file.display()
    );
    let mut machine = machine();
    let outcome = machine.run(&shell(&script), &[]).unwrap();
    assert_eq!((outcome.exit, outcome.leftovers), (Exit::Code(0), 1));
    let daemon = word_in(&file);
    let next = machine.run(&shell(&format!("kill -0 {daemon}")), &[]).unwrap();
    assert_eq!((next.exit, next.leftovers), (Exit::Code(0), 0), "it is not of this run");
    drop(machine);
    assert!(is_soon_gone(&daemon));
}

#[test]
fn descendants_are_waited_for_and_counted() {
    let mut machine = machine();
    let metrics = Metric::all_known();
    let script = "(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done) & exit 0";
    let launch = Launch { wait_for_descendants_s: Some(100.0), ..shell(script) };
    let outcome = machine.run(&launch, &metrics).unwrap();
    assert_eq!((outcome.exit.clone(), outcome.leftovers), (Exit::Code(0), 0));
    assert!(value(&outcome, "cpu_s").unwrap() > 0.01, "{outcome:?}");
}

#[test]
fn ten_thousand_processes() {
    let script = "i=0; while [ $i -lt 10000 ]; do (:) & i=$((i+1)); done; wait; exit 0";
    let outcome = machine().run(&shell(script), &Metric::all_known()).unwrap();
    assert_eq!((outcome.exit, outcome.leftovers), (Exit::Code(0), 0));
}

#[test]
fn affinity_that_cannot_be_had_says_so() {
    let mut machine = machine();
    for cpus in [vec![4095], vec![1 << 20], vec![]] {
        let launch = Launch { affinity: Some(cpus), ..shell("exit 0") };
        let exit = machine.run(&launch, &[]).unwrap().exit;
        assert_eq!(exit, Exit::NotStarted { errno: libc::EINVAL, step: "affinity".into() });
    }
}

#[test]
fn memory_does_not_grow_with_the_runs() {
    let mut machine = machine();
    let metrics = Metric::all_known();
    let launch =
        Launch { digest_output: true, ..Launch { argv: vec!["/bin/true".into()], ..Launch::default() } };
    let mut rss_after = |runs: usize| {
        (0..runs).for_each(|_| drop(machine.run(&launch, &metrics).unwrap()));
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmData:")).unwrap().trim();
        line.trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    let (first, last) = (rss_after(300), rss_after(1200));
    // Other tests of this process take and give theirs, some megabytes at most.
    assert!(last < first + 100_000, "{first} kB, {last} kB");
}
