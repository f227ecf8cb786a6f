//! One command by itself in words: its median with how well it is known, how single runs scatter, and the concerns
//! where there is nothing that it is compared with.

use super::compose::short;
use super::document::{Line, Tone, plain, toned};
use super::quantity::{bytes, count, number, percent, seconds, seconds_with_interval};
use super::words::{concern_of_several, short_metric, up_or_down};
use crate::analysis::{Alone, Analysis, Concern, Forecast, Summary, VariantSummary};
use crate::model::{Stop, Unit};

/// The metric that decides when to stop, the other judged ones below it.
pub fn sentences(analysis: &Analysis, name: &str) -> Vec<Line> {
    let variant = &analysis.variants[0];
    if variant.runs == 0 {
        return if variant.failed > 0 { vec![without_runs(variant, name)] } else { Vec::new() };
    }
    let first = match &analysis.alone {
        Some(alone) => headline(analysis, alone, name),
        None => vec![toned(
            Tone::Warning,
            format!("{name}: {} unknown; no run gave a value", short_metric(&analysis.leading)),
        )],
    };
    let others = ["wall_s", "cpu_s"].into_iter().filter(|metric| *metric != analysis.leading);
    std::iter::once(first).chain(others.map(|metric| second(variant, metric))).collect()
}

/// `sleep 1: 1.00 s [1.00, 1.00] (wall time)`, and what is missing where that is not what was asked for.
fn headline(analysis: &Analysis, alone: &Alone, name: &str) -> Line {
    let is_short_of_it = !alone.is_narrow && analysis.stop == Some(Stop::BudgetSpent);
    let tone = if is_short_of_it { Tone::Undecided } else { Tone::Same };
    let mut line = vec![
        toned(Tone::Strong, name),
        plain(": "),
        toned(tone, with_interval(alone.median, alone.interval, alone.unit)),
        toned(Tone::Faint, format!(" ({})", short_metric(&alone.metric))),
    ];
    if is_short_of_it {
        line.push(plain(format!(", {}", short_of_it(analysis, alone))));
    }
    line
}

/// How narrow it got, and what it would take.
fn short_of_it(analysis: &Analysis, alone: &Alone) -> String {
    let margin = format!("{} %", short(analysis.margin * 100.0));
    let reached = match alone.half_width {
        Some(half_width) => {
            format!("known to ±{} when the budget was spent, not to {margin}", percent(half_width))
        }
        None => format!("not known to {margin} when the budget was spent"),
    };
    match alone.forecast {
        Some(Forecast::MoreBlocks(1)) => format!("{reached}; about 1 more run would do"),
        Some(Forecast::MoreBlocks(runs)) => format!("{reached}; about {runs} more runs would do"),
        Some(Forecast::OutOfReach) | None => {
            format!("{reached}; not reachable here as it is: try a quieter machine or a larger --margin")
        }
    }
}

fn second(variant: &VariantSummary, metric: &str) -> Line {
    let known = variant.metrics.get(metric).and_then(|summary| Some((summary.median?, summary)));
    let text = match known {
        Some((median, summary)) => with_interval(median, ends(summary), Unit::Seconds),
        None => "unknown, too little to be measured".to_owned(),
    };
    vec![plain(format!("  {}: {text}", short_metric(metric)))]
}

fn ends(summary: &Summary) -> Option<(f64, f64)> {
    summary.low.zip(summary.high)
}

/// Half of the runs, all of them, and what it rests on.
pub fn effort(analysis: &Analysis) -> Vec<Line> {
    let Some(alone) = &analysis.alone else { return Vec::new() };
    let faint = |text: String| vec![toned(Tone::Faint, text)];
    let summary = analysis.variants[0].metrics.get(&alone.metric);
    let spread = summary.filter(|_| alone.runs > 1).map(|summary| {
        let write = |value: f64| quantity(value, alone.unit);
        let (from, to) = alone.quartiles;
        faint(format!(
            "  half of the runs {} to {}, all of them {} to {}",
            write(from),
            write(to),
            write(summary.min),
            write(summary.max)
        ))
    });
    let runs = if alone.runs == 1 { "1 run".to_owned() } else { format!("{} runs", alone.runs) };
    let reached = match alone.half_width {
        Some(half_width) => format!("median known to ±{}", percent(half_width)),
        None => "no interval".to_owned(),
    };
    let (confidence, margin) = (short(analysis.confidence * 100.0), short(analysis.margin * 100.0));
    let terms = format!("  {runs}, {confidence} % confidence, {reached}, margin {margin} %");
    spread.into_iter().chain([faint(terms)]).collect()
}

fn with_interval(median: f64, interval: Option<(f64, f64)>, unit: Unit) -> String {
    match (interval, unit) {
        (Some((low, high)), Unit::Seconds) => seconds_with_interval(median, Some(low), Some(high)),
        (Some((low, high)), _) => {
            format!("{} [{}, {}]", quantity(median, unit), quantity(low, unit), quantity(high, unit))
        }
        (None, _) => quantity(median, unit),
    }
}

fn quantity(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Seconds => seconds(value),
        Unit::Bytes => bytes(value),
        Unit::Count => count(value),
        Unit::Number => number(value),
    }
}

/// A time that was too short is a bound.
fn without_runs(variant: &VariantSummary, name: &str) -> Line {
    let text = match variant.timed_out_after_s {
        Some(limit_s) => format!(
            "{name}: more than {} ({} of {} runs timed out)",
            seconds(limit_s),
            variant.failed,
            variant.failed
        ),
        None => format!("{name}: no run succeeded"),
    };
    vec![plain(text)]
}

/// A concern about the only command: who it is about needs no word, and there is nothing beside it.
pub fn concern(concern: &Concern) -> String {
    match concern {
        Concern::Frequency { change } => format!(
            "the CPU frequency went {} by {} during the measurement, and the times with it",
            up_or_down(*change),
            percent(change.abs())
        ),
        Concern::Drift { change } => format!(
            "the times went {} by {} during the measurement: the median is of all of it; beside another command that cancels out",
            up_or_down(*change),
            percent(change.abs())
        ),
        Concern::Failures { .. } => {
            "failed runs are counted and left out; the numbers are of those that succeeded".to_owned()
        }
        Concern::LeadingUnknown { metric } => {
            format!("{} was to decide when to stop, but no run gave a value", short_metric(metric))
        }
        Concern::TooFewBlocks { blocks, needed } => format!(
            "{blocks} {} no interval at this confidence; {needed} is the least",
            if *blocks == 1 { "run has" } else { "runs have" }
        ),
        other => {
            let text = concern_of_several(&[String::new()], other);
            text.trim_start_matches(": ").to_owned()
        }
    }
}
