//! Profiles as files of other tools: whoever reads them finds every function, and the same sums.

use std::collections::BTreeMap;

use serde_json::Value;
use whyslow::cli::Status;
use whyslow::model::{Recording, TraceEntry};
use whyslow::report::exports::profile_export;

use crate::common::{text_of, whyslow};
use crate::samples::world;

fn export(form: &str, more: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out");
    let export = format!("{form}={}", file.display());
    let printed = whyslow(world(), &[&["probe", "--export", &export], more].concat());
    assert_eq!(printed.status, Status::Done, "{}", printed.stderr);
    std::fs::read(file).unwrap()
}

#[test]
fn folded_stacks_are_lines_of_frames_and_microseconds() {
    let text = String::from_utf8(export("folded", &["--with", "cpu,faults", "b"])).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "[not sampled] 9000",
            "main;main;new:cache 30000",
            "main;main;render(std::string const&) 51000",
            "main;main;render(std::string const&);__memmove_evex_unaligned_erms 70000",
        ]
    );
    let both = String::from_utf8(export("folded", &["--with", "faults", "a", "b"])).unwrap();
    assert!(both.contains("a;main;main 100\n") && both.contains("b;main;main;memmove 800\n"), "{both}");
}

#[test]
fn speedscope_gets_a_profile_for_each_variant_and_kind() {
    let file: Value =
        serde_json::from_slice(&export("speedscope", &["--with", "cpu,faults", "a", "b"])).unwrap();
    assert_eq!(file["$schema"], "https://www.speedscope.app/file-format-schema.json");
    let profiles = file["profiles"].as_array().unwrap();
    let names: Vec<&str> = profiles.iter().map(|profile| profile["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a: CPU time", "b: CPU time", "a: page faults", "b: page faults"]);
    let frames = file["shared"]["frames"].as_array().unwrap();
    for profile in profiles {
        let weights = profile["weights"].as_array().unwrap();
        let samples = profile["samples"].as_array().unwrap();
        assert_eq!(weights.len(), samples.len());
        let sum: f64 = weights.iter().map(|weight| weight.as_f64().unwrap()).sum();
        assert!((sum - profile["endValue"].as_f64().unwrap()).abs() < 1e-9);
        let indices = samples.iter().flat_map(|sample| sample.as_array().unwrap());
        assert!(indices.into_iter().all(|index| (index.as_u64().unwrap() as usize) < frames.len()));
    }
    assert_eq!((&profiles[1]["unit"], &profiles[2]["unit"]), (&"seconds".into(), &"none".into()));
}

/// A field of a message: a number, or bytes.
#[derive(Clone, Debug)]
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}

fn decode(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            2 => {
                let length = varint(&mut bytes) as usize;
                let (content, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(content)
            }
            other => panic!("wire type {other}"),
        };
        fields.push((key >> 3, field));
    }
    fields
}

fn numbers(mut packed: &[u8]) -> Vec<u64> {
    let mut all = Vec::new();
    while !packed.is_empty() {
        all.push(varint(&mut packed));
    }
    all
}

/// The fields of that number that are messages or texts.
fn all<'a>(fields: &[(u64, Field<'a>)], wanted: u64) -> Vec<&'a [u8]> {
    let of = |(number, field): &(u64, Field<'a>)| match field {
        Field::Bytes(bytes) if *number == wanted => Some(*bytes),
        _ => None,
    };
    fields.iter().filter_map(of).collect()
}

fn number(fields: &[(u64, Field<'_>)], wanted: u64) -> u64 {
    let of = |(number, field): &(u64, Field<'_>)| match field {
        Field::Number(value) if *number == wanted => Some(*value),
        _ => None,
    };
    fields.iter().find_map(of).unwrap_or(0)
}

#[test]
fn pprof_finds_functions_files_threads_and_sums() {
    let file = export("pprof", &["--with", "cpu,faults", "a", "b"]);
    let profile = decode(&file);
    let texts: Vec<&str> =
        all(&profile, 6).into_iter().map(|text| std::str::from_utf8(text).unwrap()).collect();
    assert_eq!(texts[0], "");
    let text = |index: u64| texts[index as usize];
    let kinds: Vec<(&str, &str)> = all(&profile, 1)
        .into_iter()
        .map(|kind| (text(number(&decode(kind), 1)), text(number(&decode(kind), 2))))
        .collect();
    assert_eq!(kinds, [("cpu", "nanoseconds"), ("faults", "count")]);

    let functions: BTreeMap<u64, &str> = all(&profile, 5)
        .into_iter()
        .map(|function| (number(&decode(function), 1), text(number(&decode(function), 2))))
        .collect();
    let mappings: BTreeMap<u64, &str> = all(&profile, 3)
        .into_iter()
        .map(|mapping| (number(&decode(mapping), 1), text(number(&decode(mapping), 5))))
        .collect();
    let locations: BTreeMap<u64, (&str, &str)> = all(&profile, 4)
        .into_iter()
        .map(|location| {
            let fields = decode(location);
            let line = decode(all(&fields, 4)[0]);
            let module = mappings.get(&number(&fields, 2)).copied().unwrap_or("");
            (number(&fields, 1), (functions[&number(&line, 1)], module))
        })
        .collect();

    let mut sums = [0, 0];
    let mut innermost = BTreeMap::new();
    for sample in all(&profile, 2) {
        let fields = decode(sample);
        let (stack, values) = (numbers(all(&fields, 1)[0]), numbers(all(&fields, 2)[0]));
        assert_eq!(values.len(), 2);
        (sums[0], sums[1]) = (sums[0] + values[0], sums[1] + values[1]);
        *innermost.entry(locations[&stack[0]]).or_insert(0) += values[0];
        for label in all(&fields, 3) {
            assert!(["variant", "thread"].contains(&text(number(&decode(label), 1))));
        }
    }
    assert_eq!(sums, [260_000_000, 500 + 900]);
    assert_eq!(innermost[&("__memmove_evex_unaligned_erms", "libc.so.6")], 70_000_000);
    assert_eq!(innermost[&("[not sampled]", "")], 29_000_000);
}

/// Variants of a round of what-ifs have numbers of their own.
#[test]
fn what_was_seen_in_a_round_is_no_look_at_a_variant_of_the_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("traces.jsonl");
    whyslow(world(), &["probe", "--with", "cpu", "a", "b", "--record", text_of(&file)]);
    let mut recording = whyslow::store::read(std::fs::read(&file).unwrap().as_slice()).unwrap();
    let folded = |recording: &Recording| {
        let mut bytes = Vec::new();
        (profile_export("folded").unwrap().write)(recording, &mut bytes).unwrap();
        bytes
    };
    let alone = folded(&recording);
    let of_other = recording.traces.iter().find(|entry| entry.variant == 1).unwrap();
    recording.traces.push(TraceEntry { stage: Some(0), variant: 0, ..of_other.clone() });
    assert_eq!(folded(&recording), alone);
}

#[test]
fn the_mean_of_several_looks_is_one_profile() {
    let once = export("folded", &["--with", "cpu", "a"]);
    assert_eq!(export("folded", &["--with", "cpu", "--repeat", "3", "a"]), once);
}
