//! Which probes work here. One that does not weakens no measurement: it only leaves less to be seen.

use serde_json::{Value, json};

use crate::model::CheckedProbe;
use crate::report::document::{Definition, Part, Tone, plain, toned};

/// A line for each probe, with the reason and the remedy where it does not work.
pub fn parts(probes: &[CheckedProbe]) -> Vec<Part> {
    if probes.is_empty() {
        return Vec::new();
    }
    let working = probes.iter().filter(|checked| checked.missing.is_none()).count();
    let heading = match working {
        all if all == probes.len() => "all probes work here (whyslow probe --with NAME)".to_owned(),
        some => format!("{some} of {} probes work here (whyslow probe --with NAME)", probes.len()),
    };
    let definitions = probes.iter().map(definition).collect();
    vec![Part::Text(vec![vec![toned(Tone::Strong, heading)]]), Part::Definitions(definitions)]
}

fn definition(checked: &CheckedProbe) -> Definition {
    let known = checked.probe.known();
    let (mark, tone) = match checked.missing {
        None => ("ok", Tone::Plain),
        Some(_) => ("no", Tone::Warning),
    };
    let head = vec![toned(tone, mark), plain(format!("       {}", known.name))];
    let body = match &checked.missing {
        None => vec![vec![plain(known.about)]],
        Some(missing) => {
            let remedy = missing.remedy.iter().map(|remedy| vec![toned(Tone::Faint, format!("-> {remedy}"))]);
            std::iter::once(vec![plain(&missing.why)]).chain(remedy).collect()
        }
    };
    Definition { head, body }
}

pub fn json(checked: &CheckedProbe) -> Value {
    let known = checked.probe.known();
    json!({
        "name": known.name,
        "about": known.about,
        "default": known.is_default,
        "works": checked.missing.is_none(),
        "why": checked.missing.as_ref().map(|missing| &missing.why),
        "remedy": checked.missing.as_ref().and_then(|missing| missing.remedy.as_ref()),
    })
}
