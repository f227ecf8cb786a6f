//! The local machine on real programs. Orders of magnitude only: a test must not fail because a machine is
//! busy.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use whyslow::machine::local::{Interrupt, Local, Settings};
use whyslow::machine::{Machine, Outcome};
use whyslow::model::{ByteText, Exit, Input, Launch, Metric};

fn machine() -> Local {
    Local::start(Interrupt::new().unwrap(), Settings::default()).unwrap()
}

fn launch(argv: &[&str]) -> Launch {
    Launch { argv: argv.iter().map(|argument| (*argument).into()).collect(), ..Launch::default() }
}

fn shell(script: &str) -> Launch {
    launch(&["sh", "-c", script])
}

fn run(launch: &Launch) -> Outcome {
    machine().run(launch, &Metric::all_known()).unwrap()
}

fn value(outcome: &Outcome, name: &str) -> Option<f64> {
    let index = Metric::all_known().iter().position(|metric| metric.name == name).unwrap();
    outcome.values[index]
}

fn not_started(errno: i32, step: &str) -> Exit {
    Exit::NotStarted { errno, step: step.to_owned() }
}

fn executable(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Output goes to a file, so that a test can see what a program was given.
fn output_of(mut launch: Launch, directory: &Path) -> Vec<u8> {
    let file = directory.join("output");
    let argv = std::mem::take(&mut launch.argv);
    let redirect = format!("exec \"$@\" > '{}'", file.display());
    launch.argv = ["sh", "-c", &redirect, "sh"].map(ByteText::from).into_iter().chain(argv).collect();
    assert_eq!(run(&launch).exit, Exit::Code(0));
    fs::read(file).unwrap()
}

#[test]
fn success_and_failure_with_the_end_of_standard_error() {
    assert_eq!(run(&launch(&["true"])).exit, Exit::Code(0));
    assert_eq!(run(&launch(&["false"])).exit, Exit::Code(1));
    let outcome = run(&shell("echo out; head -c 10000 /dev/zero >&2; echo sorry >&2; exit 22"));
    assert_eq!(outcome.exit, Exit::Code(22));
    assert_eq!(outcome.stderr_tail.len(), 4096);
    assert!(outcome.stderr_tail.ends_with(b"\0sorry\n"));
    assert_eq!(value(&outcome, "output_bytes"), Some(4.0));
}

#[test]
fn every_metric_that_can_be_measured_has_a_value_or_a_reason() {
    let mut machine = machine();
    let metrics = Metric::all_known();
    // Long enough for the tick to book something, in one process, as the queue wait is only given for one.
    let outcome = machine.run(&shell("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"), &metrics).unwrap();
    for (metric, value) in metrics.iter().zip(&outcome.values) {
        match machine.can_measure(metric) {
            Ok(()) => assert!(value.is_some(), "{} has no value", metric.name),
            Err(missing) => {
                assert_eq!(*value, None, "{missing:?}");
                assert!(!missing.what.is_empty() && !missing.why.is_empty());
            }
        }
    }
    let asked = [metrics[8].clone(), metrics[0].clone()];
    let outcome = machine.run(&launch(&["true"]), &asked).unwrap();
    assert_eq!(outcome.values.len(), 2);
    assert!(outcome.values[0].unwrap() >= 1.0 && outcome.values[1].unwrap() < 10.0);
}

#[test]
fn sleeping_takes_time_but_no_cpu() {
    let outcome = run(&launch(&["sleep", "0.05"]));
    assert!((0.05..5.0).contains(&value(&outcome, "wall_s").unwrap()));
    assert!(value(&outcome, "cpu_s").unwrap_or(0.0) < 0.05);
    assert!(value(&outcome, "voluntary_switches").unwrap() >= 1.0);
}

#[test]
fn killed_by_a_signal() {
    assert_eq!(run(&shell("kill -9 $$")).exit, Exit::Signal(9));
}

#[test]
fn programs_that_cannot_be_started() {
    let directory = tempfile::tempdir().unwrap();
    let text = directory.path().join("text");
    fs::write(&text, "no program").unwrap();
    let in_directory = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    assert_eq!(run(&launch(&["no-such-program-anywhere"])).exit, not_started(libc::ENOENT, "exec"));
    assert_eq!(run(&launch(&[&in_directory("none")])).exit, not_started(libc::ENOENT, "exec"));
    assert_eq!(run(&launch(&[&in_directory("text")])).exit, not_started(libc::EACCES, "exec"));
    assert_eq!(run(&launch(&[])).exit, not_started(libc::ENOENT, "exec"));
    let elsewhere = Launch { cwd: Some(directory.path().join("none")), ..launch(&["true"]) };
    assert_eq!(run(&elsewhere).exit, not_started(libc::ENOENT, "chdir"));
    let outcome = run(&launch(&["no-such-program-anywhere"]));
    assert!(outcome.values.iter().all(Option::is_none));
}

#[test]
fn the_machine_goes_on_after_commands_that_fail() {
    let mut machine = machine();
    let too_large = "x".repeat(4 << 20);
    let far_too_large = "x".repeat(65 << 20);
    for argument in [&too_large, &far_too_large] {
        let outcome = machine.run(&launch(&["true", argument]), &[]).unwrap();
        assert_eq!(outcome.exit, not_started(libc::E2BIG, "exec"));
    }
    assert_eq!(
        machine.run(&launch(&["no-such-program"]), &[]).unwrap().exit,
        not_started(libc::ENOENT, "exec")
    );
    assert_eq!(machine.run(&launch(&["true"]), &[]).unwrap().exit, Exit::Code(0));
}

#[test]
fn a_limit_of_time() {
    let start = Instant::now();
    let outcome = run(&Launch { timeout_s: Some(0.1), ..launch(&["sleep", "60"]) });
    assert_eq!(outcome.exit, Exit::TimedOut);
    assert!(value(&outcome, "wall_s").unwrap() >= 0.1);
    assert!(start.elapsed() < Duration::from_secs(30));
    let in_time = Launch { timeout_s: Some(60.0), ..launch(&["true"]) };
    assert_eq!(run(&in_time).exit, Exit::Code(0));
}

#[test]
fn a_flood_of_output_is_counted() {
    let outcome = run(&launch(&["head", "-c", "200000000", "/dev/zero"]));
    assert_eq!(outcome.exit, Exit::Code(0));
    assert_eq!(value(&outcome, "output_bytes"), Some(200e6));
    let to_both = run(&shell("head -c 3000000 /dev/zero >&2; head -c 3000000 /dev/zero"));
    assert_eq!(value(&to_both, "output_bytes"), Some(3e6));
}

#[test]
fn arguments_and_environment_arrive_to_the_byte() {
    let directory = tempfile::tempdir().unwrap();
    let odd = ByteText(vec![b'a', 0xff, 0xfe, b'\n', b' ']);
    let mut echo = launch(&["printf", "%s"]);
    echo.argv.push(odd.clone());
    assert_eq!(output_of(echo, directory.path()), odd.0);

    let mut env = launch(&["sh", "-c", "printf '%s/%s' \"$ODD\" \"${HOME-unset}\""]);
    env.env = vec![("ODD".into(), Some(odd.clone())), ("HOME".into(), None)];
    assert_eq!(output_of(env, directory.path()), [&odd.0[..], b"/unset"].concat());
}

#[test]
fn input_is_nothing_or_a_file_from_its_beginning() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("input");
    fs::write(&file, "twelve bytes").unwrap();
    let mut machine = machine();
    let metrics = Metric::all_known();
    let reading = Launch { stdin: Input::File(file), ..launch(&["cat"]) };
    for _ in 0..3 {
        let outcome = machine.run(&reading, &metrics).unwrap();
        assert_eq!(value(&outcome, "output_bytes"), Some(12.0));
    }
    assert_eq!(value(&machine.run(&launch(&["cat"]), &metrics).unwrap(), "output_bytes"), Some(0.0));
    let missing = Launch { stdin: Input::File(PathBuf::from("/no/such/file")), ..launch(&["cat"]) };
    assert_eq!(run(&missing).exit, not_started(libc::ENOENT, "stdin"));
}

