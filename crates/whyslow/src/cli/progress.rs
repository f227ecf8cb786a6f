//! The line that tells how far a measurement is. It is drawn between runs only: anything that ticks while a
//! command runs would take part in the measurement.

use std::io::Write;

use indicatif::{ProgressBar, ProgressStyle};

use super::Screen;
use crate::analysis::{Progress, Verdict};
use crate::model::{Experiment, Run, Unit};
use crate::plan;
use crate::report::{between, duration, percent, short_names};
use crate::session::{Event, Forecast};

/// Drawing more often than the eye can follow only costs time.
const REDRAW_AFTER_S: f64 = 0.1;
/// Runs shorter than this are told by the block.
const TOLD_AFTER_S: f64 = 1.0;
/// A design whose length is fixed beforehand is announced if it takes longer than this.
const ANNOUNCE_FROM_S: f64 = 10.0;

pub struct ProgressLine<'a> {
    /// `None` where a line cannot be drawn over.
    bar: Option<ProgressBar>,
    stderr: &'a mut dyn Write,
    names: Vec<String>,
    unit: Unit,
    drawn_at_s: f64,
    left: String,
    estimate: String,
    warmup: usize,
    is_announced: bool,
    /// Looks so far, and all of them where their number is known.
    looks: (usize, Option<usize>),
}

impl<'a> ProgressLine<'a> {
    pub fn new(screen: &'a mut Screen<'_>, experiment: &Experiment) -> Self {
        let bar = screen.can_redraw.then(|| {
            let bar = ProgressBar::new_spinner();
            // Without the spinner's own character: nothing moves unless there is news.
            bar.set_style(
                ProgressStyle::with_template("{wide_msg}")
                    .unwrap_or_else(|_| ProgressStyle::default_spinner()),
            );
            bar
        });
        ProgressLine {
            bar,
            stderr: &mut *screen.stderr,
            names: short_names(plan::variants(experiment).into_iter().map(|variant| variant.name)),
            unit: leading_unit(experiment),
            drawn_at_s: f64::NEG_INFINITY,
            left: String::new(),
            estimate: String::new(),
            warmup: experiment.design.warmup,
            is_announced: false,
            looks: (0, None),
        }
    }

    pub fn notice(&mut self, event: &Event<'_>) {
        match event {
            Event::BlockDone(forecast) => self.block_done(forecast),
            Event::Looked(progress) => self.estimate = estimate(progress, &self.names, self.unit),
            Event::Ended(_) => self.clear(),
            Event::Began(_) if self.looks.1.is_none() => self.draw("warming up".to_owned()),
            Event::Ran(run) => self.ran(run),
            Event::Probing(probe) => self.probing(probe.known().title),
            Event::Began(_)
            | Event::Probed(_)
            | Event::HookFailed(_)
            | Event::Settled(_)
            | Event::StageBegan(_)
            | Event::Custom(_)
            | Event::Explained(_) => {}
        }
    }

    /// For a line that tells how many looks there will be.
    pub fn with_looks(mut self, all: usize) -> Self {
        self.looks.1 = Some(all);
        self
    }

    fn probing(&mut self, title: &str) {
        self.looks.0 += 1;
        let place = match self.looks {
            (look, Some(all)) if all > 1 => format!(" ({look} of {all})"),
            _ => String::new(),
        };
        self.draw(format!("looking: {title}{place}"));
    }

    fn block_done(&mut self, forecast: &Forecast) {
        self.announce(forecast);
        self.left = left(forecast);
        if forecast.elapsed_s - self.drawn_at_s < REDRAW_AFTER_S {
            return;
        }
        self.drawn_at_s = forecast.elapsed_s;
        self.draw(format!("{} {}, {}{}", self.block_word(), forecast.blocks, self.left, self.estimate));
    }

    /// Long runs are told one by one, or the line would stand still for the whole of a block.
    fn ran(&mut self, run: &Run) {
        let is_whole_block = self.names.len() == 1;
        if is_whole_block || run.start_s - self.drawn_at_s < TOLD_AFTER_S {
            return;
        }
        self.drawn_at_s = run.start_s;
        let (done, all) = (run.position + 1, self.names.len());
        let place = if run.block < self.warmup {
            "warming up".to_owned()
        } else {
            format!("{} {}, {}", self.block_word(), run.block - self.warmup, self.left)
        };
        self.draw(format!("{place}; run {done} of {all} done"));
    }

    /// A block of one run is a run.
    fn block_word(&self) -> &'static str {
        if self.names.len() == 1 { "run" } else { "block" }
    }

    fn draw(&self, message: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(message);
            bar.tick();
        }
    }

    /// Says once, as soon as it is known, how long a fixed design will take.
    fn announce(&mut self, forecast: &Forecast) {
        if self.is_announced || !forecast.is_fixed || forecast.most_left_s < ANNOUNCE_FROM_S {
            return;
        }
        self.is_announced = true;
        let word = self.block_word();
        let text = format!(
            "a {word} takes {}: {} {word}s, about {} more",
            duration(forecast.block_s),
            forecast.last_look,
            duration(forecast.most_left_s)
        );
        match &self.bar {
            Some(bar) => bar.println(text),
            None => drop(writeln!(self.stderr, "{text}")),
        }
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// A measurement that ends by an error leaves no half-drawn line either.
impl Drop for ProgressLine<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}

fn leading_unit(experiment: &Experiment) -> Unit {
    let leading = experiment.metrics.iter().find(|metric| metric.name == experiment.design.leading);
    leading.map_or(Unit::Seconds, |metric| metric.unit)
}

fn left(forecast: &Forecast) -> String {
    let bound = if forecast.is_fixed { "about" } else { "at most" };
    format!("{bound} {} left", duration(forecast.most_left_s))
}

/// How well the median is known; or the comparison that is still open, or the last one; its range is what matters, so it comes first and whole.
fn estimate(progress: &Progress, names: &[String], unit: Unit) -> String {
    if let Some(half_width) = progress.alone.as_ref().and_then(|alone| alone.half_width) {
        return format!("; known to ±{}", percent(half_width));
    }
    let open = progress.leading.iter().find(|(_, decision)| decision.verdict == Verdict::Undecided);
    let Some((other, decision)) = open.or(progress.leading.last()) else { return String::new() };
    if !(decision.low.is_finite() && decision.high.is_finite()) {
        return String::new();
    }
    format!("; {} {}", names[*other], between(decision.low.exp(), decision.high.exp(), unit))
}
