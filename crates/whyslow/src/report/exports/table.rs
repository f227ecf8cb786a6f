//! The table that Markdown, AsciiDoc and Org share: hyperfine's columns, but ratios are relative to the base of the
//! comparison, and have an interval and a verdict instead of a deviation of single runs.

use super::series::{self, Series};
use crate::analysis::{Analysis, Comparison, Verdict};
use crate::model::Recording;
use crate::report::views::{Figures, units::ratio_range};

/// Command, mean, min, max and relative.
pub type Row = [String; 5];

/// How times are written.
struct TimeUnit {
    name: &'static str,
    scale: f64,
    decimals: usize,
}

/// Header and rows; `command` escapes the name of a variant for the form.
pub fn rows(recording: &Recording, analysis: &Analysis, command: fn(&str) -> String) -> (Row, Vec<Row>) {
    let series = series::all(recording);
    let first = series.first().and_then(|series| series.figures(recording, "wall_s"));
    let unit = time_unit(first.map_or(0.0, |figures| figures.mean));
    let time = |what: &str| format!("{what} [{}]", unit.name);
    let header = ["Command".to_owned(), time("Mean"), time("Min"), time("Max"), "Relative".to_owned()];
    let row = |series: &Series| {
        let figures = series.figures(recording, "wall_s")?;
        let [mean, min, max] = times(&figures, &unit);
        Some([command(&series.name), mean, min, max, relative(analysis, series.variant)])
    };
    (header, series.iter().filter_map(row).collect())
}

/// By the mean of the first result, the same for the whole table.
fn time_unit(mean_s: f64) -> TimeUnit {
    match mean_s {
        s if s < 1e-3 => TimeUnit { name: "µs", scale: 1e6, decimals: 1 },
        s if s < 1.0 => TimeUnit { name: "ms", scale: 1e3, decimals: 1 },
        _ => TimeUnit { name: "s", scale: 1.0, decimals: 3 },
    }
}

fn times(figures: &Figures, unit: &TimeUnit) -> [String; 3] {
    let write = |value: f64| format!("{:.*}", unit.decimals, value * unit.scale);
    let deviation = figures.deviation.map_or(String::new(), |deviation| format!(" ± {}", write(deviation)));
    [format!("{}{deviation}", write(figures.mean)), write(figures.min), write(figures.max)]
}

fn relative(analysis: &Analysis, variant: usize) -> String {
    if variant == analysis.base {
        return "1.00".to_owned();
    }
    analysis.comparison(variant, "wall_s").map_or("unknown".to_owned(), ratio)
}

/// `1.23 [1.19, 1.27] slower`.
fn ratio(comparison: &Comparison) -> String {
    let ratio = comparison.ratio;
    let range = ratio_range(ratio.point, ratio.low.zip(ratio.high));
    let verdict = match comparison.verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Same => "same",
        Verdict::Undecided => "undecided",
    };
    format!("{range} {verdict}")
}
