//! What is done to the machine for an experiment.

use std::fs;

use whyslow::machine::Machine;
use whyslow::machine::local::{Interrupt, Isolation, Local, Settings};
use whyslow::model::{KNOWN_PROBES, Launch, Output, Probe};

use super::common::{number_of, shell, shell_to};

fn start(settings: Settings) -> Result<Local, String> {
    Local::start(Interrupt::new().unwrap(), settings).map_err(|error| error.to_string())
}

/// The first CPU that this process may use.
fn some_cpu() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim();
    list.split([',', '-']).next().unwrap().parse().unwrap()
}

const CPUS: &str = "grep -c '' /proc/self/status > /dev/null; nproc";

#[test]
fn commands_are_pinned_and_we_are_not() {
    let before = fs::read_to_string("/proc/self/status").unwrap();
    let mut machine = start(Settings { pin: Some(vec![some_cpu()]), ..Settings::default() }).unwrap();
    assert_eq!(machine.settings(), [format!("commands ran on CPU {} only", some_cpu())]);
    assert_eq!(number_of(&mut machine, &shell(CPUS), "[0-9]+"), Some(1.0));
    let line =
        |status: &str| status.lines().find(|line| line.starts_with("Cpus_allowed:")).map(str::to_owned);
    assert_eq!(line(&fs::read_to_string("/proc/self/status").unwrap()), line(&before));
}

#[test]
fn one_command_may_have_a_cpu_of_its_own() {
    let mut machine = start(Settings::default()).unwrap();
    assert!(machine.settings().is_empty());
    let launch = Launch { affinity: Some(vec![some_cpu()]), ..shell(CPUS) };
    assert_eq!(number_of(&mut machine, &launch, "[0-9]+"), Some(1.0));
}

#[test]
fn a_cpu_that_is_not_there_is_an_error_that_names_those_that_are() {
    let error = start(Settings { pin: Some(vec![some_cpu(), 60_000]), ..Settings::default() }).err().unwrap();
    assert!(error.starts_with("cannot pin to CPU 60000: this process may use "), "{error}");
}

/// What this system denies is named with its remedy, and then there is nothing more to see.
fn isolated(isolation: Isolation) -> Option<Local> {
    match start(Settings { isolate: Some(isolation), ..Settings::default() }) {
        Ok(machine) => Some(machine),
        Err(error) => {
            assert!(error.contains("CAP_SYS_NICE") || error.contains("sched_autogroup"), "{error}");
            None
        }
    }
}

#[test]
fn autogroup_of_the_commands_only() {
    let ours = || fs::read_to_string("/proc/self/autogroup").ok();
    let before = ours();
    let Some(mut machine) = isolated(Isolation::Autogroup) else { return };
    assert!(machine.settings()[0].contains("autogroup"));
    for output in [Output::Pipe, Output::Terminal] {
        let launch = shell_to(output.clone(), "cat /proc/self/autogroup");
        assert_eq!(number_of(&mut machine, &launch, "nice (-?[0-9]+)"), Some(-20.0), "{output:?}");
    }
    drop(machine);
    assert_eq!(ours(), before);
}

#[test]
fn real_time_of_the_commands_only() {
    let policy = "cut -d ' ' -f 41 /proc/self/stat";
    let Some(mut machine) = isolated(Isolation::Fifo) else { return };
    assert!(machine.settings()[0].contains("SCHED_FIFO"));
    assert_eq!(number_of(&mut machine, &shell(policy), "[0-9]+"), Some(f64::from(libc::SCHED_FIFO)));
    drop(machine);
    let mut plain = start(Settings::default()).unwrap();
    assert_eq!(number_of(&mut plain, &shell(policy), "[0-9]+"), Some(f64::from(libc::SCHED_OTHER)));
}

/// What a command sees of itself under each probe; looks are no children of the launcher.
fn seen_under_probes(settings: Settings, script: &str) -> Vec<(Probe, String)> {
    let directory = tempfile::tempdir().unwrap();
    let mut machine = start(settings).unwrap();
    let probes = KNOWN_PROBES.iter().filter(|known| known.is_default).map(|known| known.probe);
    let look = |probe: Probe| {
        let path = directory.path().join("seen");
        let seen = machine.probe(&shell_to(Output::File(path.clone()), script), probe);
        assert!(seen.probed().is_some_and(|probed| probed.exit.is_success()), "{probe:?} {seen:?}");
        (probe, fs::read_to_string(path).unwrap())
    };
    probes.map(look).collect()
}

#[test]
fn looks_are_pinned_as_the_runs_are() {
    let settings = Settings { pin: Some(vec![some_cpu()]), ..Settings::default() };
    for (probe, seen) in seen_under_probes(settings, "nproc") {
        assert_eq!(seen.trim(), "1", "{probe:?}");
    }
}

#[test]
fn looks_are_isolated_as_the_runs_are() {
    let ours = || fs::read_to_string("/proc/self/autogroup").ok();
    let before = ours();
    let nice = "cat /proc/self/autogroup";
    let policy = "cut -d ' ' -f 41 /proc/self/stat";
    for (isolation, script, wanted) in
        [(Isolation::Autogroup, nice, "nice -20"), (Isolation::Fifo, policy, "1")]
    {
        if isolated(isolation).is_none() {
            continue;
        }
        let settings = Settings { isolate: Some(isolation), ..Settings::default() };
        for (probe, seen) in seen_under_probes(settings, script) {
            assert!(seen.trim().ends_with(wanted), "{probe:?} {seen}");
        }
        assert_eq!(ours(), before);
    }
}

#[test]
fn waiting_for_quiet_ends() {
    let mut machine = start(Settings { wait_quiet: true, ..Settings::default() }).unwrap();
    machine.wait_until_quiet();
    assert_eq!(machine.settings().len(), 1);
}
