//! The decision procedure on a little recorded noise: enough to notice that it broke. The whole of it, with the bars
//! that METHODOLOGY.md states, is the example `replay`.
//!
//! The bars are loose, but not for a procedure that peeks at 5 % each time or that measures in a fixed order: on
//! these two traces those claim too much by far.

#[path = "../examples/replay/adaptive.rs"]
mod adaptive;
#[path = "../examples/replay/sessions.rs"]
mod sessions;
#[path = "../examples/replay/tally.rs"]
mod tally;
#[path = "../examples/replay/trace.rs"]
mod trace;

use std::path::Path;

use whyslow::analysis::{Verdict, judged_metrics};
use whyslow::machine::simulated::Noise;

use adaptive::{MOST_BLOCKS, Relabelling, looks};
use tally::Tally;
use trace::{METRICS, Trace};

const TRACES: [&str; 2] = ["aa_shared_split", "aa_shared_concat"];
const EXPERIMENTS: usize = 60;
const CPU: usize = 1;

fn values(name: &str, metric: usize) -> Vec<f64> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces");
    let trace = Trace::read(&folder.join(format!("{name}.csv"))).unwrap();
    let is_plain = trace.failed == 0 && trace.runs.iter().all(|run| run.label == "A");
    let is_alone = trace.runs.windows(2).all(|pair| pair[0].block != pair[1].block);
    assert!(is_plain && is_alone, "{} is not one command run again and again", trace.name);
    trace.values(metric)
}

/// The ends of experiments in which the second of two equal commands was made slower by `factor`.
fn tally(values: &[f64], factor: f64) -> Tally {
    let mut tally = Tally::default();
    let mut relabelling = Relabelling::new(values, 1).unwrap();
    for _ in 0..EXPERIMENTS {
        let outcome = relabelling.experiment(factor).unwrap();
        tally.add(&outcome.decision, outcome.blocks, factor.ln());
    }
    tally
}

fn on_both_traces(metric: usize, factor: f64) -> Tally {
    let mut total = Tally::default();
    TRACES.iter().for_each(|name| total.extend(&tally(&values(name, metric), factor)));
    total
}

#[test]
fn the_replay_looks_as_a_session_does() {
    assert_eq!(looks(1_000).at, [10, 15, 23, 35, 53, 80, 120, MOST_BLOCKS]);
    assert_eq!(looks(100).at, [10, 15, 23, 35, 53, 80]);
    assert_eq!(judged_metrics(&adaptive::design(1)), METRICS);
}

#[test]
fn a_command_does_not_differ_from_itself() {
    for (metric, name) in METRICS.iter().enumerate() {
        let tally = on_both_traces(metric, 1.0);
        assert_eq!(tally.count(), TRACES.len() * EXPERIMENTS);
        assert!(tally.claims() <= 0.04, "{name}: {:.3} false claims", tally.claims());
        assert!(tally.coverage() >= 0.95, "{name}: {:.3} covered", tally.coverage());
    }
}

/// In a fixed order, a level that alternates from run to run would be a difference between the commands.
#[test]
fn a_machine_that_alternates_makes_no_difference() {
    let alternating = Noise::Alternating { scatter: 0.01, step: 0.05 };
    for tally in sessions::tally(alternating, 1, EXPERIMENTS as u64) {
        assert!(tally.claims() <= 0.05, "{:.3} false claims", tally.claims());
    }
}

#[test]
fn equal_cpu_times_are_soon_called_equal() {
    let tally = on_both_traces(CPU, 1.0);
    assert!(tally.share(Verdict::Same) >= 0.9, "{:.3}", tally.share(Verdict::Same));
    assert!(tally.median_blocks() <= 60.0, "{}", tally.median_blocks());
}

#[test]
fn two_percent_of_cpu_time_are_found() {
    let tally = on_both_traces(CPU, 1.02);
    assert!(tally.share(Verdict::Slower) >= 0.93, "{:.3}", tally.share(Verdict::Slower));
    assert!(tally.share(Verdict::Same) <= 0.05, "{:.3}", tally.share(Verdict::Same));
    assert!(tally.coverage() >= 0.95, "{:.3} covered", tally.coverage());
}
