//! What carries the gap: the functions, system calls, processes, page faults and allocations in which the slow side spends
//! more, in absolute time. It shows where, and accuses nobody.

use std::collections::BTreeMap;

use serde::Serialize;

use super::case::{Case, Side};
use super::suspects::{allocating, names_functions_alike};
use crate::model::Allocations;

/// Smaller parts of the gap are not shown.
const LEAST: f64 = 0.05;
const MOST_FUNCTIONS: usize = 6;
const MOST_SYSCALLS: usize = 4;

const KERNEL: &str = " [kernel]";

/// One thing in which the sides differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Carrier {
    /// `function`, `system call`, `processes`, `page faults`, `memory`.
    pub kind: &'static str,
    pub name: String,
    /// Values of both sides in `unit`.
    pub fast: f64,
    pub slow: f64,
    /// `s`, `calls`, `count`, `bytes`.
    pub unit: &'static str,
    /// Seconds that it accounts for: seen for functions, priced for counts.
    pub seconds: f64,
}

/// The largest first, functions before counts.
pub fn carriers(case: &Case<'_>) -> Vec<Carrier> {
    let mut all = functions(case);
    all.extend(syscalls(case));
    all.extend(counts(case));
    all.retain(|carrier| case.share(carrier.seconds) >= LEAST);
    all
}

/// Functions by name alone, so that a library that moved into the program is still the same code.
fn functions(case: &Case<'_>) -> Vec<Carrier> {
    let (fast, mut slow) = (own_times(&case.fast), own_times(&case.slow));
    if !names_functions_alike(case) {
        slow.retain(|name, _| name.ends_with(KERNEL));
    }
    let mut all: Vec<Carrier> = slow
        .iter()
        .map(|(name, &seconds)| {
            let before = fast.get(name).copied().unwrap_or(0.0);
            carrier("function", name, (before, seconds), "s", seconds - before)
        })
        .collect();
    all.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    all.truncate(MOST_FUNCTIONS);
    all
}

/// Seconds of one undisturbed run in each function itself.
fn own_times(side: &Side<'_>) -> BTreeMap<String, f64> {
    let Some((profile, cpu_s)) = side.cpu().zip(side.median("cpu_s")) else { return BTreeMap::new() };
    let own = profile.own();
    let sampled: f64 = own.iter().sum();
    let scale = side.sampled_part() * cpu_s / sampled.max(f64::MIN_POSITIVE);
    let mut times = BTreeMap::new();
    for (frame, weight) in profile.frames.iter().zip(own).filter(|(_, weight)| *weight > 0.0) {
        let is_kernel = frame.module == "[kernel]";
        let name = if is_kernel { format!("{}{KERNEL}", frame.name) } else { frame.name.clone() };
        *times.entry(name).or_insert(0.0) += weight * scale;
    }
    times
}

fn syscalls(case: &Case<'_>) -> Vec<Carrier> {
    let (Some(fast), Some(slow)) = (case.fast.syscalls(), case.slow.syscalls()) else { return Vec::new() };
    let mut all: Vec<Carrier> = slow
        .calls
        .iter()
        .map(|(name, count)| {
            let (before, after) = (fast.count(name) as f64, count.calls as f64);
            carrier("system call", name, (before, after), "calls", (after - before) * case.prices.syscall_s)
        })
        .collect();
    all.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    all.truncate(MOST_SYSCALLS);
    all
}

fn counts(case: &Case<'_>) -> Vec<Carrier> {
    let pair = |count: &dyn Fn(&Side<'_>) -> Option<f64>| Some((count(&case.fast)?, count(&case.slow)?));
    let processes = pair(&|side| side.processes().map(|count| count as f64));
    let faults = pair(&|side| side.median("page_faults"));
    let asked = allocating::counted(case);
    let of_malloc =
        |count: fn(&Allocations) -> u64| asked.map(|(fast, slow)| (count(fast) as f64, count(slow) as f64));
    let mallocs = of_malloc(Allocations::allocations);
    let moved = of_malloc(|seen| seen.realloc_moved_bytes);
    let prices = &case.prices;
    let priced = |kind, name: &str, pair: Option<(f64, f64)>, unit, price: f64| {
        pair.map(|(fast, slow)| carrier(kind, name, (fast, slow), unit, (slow - fast) * price))
    };
    [
        priced("processes", "processes", processes, "count", prices.process_s),
        priced("page faults", "page faults", faults, "count", prices.fault_s),
        priced("memory", "allocations", mallocs, "calls", prices.malloc_s),
        priced("memory", "bytes copied by realloc", moved, "bytes", prices.copied_byte_s),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn carrier(
    kind: &'static str,
    name: &str,
    (fast, slow): (f64, f64),
    unit: &'static str,
    seconds: f64,
) -> Carrier {
    Carrier { kind, name: name.to_owned(), fast, slow, unit, seconds }
}
