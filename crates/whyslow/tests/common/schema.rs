//! Holds a JSON value against a schema, by as much of JSON Schema as ours use.

use serde_json::Value;

/// What is wrong with `value`, with the place where.
pub fn faults(root: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
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
