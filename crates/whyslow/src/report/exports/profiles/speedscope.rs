//! The file format of speedscope: one list of frames, and a profile for each variant and kind.

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Gathered, Site, gather};
use crate::model::{Probe, Recording};

pub fn speedscope(recording: &Recording, file: &mut dyn Write) -> io::Result<()> {
    let mut frames = Frames::default();
    let profiles: Vec<Value> =
        gather(recording).iter().map(|gathered| profile(gathered, &mut frames)).collect();
    let whole = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": recording.header.tool,
        "name": recording.header.experiment.name,
        "activeProfileIndex": 0,
        "shared": { "frames": frames.list },
        "profiles": profiles,
    });
    serde_json::to_writer(&mut *file, &whole)?;
    writeln!(file)
}

fn profile(gathered: &Gathered, frames: &mut Frames) -> Value {
    let (mut samples, mut weights) = (Vec::new(), Vec::new());
    for (sites, weight) in gathered.with_threads() {
        samples.push(sites.into_iter().map(|site| frames.index(site)).collect::<Vec<_>>());
        weights.push(weight);
    }
    let (kind, unit) = match gathered.probe {
        Probe::Cpu => ("CPU time", "seconds"),
        _ => ("page faults", "none"),
    };
    json!({
        "type": "sampled",
        "name": format!("{}: {kind}", gathered.variant),
        "unit": unit,
        "startValue": 0,
        "endValue": weights.iter().sum::<f64>(),
        "samples": samples,
        "weights": weights,
    })
}

#[derive(Default)]
struct Frames {
    list: Vec<Value>,
    known: HashMap<Site, usize>,
}

impl Frames {
    fn index(&mut self, site: Site) -> usize {
        let list = &mut self.list;
        *self.known.entry(site).or_insert_with_key(|Site { name, module }| {
            list.push(match module.as_str() {
                "" => json!({ "name": name }),
                module => json!({ "name": name, "file": module }),
            });
            list.len() - 1
        })
    }
}
