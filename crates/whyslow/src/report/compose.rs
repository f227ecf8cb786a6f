//! The result of a comparison as a document: verdicts first, then what was measured, then what to keep in mind.

use super::alone;
use super::document::{Document, Line, Part, Tone, plain, toned};
use super::many;
use super::tables::{distributions, table};
use super::words::{concern, exit, failures, headline, short_metric, short_verdict, without_runs};
use crate::analysis::{Analysis, Comparison, Concern, VariantSummary, Verdict, is_mostly_work};
use crate::model::{HookFailure, Stop};

/// Names up to this length label the rows of tables; longer ones get a letter and a legend.
const LONGEST_IN_TABLE: usize = 12;
/// Names up to this length stand in sentences; longer ones are called by their letter there too.
const LONGEST_IN_SENTENCE: usize = 18;
const MOST_LINES_OF_STDERR: usize = 8;

/// The whole result.
pub fn compose(analysis: &Analysis) -> Document {
    if is_alone(analysis) {
        return compose_alone(analysis);
    }
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

fn is_alone(analysis: &Analysis) -> bool {
    analysis.variants.len() == 1
}

/// The same of a command that nothing is compared with: it needs no letter, and its row no name.
fn compose_alone(analysis: &Analysis) -> Document {
    let mut parts = alone_in_words(analysis);
    if analysis.variants[0].runs > 0 {
        if let Some(Part::Text(lines)) = parts.last_mut() {
            lines.extend(alone::effort(analysis));
        }
        parts.push(Part::Table(table(analysis, &[String::new()])));
        parts.push(Part::Distributions(distributions(analysis, &[String::new()])));
    }
    let notes = notes(analysis, &names_alone(analysis));
    if !notes.is_empty() {
        parts.push(Part::Notes(notes));
    }
    Document { parts }
}

fn alone_in_words(analysis: &Analysis) -> Vec<Part> {
    let names = names_alone(analysis);
    let mut parts: Vec<Part> = trouble(analysis, &names).into_iter().collect();
    parts.push(Part::Text(alone::sentences(analysis, &names[0])));
    parts
}

/// However long it is.
fn names_alone(analysis: &Analysis) -> Vec<String> {
    labels(analysis, usize::MAX)
}

/// How the variants are called in sentences.
pub fn labels_in_sentences(analysis: &Analysis) -> Vec<String> {
    labels(analysis, LONGEST_IN_SENTENCE)
}

/// The verdicts alone, with what letters stand for where names are too long for a sentence.
pub fn compose_quietly(analysis: &Analysis) -> Document {
    if is_alone(analysis) {
        let parts = alone_in_words(analysis).into_iter().chain(asked_for(analysis, &names_alone(analysis)));
        return Document { parts: parts.collect() };
    }
    let longest = if many::are_many(analysis) { LONGEST_IN_TABLE } else { LONGEST_IN_SENTENCE };
    let names = labels(analysis, longest);
    let mut parts: Vec<Part> = trouble(analysis, &names).into_iter().collect();
    parts.extend(verdicts(analysis, None));
    parts.extend(legend(analysis, &names));
    parts.extend(asked_for(analysis, &names));
    Document { parts }
}

/// What was asked for is told, however quietly.
fn asked_for(analysis: &Analysis, names: &[String]) -> Option<Part> {
    let is_asked_for =
        |c: &&Concern| matches!(c, Concern::OutputDiffers { .. } | Concern::OutputVaries { .. });
    let notes: Vec<Line> =
        analysis.concerns.iter().filter(is_asked_for).map(|c| vec![plain(concern(names, c))]).collect();
    (!notes.is_empty()).then_some(Part::Notes(notes))
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
    let Some(&first) = comparisons.first() else { return Vec::new() };
    if let Some(cpu) =
        comparisons.iter().position(|c| c.metric == "cpu_s" && leads_with_cpu(analysis, first, c))
    {
        comparisons[..=cpu].rotate_right(1);
    }
    let mut lines = Vec::new();
    if first.metric != analysis.leading {
        lines.push(vec![toned(Tone::Warning, unknown_leading(analysis, names, other))]);
    }
    lines.push(headline(names, comparisons[0]));
    lines.extend(
        comparisons[1..].iter().map(|comparison| second(short_metric(&comparison.metric), comparison)),
    );
    if !comparisons.iter().any(|comparison| comparison.metric == "cpu_s") {
        lines.push(unknown_cpu());
    }
    lines
}

/// CPU time may lead only where it is most of the time: the CPU time of a program that waits is not what is felt.
fn leads_with_cpu(analysis: &Analysis, wall: &Comparison, cpu: &Comparison) -> bool {
    let is_work = |index: usize| {
        let variant = &analysis.variants[index];
        let times = variant.median("cpu_s").zip(variant.median("wall_s"));
        let wait_s = variant.median("run_queue_wait_s");
        times.is_some_and(|(cpu_s, wall_s)| is_mostly_work(cpu_s, wall_s, wait_s))
    };
    wall.metric == "wall_s"
        && wall.verdict == Verdict::Undecided
        && cpu.verdict != Verdict::Undecided
        && is_work(wall.base)
        && is_work(wall.other)
}

fn second(metric: &str, comparison: &Comparison) -> Line {
    let mut line = vec![plain(format!("  {metric}: "))];
    line.extend(short_verdict(comparison));
    line
}

/// The metric that was asked for is not there: nothing else may stand in for it without a word.
fn unknown_leading(analysis: &Analysis, names: &[String], other: usize) -> String {
    let given: Vec<String> = [analysis.base, other]
        .into_iter()
        .map(|index| {
            let variant = &analysis.variants[index];
            let count = variant.metrics.get(&analysis.leading).map_or(0, |summary| summary.count);
            format!("{count} of {} runs of {}", variant.runs, names[index])
        })
        .collect();
    format!(
        "{}: unknown; a value above 0 is needed, and {} gave one",
        short_metric(&analysis.leading),
        given.join(" and ")
    )
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
pub(super) fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn trouble(analysis: &Analysis, names: &[String]) -> Option<Part> {
    let warning = |text: String| Some(Part::Text(vec![vec![toned(Tone::Warning, text)]]));
    if let Some(failure) = &analysis.failure {
        let name = &names[failure.variant];
        let run = match failure.is_warmup {
            true => "in the warm-up".to_owned(),
            false => format!("in {} {}", block_word(names), failure.block + 1),
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
        None => warning("unfinished: these are the runs until then".into()),
        _ => None,
    }
}

/// Which hook of which run failed, and how.
pub fn hook_failure(names: &[String], failure: &HookFailure) -> String {
    let run = failure.block.map_or(String::new(), |block| format!(" in {} {}", block_word(names), block + 1));
    format!("the {} hook of {}{run} {}", failure.kind.name(), names[failure.variant], exit(&failure.exit))
}

/// A block of one run is a run.
fn block_word(names: &[String]) -> &'static str {
    if names.len() == 1 { "run" } else { "block" }
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
    // Invisible characters, and those that turn the direction of the text, can make a name look like another.
    let is_hidden =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    if c.is_control() || is_hidden { c.escape_default().collect() } else { vec![c] }
}

/// What the variants are called: their names, or letters where one of the names is longer than `longest`.
fn labels(analysis: &Analysis, longest: usize) -> Vec<String> {
    or_letters(analysis.variants.iter().map(|variant| printable(&variant.name)).collect(), longest)
}

/// The same for a line that must be short.
pub fn short_names(names: impl Iterator<Item = String>) -> Vec<String> {
    or_letters(names.map(|name| printable(&name)).collect(), LONGEST_IN_TABLE)
}

/// The names, or letters where one of them is longer than `longest`.
pub(super) fn or_letters(names: Vec<String>, longest: usize) -> Vec<String> {
    if names.iter().all(|name| name.chars().count() <= longest) {
        names
    } else {
        (0..names.len()).map(letter).collect()
    }
}

/// A, B, ... Z, AA, AB, ...
fn letter(index: usize) -> String {
    let last = char::from(b'A' + (index % 26) as u8);
    if index < 26 { last.to_string() } else { format!("{}{last}", letter(index / 26 - 1)) }
}

pub(super) fn legend(analysis: &Analysis, labels: &[String]) -> Option<Part> {
    let is_needed =
        analysis.variants.iter().zip(labels).any(|(variant, label)| printable(&variant.name) != *label);
    let line = |(variant, label): (&VariantSummary, &String)| -> Line {
        vec![plain(format!("{label}  ")), toned(Tone::Strong, without_long_words(&printable(&variant.name)))]
    };
    is_needed.then(|| Part::Text(analysis.variants.iter().zip(labels).map(line).collect()))
}

/// A path of a thousand folders would bury what it is the legend of; the recording has the whole.
fn without_long_words(name: &str) -> String {
    const LONG: usize = 300;
    const SHOWN: usize = 120;
    let shown = |word: &str| match word.chars().count() {
        letters if letters > LONG => word.chars().take(SHOWN).chain("...".chars()).collect(),
        _ => word.to_owned(),
    };
    name.split(' ').map(shown).collect::<Vec<String>>().join(" ")
}

fn notes(analysis: &Analysis, names: &[String]) -> Vec<Line> {
    let is_told = analysis.failure.is_some();
    let failed = analysis.variants.iter().zip(names).filter(|(variant, _)| variant.failed > 0 && !is_told);
    let lead = |name: &str| if is_alone(analysis) { String::new() } else { format!("{name}: ") };
    let failed = failed.map(|(variant, name)| vec![plain(lead(name) + &failures(variant))]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_very_long_words_of_a_name_are_cut() {
        let long = format!("PATH={} run  x", "/a:".repeat(400));
        let shown = without_long_words(&long);
        assert!(
            shown.starts_with("PATH=/a:") && shown.ends_with("... run  x") && shown.len() < 150,
            "{shown}"
        );
        assert_eq!(without_long_words("A=1 sort  words"), "A=1 sort  words");
    }
}
