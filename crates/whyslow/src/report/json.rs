//! The machine's face of a result: one JSON object. docs/json.md documents it; a test holds it.

use serde_json::{Map, Value, json};

use super::words::{concern, exit as report_exit, failure_kind};
use crate::analysis::{Alone, Analysis, Comparison, Estimate, Forecast, Summary, VariantSummary, Verdict};
use crate::model::{Recording, Stop};

/// Raised when a field changes its meaning or goes away; new fields may come at any time.
pub const SCHEMA_VERSION: u32 = 1;

/// The result as one object.
pub fn json(recording: &Recording, analysis: &Analysis) -> Value {
    let names: Vec<String> = analysis.variants.iter().map(|variant| variant.name.clone()).collect();
    json!({
        "schema": SCHEMA_VERSION,
        "tool": recording.header.tool,
        "started": recording.header.started,
        "stopped": analysis.stop.map(stop),
        "blocks": analysis.blocks,
        "confidence": analysis.confidence,
        "margin": analysis.margin,
        "seed": recording.header.experiment.design.seed,
        "base": analysis.base,
        "variants": analysis.variants.iter().map(variant).collect::<Vec<_>>(),
        "comparisons": analysis.comparisons.iter().map(|c| comparison(analysis, c)).collect::<Vec<_>>(),
        "alone": analysis.alone.as_ref().map(alone),
        "concerns": analysis.concerns.iter().map(|c| json!({
            "kind": c.kind(),
            "text": concern(&names, c),
        })).collect::<Vec<_>>(),
        "failure": analysis.failure.as_ref().map(|failure| json!({
            "variant": analysis.variants[failure.variant].name,
            "block": failure.block,
            "warmup": failure.is_warmup,
            "exit": failure.exit,
            "stderr_tail": failure.stderr_tail,
        })),
        "hook_failure": analysis.hook_failure.as_ref().map(|failure| json!({
            "hook": failure.kind.name(),
            "variant": analysis.variants[failure.variant].name,
            "block": failure.block,
            "how": report_exit(&failure.exit),
            "stderr_tail": failure.stderr_tail,
        })),
        "not_measured": analysis.missing,
        "floor": analysis.floor,
        "host": recording.header.host,
    })
}

fn stop(stop: Stop) -> Value {
    serde_json::to_value(stop).unwrap_or(Value::Null)
}

fn variant(variant: &VariantSummary) -> Value {
    let metrics: Map<String, Value> =
        variant.metrics.iter().map(|(name, summary)| (name.clone(), metric(summary))).collect();
    json!({
        "name": variant.name,
        "argv": variant.argv,
        "runs": variant.runs,
        "failed": variant.failed,
        "failures": variant.failures.iter().map(|(exit, runs)| json!({
            "how": failure_kind(exit),
            "runs": runs,
        })).collect::<Vec<_>>(),
        "metrics": metrics,
        "user_share": variant.user_share.as_ref().map(estimate),
        "cpu_wait_share": variant.wait_share,
        "cpu_bound": variant.is_cpu_bound,
    })
}

fn metric(summary: &Summary) -> Value {
    json!({
        "median": summary.median,
        "low": summary.low,
        "high": summary.high,
        "min": summary.min,
        "max": summary.max,
        "spread": summary.spread,
        "count": summary.count,
    })
}

fn comparison(analysis: &Analysis, comparison: &Comparison) -> Value {
    json!({
        "base": analysis.variants[comparison.base].name,
        "other": analysis.variants[comparison.other].name,
        "metric": comparison.metric,
        "ratio": estimate(&comparison.ratio),
        "verdict": verdict(comparison.verdict),
        "margin": comparison.margin,
        "blocks": comparison.blocks,
        "more_blocks": more_blocks(comparison.forecast),
        "reachable": comparison.forecast != Some(Forecast::OutOfReach),
    })
}

fn alone(alone: &Alone) -> Value {
    json!({
        "metric": alone.metric,
        "median": alone.median,
        "low": alone.interval.map(|(low, _)| low),
        "high": alone.interval.map(|(_, high)| high),
        "half_width": alone.half_width,
        "narrow": alone.is_narrow,
        "lower_quartile": alone.quartiles.0,
        "upper_quartile": alone.quartiles.1,
        "runs": alone.runs,
        "more_runs": more_blocks(alone.forecast),
        "reachable": alone.forecast != Some(Forecast::OutOfReach),
    })
}

fn more_blocks(forecast: Option<Forecast>) -> Option<u64> {
    match forecast {
        Some(Forecast::MoreBlocks(blocks)) => Some(blocks),
        _ => None,
    }
}

fn estimate(estimate: &Estimate) -> Value {
    json!({
        "point": estimate.point,
        "low": estimate.low,
        "high": estimate.high,
        "confidence": estimate.confidence,
    })
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Same => "same",
        Verdict::Undecided => "undecided",
    }
}
