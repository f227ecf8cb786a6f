//! Parts 1 and 2: runs of one command, called "base" and "other" at random. Nothing may be claimed between them;
//! and where the CPU time of one is multiplied by a known factor, that must be found.

use whyslow::analysis::Verdict;

use crate::adaptive::Relabelling;
use crate::bars::Bars;
use crate::tally::Tally;
use crate::trace::{METRICS, Trace};

/// Experiments on each trace. They overlap, so that many more would add no information.
const EXPERIMENTS: usize = 300;
const CPU: usize = 1;

/// A trace with its experiments on one metric.
type Row<'a> = (&'a str, Tally);

/// Part 1: the same command against itself.
pub fn nothing_is_claimed(traces: &[Trace], seed: u64, bars: &mut Bars) {
    for (metric, name) in METRICS.iter().enumerate() {
        println!("\n1. A command against itself, {name}");
        let rows = experiments(traces, metric, 1.0, seed);
        let total = print(&rows);
        let worst = rows.iter().map(|(_, tally)| tally.claims()).fold(0.0, f64::max);
        bars.at_most(&format!("{name}: false claims, all traces together"), total.claims(), 0.05);
        bars.at_most(&format!("{name}: false claims, worst trace"), worst, 0.09);
        bars.at_least(&format!("{name}: final interval covers no difference"), total.coverage(), 0.95);
    }
}

/// Part 2: one of the two made slower.
pub fn effects_are_found(traces: &[Trace], seed: u64, bars: &mut Bars) {
    for (factor, least) in [(1.02, 0.95), (1.05, 0.99)] {
        let effect = format!("{:.0} % more CPU time", 100.0 * (factor - 1.0));
        println!("\n2. A command against itself with {effect}, cpu_s");
        let rows = experiments(traces, CPU, factor, seed);
        let total = print(&rows);
        bars.at_least(&format!("{effect}: found to be slower"), total.share(Verdict::Slower), least);
        bars.at_most(&format!("{effect}: wrongly called the same"), total.share(Verdict::Same), 0.05);
        // The noisiest trace may take longer: it is shown, and all together are judged.
        let (median, slowest) = (total.median_blocks(), slowest(&rows));
        let what =
            format!("{effect}: median blocks to the verdict: {median}, at most 60 (slowest: {slowest})");
        bars.check(median <= 60.0, &what);
    }
}

/// The trace that took the most blocks in the median, with that number.
fn slowest(rows: &[Row<'_>]) -> String {
    let medians = rows.iter().map(|(name, tally)| (tally.median_blocks(), name));
    let slowest = medians.max_by(|one, other| one.0.total_cmp(&other.0));
    slowest.map_or_else(|| "none".into(), |(median, name)| format!("{name}, {median}"))
}

fn experiments<'a>(traces: &'a [Trace], metric: usize, factor: f64, seed: u64) -> Vec<Row<'a>> {
    let tallied = |trace: &'a Trace| Some((trace.name.as_str(), tally(trace, metric, factor, seed)?));
    traces.iter().filter_map(tallied).collect()
}

/// `None` for a trace that is too short.
fn tally(trace: &Trace, metric: usize, factor: f64, seed: u64) -> Option<Tally> {
    let values = trace.values(metric);
    let mut relabelling = Relabelling::new(&values, seed ^ of_name(&trace.name))?;
    let mut tally = Tally::default();
    for _ in 0..EXPERIMENTS {
        let outcome = relabelling.experiment(factor)?;
        tally.add(&outcome.decision, outcome.blocks, factor.ln());
    }
    Some(tally)
}

/// The experiments on a trace do not depend on which other traces are there (FNV-1a).
fn of_name(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Prints a line for each trace and one for all together, which is returned.
fn print(rows: &[Row<'_>]) -> Tally {
    println!("{}", Tally::heading("trace"));
    let mut total = Tally::default();
    for (name, tally) in rows {
        println!("{}", tally.line(name));
        total.extend(tally);
    }
    println!("{}", total.line("all together"));
    total
}
