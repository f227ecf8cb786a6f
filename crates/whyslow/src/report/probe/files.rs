//! Files: what was opened, missed, read and written, by path.

use std::collections::BTreeSet;

use super::rows::{MOST_ROWS, Order, Quantity, bytes_cell, cell, differences, plain_listing, row};
use super::{Pair, seen, sentence};
use crate::model::{FileUse, Files, Probed, Trace};
use crate::report::document::Part;
use crate::report::quantity::{bytes, count};

const MOST_MISSES: usize = 8;

fn of<'a>(looks: &[&'a Probed]) -> Vec<&'a Files> {
    seen(looks, |trace| match trace {
        Trace::Files(seen) => Some(seen),
        _ => None,
    })
}

pub fn one(looks: &[&Probed]) -> Vec<Part> {
    let Some(&first) = of(looks).first() else { return Vec::new() };
    let used = first.files.iter().filter(|file| file.opened + file.reads + file.writes + file.removed > 0);
    let rows: Vec<_> = used
        .take(MOST_ROWS)
        .map(|file| {
            let numbers = vec![
                cell(file.opened),
                cell(file.reads),
                bytes_cell(file.read_bytes),
                cell(file.writes),
                bytes_cell(file.written_bytes),
            ];
            row(numbers, &file.path, special(file))
        })
        .collect();
    let mut parts = vec![sentence(summary(first))];
    if !rows.is_empty() {
        parts.push(plain_listing(&["opened", "reads", "read", "writes", "written"], "file", rows));
    }
    let mut missed: Vec<&FileUse> = first.files.iter().filter(|file| misses(file) > 0).collect();
    missed.sort_by_key(|file| std::cmp::Reverse(misses(file)));
    if !missed.is_empty() {
        let rows = missed.iter().take(MOST_MISSES);
        let rows = rows.map(|file| row(vec![cell(misses(file))], &file.path, "")).collect();
        parts.push(plain_listing(&["missed"], "not there", rows));
    }
    parts
}

fn misses(file: &FileUse) -> u64 {
    file.missed + file.stat_missed + file.exec_missed
}

fn special(file: &FileUse) -> String {
    let mut words = Vec::new();
    let mut add = |count: u64, what: &str| {
        if count > 0 {
            words.push(format!("{} {what}", crate::report::quantity::count(count as f64)));
        }
    };
    add(file.synced, "synced");
    add(file.direct, "O_DIRECT");
    add(file.created, "created");
    add(file.removed, "removed");
    words.join(", ")
}

fn summary(seen: &Files) -> String {
    let total = &seen.total;
    let disk =
        |bytes_moved: Option<u64>| bytes_moved.map_or("unknown".to_owned(), |moved| bytes(moved as f64));
    format!(
        "{} paths: {} opened, {} stat, {} not there; {} read in {} calls, {} written in {} calls, {} synced; \
         from disks {}, to disks {}",
        count(seen.paths as f64),
        count(total.opened as f64),
        count(total.stated as f64),
        count(misses(total) as f64),
        bytes(total.read_bytes as f64),
        count(total.reads as f64),
        bytes(total.written_bytes as f64),
        count(total.writes as f64),
        count(total.synced as f64),
        disk(seen.disk_read_bytes),
        disk(seen.disk_written_bytes),
    )
}

/// A quantity by its name.
type Column = (&'static str, fn(&FileUse) -> u64);

/// What is told apart, of all files and of each.
const COLUMNS: [Column; 11] = [
    ("opened", |file| file.opened),
    ("not there when opened", |file| file.missed),
    ("stat, access, readlink", |file| file.stated),
    ("not there for stat", |file| file.stat_missed),
    ("not there for exec", |file| file.exec_missed),
    ("read calls", |file| file.reads),
    ("write calls", |file| file.writes),
    ("synced", |file| file.synced),
    ("opened with O_DIRECT", |file| file.direct),
    ("created", |file| file.created),
    ("removed", |file| file.removed),
];

pub fn two(pair: &Pair<'_>) -> Vec<Part> {
    let (base, other) = (of(&pair.base), of(&pair.other));
    let both = (base.as_slice(), other.as_slice());
    let mut sums: Vec<Quantity> = COLUMNS
        .iter()
        .map(|(name, of)| Quantity::new(*name, count, both, |seen: &Files| of(&seen.total) as f64))
        .collect();
    sums.push(Quantity::new("different paths", count, both, |seen| seen.paths as f64));
    sums.push(Quantity::new("read", bytes, both, |seen| seen.total.read_bytes as f64));
    sums.push(Quantity::new("written", bytes, both, |seen| seen.total.written_bytes as f64));
    let from_disk = |seen: &Files| seen.disk_read_bytes;
    let to_disk = |seen: &Files| seen.disk_written_bytes;
    for (name, of) in
        [("read from disks", from_disk as fn(&Files) -> Option<u64>), ("written to disks", to_disk)]
    {
        if base.iter().chain(&other).all(|seen| of(seen).is_some()) {
            sums.push(Quantity::new(name, bytes, both, |seen| of(seen).unwrap_or(0) as f64));
        }
    }
    let mut parts = differences(sums, pair, Order::AsGiven, ["sum over all files", "sums over all files"]);
    let paths: BTreeSet<&str> =
        base.iter().chain(&other).flat_map(|seen| seen.files.iter().map(|file| file.path.as_str())).collect();
    let calls = |seen: &Files, path: &str| {
        let file = seen.files.iter().find(|file| file.path == path);
        file.map_or(0.0, |file| (file.opened + misses(file) + file.stated + file.reads + file.writes) as f64)
    };
    let by_path = paths.into_iter().map(|path| Quantity::new(path, count, both, |seen| calls(seen, path)));
    parts.extend(differences(
        by_path.collect(),
        pair,
        Order::Largest,
        ["file by its number of calls", "files by their number of calls"],
    ));
    parts
}
