//! The figures of the variants: one row each with the usual metrics, and the picture of their wall times.

use super::document::{Distribution, Distributions, Table};
use super::quantity::{bytes, count, number, percent, seconds, seconds_with_interval};
use crate::analysis::{Analysis, Summary, VariantSummary};
use crate::model::{Metric, Unit};

/// The metrics that every table shows.
const IN_TABLE: [&str; 4] = ["wall_s", "cpu_s", "page_faults", "peak_rss_bytes"];
/// More columns than this do not fit beside the usual ones.
const MOST_EXTRA: usize = 3;
const UNKNOWN: &str = "unknown";

/// The usual metrics, and first those that the user asked for beyond them.
pub fn table(analysis: &Analysis, labels: &[String]) -> Table {
    let mut table = usual_table(analysis, labels);
    for metric in extra_metrics(analysis) {
        table.header.insert(1, metric.name.clone());
        for (row, variant) in table.rows.iter_mut().zip(&analysis.variants) {
            let summary = variant.metrics.get(&metric.name);
            row.insert(1, summary.map_or(UNKNOWN.to_owned(), |summary| with_interval(summary, metric.unit)));
        }
    }
    table
}

/// Last first, since each is put before the others.
fn extra_metrics(analysis: &Analysis) -> Vec<&Metric> {
    let is_extra = |metric: &&Metric| {
        metric.source.is_some()
            || (metric.name == analysis.leading && !IN_TABLE.contains(&metric.name.as_str()))
    };
    let mut extra: Vec<&Metric> = analysis.metrics.iter().filter(is_extra).take(MOST_EXTRA).collect();
    extra.reverse();
    extra
}

fn with_interval(summary: &Summary, unit: Unit) -> String {
    let Some(median) = summary.median else { return UNKNOWN.to_owned() };
    match unit {
        Unit::Seconds => seconds_with_interval(median, summary.low, summary.high),
        Unit::Bytes => bytes(median),
        Unit::Count => count(median),
        Unit::Number => number(median),
    }
}

fn usual_table(analysis: &Analysis, labels: &[String]) -> Table {
    let header = ["", "wall time", "CPU", "user+system", "faults", "peak mem", "CPU wait"];
    let rows =
        analysis.variants.iter().zip(labels).map(|(variant, label)| row(variant, label, analysis)).collect();
    Table { header: header.map(String::from).to_vec(), rows }
}

fn row(variant: &VariantSummary, label: &str, analysis: &Analysis) -> Vec<String> {
    let metric =
        |name: &str, write: &dyn Fn(f64) -> String| variant.median(name).map_or(UNKNOWN.to_owned(), write);
    let wall = variant.metrics.get("wall_s");
    vec![
        label.to_owned(),
        wall.and_then(|wall| Some(seconds_with_interval(wall.median?, wall.low, wall.high)))
            .unwrap_or(UNKNOWN.to_owned()),
        metric("cpu_s", &seconds),
        split(variant),
        metric("page_faults", &count),
        peak_memory(variant, analysis),
        variant.wait_share.map_or(UNKNOWN.to_owned(), percent),
    ]
}

/// A child starts with the peak of the tiny process that started it, so less than that cannot be seen.
fn peak_memory(variant: &VariantSummary, analysis: &Analysis) -> String {
    let floor = analysis.floor.and_then(|floor| floor.peak_rss_bytes).unwrap_or(0.0);
    match variant.median("peak_rss_bytes") {
        None => UNKNOWN.to_owned(),
        Some(peak) if peak <= floor => format!("<={}", bytes(floor)),
        Some(peak) => bytes(peak),
    }
}

fn split(variant: &VariantSummary) -> String {
    let Some(share) = variant.user_share else { return UNKNOWN.to_owned() };
    let user = (share.point * 100.0).round();
    format!("{user:.0} + {:.0} %", 100.0 - user)
}

pub fn distributions(analysis: &Analysis, labels: &[String]) -> Distributions {
    let axis = analysis.variants.iter().map(|variant| &variant.histogram).find(|h| !h.counts.is_empty());
    let ends = axis.map_or_else(Default::default, |axis| (seconds(axis.low_s), seconds(axis.high_s)));
    let rows =
        analysis.variants.iter().zip(labels).map(|(variant, label)| distribution(variant, label)).collect();
    Distributions { rows, ends }
}

fn distribution(variant: &VariantSummary, label: &str) -> Distribution {
    let wall = variant.metrics.get("wall_s");
    let spread = wall.and_then(|wall| Some(wall.spread / wall.median.filter(|&median| median > 0.0)?));
    let mut remark = match spread {
        Some(spread) if variant.runs > 1 => format!("±{}", percent(spread)),
        _ => String::new(),
    };
    if variant.histogram.beyond > 0 {
        remark.push_str(&format!(", {} beyond", variant.histogram.beyond));
    }
    Distribution { name: label.to_owned(), counts: variant.histogram.counts.clone(), remark }
}
