//! Results in the form that people know from other programs. Each view is a function from data sets to text. It shows
//! what the other program would print for the same numbers, and says beside it what those numbers are worth; with
//! [`Options::compat`] it is the other program's text to the byte, its mistakes included.
//!
//! To add a view: one file with one function, and one row in [`VIEWS`].

mod benchstat;
mod cmpthese;
mod figures;
pub mod from_recording;
mod hyperfine;
mod judged;
mod ministat;
mod options;
mod printf;
mod timestr;
pub(in crate::report) mod units;

pub use benchstat::benchstat;
pub(in crate::report) use benchstat::keys_of_rows;
pub use cmpthese::cmpthese;
pub use figures::Figures;
pub use hyperfine::hyperfine;
pub use judged::{Judgement, Said, UNSAFE, is_paired, judge};
pub use ministat::{MINISTAT_LEVELS, MOST_SETS, ministat};
pub use options::{Options, TimeStyle};
pub use printf::{Conversion, Kind};
pub use timestr::{timestr, timestr_line};

use crate::model::{DataSet, Recording};

/// One row of the table of views.
pub struct View {
    /// What is typed after `--view`.
    pub name: &'static str,
    pub title: &'static str,
    /// The metrics of a recording that it shows. One: the view takes sets of a single metric, the first set being the
    /// one that the others are compared with. Wall time alone stands for the metric that leads the experiment.
    pub metrics: &'static [&'static str],
    pub show: fn(&[DataSet], &Options) -> String,
}

/// User and system time are not among them: the timer tick misbooks single runs, so there is nothing to compare.
const EVERY_METRIC: &[&str] = &["wall_s", "cpu_s", "peak_rss_bytes", "page_faults"];

pub const VIEWS: &[View] = &[
    row("ministat", "plot and Student's t, as BSD's ministat", &["wall_s"], ministat),
    row("cmpthese", "chart of rates, as Perl's Benchmark.pm", &["cpu_s"], cmpthese),
    row("timestr", "a line of times for each, as Perl's Benchmark.pm", &["cpu_s"], timestr),
    row("benchstat", "table of medians and changes, as Go's benchstat", EVERY_METRIC, benchstat),
    row("hyperfine", "mean and range of each, as hyperfine", &["wall_s", "user_s", "system_s"], hyperfine),
];

const fn row(
    name: &'static str,
    title: &'static str,
    metrics: &'static [&'static str],
    show: fn(&[DataSet], &Options) -> String,
) -> View {
    View { name, title, metrics, show }
}

/// The view of that name.
pub fn view(name: &str) -> Option<&'static View> {
    VIEWS.iter().find(|view| view.name == name)
}

/// A recording in the form of a view. Intervals and verdicts are those of the recording's own analysis: the same
/// blocks, the same confidence, the same looks.
pub fn show_recording(view: &View, recording: &Recording, options: &Options) -> String {
    let leading = recording.header.experiment.design.leading.as_str();
    let metrics = if view.metrics == ["wall_s"] { &[leading] } else { view.metrics };
    let mut sets = from_recording::data_sets(recording, metrics);
    if sets.iter().all(|set| set.values.is_empty()) {
        // A machine may not tell CPU time; every machine tells wall time.
        sets = from_recording::data_sets(recording, &["wall_s"]);
    }
    (view.show)(&sets, &from_recording::options(recording, options))
}
