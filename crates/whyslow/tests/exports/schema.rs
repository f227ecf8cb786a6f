//! The published schema of the JSON, held against real output.

use serde_json::{Value, json};
use whyslow::model::{Exit, Floor, Missing};

use super::samples::recording;
use super::schema_check::faults;
use super::write;

const SCHEMA: &str = include_str!("../../../../docs/schema/compare.schema.json");

fn faults_of(text: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    faults(&schema, &schema, &serde_json::from_str(text).unwrap(), "")
}

#[test]
fn the_output_is_as_the_schema_says() {
    let whole = recording(&[("old", 0.010), ("new", 0.012)]);
    assert_eq!(faults_of(&write("json", &whole)), [""; 0]);

    assert_eq!(faults_of(&write("json", &recording(&[("alone", 0.010)]))), [""; 0]);

    let mut broken = whole.clone();
    broken.end = None;
    broken.runs.truncate(3);
    broken.runs[2].exit = Exit::NotStarted { errno: 2, step: "exec".into() };
    broken.header.floor = Some(Floor { wall_s: 0.001, cpu_s: None, peak_rss_bytes: Some(1e6) });
    broken.header.missing = vec![Missing { what: "a".into(), why: "b".into(), remedy: None }];
    assert_eq!(faults_of(&write("json", &broken)), [""; 0]);
    broken.runs.clear();
    assert_eq!(faults_of(&write("json", &broken)), [""; 0]);
}

#[test]
fn the_check_finds_faults() {
    let mut value: Value =
        serde_json::from_str(&write("json", &recording(&[("a", 1.0), ("b", 1.0)]))).unwrap();
    value["comparisons"][0]["verdict"] = json!("better");
    value["blocks"] = json!(-1);
    value.as_object_mut().unwrap().remove("host");
    assert_eq!(faults_of(&value.to_string()).len(), 3);
}
