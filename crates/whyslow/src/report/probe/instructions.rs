//! Instructions: by function where that is known.

use std::collections::BTreeSet;

use super::rows::{MOST_ROWS, Order, Quantity, differences, plain_listing, row};
use super::{Pair, file_name, seen, sentence};
use crate::model::{CountedFunction, Instructions, Probed, Trace};
use crate::report::document::Part;
use crate::report::quantity::{count, percent};

fn of<'a>(looks: &[&'a Probed]) -> Vec<&'a Instructions> {
    seen(looks, |trace| match trace {
        Trace::Instructions(seen) => Some(seen),
        _ => None,
    })
}

pub fn one(looks: &[&Probed]) -> Vec<Part> {
    let Some(&first) = of(looks).first() else { return Vec::new() };
    let text = format!("{} instructions, counted by {}", count(first.total as f64), first.source);
    let rows: Vec<_> = first
        .functions
        .iter()
        .take(MOST_ROWS)
        .map(|function| {
            let share = percent(function.own as f64 / first.total.max(1) as f64);
            row(vec![count(function.own as f64), share], &function.name, file_name(&function.module))
        })
        .collect();
    let mut parts = vec![sentence(text)];
    if !rows.is_empty() {
        parts.push(plain_listing(&["own", ""], "function", rows));
    }
    parts
}

pub fn two(pair: &Pair<'_>) -> Vec<Part> {
    let (base, other) = (of(&pair.base), of(&pair.other));
    let both = (base.as_slice(), other.as_slice());
    let total = vec![Quantity::new("instructions in all", count, both, |seen| seen.total as f64)];
    let mut parts = differences(total, pair, Order::AsGiven, ["sum", "sums"]);
    let names: BTreeSet<(&str, &str)> = base
        .iter()
        .chain(&other)
        .flat_map(|seen| {
            seen.functions
                .iter()
                .map(|CountedFunction { name, module, .. }| (name.as_str(), file_name(module)))
        })
        .collect();
    let functions: Vec<Quantity> = names
        .into_iter()
        .map(|(name, module)| {
            let own = |seen: &Instructions| {
                let same = seen
                    .functions
                    .iter()
                    .filter(|function| function.name == name && file_name(&function.module) == module);
                same.map(|function| function.own).sum::<u64>() as f64
            };
            Quantity { remark: module.to_owned(), ..Quantity::new(name, count, both, own) }
        })
        .collect();
    if !functions.is_empty() {
        parts.extend(differences(functions, pair, Order::Largest, ["function", "functions"]));
    }
    parts
}
