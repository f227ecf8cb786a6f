//! Loading: what it took to start the programs, and how their files are built.

use std::collections::BTreeSet;

use super::rows::{Order, Quantity, cell, differences, plain_listing, row, time};
use super::{Pair, file_name, seen, sentence};
use crate::model::{ElfFacts, LoadedProgram, Loading, Probed, Trace};
use crate::report::compose::printable;
use crate::report::document::{Definition, Part, Tone, plain, toned};
use crate::report::quantity::{bytes, count, number};

const MOST_PROGRAMS: usize = 10;

fn of<'a>(looks: &[&'a Probed]) -> Vec<&'a Loading> {
    seen(looks, |trace| match trace {
        Trace::Loading(seen) => Some(seen),
        _ => None,
    })
}

pub fn one(looks: &[&Probed]) -> Vec<Part> {
    let Some(&first) = of(looks).first() else { return Vec::new() };
    let mut parts = vec![sentence(summary(first))];
    let rows: Vec<_> = first
        .programs
        .iter()
        .take(MOST_PROGRAMS)
        .map(|program| {
            let starts = program.starts.map_or("unknown".to_owned(), |starts| count(starts as f64));
            let numbers = vec![starts, cell(program.libraries.len() as u64), cell(program.search_misses)];
            row(numbers, &program.path, "")
        })
        .collect();
    if !rows.is_empty() {
        parts.push(plain_listing(&["starts", "libraries", "search misses"], "program", rows));
    }
    let facts: Vec<Definition> = first
        .programs
        .iter()
        .take(MOST_PROGRAMS)
        .filter(|program| program.elf.is_some() || program.script.is_some())
        .map(|program| Definition {
            head: vec![plain("  "), plain(shown_name(&program.path))],
            body: vec![vec![toned(Tone::Faint, printable(&described(program)))]],
        })
        .collect();
    if !facts.is_empty() {
        parts.push(Part::Definitions(facts));
    }
    parts
}

fn summary(seen: &Loading) -> String {
    let Some(loads) = seen.loads else { return "what the loader did was not seen".to_owned() };
    let mut text = format!(
        "{} starts by the dynamic loader, {} relocations ({} from its cache, {} relative)",
        count(loads as f64),
        count(seen.relocations as f64),
        count(seen.relocations_from_cache as f64),
        count(seen.relative_relocations as f64),
    );
    match (seen.startup_s, seen.startup_cycles) {
        (Some(all), _) if loads > 0 => text.push_str(&format!(
            "; loading took {}, {} for each start",
            time(all),
            time(all / loads as f64)
        )),
        (None, Some(cycles)) if loads > 0 => text.push_str(&format!(
            "; loading took {} counts of the clock, {} for each start",
            number(cycles as f64),
            number(cycles as f64 / loads as f64)
        )),
        _ => {}
    }
    text
}

fn shown_name(path: &str) -> String {
    printable(file_name(path))
}

fn described(program: &LoadedProgram) -> String {
    let script = program.script.iter().cloned();
    script.chain(program.elf.as_ref().map(elf)).collect::<Vec<_>>().join("; ")
}

/// Facts in words, those that every program has left out.
fn elf(facts: &ElfFacts) -> String {
    let mut words = vec![
        match (facts.is_static, facts.is_pie) {
            (true, true) => "static, position independent",
            (true, false) => "static",
            (false, true) => "dynamic, position independent",
            (false, false) => "dynamic, at a fixed address",
        }
        .to_owned(),
    ];
    words.extend(facts.is_bind_now.then(|| "binds at once".to_owned()));
    words.push(if facts.is_stripped { "stripped" } else { "with symbols" }.to_owned());
    words.extend(facts.has_debug_info.then(|| "with debug information".to_owned()));
    words.extend(facts.own_malloc.then(|| "with a malloc of its own".to_owned()));
    words.push(format!(
        "{} of code, {} imports",
        bytes(facts.text_bytes as f64),
        count(facts.imports as f64)
    ));
    words.extend(facts.hash_style.iter().map(|style| format!("{style} hash")));
    words.extend(facts.instrumentation.iter().cloned());
    words.extend(facts.producers.iter().map(|producer| format!("made by {producer}")));
    words.join(", ")
}

