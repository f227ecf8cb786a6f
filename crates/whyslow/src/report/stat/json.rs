//! A study for programs: one JSON object. docs/json.md documents it; a test holds it.

use serde_json::{Value, json};

use super::notes::notes;
use super::{Compared, Described, Layout, Pair, Study};
use crate::report::SCHEMA_VERSION;

/// The study as one object. What is no finite number is `null`.
pub fn json(study: &Study) -> Value {
    let comparisons = study
        .groups
        .iter()
        .flat_map(|group| group.pairs.iter().map(move |pair| comparison(study, group, pair)));
    json!({
        "schema": SCHEMA_VERSION,
        "confidence": study.confidence,
        "margin": study.margin,
        "sets": study.sets.iter().map(set).collect::<Vec<_>>(),
        "comparisons": comparisons.collect::<Vec<_>>(),
        "geometric_means": study.groups.iter().filter_map(|group| geometric_mean(study, group)).collect::<Vec<_>>(),
        "notes": notes(study),
    })
}

fn set(described: &Described) -> Value {
    let set = described.set;
    let named = |(name, value): &(String, f64)| json!({ "name": name, "value": value });
    let setting = |(name, value): &(String, String)| json!({ "name": name, "value": value });
    json!({
        "name": set.name,
        "parameters": set.parameters.iter().map(setting).collect::<Vec<_>>(),
        "metric": set.metric.name,
        "unit": set.metric.unit,
        "better": set.metric.better,
        "file": set.origin.file,
        "form": set.origin.form,
        "line": (set.origin.line > 0).then_some(set.origin.line),
        "schedule": set.schedule,
        "count": set.values.len(),
        "summary": summary(described),
        "printed": set.printed.iter().map(named).collect::<Vec<_>>(),
    })
}

fn summary(described: &Described) -> Option<Value> {
    let figures = described.figures()?;
    Some(json!({
        "min": figures.min,
        "max": figures.max,
        "median": figures.median,
        "low": figures.interval.map(|(low, _)| low),
        "high": figures.interval.map(|(_, high)| high),
        "mean": figures.mean,
        "mean_error": figures.mean_error,
        "deviation": figures.deviation,
    }))
}

fn comparison(study: &Study, group: &Compared, pair: &Pair) -> Value {
    let base = study.sets[pair.base].set;
    let judgement = &pair.judgement;
    json!({
        "name": pair.name,
        "base": base.name,
        "other": study.sets[pair.other].set.name,
        "base_set": pair.base,
        "other_set": pair.other,
        "metric": base.metric.name,
        "ratio": {
            "point": judgement.ratio,
            "low": judgement.interval.map(|(low, _)| low),
            "high": judgement.interval.map(|(_, high)| high),
            "confidence": group.confidence_each,
        },
        "p": judgement.p,
        "change_of_medians": pair.change_of_medians(study),
        "schedule": pair.schedule(study),
        "paired": pair.is_paired,
        "verdict": judgement.word(base).replace(' ', "_"),
    })
}

fn geometric_mean(study: &Study, group: &Compared) -> Option<Value> {
    let (mean, pair) = (group.geometric_mean.as_ref()?, group.pairs.first()?);
    let Layout::Files { base, other } = &group.layout else { return None };
    let left_out: Vec<&String> = group.left_out.iter().chain(&mean.without).collect();
    Some(json!({
        "metric": study.sets[pair.base].set.metric.name,
        "base": base,
        "other": other,
        "ratio": mean.ratio,
        "rows": mean.rows,
        "left_out": left_out,
    }))
}
