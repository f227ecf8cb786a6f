//! Allocations: calls, sizes, and what realloc did with the blocks.

use super::rows::{Order, Quantity, cell, differences, plain_listing, row};
use super::{Pair, seen, sentence};
use crate::model::{Allocations, Probed, Trace};
use crate::report::document::Part;
use crate::report::quantity::{bytes, count, percent};

/// Size classes as they are shown, by the first bytes of each; the last one is what allocators map by itself.
const CLASSES: [(u64, u64, &str); 5] = [
    (0, 64, "below 64 B"),
    (64, 1 << 10, "from 64 B to 1 KiB"),
    (1 << 10, 16 << 10, "from 1 KiB to 16 KiB"),
    (16 << 10, 128 << 10, "from 16 KiB to 128 KiB"),
    (128 << 10, u64::MAX, "of 128 KiB and more"),
];

fn of<'a>(looks: &[&'a Probed]) -> Vec<&'a Allocations> {
    seen(looks, |trace| match trace {
        Trace::Allocations(seen) => Some(seen),
        _ => None,
    })
}

pub fn one(looks: &[&Probed]) -> Vec<Part> {
    let Some(&first) = of(looks).first() else { return Vec::new() };
    let calls = [
        (first.malloc_calls, "malloc"),
        (first.calloc_calls, "calloc"),
        (first.aligned_calls, "aligned (posix_memalign and the like)"),
        (first.free_calls, "free"),
        (first.sbrk_calls, "sbrk by the program itself"),
    ];
    let mut rows: Vec<_> = calls
        .iter()
        .filter(|(calls, _)| *calls > 0)
        .map(|(calls, name)| row(vec![cell(*calls), String::new()], *name, ""))
        .collect();
    let kinds = [
        (first.realloc_new, None, "realloc of nothing: a new block"),
        (first.realloc_freed, None, "realloc to nothing: freed"),
        (first.realloc_in_place, None, "realloc in place"),
        (first.realloc_moved, Some(first.realloc_moved_bytes), "realloc that copied to another place"),
        (
            first.realloc_remapped,
            Some(first.realloc_remapped_bytes),
            "realloc that moved pages without copying",
        ),
    ];
    for (calls, moved, name) in kinds.into_iter().filter(|(calls, ..)| *calls > 0) {
        let moved = moved.map_or(String::new(), |moved| bytes(moved as f64));
        rows.push(row(vec![cell(calls), moved], name, ""));
    }
    let mut parts = vec![sentence(summary(first))];
    if !rows.is_empty() {
        parts.push(plain_listing(&["calls", "bytes"], "", rows));
    }
    parts.extend(sizes(first));
    parts
}

fn summary(seen: &Allocations) -> String {
    let unseen = match seen.processes_unseen {
        Some(0) => String::new(),
        Some(unseen) => format!(", {} not seen", count(unseen as f64)),
        None => ", others may not have been seen".to_owned(),
    };
    let processes = if seen.processes == 1 {
        "1 process".to_owned()
    } else {
        format!("{} processes", count(seen.processes as f64))
    };
    let owners = if seen.allocators.is_empty() {
        String::new()
    } else {
        format!("; malloc is in {}", seen.allocators.join(", "))
    };
    crate::report::printable(&format!(
        "{} asked for in {processes}{unseen}; at most {} live at once{owners}",
        bytes(seen.asked_bytes as f64),
        bytes(seen.peak_live_bytes as f64),
    ))
}

fn sizes(seen: &Allocations) -> Option<Part> {
    let all: u64 = seen.sizes.iter().sum();
    let rows: Vec<_> = CLASSES
        .iter()
        .map(|class| (in_class(seen, class), class.2))
        .filter(|(calls, _)| *calls > 0)
        .map(|(calls, name)| row(vec![cell(calls), percent(calls as f64 / all as f64)], name, ""))
        .collect();
    (!rows.is_empty()).then(|| plain_listing(&["calls", "share"], "size", rows))
}

fn in_class(seen: &Allocations, &(from, below, _): &(u64, u64, &str)) -> u64 {
    let beyond = if below == u64::MAX { 0 } else { seen.at_least(below) };
    seen.at_least(from) - beyond
}

/// A quantity by its name, and how it is written.
type Column = (&'static str, fn(f64) -> String, fn(&Allocations) -> u64);

const COLUMNS: [Column; 14] = [
    ("asked for", bytes, |seen| seen.asked_bytes),
    ("peak of what is live", bytes, |seen| seen.peak_live_bytes),
    ("copied by realloc", bytes, |seen| seen.realloc_moved_bytes),
    ("moved by realloc without copying", bytes, |seen| seen.realloc_remapped_bytes),
    ("malloc", count, |seen| seen.malloc_calls),
    ("calloc", count, |seen| seen.calloc_calls),
    ("aligned", count, |seen| seen.aligned_calls),
    ("free", count, |seen| seen.free_calls),
    ("realloc", count, |seen| seen.realloc_calls),
    ("realloc in place", count, |seen| seen.realloc_in_place),
    ("realloc that copied", count, |seen| seen.realloc_moved),
    ("realloc that moved pages", count, |seen| seen.realloc_remapped),
    ("sbrk by the program itself", count, |seen| seen.sbrk_calls),
    ("processes seen", count, |seen| seen.processes),
];

pub fn two(pair: &Pair<'_>) -> Vec<Part> {
    let (base, other) = (of(&pair.base), of(&pair.other));
    let both = (base.as_slice(), other.as_slice());
    let mut quantities: Vec<Quantity> = COLUMNS
        .iter()
        .map(|(name, write, of)| Quantity::new(*name, *write, both, |seen: &Allocations| of(seen) as f64))
        .collect();
    quantities.extend(CLASSES.iter().map(|class| {
        let name = format!("blocks {}", class.2);
        Quantity::new(name, count, both, |seen: &Allocations| in_class(seen, class) as f64)
    }));
    let mut parts: Vec<Part> = owners(&base, &other, pair).into_iter().collect();
    parts.extend(differences(quantities, pair, Order::AsGiven, ["quantity", "quantities"]));
    parts
}

fn owners(base: &[&Allocations], other: &[&Allocations], pair: &Pair<'_>) -> Option<Part> {
    let of = |seen: &[&Allocations]| seen.first().map(|seen| seen.allocators.join(", ")).unwrap_or_default();
    let (base, other) = (of(base), of(other));
    let [base_label, other_label] = pair.labels;
    let text = format!("malloc is in {base} ({base_label}) and in {other} ({other_label})");
    (base != other).then(|| sentence(crate::report::printable(&text)))
}
