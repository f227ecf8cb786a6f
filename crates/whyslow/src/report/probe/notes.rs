//! What was not seen: of a look that saw other things, and of probes that saw nothing.

use std::collections::BTreeMap;

use crate::model::{Missing, Probe, Probed, Recording, Seen};
use crate::report::compose::printable;
use crate::report::document::{Part, Tone, toned};

/// Without repetition, in the order in which they were found.
pub fn spots<'a>(looks: &[&'a Probed]) -> Vec<&'a Missing> {
    let mut all: Vec<&Missing> = Vec::new();
    for spot in looks.iter().flat_map(|look| &look.blind_spots) {
        if !all.contains(&spot) {
            all.push(spot);
        }
    }
    all
}

/// As notes behind a view; `label` says of which variant.
pub fn blind_spots(looks: &[&Probed], label: &str) -> Option<Part> {
    let of = if label.is_empty() { String::new() } else { format!(" of {label}") };
    let note = |spot: &&Missing| text(&format!("not seen{of}: {}", spot.what), spot);
    let notes: Vec<_> = spots(looks).iter().map(|spot| vec![toned(Tone::Faint, note(spot))]).collect();
    (!notes.is_empty()).then_some(Part::Notes(notes))
}

/// Probes that saw nothing of a variant. What has the same reason is one note.
pub fn not_checked(recording: &Recording, labels: &[String]) -> Option<Part> {
    let mut reasons: Vec<(&Missing, BTreeMap<Probe, Vec<usize>>)> = Vec::new();
    for entry in &recording.traces {
        let Seen::Missing(missing) = &entry.seen else { continue };
        let is_same = |known: &Missing| known.why == missing.why && known.remedy == missing.remedy;
        let place = reasons.iter().position(|(known, _)| is_same(known)).unwrap_or_else(|| {
            reasons.push((missing, BTreeMap::new()));
            reasons.len() - 1
        });
        let variants = reasons[place].1.entry(entry.probe).or_default();
        if !variants.contains(&entry.variant) {
            variants.push(entry.variant);
        }
    }
    let notes = reasons.iter().map(|(missing, probes)| {
        let whose = |variants: &Vec<usize>| match variants.len() {
            all if all == labels.len() => String::new(),
            _ => {
                let names: Vec<&str> = variants.iter().map(|&variant| labels[variant].as_str()).collect();
                format!(" of {}", names.join(" and "))
            }
        };
        let probes: Vec<String> = probes
            .iter()
            .map(|(probe, variants)| format!("{}{}", probe.known().title, whose(variants)))
            .collect();
        vec![toned(Tone::Warning, text(&format!("not checked: {}", probes.join(", ")), missing))]
    });
    let notes: Vec<_> = notes.collect();
    (!notes.is_empty()).then_some(Part::Notes(notes))
}

fn text(what: &str, missing: &Missing) -> String {
    let remedy = missing.remedy.as_ref().map_or(String::new(), |remedy| format!("; {remedy}"));
    printable(&format!("{what}: {}{remedy}", missing.why))
}
