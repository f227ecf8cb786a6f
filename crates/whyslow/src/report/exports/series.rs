//! The runs of each variant as other tools keep them: a list of runs and the statistics of one metric.

use crate::model::{Exit, Launch, Recording, Run};
use crate::plan;
use crate::report::views::Figures;

/// The runs of one variant that a file of another tool holds.
pub struct Series<'a> {
    pub variant: usize,
    pub name: String,
    pub launch: Launch,
    pub parameters: Vec<(String, String)>,
    pub runs: Vec<&'a Run>,
}

/// One series for each variant that has measured runs: the successful ones. A variant that only failed is there with
/// its failed runs, so that their exit codes are not lost; failed runs among good ones would spoil the statistics.
pub fn all(recording: &Recording) -> Vec<Series<'_>> {
    let variants = plan::variants(&recording.header.experiment);
    let series = variants.into_iter().enumerate().map(|(index, variant)| Series {
        variant: index,
        name: variant.name,
        launch: variant.launch,
        parameters: variant.parameters,
        runs: runs(recording, index),
    });
    series.filter(|series| !series.runs.is_empty()).collect()
}

fn runs(recording: &Recording, variant: usize) -> Vec<&Run> {
    let design = &recording.header.experiment.design;
    let wall = recording.metric_index("wall_s");
    let is_measured =
        |run: &&Run| run.variant == variant && run.block >= design.warmup && value(run, wall).is_some();
    let measured: Vec<&Run> = recording.runs.iter().filter(is_measured).collect();
    let good: Vec<&Run> = measured.iter().copied().filter(|run| design.counts(&run.exit)).collect();
    if good.is_empty() { measured } else { good }
}

/// A known value of a run.
pub fn value(run: &Run, metric: Option<usize>) -> Option<f64> {
    run.values.get(metric?)
}

impl Series<'_> {
    /// Known values of a metric.
    pub fn values(&self, recording: &Recording, metric: &str) -> Vec<f64> {
        let index = recording.metric_index(metric);
        self.runs.iter().filter_map(|run| value(run, index)).collect()
    }

    pub fn figures(&self, recording: &Recording, metric: &str) -> Option<Figures> {
        Figures::of(&self.values(recording, metric))
    }
}

/// The status that a shell would report; `None` where there is none.
pub fn exit_code(exit: &Exit) -> Option<i32> {
    match exit {
        Exit::Code(code) => Some(*code),
        Exit::Signal(signal) => Some(128 + signal),
        Exit::Stopped(_) | Exit::TimedOut | Exit::NotStarted { .. } | Exit::Interrupted => None,
    }
}
