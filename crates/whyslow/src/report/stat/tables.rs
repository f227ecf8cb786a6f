//! The comparisons of a study as a table in a file: one row each, numbers in full.

use super::compose::number;
use super::{Pair, Study};
use crate::report::exports::{code_span, csv_line};

const COLUMNS: [&str; 13] = [
    "name",
    "metric",
    "base",
    "other",
    "base_values",
    "other_values",
    "base_median",
    "other_median",
    "ratio",
    "low",
    "high",
    "p",
    "verdict",
];

/// A set that nothing is compared with has no row.
fn rows(study: &Study) -> Vec<[String; COLUMNS.len()]> {
    study.pairs().map(|pair| row(study, pair)).collect()
}

fn row(study: &Study, pair: &Pair) -> [String; COLUMNS.len()] {
    let (base, other) = (study.sets[pair.base].set, study.sets[pair.other].set);
    let known = |value: Option<f64>| value.map_or(String::new(), number);
    let median = |place: usize| known(study.sets[place].figures().map(|figures| figures.median));
    let judgement = &pair.judgement;
    // Sets of one file are told apart by name, sets of the same name by file.
    let who = |set: &crate::model::DataSet| match base.origin.file == other.origin.file {
        true => set.name.clone(),
        false => set.origin.file.clone(),
    };
    [
        pair.name.clone(),
        base.metric.name.clone(),
        who(base),
        who(other),
        base.values.len().to_string(),
        other.values.len().to_string(),
        median(pair.base),
        median(pair.other),
        known(judgement.ratio),
        known(judgement.interval.map(|(low, _)| low)),
        known(judgement.interval.map(|(_, high)| high)),
        known(judgement.p),
        judgement.word(base).to_owned(),
    ]
}

/// Seconds and bytes; what is unknown is an empty field.
pub fn csv(study: &Study) -> String {
    let header = csv_line(&COLUMNS.map(String::from));
    rows(study).iter().fold(header, |text, row| text + &csv_line(row))
}

/// The same columns for GitHub's Markdown, the ratio with its interval in one.
pub fn markdown(study: &Study) -> String {
    let mut text = "| Name | Metric | Base | Other | Ratio | p | Verdict |\n".to_owned();
    text += "|:---|:---|:---|:---|---:|---:|:---|\n";
    for (pair, row) in study.pairs().zip(rows(study)) {
        let [name, metric, base, other] = [0, 1, 2, 3].map(|column| code_span(&row[column]));
        let p = pair.judgement.p.map_or("?".to_owned(), |p| format!("{p:.3}"));
        let cells = [name, metric, base, other, pair.judgement.range(), p, row[12].clone()];
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}
