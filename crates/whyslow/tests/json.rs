//! The result as JSON is what docs/json.md says: every field that is printed is in it, and every field in it is
//! printed by some result.

mod common;
#[path = "common/schema.rs"]
mod schema_check;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use common::{WHITE, whyslow, whyslow_without_machine};
use serde_json::Value;
use whyslow::machine::simulated::{
    Cause, Condition, Cost, Effect, Failure, How, Interrupt, Noise, Program, Rights, When, World,
};
use whyslow::model::{Environment, Frame, Metric, Profile, Stack, Trace};

fn result(world: World, more: &[&str]) -> Value {
    let arguments = [&["compare", "a", "b", "--seed", "1", "--json"], more].concat();
    serde_json::from_str(&whyslow(world, &arguments).stdout).expect("JSON")
}

fn alone() -> Value {
    let world = World::default().with_program(Program::new("a", Cost::of_cpu(0.05))).with_noise(WHITE);
    serde_json::from_str(&whyslow(world, &["compare", "a", "--seed", "1", "--json"]).stdout).expect("JSON")
}

fn pair(ratio: f64) -> World {
    World::pair(0.05, ratio).with_noise(WHITE)
}

fn failing(how: How) -> World {
    let failure = Failure { when: When::From(9), ..Failure::always(how) };
    let program = Program::new("b", Cost::of_cpu(0.05)).with_failure(failure);
    World::default().with_program(Program::new("a", Cost::of_cpu(0.05))).with_program(program)
}

/// Results that have everything between them.
fn results() -> Vec<Value> {
    let not_started = How::NotStarted { errno: libc::EACCES, step: "exec".into() };
    vec![
        result(pair(1.2), &[]),
        alone(),
        result(pair(1.0).with_rights(Rights::none()).with_tick(0.004), &["--runs", "3"]),
        result(failing(How::Exit(22)), &["--runs", "30"]),
        result(failing(How::Signal(9)), &["--runs", "30"]),
        result(failing(How::Stop(21)), &["--runs", "30"]),
        result(failing(not_started), &["--runs", "30"]),
        result(failing(How::Exit(22)), &["--runs", "30", "--ignore-failure"]),
        // No program of this world is called sh, so the hook cannot be started.
        result(pair(1.2), &["--prepare", "true"]),
        result(pair(1.2).with_interrupt(Interrupt::AfterRuns(0)), &[]),
        result_of_stat(),
        result_of_probe(),
        result_of_explain(),
        result_of_matrix(),
    ]
}

/// A file of hyperfine against itself.
fn result_of_stat() -> Value {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/peers/hyperfine-1.15-parameters.json");
    serde_json::from_str(&whyslow_without_machine(&["stat", "--json", file, file]).stdout).expect("JSON")
}

/// A program of which nothing is stated but two facts about its environment.
fn result_of_probe() -> Value {
    let facts = [("env.LANG".to_owned(), "C".to_owned())].into();
    let program = Program::new("a", Cost::of_cpu(0.05)).with_trace(Trace::Environment(Environment { facts }));
    let printed = whyslow(World::default().with_program(program), &["probe", "--json", "a"]);
    serde_json::from_str(&printed.stdout).expect("JSON")
}

/// A variable that makes it slow, by a function, where nothing but that can be seen.
fn result_of_explain() -> Value {
    let world = World::default().with_program(slow_with("SLOW"));
    explained(world, &["--env", "", "--env", "SLOW=1", "a", "a"])
}

/// Two variables, of which the one makes the other worse.
fn result_of_matrix() -> Value {
    let both = Condition::All(vec![Condition::env_is("ONE", "yes"), Condition::env_is("OTHER", "yes")]);
    let causes = [Condition::env_is("ONE", "yes"), both];
    let mut program = Program::new("a", Cost::of_cpu(0.05));
    let cause = |when| Cause::new("part", when, Effect::adding(Cost::of_cpu(0.05)));
    program.causes = causes.into_iter().map(cause).collect();
    let lists = ["-L", "one", "no,yes", "-L", "other", "no,yes", "--env", "ONE={one} OTHER={other}"];
    explained(World::default().with_program(program), &[&lists[..], &["a"]].concat())
}

