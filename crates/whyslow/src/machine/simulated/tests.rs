//! The machine as a session sees it: whole runs of whole worlds.

use super::*;
use crate::model::{ByteText, Pattern, Source};

fn launch(name: &str) -> Launch {
    Launch { argv: vec![name.into()], ..Launch::default() }
}

fn launch_with(name: &str, variable: &str, value: Option<&str>) -> Launch {
    Launch { env: vec![(variable.into(), value.map(ByteText::from))], ..launch(name) }
}

fn timed(name: &str, timeout_s: f64) -> Launch {
    Launch { timeout_s: Some(timeout_s), ..launch(name) }
}

fn run(machine: &mut Simulated, launch: &Launch) -> Outcome {
    machine.run(launch, &Metric::all_known()).unwrap()
}

fn value(outcome: &Outcome, name: &str) -> Option<f64> {
    let place = Metric::all_known().iter().position(|metric| metric.name == name).unwrap();
    outcome.values[place]
}

fn exits(world: World, launch: &Launch, runs: usize) -> Vec<Exit> {
    let mut machine = Simulated::new(world);
    (0..runs).map(|_| run(&mut machine, launch).exit).collect()
}

fn one_program(change: impl FnOnce(Program) -> Program) -> World {
    World::default().with_program(change(Program::new("a", Cost::of_cpu(0.02))))
}

/// CPU seconds of the first run.
fn cpu_s(world: &World, launch: &Launch) -> f64 {
    value(&run(&mut Simulated::new(world.clone()), launch), "cpu_s").unwrap()
}

#[track_caller]
fn about(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
}

#[test]
fn a_calm_world_gives_exactly_what_it_says() {
    let mut machine = Simulated::new(World::pair(0.02, 1.5));
    let (fast, slow) = (run(&mut machine, &launch("a")), run(&mut machine, &launch("b")));
    about(value(&fast, "wall_s").unwrap(), 0.02);
    about(value(&slow, "cpu_s").unwrap(), 0.03);
    about(value(&slow, "user_s").unwrap(), 0.027);
    assert!(fast.exit.is_success() && fast.stderr_tail.is_empty());
    about(machine.now_s(), 0.05 + 2.0 * 0.0005);
}

#[test]
fn the_same_seed_gives_the_same_runs() {
    let outcomes = |seed| {
        let world = World::pair(0.02, 1.1).with_noise(Noise::all_ten()[3].1).with_seed(seed).with_tick(0.004);
        let mut machine = Simulated::new(world);
        (0..40).map(|_| run(&mut machine, &launch("a"))).collect::<Vec<_>>()
    };
    assert_eq!(outcomes(1), outcomes(1));
    assert_ne!(outcomes(1), outcomes(2));
}

#[test]
fn what_else_runs_does_not_shift_the_noise() {
    let world = World::pair(0.02, 1.0).with_noise(Noise::all_ten()[5].1);
    let more = world.clone().with_program(Program::new("c", Cost::of_cpu(9.0)));
    let (mut plain, mut other) = (Simulated::new(world), Simulated::new(more));
    for number in 0..30 {
        let expected = run(&mut plain, &launch("a"));
        let found = run(&mut other, &launch(if number % 3 == 0 { "c" } else { "a" }));
        if number % 3 != 0 {
            assert_eq!(value(&found, "wall_s"), value(&expected, "wall_s"));
        }
    }
}

#[test]
fn noise_reaches_wall_and_cpu_alike() {
    for (name, noise) in Noise::all_ten() {
        let mut machine = Simulated::new(World::pair(0.02, 1.0).with_noise(noise));
        let outcomes: Vec<Outcome> = (0..200).map(|_| run(&mut machine, &launch("a"))).collect();
        for outcome in &outcomes {
            let part = |metric| value(outcome, metric).unwrap();
            about(part("wall_s"), part("cpu_s") + part("run_queue_wait_s"));
        }
        assert!(outcomes.iter().any(|outcome| value(outcome, "cpu_s") != Some(0.02)), "{name}");
    }
}

#[test]
fn an_unknown_program_cannot_be_started() {
    let mut machine = Simulated::new(World::pair(0.02, 1.0));
    let outcome = run(&mut machine, &launch("nowhere"));
    assert_eq!(outcome.exit, Exit::NotStarted { errno: 2, step: "exec".into() });
    assert!(outcome.values.iter().all(Option::is_none));
    assert!(!run(&mut machine, &Launch::default()).exit.is_success());
}

#[test]
fn failures_strike_by_the_runs_of_their_own_program() {
    let every_third = Failure { when: When::Every(3), ..Failure::always(How::Exit(7)) };
    let world = World::pair(0.02, 1.0);
    let mut world = world.with_program(Program::new("c", Cost::of_cpu(0.02)).with_failure(every_third));
    let mut machine = Simulated::new(world.clone());
    let mut codes = Vec::new();
    for _ in 0..6 {
        assert!(run(&mut machine, &launch("a")).exit.is_success());
        codes.push(run(&mut machine, &launch("c")).exit);
    }
    let failed: Vec<bool> = codes.iter().map(|exit| *exit == Exit::Code(7)).collect();
    assert_eq!(failed, [false, false, true, false, false, true]);

    world.program_mut("c").unwrap().failures.clear();
    assert!(exits(world, &launch("c"), 6).iter().all(Exit::is_success));
}

