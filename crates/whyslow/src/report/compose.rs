//! The result of a comparison as a document: verdicts first, then what was measured, then what to keep in mind.

use super::document::{Distribution, Distributions, Document, Line, Part, Table, Tone, plain, toned};
use super::many;
use super::quantity::{bytes, count, percent, seconds, seconds_with_interval};
use super::words::{concern, exit, failures, headline, short_metric, short_verdict, without_runs};
use crate::analysis::{Analysis, Comparison, VariantSummary, Verdict};
use crate::model::{HookFailure, Stop};

/// Names up to this length label the rows of tables; longer ones get a letter and a legend.
const LONGEST_IN_TABLE: usize = 12;
/// Names up to this length stand in sentences; longer ones are called by their letter there too.
const LONGEST_IN_SENTENCE: usize = 18;
const MOST_LINES_OF_STDERR: usize = 8;
const UNKNOWN: &str = "unknown";

/// The whole result.
pub fn compose(analysis: &Analysis) -> Document {
    let names = labels(analysis, LONGEST_IN_SENTENCE);
    let mut parts = Vec::new();
    parts.extend(trouble(analysis, &names));
    parts.extend(verdicts(analysis, Some(vec![toned(Tone::Faint, effort(analysis))])));
    let labels = labels(analysis, LONGEST_IN_TABLE);
    parts.extend(legend(analysis, &labels));
    if analysis.variants.iter().any(|variant| variant.runs > 0) {
        parts.push(Part::Table(table(analysis, &labels)));
        parts.push(Part::Distributions(distributions(analysis, &labels)));
    }
    let notes = notes(analysis, &names);
    if !notes.is_empty() {
        parts.push(Part::Notes(notes));
    }
    Document { parts }
}

/// The verdicts alone, with what letters stand for where names are too long for a sentence.
pub fn compose_quietly(analysis: &Analysis) -> Document {
    let longest = if many::are_many(analysis) { LONGEST_IN_TABLE } else { LONGEST_IN_SENTENCE };
    let names = labels(analysis, longest);
    let mut parts: Vec<Part> = trouble(analysis, &names).into_iter().collect();
    parts.extend(verdicts(analysis, None));
    parts.extend(legend(analysis, &names));
    Document { parts }
}

/// Two lines for each variant but the base: wall time, then CPU time; many variants make a table. What they rest on
/// comes last.
///
/// Where the machine hides the wall time but CPU time is decided, CPU time leads.
fn verdicts(analysis: &Analysis, effort: Option<Line>) -> Vec<Part> {
    if many::are_many(analysis) {
        let labels = labels(analysis, LONGEST_IN_TABLE);
        let outlook = many::outlook(analysis).map(|outlook| vec![plain(outlook)]);
        return vec![
            Part::Text(vec![many::introduction(analysis, &labels)]),
            Part::Table(many::verdicts(analysis, &labels)),
            Part::Text(outlook.into_iter().chain(effort).collect()),
        ];
    }
    let names = labels(analysis, LONGEST_IN_SENTENCE);
    let others = (0..analysis.variants.len()).filter(|&other| other != analysis.base);
    let lines = others.flat_map(|other| verdict_lines(analysis, &names, other));
    vec![Part::Text(lines.chain(effort).collect())]
}

/// The metric that decides first, the others below it; wall time makes room for CPU time where only that is decided.
fn verdict_lines(analysis: &Analysis, names: &[String], other: usize) -> Vec<Line> {
    let without = [analysis.base, other].into_iter().find(|&index| analysis.variants[index].runs == 0);
    if let Some(index) = without.filter(|&index| analysis.variants[index].failed > 0) {
        return vec![vec![plain(without_runs(names, index, &analysis.variants[index]))]];
    }
    let mut comparisons: Vec<&Comparison> =
        analysis.comparisons.iter().filter(|comparison| comparison.other == other).collect();
    let Some(first) = comparisons.first() else { return Vec::new() };
    if let Some(cpu) = comparisons.iter().position(|c| c.metric == "cpu_s" && leads_with_cpu(first, c)) {
        comparisons[..=cpu].rotate_right(1);
    }
    let mut lines = vec![with_metric(headline(names, comparisons[0]), short_metric(&comparisons[0].metric))];
    lines.extend(
        comparisons[1..].iter().map(|comparison| second(short_metric(&comparison.metric), comparison)),
    );
    if !comparisons.iter().any(|comparison| comparison.metric == "cpu_s") {
        lines.push(unknown_cpu());
    }
    lines
}

fn leads_with_cpu(wall: &Comparison, cpu: &Comparison) -> bool {
    wall.metric == "wall_s" && wall.verdict == Verdict::Undecided && cpu.verdict != Verdict::Undecided
}

fn with_metric(mut line: Line, metric: &str) -> Line {
    line.push(toned(Tone::Faint, format!(" ({metric})")));
    line
}

fn second(metric: &str, comparison: &Comparison) -> Line {
    let mut line = vec![plain(format!("  {metric}: "))];
    line.extend(short_verdict(comparison));
    line
}

fn unknown_cpu() -> Line {
    vec![plain("  CPU time: unknown, too little to be measured")]
}