pub fn two(pair: &Pair<'_>) -> Vec<Part> {
    let (base, other) = (of(&pair.base), of(&pair.other));
    let both = (base.as_slice(), other.as_slice());
    let all = || base.iter().chain(&other);
    let mut quantities = Vec::new();
    if all().all(|seen| seen.loads.is_some()) {
        let loads = |seen: &Loading| seen.loads.unwrap_or(0) as f64;
        quantities.push(Quantity::new("starts by the dynamic loader", count, both, loads));
        quantities.push(Quantity::new("relocations", count, both, |seen| seen.relocations as f64));
        let relative = |seen: &Loading| seen.relative_relocations as f64;
        quantities.push(Quantity::new("relative relocations", count, both, relative));
        let cached = |seen: &Loading| seen.relocations_from_cache as f64;
        quantities.push(Quantity::new("relocations from its cache", count, both, cached));
        quantities.extend(searches(both));
    }
    if all().all(|seen| seen.startup_s.is_some()) {
        let each = |seen: &Loading| seen.startup_s.unwrap_or(0.0) / seen.loads.unwrap_or(0).max(1) as f64;
        quantities.push(Quantity::new("loading in all", time, both, |seen| seen.startup_s.unwrap_or(0.0)));
        quantities.push(Quantity::new("loading for each start", time, both, each));
    }
    let mut parts = differences(quantities, pair, Order::AsGiven, ["quantity", "quantities"]);
    parts.extend(starts(&base, &other, pair));
    parts.extend(built(&base, &other, pair));
    parts
}

fn searches<'a>(both: (&'a [&'a Loading], &'a [&'a Loading])) -> [Quantity; 2] {
    let misses =
        |seen: &Loading| seen.programs.iter().map(|program| program.search_misses).sum::<u64>() as f64;
    [
        Quantity::new("libraries of the programs", count, both, |seen| libraries(seen) as f64),
        Quantity::new("search misses in a start", count, both, misses),
    ]
}

fn libraries(seen: &Loading) -> usize {
    seen.programs.iter().map(|program| program.libraries.len()).sum()
}

fn starts(base: &[&Loading], other: &[&Loading], pair: &Pair<'_>) -> Vec<Part> {
    let all = || base.iter().chain(other).flat_map(|seen| &seen.programs);
    if all().any(|program| program.starts.is_none()) {
        return Vec::new();
    }
    let paths: BTreeSet<&str> = all().map(|program| program.path.as_str()).collect();
    let of = |seen: &Loading, path: &str| {
        let program = seen.programs.iter().find(|program| program.path == path);
        program.and_then(|program| program.starts).unwrap_or(0) as f64
    };
    let quantities = paths
        .into_iter()
        .map(|path| Quantity::new(format!("starts of {path}"), count, (base, other), |seen| of(seen, path)));
    differences(quantities.collect(), pair, Order::Largest, ["program", "programs"])
}

/// How the program that each side starts is built, where that is different.
fn built(base: &[&Loading], other: &[&Loading], pair: &Pair<'_>) -> Option<Part> {
    let base = main_program(base, &pair.programs[0])?;
    let other = main_program(other, &pair.programs[1])?;
    let is_different = described(base) != described(other) || base.libraries != other.libraries;
    let definition = |label: &str, program: &LoadedProgram| Definition {
        head: vec![plain(format!("  {label}  {}", shown_name(&program.path)))],
        body: vec![vec![toned(
            Tone::Faint,
            printable(&format!("{}; loads {}", described(program), loads(program))),
        )]],
    };
    is_different
        .then(|| Part::Definitions(vec![definition(pair.labels[0], base), definition(pair.labels[1], other)]))
}

/// The one that the command names, or else the first.
fn main_program<'a>(seen: &[&'a Loading], name: &str) -> Option<&'a LoadedProgram> {
    let programs = &seen.first()?.programs;
    programs.iter().find(|loaded| file_name(&loaded.path) == name).or(programs.first())
}

fn loads(program: &LoadedProgram) -> String {
    if program.libraries.is_empty() {
        return "no libraries".to_owned();
    }
    program.libraries.iter().map(|library| shown_name(library)).collect::<Vec<_>>().join(", ")
}
