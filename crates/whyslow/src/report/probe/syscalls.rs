//! System calls: exact counts of the whole tree of processes.

use std::collections::BTreeSet;

use super::rows::{MOST_ROWS, Order, Quantity, bytes_cell, cell, differences, listing_with_rest, row};
use super::{Pair, seen, sentence};
use crate::model::{Probed, SyscallCount, Syscalls, Trace};
use crate::report::document::Part;
use crate::report::quantity::{bytes, count, percent, seconds};

const MOST_PROGRAMS: usize = 6;

fn of<'a>(looks: &[&'a Probed]) -> Vec<&'a Syscalls> {
    seen(looks, |trace| match trace {
        Trace::Syscalls(seen) => Some(seen),
        _ => None,
    })
}

pub fn one(looks: &[&Probed]) -> Vec<Part> {
    let Some(&first) = of(looks).first() else { return Vec::new() };
    let mut calls: Vec<(&String, &SyscallCount)> = first.calls.iter().collect();
    calls.sort_by_key(|(_, call)| std::cmp::Reverse(call.calls));
    let has_time = calls.iter().any(|(_, call)| call.seconds.is_some());
    let rows = calls.iter().take(MOST_ROWS).map(|(name, call)| {
        let mut numbers = vec![cell(call.calls), cell(call.errors), bytes_cell(call.bytes)];
        numbers.extend(has_time.then(|| call.seconds.map_or(String::new(), seconds)));
        row(numbers, name.as_str(), errors(call))
    });
    let mut heads = vec!["calls", "errors", "bytes"];
    heads.extend(has_time.then_some("time"));
    let left: Vec<&SyscallCount> = calls.iter().skip(MOST_ROWS).map(|(_, call)| *call).collect();
    let sum: u64 = left.iter().map(|call| call.calls).sum();
    let rest =
        (!left.is_empty()).then(|| format!("and {} calls of {} others", count(sum as f64), left.len()));
    let mut parts = vec![sentence(summary(first))];
    parts.extend(partial(first).map(sentence));
    parts.push(listing_with_rest(&heads, "system call", rows.collect(), rest));
    parts
}

/// What was not counted.
fn partial(seen: &Syscalls) -> Option<String> {
    let partial = seen.partial?;
    Some(match partial.share {
        Some(share) => format!(
            "{} of the calls were counted, in {}; the rest is estimated",
            percent(share),
            seconds(partial.watched_s)
        ),
        None => {
            format!("counted for {} of the run; there were more calls after that", seconds(partial.watched_s))
        }
    })
}

fn errors(call: &SyscallCount) -> String {
    let names = call.by_error.iter().map(|(name, count)| format!("{count} {name}"));
    names.collect::<Vec<_>>().join(", ")
}

fn summary(seen: &Syscalls) -> String {
    let many = |count: u64, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{} {many}", crate::report::quantity::count(count as f64)),
    };
    let about = if seen.partial.is_some_and(|partial| partial.share.is_some()) { "about " } else { "" };
    let mut text = format!(
        "{about}{} of {} kinds by {}",
        many(seen.total(), "call", "calls"),
        seen.calls.len(),
        many(seen.processes, "process", "processes")
    );
    if seen.threads > 0 {
        text.push_str(&format!(" with {} more", many(seen.threads, "thread", "threads")));
    }
    let programs = seen.programs.iter().take(MOST_PROGRAMS);
    let programs: Vec<String> = programs
        .map(|program| match program.starts {
            1 => program.path.clone(),
            starts => format!("{} x {}", count(starts as f64), program.path),
        })
        .collect();
    if !programs.is_empty() {
        let more = seen.programs.len().saturating_sub(MOST_PROGRAMS);
        let more = if more > 0 { format!(" and {more} others") } else { String::new() };
        text.push_str(&format!("; started: {}{more}", programs.join(", ")));
    }
    crate::report::printable(&text)
}

pub fn two(pair: &Pair<'_>) -> Vec<Part> {
    let (base, other) = (of(&pair.base), of(&pair.other));
    let both = (base.as_slice(), other.as_slice());
    let sums = vec![
        Quantity::new("processes", count, both, |seen| seen.processes as f64),
        Quantity::new("threads besides the first", count, both, |seen| seen.threads as f64),
        Quantity::new("programs started", count, both, |seen| seen.starts as f64),
        Quantity::new("system calls in all", count, both, |seen| seen.total() as f64),
    ];
    let mut parts = differences(sums, pair, Order::AsGiven, ["sum", "sums"]);
    let all = || base.iter().chain(&other);
    let names: BTreeSet<&str> = all().flat_map(|seen| seen.calls.keys().map(String::as_str)).collect();
    let mut quantities = Vec::new();
    for name in names {
        quantities.push(Quantity::new(name, count, both, |seen| seen.count(name) as f64));
        let errors: BTreeSet<&str> = all()
            .filter_map(|seen| seen.calls.get(name))
            .flat_map(|call| call.by_error.keys().map(String::as_str))
            .collect();
        for error in errors {
            let title = format!("{name}: {error}");
            quantities.push(Quantity::new(title, count, both, |seen| seen.errors(name, error) as f64));
        }
    }
    parts.extend(differences(
        quantities,
        pair,
        Order::Largest,
        ["kind of calls and errors", "kinds of calls and errors"],
    ));
    let moved: Vec<Quantity> = all()
        .flat_map(|seen| seen.calls.iter().filter(|(_, call)| call.bytes > 0))
        .map(|(name, _)| name.as_str())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .map(|name| {
            Quantity::new(format!("bytes by {name}"), bytes, both, |seen| seen.bytes_of(&[name]) as f64)
        })
        .collect();
    if !moved.is_empty() {
        parts.extend(differences(
            moved,
            pair,
            Order::Largest,
            ["kind of call that moves bytes", "kinds of calls that move bytes"],
        ));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Partial;

    #[test]
    fn what_was_not_counted_is_told() {
        let seen = |partial| Syscalls { processes: 1, partial, ..Syscalls::default() };
        let text = |share| partial(&seen(Some(Partial { watched_s: 4.0, share }))).unwrap();
        assert_eq!(text(Some(0.25)), "25 % of the calls were counted, in 4.00 s; the rest is estimated");
        assert_eq!(text(None), "counted for 4.00 s of the run; there were more calls after that");
        assert_eq!(partial(&seen(None)), None);
        assert!(summary(&seen(Some(Partial { watched_s: 4.0, share: Some(0.25) }))).starts_with("about "));
    }
}