fn slow_with(variable: &str) -> Program {
    let mut program = Program::new("a", Cost::of_cpu(0.05));
    let mut cause = Cause::new(variable, Condition::env_is_set(variable), Effect::adding(Cost::of_cpu(0.05)));
    let stack = Stack { weight: 0.05, frames: vec![0], ..Stack::default() };
    let frames = vec![Frame { name: "work".into(), module: "a".into() }];
    let sampled = Profile {
        samples: 50,
        sampled: 0.05,
        total: Some(0.05),
        rooted: 1.0,
        frames,
        stacks: vec![stack],
        ..Profile::default()
    };
    cause.traces = vec![Trace::Cpu(sampled)];
    program.causes = vec![cause];
    program
}

fn explained(world: World, more: &[&str]) -> Value {
    let arguments = [&["explain", "--seed", "1", "--json"], more].concat();
    let printed = whyslow(world.with_noise(WHITE), &arguments);
    serde_json::from_str(&printed.stdout).unwrap_or_else(|error| panic!("{error}: {}", printed.stderr))
}

#[test]
fn an_explanation_is_as_the_schemas_say() {
    let schema = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let mut whole = schema(include_str!("../../../docs/schema/compare.schema.json"));
    let more = schema(include_str!("../../../docs/schema/explain.schema.json"));
    for part in ["properties", "$defs"] {
        whole[part].as_object_mut().unwrap().extend(more[part].as_object().unwrap().clone());
    }
    let required = more["required"].as_array().unwrap().clone();
    whole["required"].as_array_mut().unwrap().extend(required);
    for result in [result_of_explain(), result_of_matrix()] {
        assert_eq!(schema_check::faults(&whole, &whole, &result, ""), [""; 0]);
    }
}

fn documentation() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What stands between backquotes in the first column of the tables.
fn documented() -> BTreeSet<String> {
    let text = documentation();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    rows.flat_map(|names| names.split(", ").map(|name| name.trim_matches('`').to_owned())).collect()
}

/// The paths of all fields: `[]` stands for the elements of a list, `*` for the name of a metric.
fn paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    // Its fields are in docs/schema/probe.schema.json.
    if path == "traces[].seen" {
        found.insert(path.to_owned());
        return;
    }
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let name = if path.ends_with("metrics") { "*" } else { name };
                let below = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                paths(field, &below, found);
            }
        }
        Value::Array(elements) => {
            elements.iter().for_each(|element| paths(element, &format!("{path}[]"), found))
        }
        _ => {}
    }
    let is_field = !path.is_empty() && !path.ends_with("[]") && !path.ends_with(".*");
    if is_field {
        found.insert(path.to_owned());
    }
}

fn is_metric(name: &str) -> bool {
    Metric::all_known().iter().any(|metric| metric.name == name)
}

#[test]
fn every_field_is_documented_and_every_documented_field_exists() {
    let mut printed = BTreeSet::new();
    results().iter().for_each(|result| paths(result, "", &mut printed));
    let kinds = kinds();
    let fields: BTreeSet<String> =
        documented().into_iter().filter(|name| !is_metric(name) && !kinds.contains(name)).collect();
    let missing: Vec<&String> = printed.difference(&fields).collect();
    assert!(missing.is_empty(), "not in docs/json.md: {missing:?}");
    let invented: Vec<&String> = fields.difference(&printed).collect();
    assert!(invented.is_empty(), "in docs/json.md only: {invented:?}");
}

#[test]
fn every_metric_is_documented() {
    let documented = documented();
    for metric in Metric::all_known() {
        assert!(documented.contains(&metric.name), "{} is not in docs/json.md", metric.name);
    }
}

