//! The blocks and the summary that hyperfine prints, with a verdict where hyperfine has a ratio with a deviation of
//! single runs.

use benchmath::{quantiles, summary};

use super::Options;
use super::figures::Figures;
use super::judged::verdict_lines;
use super::printf::general;
use crate::model::{DataSet, Unit};

/// The sets of the first metric are the benchmarks; other sets of the same names give user and system time.
pub fn hyperfine(sets: &[DataSet], options: &Options) -> String {
    let Some(first) = sets.first() else { return String::new() };
    let benchmarks: Vec<DataSet> =
        sets.iter().filter(|set| set.metric.name == first.metric.name).cloned().collect();
    let blocks = benchmarks.iter().enumerate().map(|(place, set)| block(place + 1, set, sets));
    let mut text: String = blocks.collect();
    if benchmarks.len() > 1 {
        let lines = if options.compat { ratios(&benchmarks) } else { verdicts(&benchmarks, options) };
        text += "Summary\n";
        text.extend(lines.iter().map(|line| format!("{line}\n")));
    }
    text
}

fn block(number: usize, set: &DataSet, sets: &[DataSet]) -> String {
    let title = format!("Benchmark {number}: {}\n", set.name);
    let Some(figures) = Figures::of(&set.values) else {
        let reason = if set.values.is_empty() { "no runs" } else { "some values are no numbers" };
        return format!("{title}  {reason}\n \n");
    };
    let write = |value: f64| in_unit(value, figures.mean, set.metric.unit);
    let mean = write(figures.mean);
    let split = split(set, sets, figures.mean);
    let Some(deviation) = figures.deviation else {
        let line = format!("  Time (abs ≡):        {mean:>8}               {split}");
        return format!("{title}{}\n \n", line.trim_end());
    };
    let (deviation, min, max) = (write(deviation), write(figures.min), write(figures.max));
    let times = format!("  Time (mean ± σ):     {mean:>8} ± {deviation:>8}    {split}");
    let range = format!("  Range (min … max):   {min:>8} … {max:>8}    {} runs", figures.count);
    format!("{title}{}\n{range}\n \n", times.trim_end())
}

/// `[User: 1.2 ms, System: 0.2 ms]`, where both are known.
fn split(set: &DataSet, sets: &[DataSet], mean: f64) -> String {
    let mean_of = |name: &str| {
        let other =
            sets.iter().find(|other| other.name == set.name && other.metric.name == format!("{name}_s"));
        let printed = || set.printed.iter().find(|(printed, _)| printed == name).map(|(_, value)| *value);
        other
            .filter(|other| !other.values.is_empty())
            .map(|other| summary::mean(&other.values))
            .or_else(printed)
    };
    let both = mean_of("user").zip(mean_of("system"));
    let write = |value: f64| in_unit(value, mean, Some(Unit::Seconds));
    both.map_or(String::new(), |(user, system)| format!("[User: {}, System: {}]", write(user), write(system)))
}

/// In the unit that suits `like`; times below a second have one decimal, others three.
fn in_unit(value: f64, like: f64, unit: Option<Unit>) -> String {
    match unit {
        Some(Unit::Seconds) if like < 1e-3 => format!("{:.1} µs", value * 1e6),
        Some(Unit::Seconds) if like < 1.0 => format!("{:.1} ms", value * 1e3),
        Some(Unit::Seconds) => format!("{value:.3} s"),
        Some(Unit::Bytes) => format!("{:.1} MiB", value / 1_048_576.0),
        _ => general(value, 4),
    }
}

/// Ratios of means as hyperfine prints them: the fastest first, whatever they are worth.
fn ratios(benchmarks: &[DataSet]) -> Vec<String> {
    let mut summaries: Vec<(&str, f64, f64)> = benchmarks
        .iter()
        .filter_map(|set| {
            let figures = Figures::of(&set.values)?;
            Some((set.name.as_str(), figures.mean, figures.deviation.unwrap_or(f64::NAN)))
        })
        .collect();
    summaries.sort_by(|a, b| a.1.total_cmp(&b.1));
    let Some(&(fastest, base, scatter)) = summaries.first() else { return Vec::new() };
    let ratio = |&(name, mean, deviation): &(&str, f64, f64)| {
        let ratio = mean / base;
        let spread = ratio * ((deviation / mean).powi(2) + (scatter / base).powi(2)).sqrt();
        let spread = if spread.is_finite() { format!(" ± {spread:.2}") } else { String::new() };
        let ratio = if ratio.is_finite() { format!("{ratio:8.2}") } else { "       ?".to_owned() };
        format!("{ratio}{spread} times faster than {name}")
    };
    std::iter::once(format!("  {fastest} ran")).chain(summaries[1..].iter().map(ratio)).collect()
}

fn verdicts(benchmarks: &[DataSet], options: &Options) -> Vec<String> {
    let lines = verdict_lines(benchmarks, options).into_iter().map(|line| format!("  {line}"));
    let medians = benchmarks.iter().filter_map(|set| {
        let median = quantiles::median(&set.values)?;
        Some(format!("  {}: median {}", set.name, in_unit(median, median, set.metric.unit)))
    });
    medians.chain(lines).collect()
}
