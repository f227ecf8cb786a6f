//! Time off the CPU: how much, of which thread, and on what.

use std::collections::BTreeSet;

use super::rows::{Order, Quantity, differences, plain_listing, row, time};
use super::{Pair, seen, sentence};
use crate::model::{Probed, Trace, WaitKind, Waiting};
use crate::report::document::Part;
use crate::report::quantity::count;

const MOST_THREADS: usize = 8;
const MOST_PLACES: usize = 10;

fn of<'a>(looks: &[&'a Probed]) -> Vec<&'a Waiting> {
    seen(looks, |trace| match trace {
        Trace::Waiting(seen) => Some(seen),
        _ => None,
    })
}

pub fn one(looks: &[&Probed]) -> Vec<Part> {
    let Some(&first) = of(looks).first() else { return Vec::new() };
    let known = |value: Option<f64>| value.map_or("unknown".to_owned(), time);
    let summary = format!(
        "over all threads: {} on a CPU, {} ready but without one, {} blocked",
        known(first.on_cpu_s),
        known(first.preempted_s),
        known(first.blocked_s)
    );
    let mut parts = vec![sentence(summary)];
    parts.extend(threads(first));
    parts.extend(places(first));
    parts
}

fn threads(seen: &Waiting) -> Option<Part> {
    let rows: Vec<_> = seen
        .threads
        .iter()
        .take(MOST_THREADS)
        .map(|thread| {
            let numbers = vec![
                time(thread.on_cpu_s),
                time(thread.preempted_s),
                time(thread.blocked_s),
                count(thread.switches as f64),
            ];
            row(numbers, &thread.name, format!("{}/{}", thread.process, thread.thread))
        })
        .collect();
    let more = seen.threads.len().saturating_sub(MOST_THREADS);
    let head = if more > 0 { format!("thread (and {more} others)") } else { "thread".to_owned() };
    let heads = ["on CPU", "preempted", "blocked", "switches"];
    (!rows.is_empty()).then(|| plain_listing(&heads, &head, rows))
}

fn places(seen: &Waiting) -> Option<Part> {
    let rows: Vec<_> = seen
        .places
        .iter()
        .take(MOST_PLACES)
        .map(|place| row(vec![time(place.seconds)], &place.what, kind(place.kind)))
        .collect();
    let head = format!("blocked on ({} looks, one each {})", count(seen.looks as f64), time(seen.look_s));
    (!rows.is_empty()).then(|| plain_listing(&["about"], &head, rows))
}

fn kind(kind: WaitKind) -> &'static str {
    match kind {
        WaitKind::Sleep => "sleep",
        WaitKind::Lock => "lock",
        WaitKind::Socket => "network",
        WaitKind::NameLookup => "name lookup",
        WaitKind::Disk => "disk",
        WaitKind::Pipe => "pipe",
        WaitKind::Child => "child process",
        WaitKind::Terminal => "terminal",
        WaitKind::Event => "event",
        WaitKind::Other => "other",
    }
}

/// A sum over all threads by its name.
type Sum = (&'static str, fn(&Waiting) -> Option<f64>);

pub fn two(pair: &Pair<'_>) -> Vec<Part> {
    let (base, other) = (of(&pair.base), of(&pair.other));
    let both = (base.as_slice(), other.as_slice());
    let all = || base.iter().chain(&other);
    let sums: [Sum; 3] = [
        ("on a CPU", |seen| seen.on_cpu_s),
        ("ready but without a CPU", |seen| seen.preempted_s),
        ("blocked", |seen| seen.blocked_s),
    ];
    let known = sums.iter().filter(|(_, of)| all().all(|seen| of(seen).is_some()));
    let quantities = known.map(|(name, of)| Quantity::new(*name, time, both, |seen| of(seen).unwrap_or(0.0)));
    let mut parts = differences(
        quantities.collect(),
        pair,
        Order::AsGiven,
        ["sum over all threads", "sums over all threads"],
    );
    let places: BTreeSet<(WaitKind, &str)> =
        all().flat_map(|seen| seen.places.iter().map(|place| (place.kind, place.what.as_str()))).collect();
    let look_s = all().map(|seen| seen.look_s).fold(0.0, f64::max);
    let by_place = places.into_iter().map(|(of, what)| {
        let waited = |seen: &Waiting| {
            let same = seen.places.iter().filter(|place| place.kind == of && place.what == what);
            same.map(|place| place.seconds).sum()
        };
        let quantity = Quantity::new(what, time, both, waited);
        Quantity { remark: kind(of).to_owned(), grain: look_s, ..quantity }
    });
    let by_place: Vec<Quantity> = by_place.collect();
    if !by_place.is_empty() {
        parts.extend(differences(by_place, pair, Order::Largest, ["place", "places"]));
    }
    parts
}
