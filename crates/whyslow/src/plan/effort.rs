//! How much to measure and what the answer must be worth, with the ranges that make sense.

use super::{PlanError, Question};
use crate::model::{Design, Metric, RunCount, known_metric};

/// In per cent.
const MARGIN: f64 = 2.0;
/// Half the margin of a comparison: two medians, each known that well, are known apart to all of it.
const MARGIN_ALONE: f64 = 1.0;
/// One command has no other beside it that would cancel out the swings of the machine: longer than this, more time makes
/// its median hardly better known.
const BUDGET_ALONE_S: f64 = 10.0;

pub fn design(
    question: &Question,
    (variants, base): (usize, usize),
    metrics: &[Metric],
) -> Result<Design, PlanError> {
    let usual_margin = if variants == 1 { MARGIN_ALONE } else { MARGIN };
    let default = Design::default();
    let usual_budget_s = if variants == 1 { BUDGET_ALONE_S } else { default.budget_s };
    Ok(Design {
        runs: run_count(question)?,
        warmup: question.warmup.unwrap_or(default.warmup),
        seed: question.seed,
        budget_s: budget(question, usual_budget_s)?,
        confidence: percent("--confidence", "above 50 and below 100", question.confidence, 95.0, |p| {
            p > 50.0 && p < 100.0
        })?,
        margin: percent("--margin", "above 0 and at most 100", question.margin, usual_margin, |p| {
            p > 0.0 && p <= 100.0
        })?,
        base,
        leading: leading(question, metrics)?,
        failures: question.failures.clone(),
        success_codes: match question.success_codes.as_slice() {
            [] => default.success_codes,
            codes => codes.to_vec(),
        },
        gap_s: question.gap_s,
    })
}

fn leading(question: &Question, metrics: &[Metric]) -> Result<String, PlanError> {
    let Some(asked) = &question.leading else { return Ok(Design::default().leading) };
    let Some(metric) = meant(asked, metrics) else {
        return Err(PlanError::UnknownMetric {
            name: asked.clone(),
            known: metrics.iter().map(|metric| metric.name.clone()).collect(),
        });
    };
    if MISBOOKED.contains(&metric.name.as_str()) {
        return Err(PlanError::MisbookedMetric { name: metric.name.clone() });
    }
    Ok(metric.name.clone())
}

/// Booked by the timer tick: of a single run they mean nothing.
const MISBOOKED: [&str; 2] = ["user_s", "system_s"];

/// The metric of that name; without its unit (wall for wall_s); or the only one with that word in its name or title.
fn meant<'a>(asked: &str, metrics: &'a [Metric]) -> Option<&'a Metric> {
    let is_without_unit =
        |metric: &&Metric| metric.name.strip_prefix(asked).is_some_and(|unit| unit.starts_with('_'));
    let exact = metrics.iter().find(|metric| metric.name == asked);
    exact.or_else(|| metrics.iter().find(is_without_unit)).or_else(|| {
        let has_word = |metric: &&Metric| {
            let title = known_metric(&metric.name).map_or("", |row| row.title);
            metric.name.contains(asked) || title.contains(asked)
        };
        let mut with_word = metrics.iter().filter(has_word);
        with_word.next().filter(|_| with_word.next().is_none() && !asked.is_empty())
    })
}

fn run_count(question: &Question) -> Result<RunCount, PlanError> {
    let counts = [question.runs, question.min_runs, question.max_runs];
    if counts.contains(&Some(0)) {
        return Err(PlanError::NoRuns);
    }
    match (question.runs, question.min_runs.unwrap_or(0), question.max_runs) {
        (Some(runs), ..) => Ok(RunCount::Exactly(runs)),
        (None, min, Some(max)) if min > max => Err(PlanError::RunBounds { min, max }),
        (None, min, max) => Ok(RunCount::UntilDecided { min, max }),
    }
}

fn budget(question: &Question, usual_s: f64) -> Result<f64, PlanError> {
    let value = question.budget_s.unwrap_or(usual_s);
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(PlanError::OutOfRange { option: "--budget", range: "a positive number of seconds", value })
}

fn percent(
    option: &'static str,
    range: &'static str,
    value: Option<f64>,
    default: f64,
    is_right: impl Fn(f64) -> bool,
) -> Result<f64, PlanError> {
    let value = value.unwrap_or(default);
    if is_right(value) { Ok(value / 100.0) } else { Err(PlanError::OutOfRange { option, range, value }) }
}