/// What the verdicts rest on.
fn effort(analysis: &Analysis) -> String {
    let blocks = match analysis.blocks {
        1 => "1 block".to_owned(),
        blocks => format!("{blocks} blocks"),
    };
    let all = if analysis.variants.len() == 2 { "both" } else { "all" };
    let (confidence, margin) = (analysis.confidence * 100.0, analysis.margin * 100.0);
    format!(
        "  {blocks} of {all} in random order, {} % confidence, margin {} %",
        short(confidence),
        short(margin)
    )
}

/// A number that somebody chose, as they would write it: 95, 2, 0.5.
fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn trouble(analysis: &Analysis, names: &[String]) -> Option<Part> {
    let warning = |text: String| Some(Part::Text(vec![vec![toned(Tone::Warning, text)]]));
    if let Some(failure) = &analysis.failure {
        let name = &names[failure.variant];
        let run = match failure.is_warmup {
            true => "in the warm-up".to_owned(),
            false => format!("in block {}", failure.block + 1),
        };
        let how = printable(&exit(&failure.exit));
        let mut lines = vec![vec![toned(Tone::Warning, format!("{name} {how} {run}"))]];
        if failure.stderr_tail.is_empty() {
            lines.push(vec![toned(Tone::Faint, "it wrote nothing to its standard error")]);
        } else {
            lines.push(vec![toned(Tone::Faint, "the end of its standard error:")]);
            lines.extend(
                last_lines(&failure.stderr_tail).into_iter().map(|line| vec![plain(format!("  {line}"))]),
            );
        }
        return Some(Part::Text(lines));
    }
    if let Some(failure) = &analysis.hook_failure {
        let mut lines = vec![vec![toned(Tone::Warning, hook_failure(names, failure))]];
        lines.extend(
            last_lines(&failure.stderr_tail).into_iter().map(|line| vec![plain(format!("  {line}"))]),
        );
        return Some(Part::Text(lines));
    }
    match analysis.stop {
        Some(Stop::Interrupted) => warning("interrupted: this is what was measured until then".into()),
        None => warning("the recording breaks off: this is what it holds".into()),
        _ => None,
    }
}

/// Which hook of which run failed, and how.
pub fn hook_failure(names: &[String], failure: &HookFailure) -> String {
    let run = failure.block.map_or(String::new(), |block| format!(" in block {}", block + 1));
    format!("the {} hook of {}{run} {}", failure.kind.name(), names[failure.variant], exit(&failure.exit))
}

/// The end of what a failed program said; its control characters must not reach the terminal.
pub fn last_lines(text: &str) -> Vec<String> {
    let from = text.lines().count().saturating_sub(MOST_LINES_OF_STDERR);
    text.lines().skip(from).map(printable).collect()
}

/// The text with everything that could move the cursor or change colours made visible.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c == '\t' { ' ' } else { c }).flat_map(visible).collect()
}

/// The same for a text of several lines.
pub fn printable_lines(text: &str) -> String {
    text.lines().map(|line| printable(line) + "\n").collect()
}

fn visible(c: char) -> Vec<char> {
    if c.is_control() { c.escape_default().collect() } else { vec![c] }
}

/// What the variants are called: their names, or letters where one of the names is longer than `longest`.
fn labels(analysis: &Analysis, longest: usize) -> Vec<String> {
    let names: Vec<String> = analysis.variants.iter().map(|variant| printable(&variant.name)).collect();
    if names.iter().all(|name| name.chars().count() <= longest) {
        names
    } else {
        (0..names.len()).map(letter).collect()
    }
}

/// A, B, ... Z, AA, AB, ...
pub(super) fn letter(index: usize) -> String {
    let last = char::from(b'A' + (index % 26) as u8);
    if index < 26 { last.to_string() } else { format!("{}{last}", letter(index / 26 - 1)) }
}

fn legend(analysis: &Analysis, labels: &[String]) -> Option<Part> {
    let is_needed =
        analysis.variants.iter().zip(labels).any(|(variant, label)| printable(&variant.name) != *label);
    let line = |(variant, label): (&VariantSummary, &String)| -> Line {
        vec![plain(format!("{label}  ")), toned(Tone::Strong, printable(&variant.name))]
    };
    is_needed.then(|| Part::Text(analysis.variants.iter().zip(labels).map(line).collect()))
}

fn table(analysis: &Analysis, labels: &[String]) -> Table {
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

fn distributions(analysis: &Analysis, labels: &[String]) -> Distributions {
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

fn notes(analysis: &Analysis, names: &[String]) -> Vec<Line> {
    let is_told = analysis.failure.is_some();
    let failed = analysis.variants.iter().zip(names).filter(|(variant, _)| variant.failed > 0 && !is_told);
    let failed = failed.map(|(variant, name)| vec![plain(format!("{name}: {}", failures(variant)))]);
    let mut notes: Vec<Line> = failed.collect();
    let concerns = match many::are_many(analysis) {
        true => many::concerns(names, &analysis.concerns),
        false => analysis.concerns.iter().map(|c| concern(names, c)).collect(),
    };
    notes.extend(concerns.into_iter().map(|text| vec![plain(text)]));
    notes.extend(analysis.missing.iter().map(|missing| {
        let remedy = missing.remedy.as_ref().map_or(String::new(), |remedy| format!("; {remedy}"));
        let text = format!("not measured: {}: {}{remedy}", missing.what, missing.why);
        vec![toned(Tone::Faint, printable(&text))]
    }));
    notes
}
