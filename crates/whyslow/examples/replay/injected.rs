//! Part 3: randomised complete blocks in which programs did a known share more work. The whole trace is one
//! experiment of fixed size, so its intervals are plain ones. All figures are percent on the scale of logarithms.

use std::collections::BTreeSet;

use whyslow::analysis::{Decision, decide};

use crate::adaptive::design;
use crate::bars::Bars;
use crate::trace::{METRICS, Trace, TraceRun};

/// The label of the undisturbed command.
const BASE: &str = "A";
/// How far an estimate may be from what was injected, where the interval does not reach that either.
const TOLERANCE: f64 = 0.4;
const CPU: usize = 1;

/// Compares every label with the base on both metrics, and judges the CPU time.
pub fn work_is_measured(traces: &[Trace], bars: &mut Bars) {
    for trace in traces {
        println!("\n3. {}: more work in randomised blocks, against {BASE}, % on the scale of ln", trace.name);
        let labels: BTreeSet<&str> = trace.runs.iter().map(|run| run.label.as_str()).collect();
        if !labels.contains(BASE) {
            println!("  no run is labelled {BASE}: not judged");
            continue;
        }
        println!("  label metric  blocks nominal estimate       95 % interval       99 % interval");
        let comparisons = labels.iter().filter_map(|label| Some((*label, nominal(label)?)));
        for (label, nominal) in comparisons {
            METRICS.iter().enumerate().for_each(|(metric, name)| {
                let Some(found) = compare(trace, label, metric) else { return };
                println!("{}", found.line(label, name, nominal));
                if metric == CPU {
                    judge(&found, &format!("{} {label}", trace.name), nominal, bars);
                }
            });
        }
    }
}

fn judge(found: &Found, name: &str, nominal: f64, bars: &mut Bars) {
    let is_inside = found.wide.0 <= nominal && nominal <= found.wide.1;
    let distance = (found.estimate - nominal).abs();
    if nominal == 0.0 {
        bars.check(is_inside, &format!("{name}: no difference is within the 99 % interval"));
        return;
    }
    let how = match (distance <= TOLERANCE, is_inside) {
        (true, true) => "and within the 99 % interval",
        (true, false) => "but outside of the 99 % interval",
        (false, true) => "but within the 99 % interval",
        (false, false) => "and outside of the 99 % interval",
    };
    let what = format!("{name}: {distance:.2} from the truth (at most {TOLERANCE}) {how}");
    bars.check(distance <= TOLERANCE || is_inside, &what);
}

/// What was injected under a label: nothing under "B", 2 % under "i2", 0.5 % under "i05". `None` for the base
/// and for labels that say nothing.
fn nominal(label: &str) -> Option<f64> {
    if label == "B" {
        return Some(0.0);
    }
    let digits = label.strip_prefix('i')?;
    let number: f64 = digits.parse().ok()?;
    let percent = if digits.starts_with('0') { number / 10.0 } else { number };
    Some(100.0 * (percent / 100.0).ln_1p())
}

/// A comparison of a whole trace.
struct Found {
    blocks: usize,
    estimate: f64,
    /// At 95 %.
    narrow: (f64, f64),
    /// At 99 %.
    wide: (f64, f64),
}

/// `None` without a complete block.
fn compare(trace: &Trace, label: &str, metric: usize) -> Option<Found> {
    let blocks = trace.runs.chunk_by(|one, next| one.block == next.block);
    let ratios: Vec<f64> = blocks.filter_map(|block| log_ratio(block, label, metric)).collect();
    let decided = |alpha| decide(&ratios, alpha, design(0).margin.ln_1p());
    let interval = |decision: Decision| (100.0 * decision.low, 100.0 * decision.high);
    let narrow = decided(0.05)?;
    Some(Found {
        blocks: ratios.len(),
        estimate: 100.0 * narrow.estimate,
        narrow: interval(narrow),
        wide: interval(decided(0.01)?),
    })
}

fn log_ratio(block: &[TraceRun], label: &str, metric: usize) -> Option<f64> {
    let value = |wanted: &str| Some(block.iter().find(|run| run.label == wanted)?.values[metric]);
    let (base, other) = (value(BASE)?, value(label)?);
    (base > 0.0 && other > 0.0).then(|| (other / base).ln())
}

impl Found {
    fn line(&self, label: &str, metric: &str, nominal: f64) -> String {
        let interval = |(low, high): (f64, f64)| format!("[{low:.2}, {high:.2}]");
        format!(
            "  {label:<5} {metric:<6} {:>7} {nominal:>7.2} {:>8.2} {:>19} {:>19}",
            self.blocks,
            self.estimate,
            interval(self.narrow),
            interval(self.wide)
        )
    }
}
