//! The whole result as JSON, as `compare --json` prints it. Its schema is docs/schema/compare.schema.json.

use serde::Serialize;

use crate::analysis::Analysis;
use crate::model::Recording;

pub fn whyslow_json(recording: &Recording, analysis: &Analysis) -> String {
    pretty(&crate::report::json(recording, analysis))
}

/// Two spaces of indent and a newline at the end. What cannot be written becomes null: all numbers here are finite
/// and all keys are text, so there is nothing of the kind.
pub fn pretty(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|_| "null".to_owned());
    text + "\n"
}
