//! Whole sessions on simulated machines whose two programs are the same.

use whyslow::analysis::{Decision, Samples, decide};
use whyslow::machine::simulated::{Noise, Simulated, World};
use whyslow::model::{Experiment, Recording};
use whyslow::plan::{Question, compose};
use whyslow::session::{Event, Stamp, Watcher, WatcherError, measure};

use crate::adaptive::MOST_BLOCKS;
use crate::tally::Tally;
use crate::trace::METRICS;

/// CPU time of both programs.
const WORK_S: f64 = 0.02;
/// Enough for all the looks under any noise.
const BUDGET_S: f64 = 600.0;

/// One tally for each judged metric.
pub fn tally(noise: Noise, seed: u64, sessions: u64) -> [Tally; 2] {
    let mut tallies = [Tally::default(), Tally::default()];
    for session in 0..sessions {
        let recording = record(noise, seed.wrapping_add(session));
        for (metric, tally) in METRICS.iter().zip(&mut tallies) {
            let (decision, blocks) = last_decision(&recording, metric).expect("a session on equal programs");
            tally.add(&decision, blocks, 0.0);
        }
    }
    tallies
}

fn record(noise: Noise, seed: u64) -> Recording {
    let world = World::pair(WORK_S, 1.0).with_noise(noise).with_seed(seed);
    let stamp = Stamp { tool: "replay".into(), started: String::new() };
    // The order of the runs must owe nothing to the noise.
    let experiment = experiment(!seed);
    measure(experiment, &mut Simulated::new(world), &mut Nobody, stamp).recording
}

fn experiment(seed: u64) -> Experiment {
    let question = Question {
        commands: vec!["a".into(), "b".into()],
        max_runs: Some(MOST_BLOCKS),
        budget_s: Some(BUDGET_S),
        seed,
        ..Question::default()
    };
    let mut experiment = compose(&question).expect("two commands with names");
    experiment.metrics.retain(|metric| METRICS.contains(&metric.name.as_str()));
    experiment
}

/// The decision at the end, as the report shows it, with the number of blocks.
fn last_decision(recording: &Recording, metric: &str) -> Option<(Decision, usize)> {
    let looks = recording.looks.as_ref()?;
    let margin = recording.header.experiment.design.margin;
    let ratios: Vec<f64> = Samples::collect(recording, 2)
        .log_ratios(0, 1, metric)
        .iter()
        .map(|ratio| ratio.difference)
        .collect();
    Some((decide(&ratios, looks.alpha_each, margin.ln_1p())?, ratios.len()))
}

struct Nobody;

impl Watcher for Nobody {
    fn notice(&mut self, _: Event<'_>) -> Result<(), WatcherError> {
        Ok(())
    }
}
