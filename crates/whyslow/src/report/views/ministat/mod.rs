//! The face of BSD's ministat: plot, vital statistics and Student's t for up to seven sets.
//!
//! Layout, symbols and digits are ministat's. By default the arithmetic is better than that of the version in Debian
//! (20150715): exact quantiles, the middle of an even number of values, deviations in two passes, a percentage that
//! knows of the scatter of the reference; and a note says where the original would print something else that matters.
//! With [`Options::compat`] the original's arithmetic is used, mistakes included.

mod numbers;
mod plot;

use numbers::{Both, Relative, Vitals};
use plot::Plot;

use super::Options;
use super::judged::verdict_lines;
use super::printf::{Conversion, Kind, general};
use crate::model::DataSet;

/// Confidence levels of the original, in per cent.
pub const MINISTAT_LEVELS: [f64; 6] = [80.0, 90.0, 95.0, 98.0, 99.0, 99.5];
/// The original has no more symbols.
pub const MOST_SETS: usize = 7;
/// The original refuses smaller sets.
const FEWEST_VALUES: usize = 3;
/// Cells of the plot hold the set numbers or-ed together, so one and two overlapping look like three.
const SYMBOLS: [char; 8] = [' ', 'x', '+', '*', '%', '#', '@', 'O'];

/// The first set is the reference. Sets beyond the seventh are not shown, and a note says so.
pub fn ministat(sets: &[DataSet], options: &Options) -> String {
    let shown = &sets[..sets.len().min(MOST_SETS)];
    if options.compat
        && let Some(small) = shown.iter().find(|set| set.values.len() < FEWEST_VALUES)
    {
        return format!("Dataset {} must contain at least {FEWEST_VALUES} data points\n", small.name);
    }
    let (exact, originals): (Vec<Vitals>, Vec<Vitals>) =
        shown.iter().map(|set| Both::of(&set.values)).map(|both| (both.exact, both.original)).unzip();
    let vitals = if options.compat { &originals } else { &exact };
    let has_plot = options.plot && !options.only_statistics;
    let plot = has_plot.then(|| Plot::of(vitals, options));
    let mut text = String::new();
    if !options.quiet {
        shown
            .iter()
            .enumerate()
            .for_each(|(place, set)| text += &format!("{} {}\n", symbol(place), set.name));
    }
    if let Some(plot) = &plot {
        text += &plot.draw();
    }
    if !options.quiet {
        text += "    N           Min           Max        Median           Avg        Stddev\n";
    }
    for (place, own) in vitals.iter().enumerate() {
        text += &row(place, own);
        if place > 0 && !options.only_statistics {
            text += &comparison(&vitals[0], own, options);
        }
    }
    if !options.compat {
        text += &notes(sets, (vitals, &originals), plot.as_ref(), options);
    }
    text
}

fn symbol(place: usize) -> char {
    SYMBOLS[place + 1]
}

fn row(place: usize, vitals: &Vitals) -> String {
    const CELL: Conversion = Conversion::new(13, 8, Kind::General);
    let cells = [vitals.min, vitals.max, vitals.median, vitals.mean, vitals.deviation];
    let cells = cells.map(|value| format!(" {}", number(value, |value| CELL.write(value), 13)));
    format!("{} {:3}{}\n", symbol(place), vitals.count, cells.concat())
}

/// What has no value is a stroke; only the original's arithmetic can lead to something that is not a number.
fn number(value: Option<f64>, write: impl Fn(f64) -> String, width: usize) -> String {
    match value {
        None => format!("{:>width$}", "-"),
        Some(value) if value.is_nan() => format!("{:>width$}", "-nan"),
        Some(value) => write(value),
    }
}

fn plain(value: f64) -> String {
    number(Some(value), |value| general(value, 6), 0)
}

fn comparison(reference: &Vitals, own: &Vitals, options: &Options) -> String {
    let percent = numbers::level(options);
    let Some(relative) = Relative::between(reference, own, options) else {
        return "Not enough values for a comparison\n".to_owned();
    };
    if !relative.is_proven() {
        return format!("No difference proven at {percent:.1}% confidence\n");
    }
    let lines = [
        plain(relative.difference),
        plain(relative.error),
        share(&relative, options),
        plain(relative.pooled),
    ];
    let [difference, error, share, pooled] = lines;
    format!(
        "Difference at {percent:.1}% confidence\n\t{difference} +/- {error}\n\t{share}\n\t(Student's t, pooled s = {pooled})\n"
    )
}

