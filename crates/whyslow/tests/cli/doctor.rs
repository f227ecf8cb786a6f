//! `whyslow doctor`: findings, advice and exit codes on machines whose truth is known, and that it works on this one.

use std::process::Command;

use serde_json::Value;
use whyslow::cli::Status;
use whyslow::machine::simulated::{Competition, Cost, Interrupt, Load, Noise, Program, Rights, World};

use crate::common::{Printed, whyslow, whyslow_without_machine};

/// The two yardsticks on a machine whose runs scatter by so much.
fn scattering(scatter: f64) -> World {
    World::default()
        .with_program(Program::new("sh", Cost::of_cpu(0.02)))
        .with_program(Program::new("true", Cost::of_cpu(0.001)))
        .with_noise(Noise::White { scatter })
}

fn json(world: World, arguments: &[&str]) -> (Status, Value) {
    let arguments = [&["doctor", "--json"], arguments].concat();
    let printed = whyslow(world, &arguments);
    (printed.status, serde_json::from_str(&printed.stdout).expect("JSON and nothing else"))
}

fn warned(json: &Value) -> Vec<&str> {
    let findings = json["findings"].as_array().unwrap().iter();
    let warned = findings.filter(|finding| finding["mark"] == "warning");
    warned.map(|finding| finding["subject"].as_str().unwrap()).collect()
}

#[test]
fn a_good_machine_is_fit() {
    let Printed { status, stdout, stderr } = whyslow(scattering(0.01), &["doctor"]);
    assert_eq!((status as u8, stderr.as_str()), (0, ""), "{stdout}");
    assert!(stdout.starts_with("this machine is fit for measuring\n"), "{stdout}");
    for line in ["wall time noise", "in a loop of 20.0 ms", "for `true`"] {
        assert!(stdout.contains(line), "{line} in {stdout}");
    }
    assert_eq!(whyslow(scattering(0.01), &["doctor"]).stdout, stdout);
}

#[test]
fn the_smallest_difference_is_that_of_the_scatter() {
    let (status, json) = json(scattering(0.01), &[]);
    assert_eq!((status, &json["result"]), (Status::Done, &Value::from("fine")));
    for (program, metric) in [("loop", "wall_s"), ("loop", "cpu_s"), ("start", "wall_s"), ("start", "cpu_s")]
    {
        let noise = &json["noise"][program][metric];
        let smallest = |blocks| noise[format!("smallest_difference_{blocks}")].as_f64().unwrap();
        // A pair of runs scatters by 1.4 %; 2.8 standard errors are found four times in five.
        assert!((0.010..0.018).contains(&smallest(10)), "{noise}");
        assert!((0.0033..0.0048).contains(&smallest(100)), "{noise}");
        assert!(noise["blocks"].as_u64().unwrap() > 100, "{noise}");
    }
}

#[test]
fn what_weakens_measurements_is_a_warning_with_advice() {
    let (status, noisy) = json(scattering(0.2), &[]);
    assert_eq!((status as u8, warned(&noisy)), (1, vec!["wall time noise", "CPU time noise"]));
    let busy = scattering(0.01).with_load(Load::Steady(Competition { waiting: 0.5, slowdown: 0.0 }));
    assert_eq!(warned(&json(busy, &["--seconds", "0"]).1), ["load"]);
    let denied = scattering(0.01).with_rights(Rights::none());
    let (status, denied) = json(denied, &["--seconds", "0"]);
    let metrics = ["task clock", "main thread CPU", "waited for a CPU"];
    assert_eq!(
        (status, warned(&denied)),
        (Status::Warned, [&metrics[..], &["perf_event_paranoid"]].concat())
    );
    for json in [&noisy, &denied] {
        let findings = json["findings"].as_array().unwrap();
        assert!(findings.iter().all(|finding| finding["mark"] != "warning" || finding["advice"].is_string()));
    }
}

#[test]
fn without_time_there_is_no_noise_and_no_zero() {
    let (_, json) = json(scattering(0.01), &["--seconds", "0"]);
    assert_eq!(json["noise"], Value::Null);
    let text = whyslow(scattering(0.01), &["doctor", "--seconds", "0"]).stdout;
    assert!(!text.contains("noise") && text.contains("for a program that does nothing"), "{text}");
}

#[test]
fn a_little_time_is_not_enough_to_tell() {
    let (status, json) = json(scattering(0.01), &["--seconds", "0.1"]);
    let findings = json["findings"].as_array().unwrap();
    let noise = findings.iter().find(|finding| finding["subject"] == "wall time noise").unwrap();
    assert_eq!((status, &noise["mark"]), (Status::Done, &"unknown".into()), "{noise}");
}

#[test]
fn quiet_leaves_what_there_is_to_do() {
    let quiet = |scatter| whyslow(scattering(scatter), &["doctor", "--quiet"]).stdout;
    assert_eq!(quiet(0.01), "this machine is fit for measuring\n");
    assert!(quiet(0.2).starts_with("this machine can measure; 2 things weaken it\n"), "{}", quiet(0.2));
    assert!(!quiet(0.2).contains("\nok "), "{}", quiet(0.2));
}

#[test]
fn yardsticks_that_are_not_there_leave_the_rest() {
    let (status, json) = json(World::default(), &[]);
    assert_eq!((status, &json["noise"]["loop"]["wall_s"]), (Status::Done, &Value::Null));
}

#[test]
fn an_interrupt_shows_what_was_found() {
    let world = scattering(0.01).with_interrupt(Interrupt::AfterRuns(100));
    let printed = whyslow(world, &["doctor"]);
    assert_eq!(printed.status, Status::Interrupted);
    assert!(printed.stdout.contains("wall time noise"), "{}", printed.stdout);
}

#[test]
fn a_machine_that_does_not_start_cannot_measure() {
    let printed = whyslow_without_machine(&["doctor"]);
    assert_eq!((printed.status as u8, printed.stdout.as_str()), (2, ""));
    assert!(printed.stderr.starts_with("error: a machine was started"), "{}", printed.stderr);
}

#[test]
fn this_machine_can_be_looked_at() {
    let whyslow = env!("CARGO_BIN_EXE_whyslow");
    let output = Command::new(whyslow).args(["doctor", "--seconds", "0", "--json"]).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(json["findings"].as_array().unwrap().len() > 15, "{json}");
}
