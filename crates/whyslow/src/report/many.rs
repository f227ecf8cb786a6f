//! Many variants: what would be sentences for each of them becomes a row of a table, and notes that say the same of
//! several become one.

use super::document::{Line, Table, Tone, plain, toned};
use super::quantity::seconds;
use super::words::{concern as in_words, short_metric};
use crate::analysis::{Analysis, Comparison, Concern, Forecast, Verdict};
use crate::model::{Unit, known_metric};

/// Up to so many variants each has its own sentences.
const FEW: usize = 5;
/// How many variants are told apart in one note.
const TOLD_APART: usize = 3;
/// Three metrics fit into 80 columns with as many.
const MOST_DECIMALS: f64 = 3.0;

pub fn are_many(analysis: &Analysis) -> bool {
    analysis.variants.len() > FEW
}

/// What the numbers of the table are.
pub fn introduction(analysis: &Analysis, labels: &[String]) -> Line {
    vec![
        plain("against "),
        toned(Tone::Strong, labels[analysis.base].as_str()),
        plain(", verdicts and intervals of the ratio; below 1 is less:"),
    ]
}

/// One row for each variant but the base, one column for each judged metric.
pub fn verdicts(analysis: &Analysis, labels: &[String]) -> Table {
    let mut metrics: Vec<&str> = Vec::new();
    for comparison in &analysis.comparisons {
        if !metrics.contains(&comparison.metric.as_str()) {
            metrics.push(&comparison.metric);
        }
    }
    let row = |other: usize| {
        let cells = metrics.iter().map(|metric| cell(analysis.comparison(other, metric)));
        std::iter::once(labels[other].clone()).chain(cells).collect()
    };
    let header = std::iter::once("").chain(metrics.iter().map(|metric| short_metric(metric)));
    Table {
        header: header.map(String::from).collect(),
        rows: (0..labels.len()).filter(|&other| other != analysis.base).map(row).collect(),
    }
}

/// `slower 1.02-1.19`.
fn cell(comparison: Option<&Comparison>) -> String {
    let Some(comparison) = comparison else { return "unknown".to_owned() };
    let is_time = known_metric(&comparison.metric).is_some_and(|row| row.unit == Unit::Seconds);
    let verdict = match comparison.verdict {
        Verdict::Faster if is_time => "faster",
        Verdict::Slower if is_time => "slower",
        Verdict::Faster => "less",
        Verdict::Slower => "more",
        Verdict::Same => "same",
        Verdict::Undecided => "undecided",
    };
    let Some((low, high)) = comparison.ratio.low.zip(comparison.ratio.high) else {
        return "too few runs".to_owned();
    };
    // As many as tell the ends apart.
    let decimals = (1.0 - (high - low).log10()).ceil().clamp(0.0, MOST_DECIMALS) as usize;
    format!("{verdict} {low:.decimals$}-{high:.decimals$}")
}

/// What it would take to decide the rest.
pub fn outlook(analysis: &Analysis) -> Option<String> {
    let leading = analysis.comparisons.iter().filter(|comparison| comparison.metric == analysis.leading);
    let forecasts: Vec<Forecast> = leading.filter_map(|comparison| comparison.forecast).collect();
    let blocks = |forecast: &Forecast| match forecast {
        Forecast::MoreBlocks(blocks) => Some(*blocks),
        Forecast::OutOfReach => None,
    };
    let most = forecasts.iter().filter_map(blocks).max()?;
    let out_of_reach = forecasts.iter().filter(|forecast| blocks(forecast).is_none()).count();
    let undecided = format!("  undecided by {}: {}", short_metric(&analysis.leading), forecasts.len());
    Some(match out_of_reach {
        0 => format!("{undecided}; about {most} more blocks would decide all of them"),
        some => format!("{undecided}, of which {some} cannot be decided here as it is"),
    })
}

/// The concerns in words, with one sentence for all variants of which the same is to be said.
pub fn concerns(names: &[String], concerns: &[Concern]) -> Vec<String> {
    let mut said: Vec<(Vec<&str>, String)> = Vec::new();
    for concern in concerns {
        let text = sentence(names, concern);
        let name = names.iter().find(|name| text.starts_with(&format!("{name}: ")));
        let Some(name) = name else {
            said.push((Vec::new(), text));
            continue;
        };
        let text = text[name.len() + 2..].to_owned();
        match said.iter_mut().find(|(who, same)| !who.is_empty() && *same == text) {
            Some((who, _)) => who.push(name),
            None => said.push((vec![name], text)),
        }
    }
    let joined = |(who, text): (Vec<&str>, String)| match who.is_empty() {
        true => text,
        false => format!("{}: {text}", who.join(", ")),
    };
    said.into_iter().map(joined).collect()
}

/// Without the numbers that would keep sentences about several variants apart.
fn sentence(names: &[String], concern: &Concern) -> String {
    match concern {
        Concern::Outliers { variants } if variants.len() > TOLD_APART => {
            let mut worst = variants.clone();
            worst.sort_by(|a, b| b.slowest_ratio.total_cmp(&a.slowest_ratio));
            let others = worst.split_off(TOLD_APART);
            and_others(in_words(names, &Concern::Outliers { variants: worst }), others.len())
        }
        Concern::TwoModes { variants, together } if variants.len() > TOLD_APART => {
            let shown = Concern::TwoModes { variants: variants[..TOLD_APART].to_vec(), together: *together };
            and_others(in_words(names, &shown), variants.len() - TOLD_APART)
        }
        Concern::Short { variant, floor_s, .. } => format!(
            "{}: of such short runs, about {} is the start of any program at all here; more work per run tells more",
            names[*variant],
            seconds(*floor_s)
        ),
        Concern::Order { other, .. } => format!(
            "{}: it matters whether a run comes before or after that of the base: caches or clocks carry over; random order cancels it, more --warmup may remove it",
            names[*other]
        ),
        other => in_words(names, other),
    }
}

fn and_others(text: String, others: usize) -> String {
    format!("{text}; and {others} more {}", if others == 1 { "variant" } else { "variants" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_of_several_is_said_once() {
        let names = ["a", "b", "c"].map(String::from);
        let short = |variant, median_s| Concern::Short { variant, median_s, floor_s: 1e-3 };
        let order = Concern::Order { other: 1, second_over_first: 1.1 };
        let text = concerns(&names, &[short(0, 2e-3), order, short(2, 3e-3), Concern::Steal { share: 0.1 }]);
        assert_eq!(text.len(), 3);
        assert!(text[0].starts_with("a, c: of such short runs, about 1.00 ms "), "{}", text[0]);
        assert!(text[1].starts_with("b: it matters"), "{}", text[1]);
        assert!(text[2].starts_with("the hypervisor took 10 %"), "{}", text[2]);
    }
}