/// The machine names of concerns, as the source lists them.
fn kinds() -> BTreeSet<String> {
    let source = include_str!("../src/analysis/concerns/mod.rs");
    let rows = source.lines().filter(|line| line.trim_start().starts_with("Concern::"));
    let names = rows.filter_map(|line| line.split_once("=> \"")?.1.strip_suffix("\","));
    names.map(str::to_owned).collect()
}

#[test]
fn every_kind_of_concern_is_documented() {
    let (kinds, documented) = (kinds(), documented());
    assert!(kinds.len() > 10 && kinds.contains("busy"), "{kinds:?}");
    for kind in kinds {
        assert!(documented.contains(&kind), "the concern {kind} is not in docs/json.md");
    }
}

#[test]
fn a_result_holds_what_programs_rely_on() {
    let result = result(pair(1.2), &["-n", "old", "-n", "new"]);
    assert_eq!(result["schema"], whyslow::report::SCHEMA_VERSION);
    let new = &result["variants"][1];
    assert_eq!((&new["name"], &new["argv"]), (&"new".into(), &Value::from(vec!["b"])));
    assert_eq!((&new["runs"], &new["failed"]), (&result["blocks"], &0.into()));
    for metric in ["wall_s", "cpu_s", "user_s", "system_s", "peak_rss_bytes", "page_faults"] {
        for field in ["median", "low", "high"] {
            assert!(new["metrics"][metric][field].is_number(), "{metric}.{field}");
        }
    }
    let wall = &result["comparisons"][0];
    assert_eq!([&wall["base"], &wall["other"], &wall["metric"]], ["old", "new", "wall_s"]);
    assert_eq!((&wall["verdict"], &wall["margin"]), (&"slower".into(), &0.02.into()));
    assert_eq!((&wall["ratio"]["confidence"], &wall["more_blocks"]), (&0.95.into(), &Value::Null));
    let [low, point, high] = ["low", "point", "high"].map(|key| wall["ratio"][key].as_f64().unwrap());
    assert!(low < 1.2 && 1.2 < high && low < point && point < high);
}

#[test]
fn verdicts_have_four_names() {
    let noisy = World::pair(0.05, 1.0).with_noise(Noise::White { scatter: 0.3 });
    let cases = [
        ("slower", pair(1.2), None),
        ("faster", pair(0.8), None),
        ("same", pair(1.0), None),
        ("undecided", noisy, Some(true)),
    ];
    for (verdict, world, is_open) in cases {
        let wall = &result(world, &["--budget", "3"])["comparisons"][0];
        assert_eq!(wall["verdict"], verdict);
        let says_more = wall["more_blocks"].as_u64().is_some_and(|blocks| blocks > 0);
        assert_eq!(says_more || wall["reachable"] == false, is_open.is_some(), "{wall}");
    }
}

#[test]
fn a_failure_is_a_part_of_the_result() {
    let failed = result(failing(How::Exit(22)), &["--runs", "30"]);
    assert_eq!((&failed["stopped"], &failed["blocks"]), (&"failed".into(), &7.into()));
    assert_eq!(failed["failure"]["variant"], "b");
    assert_eq!(failed["failure"]["exit"]["code"], 22);
    assert_eq!(failed["failure"]["stderr_tail"], "b: simulated failure in run 9");
    assert_eq!(failed["comparisons"].as_array().unwrap().len(), 2, "what was measured is in it");
}

#[test]
fn what_was_not_measured_is_listed_and_not_null() {
    let result = result(pair(1.0).with_rights(Rights::none()), &[]);
    let missing = result["not_measured"].as_array().unwrap();
    let names: Vec<&str> = missing.iter().map(|missing| missing["what"].as_str().unwrap()).collect();
    assert_eq!(names, ["task_clock_s", "main_cpu_s", "run_queue_wait_s"]);
    for variant in result["variants"].as_array().unwrap() {
        assert!(names.iter().all(|name| variant["metrics"].get(name).is_none()));
        assert_eq!(variant["cpu_wait_share"], Value::Null);
    }
}