#[test]
fn chance_failures_come_at_their_rate() {
    let failure = Failure { when: When::Chance(0.1), ..Failure::always(How::Signal(11)) };
    let exits = exits(one_program(|program| program.with_failure(failure)), &launch("a"), 2000);
    let killed = exits.iter().filter(|exit| **exit == Exit::Signal(11)).count();
    assert!((160..240).contains(&killed), "{killed}");
}

#[test]
fn a_failed_run_complains_and_costs_its_part() {
    let failure = Failure { after: 0.25, ..Failure::always(How::Exit(1)) };
    let mut machine = Simulated::new(one_program(|program| program.with_failure(failure)));
    let outcome = run(&mut machine, &launch("a"));
    assert_eq!(outcome.stderr_tail, b"a: simulated failure in run 1\n");
    about(value(&outcome, "cpu_s").unwrap(), 0.005);
}

#[test]
fn a_start_that_fails_leaves_no_values() {
    let how = How::NotStarted { errno: 13, step: "exec".into() };
    let mut machine = Simulated::new(one_program(|program| program.with_failure(Failure::always(how))));
    let outcome = run(&mut machine, &timed("a", 0.001));
    assert_eq!(outcome.exit, Exit::NotStarted { errno: 13, step: "exec".into() });
    assert!(outcome.values.iter().all(Option::is_none));
}

#[test]
fn a_timeout_ends_long_and_hanging_runs_only() {
    let hanging = one_program(Program::hanging);
    let mut machine = Simulated::new(hanging.clone());
    let outcome = run(&mut machine, &timed("a", 2.0));
    assert_eq!(outcome.exit, Exit::TimedOut);
    about(value(&outcome, "wall_s").unwrap(), 2.0);
    about(value(&outcome, "cpu_s").unwrap(), 0.02);
    about(machine.now_s(), 2.0005);

    let usual = one_program(|program| program);
    assert_eq!(exits(usual.clone(), &timed("a", 0.01), 1), [Exit::TimedOut]);
    assert_eq!(exits(usual, &timed("a", 1.0), 1), [Exit::Code(0)]);
    assert!(Simulated::new(hanging).run(&launch("a"), &[]).is_err());
}

#[test]
fn an_interrupt_comes_in_the_run_after_the_whole_ones() {
    let mut machine = Simulated::new(World::pair(0.02, 1.0).with_interrupt(Interrupt::AfterRuns(2)));
    for _ in 0..2 {
        assert!(run(&mut machine, &launch("a")).exit.is_success());
        assert!(!machine.interrupted());
    }
    let outcome = run(&mut machine, &launch("a"));
    assert_eq!(outcome.exit, Exit::Interrupted);
    about(value(&outcome, "wall_s").unwrap(), 0.01);
    assert!(machine.interrupted());
    assert_eq!(run(&mut machine, &launch("a")).exit, Exit::Interrupted);
}

#[test]
fn an_interrupt_comes_at_its_second() {
    let world = one_program(Program::hanging).with_interrupt(Interrupt::AtSecond(1.0));
    let mut machine = Simulated::new(world);
    assert_eq!(run(&mut machine, &timed("a", 0.4)).exit, Exit::TimedOut);
    assert!(!machine.interrupted());
    assert_eq!(run(&mut machine, &launch("a")).exit, Exit::Interrupted);
    about(machine.now_s(), 1.0005);
    assert!(machine.interrupted());
}

#[test]
fn a_planted_cause_goes_with_its_variable() {
    let slow_locale = Cause::new("locale", Condition::env_is("LC_ALL", "C").negated(), Effect::on_cpu(3.0));
    let world = one_program(|program| program.with_cause(slow_locale)).with_variable("LC_ALL", "en_US.UTF-8");
    about(cpu_s(&world, &launch("a")), 0.06);
    about(cpu_s(&world, &launch_with("a", "LC_ALL", Some("C"))), 0.02);
    about(cpu_s(&world, &launch_with("a", "LC_ALL", None)), 0.06);
}

#[test]
fn causes_multiply_each_other() {
    let cause = |variable| Cause::new("", Condition::env_is_set(variable), Effect::on_cpu(2.0));
    let world = one_program(|program| program.with_cause(cause("ONE")).with_cause(cause("TWO")))
        .with_variable("ONE", "1")
        .with_variable("TWO", "1");
    about(cpu_s(&world, &launch("a")), 0.08);
    about(cpu_s(&world, &launch_with("a", "ONE", None)), 0.04);
}

