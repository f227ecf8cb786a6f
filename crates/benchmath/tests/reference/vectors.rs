//! Reading the vectors, and how close is close enough.

use serde_json::Value;

/// The parsed content of one file under `tests/vectors/`.
pub fn load(name: &str) -> Value {
    let path = format!("{}/tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect(&path);
    serde_json::from_str(&text).expect(&path)
}

/// A number, whether written as one or as text.
pub fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()))
        .unwrap_or_else(|| panic!("not a number: {value}"))
}

pub fn numbers(value: &Value) -> Vec<f64> {
    items(value).iter().map(number).collect()
}

pub fn items(value: &Value) -> &[Value] {
    value.as_array().map_or_else(|| panic!("not a list: {value}"), Vec::as_slice)
}

pub fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let object = value.as_object().unwrap_or_else(|| panic!("not an object: {value}"));
    object.iter().map(|(key, value)| (key.as_str(), value))
}

#[track_caller]
pub fn assert_relative(got: f64, want: f64, tolerance: f64, about: &str) {
    let close = got == want || (got - want).abs() <= tolerance * want.abs();
    assert!(close, "{about}: got {got:e}, want {want:e}");
}
