//! What probes saw as JSON is as docs/schema/probe.schema.json says.

use serde_json::Value;
use whyslow::machine::simulated::{Interrupt, Rights};

use crate::common::whyslow;
use crate::samples::world;
use crate::schema_check::faults;

const SCHEMA: &str = include_str!("../../../../docs/schema/probe.schema.json");

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON and nothing else")
}

fn faults_of(value: &Value) -> Vec<String> {
    let schema = json(SCHEMA);
    faults(&schema, &schema, value, "")
}

#[test]
fn every_kind_of_trace_is_as_the_schema_says() {
    let all = ["probe", "--with", "all", "--json"];
    let results = [
        whyslow(world(), &[&all[..], &["a"]].concat()),
        whyslow(world(), &[&all[..], &["a", "b", "--repeat", "2"]].concat()),
        whyslow(world().with_rights(Rights::none()), &[&all[..], &["a"]].concat()),
        whyslow(world().with_interrupt(Interrupt::AfterRuns(3)), &[&all[..], &["a"]].concat()),
        whyslow(world(), &[&all[..], &["a", "--setup", "true"]].concat()),
    ];
    for printed in &results {
        assert_eq!(faults_of(&json(&printed.stdout)), [""; 0]);
    }
    let looks = json(&results[1].stdout)["traces"].as_array().unwrap().len();
    assert_eq!(looks, 2 * 2 * whyslow::model::KNOWN_PROBES.len());
    assert!(json(&results[4].stdout)["hook_failure"].is_string());
}

#[test]
fn the_check_finds_faults() {
    let mut value = json(&whyslow(world(), &["probe", "--with", "syscalls", "--json", "a"]).stdout);
    value["traces"][0]["seen"]["syscalls"]["calls"]["read"]["calls"] = "many".into();
    value["traces"][0]["probe"] = "telescope".into();
    assert_eq!(faults_of(&value).len(), 2);
}

/// An export to a file has the same content.
#[test]
fn the_export_is_the_same_object() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("traces.json");
    let export = format!("json={}", file.display());
    let printed = whyslow(world(), &["probe", "--with", "files", "a", "--json", "--export", &export]);
    assert_eq!(json(&std::fs::read_to_string(file).unwrap()), json(&printed.stdout));
}
