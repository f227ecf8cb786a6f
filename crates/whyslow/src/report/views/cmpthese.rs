//! The chart of Perl's Benchmark.pm, and beside it one whose cells say how sure they are.

use super::judged::UNSAFE;
use super::printf::{Conversion, Kind};
use super::timestr::{below_tick, elapsed, perl_times};
use super::{Options, Said, TimeStyle, judge};
use crate::analysis::Verdict;
use crate::model::DataSet;
use crate::report::quantity::percent;

/// Keeps a rate finite where the clock did not tick.
const EPSILON_S: f64 = 1e-15;
/// Columns are widened as long as a line stays shorter.
const LINE: usize = 80;

/// Where Perl stops at a division by zero.
const NOTHING: &str = "?";

/// One row of the chart.
struct Rated<'a> {
    set: &'a DataSet,
    rate: f64,
}

/// Each set against each other, the slowest first.
pub fn cmpthese(sets: &[DataSet], options: &Options) -> String {
    if sets.is_empty() || options.style == TimeStyle::None {
        return String::new();
    }
    let rated = by_rate(sets, options.style);
    let mut text = chart(&rated);
    if !options.compat {
        text.extend(rated.iter().filter_map(|row| below_tick(row.set, options.style)));
        text += &honest_chart(&rated, options);
    }
    text
}

fn by_rate(sets: &[DataSet], style: TimeStyle) -> Vec<Rated<'_>> {
    let rate = |set| {
        let times = perl_times(set);
        Rated { set, rate: times.iterations / (elapsed(&times, style) + EPSILON_S) }
    };
    let mut rated: Vec<Rated> = sets.iter().map(rate).collect();
    rated.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    rated
}

fn chart(rated: &[Rated]) -> String {
    let shows_rates = rated[(rated.len() - 1) / 2].rate > 1.0;
    let title = if shows_rates { "Rate" } else { "s/iter" };
    let names = rated.iter().map(|row| row.set.name.clone());
    let mut rows: Vec<Vec<String>> =
        vec![[String::new(), title.to_owned()].into_iter().chain(names).collect()];
    for row in rated {
        let speed = match row.rate {
            rate if shows_rates => format!("{}/s", short(rate)),
            0.0 => NOTHING.to_owned(),
            rate => short(1.0 / rate),
        };
        let cells = rated.iter().map(|column| cell(row, column));
        rows.push([row.set.name.clone(), speed].into_iter().chain(cells).collect());
    }
    lay_out(&rows, true)
}

fn cell(row: &Rated, column: &Rated) -> String {
    if row.set.name == column.set.name {
        return "--".to_owned();
    }
    if column.rate == 0.0 {
        return NOTHING.to_owned();
    }
    let share = 100.0 * row.rate / column.rate - 100.0;
    format!("{}%", Conversion::new(0, 0, Kind::Fixed).write_as_perl(share))
}

/// About three digits; small and negative numbers with an exponent.
fn short(value: f64) -> String {
    let (precision, kind) = match value {
        v if v >= 100.0 => (0, Kind::Fixed),
        v if v >= 10.0 => (1, Kind::Fixed),
        v if v >= 1.0 => (2, Kind::Fixed),
        v if v >= 0.1 => (3, Kind::Fixed),
        _ => (2, Kind::Exponent),
    };
    Conversion::new(0, precision, kind).write_as_perl(value)
}

/// The first column to the left, the others to the right, with widths made more equal where there is room for it.
fn lay_out(rows: &[Vec<String>], may_widen: bool) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    if may_widen {
        widen(&mut widths);
    }
    let line = |row: &Vec<String>| {
        let others = row.iter().zip(&widths).skip(1).map(|(cell, &width)| format!(" {cell:>width$}"));
        let line = format!("{:<width$}{}", row[0], others.collect::<String>(), width = widths[0]);
        format!("{}\n", line.trim_end())
    };
    rows.iter().map(line).collect()
}

/// The narrowest of the columns of cells grow by one, in order of width, until all are equal or the line is full.
fn widen(widths: &mut [usize]) {
    let mut total: usize = widths.iter().sum::<usize>() + widths.len() - 1;
    let mut order: Vec<usize> = (2..widths.len()).collect();
    order.sort_by_key(|&column| widths[column]);
    let widest = widths[*order.last().unwrap_or(&0)];
    while total < LINE && widths[order[0]] < widest {
        let narrowest = widths[order[0]];
        for &column in order.iter().take_while(|&&column| widths[column] <= narrowest).collect::<Vec<_>>() {
            widths[column] += 1;
            total += 1;
            if total >= LINE {
                return;
            }
        }
    }
}

fn honest_chart(rated: &[Rated], options: &Options) -> String {
    let alpha = options.alpha_of_every_pair(rated.len());
    let names = rated.iter().map(|row| row.set.name.clone());
    let mut rows: Vec<Vec<String>> = vec![std::iter::once(String::new()).chain(names).collect()];
    let mut seen = Vec::new();
    for (place, row) in rated.iter().enumerate() {
        let mut cells = vec![row.set.name.clone()];
        for (column_place, column) in rated.iter().enumerate() {
            cells.push(if place == column_place {
                "--".to_owned()
            } else {
                honest_cell(row, column, alpha, options, &mut seen)
            });
        }
        rows.push(cells);
    }
    let confidence = percent(options.confidence);
    let title = format!(
        "\nspeed of the row over that of the column, {confidence} confidence in all cells together\n"
    );
    let legend = MARKS.iter().filter(|(mark, _)| seen.contains(mark));
    title
        + &lay_out(&rows, false)
        + &legend.map(|(mark, about)| format!("{mark} {about}\n")).collect::<String>()
}

/// What stands behind a cell that is no claim of a difference.
const MARKS: &[(&str, &str)] = &[
    ("?", "undecided"),
    ("=", "no difference larger than the margin"),
    ("!", UNSAFE),
    ("-", "not enough runs, or no ratio"),
];

fn honest_cell(
    row: &Rated,
    column: &Rated,
    alpha: f64,
    options: &Options,
    seen: &mut Vec<&'static str>,
) -> String {
    // The speed of the row over that of the column is the time of the column over that of the row.
    let judgement = judge(row.set, column.set, alpha, options.margin);
    let mark = match judgement.said {
        Said::Verdict(Verdict::Undecided) => "?",
        Said::Verdict(Verdict::Same) | Said::Identical => "=",
        Said::Unsafe => "!",
        Said::NotEnough | Said::NoRatio => "-",
        Said::Verdict(Verdict::Slower | Verdict::Faster) => " ",
    };
    seen.push(mark);
    if mark == "-" { mark.to_owned() } else { format!("{} {mark}", judgement.range()) }
}