#[test]
fn the_first_run_is_cold() {
    let extra = Cost { blocked_s: 0.1, major_faults: 40.0, blocks_read: 800.0, ..Cost::default() };
    let mut machine = Simulated::new(one_program(|program| program.with_cold_start(1, extra)));
    let (cold, warm) = (run(&mut machine, &launch("a")), run(&mut machine, &launch("a")));
    assert_eq!((value(&cold, "major_faults"), value(&warm, "major_faults")), (Some(40.0), Some(0.0)));
    about(value(&cold, "wall_s").unwrap() - value(&warm, "wall_s").unwrap(), 0.1);
}

#[test]
fn denied_rights_give_nothing_and_say_why() {
    let mut machine = Simulated::new(World::pair(0.02, 1.0).with_rights(Rights::none()));
    let outcome = run(&mut machine, &launch("a"));
    for name in ["task_clock_s", "main_cpu_s", "run_queue_wait_s"] {
        assert_eq!(value(&outcome, name), None, "{name}");
    }
    assert!(value(&outcome, "wall_s").is_some());
    assert_eq!(outcome.conditions.cpu_pressure, None);
    for metric in Metric::all_known() {
        let place = outcome.values[Metric::all_known().iter().position(|one| *one == metric).unwrap()];
        assert_eq!(machine.can_measure(&metric).is_ok(), place.is_some(), "{}", metric.name);
    }
}

#[test]
fn an_invented_metric_is_missing() {
    let metric = Metric { name: "joy".into(), ..Metric::all_known().remove(0) };
    let mut machine = Simulated::new(World::pair(0.02, 1.0));
    assert_eq!(machine.can_measure(&metric).unwrap_err().what, "joy");
    assert_eq!(machine.run(&launch("a"), &[metric]).unwrap().values, [None]);
}

#[test]
fn a_load_makes_runs_wait_and_cost_nearly_the_same() {
    let load = Load::Steady(Competition { waiting: 1.0, slowdown: 0.02 });
    let mut machine = Simulated::new(World::pair(0.02, 1.0).with_load(load));
    let outcome = run(&mut machine, &launch("a"));
    about(value(&outcome, "cpu_s").unwrap(), 0.0204);
    assert!(value(&outcome, "run_queue_wait_s").unwrap() > 0.01);
    assert!(outcome.conditions.cpu_pressure.unwrap() > 0.3);
    assert!(outcome.conditions.load.unwrap() > 2.0);
}

#[test]
fn ticks_misbook_short_runs_and_keep_the_total() {
    let mut machine = Simulated::new(World::pair(0.002, 1.0).with_tick(0.004));
    assert_eq!(machine.host().tick_s, Some(0.004));
    for _ in 0..100 {
        let outcome = run(&mut machine, &launch("a"));
        let (user_s, system_s) = (value(&outcome, "user_s").unwrap(), value(&outcome, "system_s").unwrap());
        about(user_s + system_s, 0.002);
        assert!(user_s == 0.0 || system_s == 0.0);
    }
}

#[test]
fn drift_shows_in_the_frequency() {
    let drift = Drift::Linear { change: 0.25, over_runs: 10 };
    let mut machine = Simulated::new(World::pair(0.02, 1.0).with_drift(drift));
    let outcomes: Vec<Outcome> = (0..11).map(|_| run(&mut machine, &launch("a"))).collect();
    let frequency = |run: usize| outcomes[run].conditions.frequency_hz.unwrap();
    assert_eq!((frequency(0), frequency(10)), (3e9, 2.4e9));
    about(value(&outcomes[10], "cpu_s").unwrap(), 0.025);
}

#[test]
fn programs_print_numbers_write_output_and_leave_descendants() {
    let program =
        Program::new("a", Cost::of_cpu(0.1)).printing("rate", 250.0).with_output(7).with_leftovers(2);
    let mut machine = Simulated::new(World::default().with_program(program));
    let source = Some(Source { pattern: Pattern::Regex("x".into()), scale: 0.1 });
    let metric =
        |name: &str| Metric { name: name.into(), source: source.clone(), ..Metric::all_known()[0].clone() };
    let metrics = [metric("rate"), metric("other")];
    assert!(metrics.iter().all(|metric| machine.can_measure(metric).is_ok()));
    let outcome = machine.run(&Launch { digest_output: true, ..launch("a") }, &metrics).unwrap();
    assert_eq!(outcome.values, [Some(25.0), None]);
    assert_eq!((outcome.output_digest, outcome.leftovers), (Some(7), 2));
    assert_eq!(run(&mut machine, &launch("a")).output_digest, None, "nobody asked");
}

#[test]
fn the_computer_sleeps_during_one_run() {
    let sleep = Some(Sleep { after_runs: 1, seconds: 60.0 });
    let mut machine = Simulated::new(World { sleep, ..World::pair(0.1, 1.0) });
    let mut slept = || run(&mut machine, &launch("a")).conditions.suspended_s;
    assert_eq!([slept(), slept(), slept()], [None, Some(60.0), None]);
}
