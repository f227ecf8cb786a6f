//! Time series: what a run used while it went on, on one axis for both variants.

use super::{Pair, seen, sentence};
use crate::model::{Moment, Probed, Series, Trace};
use crate::report::document::{Curve, Curves, Part};
use crate::report::quantity::{bytes, count, number, seconds};

/// Points of a curve; a narrow screen shows fewer.
const POINTS: usize = 60;

/// What a curve shows: how much more of it there was in each interval, or how much there is.
struct Quantity {
    name: &'static str,
    of: fn(&Moment) -> Option<f64>,
    write: fn(f64) -> String,
    is_rate: bool,
}

const QUANTITIES: [Quantity; 7] = [
    Quantity { name: "CPUs busy", of: |moment| moment.cpu_s, write: number, is_rate: true },
    Quantity { name: "page faults/s", of: |moment| moment.faults, write: count, is_rate: true },
    Quantity { name: "memory", of: |moment| moment.rss_bytes, write: bytes, is_rate: false },
    Quantity { name: "switches/s", of: |moment| moment.switches, write: count, is_rate: true },
    Quantity { name: "read/s", of: |moment| moment.read_bytes, write: bytes, is_rate: true },
    Quantity { name: "written/s", of: |moment| moment.written_bytes, write: bytes, is_rate: true },
    Quantity { name: "processes", of: |moment| moment.processes, write: count, is_rate: false },
];

fn of<'a>(looks: &[&'a Probed]) -> Vec<&'a Series> {
    seen(looks, |trace| match trace {
        Trace::Series(seen) => Some(seen),
        _ => None,
    })
}

pub fn one(looks: &[&Probed]) -> Vec<Part> {
    let Some(&first) = of(looks).first() else { return Vec::new() };
    draw(&[("", first)])
}

/// The first look at each.
pub fn two(pair: &Pair<'_>) -> Vec<Part> {
    let (base, other) = (of(&pair.base), of(&pair.other));
    match (base.first(), other.first()) {
        (Some(base), Some(other)) => draw(&[(pair.labels[0], base), (pair.labels[1], other)]),
        _ => Vec::new(),
    }
}

fn draw(all: &[(&str, &Series)]) -> Vec<Part> {
    let end_s = all.iter().filter_map(|(_, series)| Some(series.moments.last()?.at_s)).fold(0.0, f64::max);
    if end_s <= 0.0 {
        return vec![sentence("  too short for a course of time")];
    }
    let rows = QUANTITIES.iter().flat_map(|quantity| rows(quantity, all, end_s)).collect();
    vec![Part::Curves(Curves { rows, ends: ("0 s".to_owned(), seconds(end_s)) })]
}

/// One for each variant, on one scale. What is never there is left out.
fn rows(quantity: &Quantity, all: &[(&str, &Series)], end_s: f64) -> Vec<Curve> {
    let curves: Vec<Vec<Option<f64>>> =
        all.iter().map(|(_, series)| points(quantity, series, end_s)).collect();
    let highest = |values: &[Option<f64>]| values.iter().flatten().copied().fold(0.0, f64::max);
    let top = curves.iter().map(|values| highest(values)).fold(0.0, f64::max);
    if top <= 0.0 {
        return Vec::new();
    }
    let row = |(values, (label, _)): (Vec<Option<f64>>, &(&str, &Series))| Curve {
        name: if label.is_empty() { quantity.name.to_owned() } else { format!("{} {label}", quantity.name) },
        remark: format!("max {}", (quantity.write)(highest(&values))),
        values,
        top,
    };
    curves.into_iter().zip(all).map(row).collect()
}

/// The mean over each of the intervals that the axis is divided into.
fn points(quantity: &Quantity, series: &Series, end_s: f64) -> Vec<Option<f64>> {
    let width_s = end_s / POINTS as f64;
    let last_s = series.moments.last().map_or(0.0, |moment| moment.at_s);
    (0..POINTS)
        .map(|point| {
            let (from_s, to_s) = (point as f64 * width_s, (point + 1) as f64 * width_s);
            if from_s >= last_s {
                return None;
            }
            if quantity.is_rate {
                let amount = at(quantity, series, to_s.min(last_s))? - at(quantity, series, from_s)?;
                return Some((amount / (to_s.min(last_s) - from_s)).max(0.0));
            }
            at(quantity, series, (from_s + to_s) / 2.0)
        })
        .collect()
}

/// On the straight line between the moments before and after; sums begin with 0.
fn at(quantity: &Quantity, series: &Series, at_s: f64) -> Option<f64> {
    let known = || series.moments.iter().filter_map(|moment| Some((moment.at_s, (quantity.of)(moment)?)));
    let after = known().find(|(time_s, _)| *time_s >= at_s);
    let before = known().take_while(|(time_s, _)| *time_s < at_s).last();
    let start = quantity.is_rate.then_some((0.0, 0.0));
    match (before.or(start), after) {
        (Some((from_s, from)), Some((to_s, to))) if to_s > from_s => {
            Some(from + (to - from) * (at_s - from_s) / (to_s - from_s))
        }
        (_, Some((_, value))) | (Some((_, value)), None) => Some(value),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(at_s: f64, cpu_s: f64) -> Moment {
        Moment { at_s, cpu_s: Some(cpu_s), ..Moment::default() }
    }

    #[test]
    fn rates_are_differences_and_what_is_not_known_has_no_curve() {
        let series = Series { tick_s: 0.1, moments: vec![moment(1.0, 0.0), moment(2.0, 1.0)] };
        let values = points(&QUANTITIES[0], &series, 4.0);
        let near = |value: Option<f64>, expected: f64| (value.unwrap() - expected).abs() < 1e-9;
        assert!(near(values[5], 0.0) && near(values[20], 1.0), "{values:?}");
        assert_eq!(values[40], None, "it was over");
        assert!(rows(&QUANTITIES[1], &[("", &series)], 4.0).is_empty());
        assert_eq!(rows(&QUANTITIES[0], &[("", &series)], 4.0)[0].remark, "max 1");
    }
}