fn share(relative: &Relative, options: &Options) -> String {
    let is_number = relative.percent.is_finite() && relative.percent_error.is_finite();
    if is_number || options.compat {
        format!("{}% +/- {}%", plain(relative.percent), plain(relative.percent_error))
    } else {
        "no percentage: the mean of the reference is 0".to_owned()
    }
}

/// What the original would get wrong, then what the sets say in truth.
fn notes(
    sets: &[DataSet],
    (vitals, originals): (&[Vitals], &[Vitals]),
    plot: Option<&Plot>,
    options: &Options,
) -> String {
    let mut lines = Vec::new();
    if sets.len() > MOST_SETS {
        lines.push(format!("note: {} more sets are not shown", sets.len() - MOST_SETS));
    }
    lines.extend(median_note(vitals, originals));
    lines.extend(deviation_note(vitals, originals));
    if !options.only_statistics {
        lines.extend(plot.and_then(Plot::note));
        for place in 1..vitals.len() {
            lines.extend(comparison_notes((vitals, originals), place, options));
        }
        lines.extend(verdict_lines(&sets[..vitals.len()], options));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Values of sets with their symbols: `x 1.29, + 1.43`.
fn listed(places: &[usize], value: impl Fn(usize) -> Option<f64>) -> String {
    let one =
        |&place: &usize| format!("{} {}", symbol(place), number(value(place), |value| general(value, 8), 0));
    places.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn median_note(vitals: &[Vitals], originals: &[Vitals]) -> Option<String> {
    let differs = |&place: &usize| vitals[place].median != originals[place].median;
    let places: Vec<usize> = (0..vitals.len()).filter(differs).collect();
    let list = listed(&places, |place| originals[place].median);
    (!places.is_empty()).then(|| {
        format!(
            "note: for an even number of values the original calls the upper middle one the median: {list}"
        )
    })
}

fn deviation_note(vitals: &[Vitals], originals: &[Vitals]) -> Option<String> {
    let is_lost = |&place: &usize| {
        let pair = vitals[place].deviation.zip(originals[place].deviation);
        pair.is_some_and(|(ours, original)| original.is_nan() || (original - ours).abs() > 1e-6 * ours)
    };
    let places: Vec<usize> = (0..vitals.len()).filter(is_lost).collect();
    let list = listed(&places, |place| originals[place].deviation);
    (!places.is_empty()).then(|| format!("note: the original loses the digits of the deviation here: {list}"))
}

fn comparison_notes(
    (vitals, originals): (&[Vitals], &[Vitals]),
    place: usize,
    options: &Options,
) -> Option<String> {
    let ours = Relative::between(&vitals[0], &vitals[place], options)?;
    let compat = Options { compat: true, ..options.clone() };
    let original = Relative::between(&originals[0], &originals[place], &compat)?;
    let mark = symbol(place);
    if ours.is_proven() != original.is_proven() {
        let claim = if original.is_proven() { "a difference" } else { "no difference proven" };
        return Some(format!("note: {mark}: the original would say: {claim}{}", reason(&ours, options)));
    }
    if !ours.is_proven() {
        return None;
    }
    let is_off = |ours: f64, original: f64, limit: f64| (original - ours).abs() > limit * ours.abs();
    let error = is_off(ours.error, original.error, 0.005)
        .then(|| format!("+/- {}{}", plain(original.error), reason(&ours, options)));
    let share = is_off(ours.percent_error, original.percent_error, 0.05)
        .then(|| format!("+/- {}%, without the scatter of the reference", plain(original.percent_error)));
    let parts: Vec<String> = error.into_iter().chain(share).collect();
    (!parts.is_empty()).then(|| format!("note: {mark}: the original would say {}", parts.join("; ")))
}

fn reason(relative: &Relative, options: &Options) -> &'static str {
    if numbers::level(options) == 99.5 {
        ", because its column for 99.5% holds the values of 99.8%"
    } else if relative.freedom > 100.0 {
        ", because it takes the normal quantile above 100 degrees of freedom"
    } else {
        ""
    }
}