#[test]
fn the_directory_and_programs_relative_to_it() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("bin")).unwrap();
    executable(&directory.path().join("bin/tool"), "#!/bin/sh\nexit 7\n");
    let cwd = Some(directory.path().to_path_buf());
    let by_path = Launch { cwd: cwd.clone(), ..launch(&["bin/tool"]) };
    assert_eq!(run(&by_path).exit, Exit::Code(7));
    let searched = Launch { cwd, env: vec![("PATH".into(), Some("bin".into()))], ..launch(&["tool"]) };
    assert_eq!(run(&searched).exit, Exit::Code(7));
}

#[test]
fn a_script_without_a_first_line_is_run_by_the_shell() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("script");
    executable(&script, "printf '%s' \"$1\"\nexit 5\n");
    let mut machine = machine();
    let metrics = Metric::all_known();
    for _ in 0..3 {
        let outcome = machine.run(&launch(&[script.to_str().unwrap(), "word"]), &metrics).unwrap();
        assert_eq!(outcome.exit, Exit::Code(5));
        assert_eq!(value(&outcome, "output_bytes"), Some(4.0));
    }
}

#[test]
fn a_descendant_that_keeps_the_output_open_does_not_hold_us() {
    let start = Instant::now();
    let mut machine = machine();
    let metrics = Metric::all_known();
    let outcome = machine.run(&shell("sleep 30 & echo done"), &metrics).unwrap();
    assert_eq!(outcome.exit, Exit::Code(0));
    assert_eq!(value(&outcome, "output_bytes"), Some(5.0));
    // One that floods goes on until its pipe is closed, which must not hold the next run either.
    assert_eq!(machine.run(&shell("cat /dev/zero & :"), &metrics).unwrap().exit, Exit::Code(0));
    let next = machine.run(&launch(&["true"]), &metrics).unwrap();
    assert_eq!(value(&next, "output_bytes"), Some(0.0));
    assert!(value(&next, "task_clock_s").is_none_or(|used_s| used_s < 1.0), "it is not that of the flood");
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn the_memory_of_the_measuring_process_is_not_in_the_peak() {
    let ballast = vec![1_u8; 200 << 20];
    let outcome = run(&launch(&["true"]));
    assert!(ballast[std::hint::black_box(100)] == 1);
    let peak = value(&outcome, "peak_rss_bytes").unwrap();
    assert!(peak > 0.0 && peak < 2.5e6, "{peak}");
}

#[test]
fn an_interrupt_ends_the_run_and_all_later_ones() {
    let start = Instant::now();
    let interrupt = Interrupt::new().unwrap();
    let mut machine = Local::start(interrupt.clone(), Settings::default()).unwrap();
    assert!(!machine.interrupted());
    let waker = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        interrupt.raise();
    });
    for _ in 0..2 {
        let outcome = machine.run(&launch(&["sleep", "60"]), &Metric::all_known()).unwrap();
        assert_eq!(outcome.exit, Exit::Interrupted);
        assert!(outcome.values.iter().all(Option::is_none));
    }
    waker.join().unwrap();
    assert!(machine.interrupted() && machine.floor().is_none());
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[test]
fn no_run_waits_for_a_cpu_longer_than_it_lasts() {
    let mut machine = machine();
    let metrics = Metric::all_known();
    // Enough of them to be in the way of every start, on any machine.
    let crowd: Vec<_> = (0..2 * machine.host().cpus)
        .map(|_| std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap())
        .collect();
    let outcomes: Vec<Outcome> =
        (0..300).map(|_| machine.run(&launch(&["true"]), &metrics).unwrap()).collect();
    for mut one in crowd {
        one.kill().unwrap();
        one.wait().unwrap();
    }
    for outcome in &outcomes {
        let Some(wait_s) = value(outcome, "run_queue_wait_s") else { continue };
        let most_s = (value(outcome, "wall_s").unwrap() - value(outcome, "main_cpu_s").unwrap()).max(0.0);
        assert!(wait_s <= most_s + 1e-9, "{outcome:?}");
    }
}

