//! The published schema of the JSON, held against real output by as much of JSON Schema as it uses.

use serde_json::{Value, json};
use whyslow::model::{Exit, Floor, Missing};

use super::samples::recording;
use super::write;

const SCHEMA: &str = include_str!("../../../../docs/schema/compare.schema.json");

/// What is wrong with `value`, with the place where.
fn faults(root: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let schema = root.pointer(reference.trim_start_matches('#')).expect(reference);
        return faults(root, schema, value, place);
    }
    let mut faults_here = own_faults(schema, value, place);
    for (key, member) in value.as_object().into_iter().flatten() {
        let schema = schema["properties"].get(key).unwrap_or(&schema["additionalProperties"]);
        if schema.is_null() {
            faults_here.push(format!("{place}/{key} is not described"));
        } else {
            faults_here.extend(faults(root, schema, member, &format!("{place}/{key}")));
        }
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        faults_here.extend(faults(root, &schema["items"], item, &format!("{place}/{index}")));
    }
    faults_here
}

fn own_faults(schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    if !types.iter().any(|name| is_of(name, value)) {
        faults.push(format!("{place} is {value} and not {types:?}"));
    }
    let allowed =
        schema["enum"].as_array().cloned().or_else(|| schema.get("const").map(|one| vec![one.clone()]));
    if allowed.is_some_and(|allowed| !allowed.contains(value)) {
        faults.push(format!("{place} is {value}"));
    }
    let is_low = schema["minimum"].as_f64().zip(value.as_f64()).is_some_and(|(least, value)| value < least);
    faults.extend(is_low.then(|| format!("{place} is {value}")));
    for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let is_missing = value.is_object() && value.get(key).is_none();
        faults.extend(is_missing.then(|| format!("{place} lacks {key}")));
    }
    faults
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the schema has a type {other}"),
    }
}

fn faults_of(text: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    faults(&schema, &schema, &serde_json::from_str(text).unwrap(), "")
}

#[test]
fn the_output_is_as_the_schema_says() {
    let whole = recording(&[("old", 0.010), ("new", 0.012)]);
    assert_eq!(faults_of(&write("json", &whole)), [""; 0]);

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
