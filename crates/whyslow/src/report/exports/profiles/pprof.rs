//! The profile.proto of pprof, not compressed, which its readers take as well. Variants and threads are labels.
//! <https://github.com/google/pprof/blob/main/proto/profile.proto>

use std::collections::HashMap;
use std::io::{self, Write};

use super::protobuf::Message;
use super::{Gathered, Site, gather};
use crate::model::{Probe, Recording};

/// Fields of `Profile`.
const SAMPLE_TYPE: u64 = 1;
const SAMPLE: u64 = 2;
const MAPPING: u64 = 3;
const LOCATION: u64 = 4;
const FUNCTION: u64 = 5;
const STRING_TABLE: u64 = 6;

pub fn pprof(recording: &Recording, file: &mut dyn Write) -> io::Result<()> {
    let all = gather(recording);
    let mut kinds: Vec<Probe> = all.iter().map(|gathered| gathered.probe).collect();
    kinds.dedup();
    let mut tables = Tables::default();
    tables.text("");
    let mut profile = Message::default();
    for &kind in &kinds {
        let (name, unit) = if kind == Probe::Cpu { ("cpu", "nanoseconds") } else { ("faults", "count") };
        let mut value_type = Message::default();
        value_type.number(1, tables.text(name));
        value_type.number(2, tables.text(unit));
        profile.message(SAMPLE_TYPE, &value_type);
    }
    for gathered in &all {
        add_samples(gathered, &kinds, &mut tables, &mut profile);
    }
    tables.write(&mut profile);
    file.write_all(&profile.bytes)
}

fn add_samples(gathered: &Gathered, kinds: &[Probe], tables: &mut Tables, profile: &mut Message) {
    let scale = if gathered.probe == Probe::Cpu { 1e9 } else { 1.0 };
    for ((thread, sites), weight) in &gathered.stacks {
        let mut sample = Message::default();
        // The innermost one first.
        sample.packed(1, sites.iter().rev().map(|site| tables.location(site)).collect::<Vec<_>>());
        let value = (weight * scale).round().max(0.0) as u64;
        sample.packed(2, kinds.iter().map(|&kind| if kind == gathered.probe { value } else { 0 }));
        for (key, text) in [("variant", &gathered.variant), ("thread", thread)] {
            if !text.is_empty() {
                let mut label = Message::default();
                label.number(1, tables.text(key));
                label.number(2, tables.text(text));
                sample.message(3, &label);
            }
        }
        profile.message(SAMPLE, &sample);
    }
}

/// What samples refer to by number. All but texts count from 1.
#[derive(Default)]
struct Tables {
    texts: Vec<String>,
    text_numbers: HashMap<String, u64>,
    modules: HashMap<String, u64>,
    mappings: Vec<Message>,
    sites: HashMap<Site, u64>,
    locations: Vec<Message>,
    functions: Vec<Message>,
}

impl Tables {
    fn text(&mut self, text: &str) -> u64 {
        if let Some(&number) = self.text_numbers.get(text) {
            return number;
        }
        let number = self.texts.len() as u64;
        self.texts.push(text.to_owned());
        self.text_numbers.insert(text.to_owned(), number);
        number
    }

    /// A function and its only location.
    fn location(&mut self, site: &Site) -> u64 {
        if let Some(&number) = self.sites.get(site) {
            return number;
        }
        let number = self.locations.len() as u64 + 1;
        self.sites.insert(site.clone(), number);
        let mut function = Message::default();
        function.number(1, number);
        function.number(2, self.text(&site.name));
        function.number(3, self.text(&site.name));
        self.functions.push(function);
        let mut line = Message::default();
        line.number(1, number);
        let mut location = Message::default();
        location.number(1, number);
        location.number(2, self.mapping(&site.module));
        location.message(4, &line);
        self.locations.push(location);
        number
    }

    fn mapping(&mut self, module: &str) -> u64 {
        if module.is_empty() {
            return 0;
        }
        if let Some(&number) = self.modules.get(module) {
            return number;
        }
        let number = self.mappings.len() as u64 + 1;
        self.modules.insert(module.to_owned(), number);
        let mut mapping = Message::default();
        mapping.number(1, number);
        mapping.number(5, self.text(module));
        // Its functions have their names already.
        mapping.number(7, 1);
        self.mappings.push(mapping);
        number
    }

    fn write(&self, profile: &mut Message) {
        self.mappings.iter().for_each(|mapping| profile.message(MAPPING, mapping));
        self.locations.iter().for_each(|location| profile.message(LOCATION, location));
        self.functions.iter().for_each(|function| profile.message(FUNCTION, function));
        self.texts.iter().for_each(|text| profile.bytes(STRING_TABLE, text.as_bytes()));
    }
}
