//! What probes saw as one JSON object. docs/schema/probe.schema.json describes it; a test holds it.

use serde_json::{Value, json};

use crate::model::{Recording, Seen, TraceEntry};
use crate::plan;
use crate::report::compose::hook_failure;

/// Raised when a field changes its meaning or goes away; new fields may come at any time.
const SCHEMA_VERSION: u32 = 1;

/// Every look, in the order in which they were made.
pub fn traces_json(recording: &Recording) -> Value {
    let variants = plan::variants(&recording.header.experiment);
    let names: Vec<String> = variants.iter().map(|variant| variant.name.clone()).collect();
    let argv = |launch: &crate::model::Launch| {
        launch.argv.iter().map(|word| word.lossy().into_owned()).collect::<Vec<_>>()
    };
    json!({
        "schema": SCHEMA_VERSION,
        "tool": recording.header.tool,
        "started": recording.header.started,
        "stopped": recording.end.as_ref().map(|end| end.stop),
        "base": recording.header.experiment.design.base,
        "variants": variants.iter().map(|variant| json!({
            "name": variant.name,
            "argv": argv(&variant.launch),
        })).collect::<Vec<_>>(),
        "traces": recording.traces.iter().map(|entry| trace(&names, entry)).collect::<Vec<_>>(),
        "hook_failure": recording.hook_failure.as_ref().map(|failure| hook_failure(&names, failure)),
        "host": recording.header.host,
    })
}

fn trace(names: &[String], entry: &TraceEntry) -> Value {
    let (probed, missing) = match &entry.seen {
        Seen::Probed(probed) => (Some(probed), None),
        Seen::Missing(missing) => (None, Some(missing)),
    };
    json!({
        "variant": names[entry.variant],
        "probe": entry.probe.name(),
        "missing": missing,
        "exit": probed.map(|probed| &probed.exit),
        "wall_s": probed.map(|probed| probed.wall_s),
        "cpu_s": probed.and_then(|probed| probed.cpu_s),
        "blind_spots": probed.map(|probed| &probed.blind_spots),
        "seen": probed.map(|probed| &probed.trace),
    })
}