#[test]
fn a_launcher_that_dies_is_an_error_and_not_a_result() {
    let mut machine = machine();
    // The parent of a measured command is the launcher.
    for command in [shell("kill -9 $PPID; sleep 5"), launch(&["true"])] {
        let error = machine.run(&command, &[]).unwrap_err();
        assert!(error.what.contains("nothing more can be measured"), "{error}");
    }
}

#[test]
fn the_floor_is_below_a_real_program() {
    let mut machine = machine();
    let floor = machine.floor().unwrap();
    assert!(floor.wall_s > 0.0 && floor.wall_s < 0.1);
    assert!(floor.peak_rss_bytes.unwrap_or(0.0) < 1e6, "unknown where the kernel rounds it to 0");
    let before_s = machine.now_s();
    assert!(machine.now_s() >= before_s);
}

/// Prints figures: `cargo test --release --test local_machine figures -- --ignored --nocapture`.
#[test]
#[ignore = "prints figures"]
fn figures() {
    let mut machine = machine();
    println!("{:#?}", machine.host());
    println!("{:?}", machine.floor());
    let metrics = Metric::all_known();
    let command = launch(&["/bin/true"]);
    let start = Instant::now();
    let outcomes: Vec<Outcome> = (0..1000).map(|_| machine.run(&command, &metrics).unwrap()).collect();
    println!("{:?} of our time for each run", start.elapsed() / 1000);
    println!("{:?}", outcomes[999].conditions);
    for metric in &metrics {
        let mut values: Vec<f64> =
            outcomes.iter().filter_map(|outcome| value(outcome, &metric.name)).collect();
        values.sort_by(f64::total_cmp);
        let known = values.len();
        let at = |share: usize| values.get(known.saturating_sub(1) * share / 100).copied();
        println!("{:>22}: {known:4} values, {:?} .. {:?} .. {:?}", metric.name, at(0), at(50), at(95));
    }
}
