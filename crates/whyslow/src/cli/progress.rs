//! The line that tells how far a measurement is. It is drawn between blocks only: anything that ticks while a
//! command runs would take part in the measurement.

use std::io::Write;

use indicatif::{ProgressBar, ProgressStyle};

use super::Screen;
use crate::analysis::{Progress, Verdict};
use crate::model::Experiment;
use crate::plan;
use crate::report::{duration, ratio_range};
use crate::session::{Event, Forecast};

/// Drawing more often than the eye can follow only costs time.
const REDRAW_AFTER_S: f64 = 0.1;
/// A design whose length is fixed beforehand is announced if it takes longer than this.
const ANNOUNCE_FROM_S: f64 = 10.0;

pub struct ProgressLine<'a> {
    /// `None` where a line cannot be drawn over.
    bar: Option<ProgressBar>,
    stderr: &'a mut dyn Write,
    names: Vec<String>,
    drawn_at_s: f64,
    estimate: String,
    is_announced: bool,
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
            names: plan::variants(experiment).into_iter().map(|variant| variant.name).collect(),
            drawn_at_s: f64::NEG_INFINITY,
            estimate: String::new(),
            is_announced: false,
        }
    }

    pub fn notice(&mut self, event: &Event<'_>) {
        match event {
            Event::BlockDone(forecast) => self.block_done(forecast),
            Event::Looked(progress) => self.estimate = estimate(progress, &self.names),
            Event::Ended(_) => self.clear(),
            Event::Began(_) | Event::Ran(_) | Event::HookFailed(_) | Event::Settled(_) => {}
        }
    }

    fn block_done(&mut self, forecast: &Forecast) {
        self.announce(forecast);
        if forecast.elapsed_s - self.drawn_at_s < REDRAW_AFTER_S {
            return;
        }
        self.drawn_at_s = forecast.elapsed_s;
        if let Some(bar) = &self.bar {
            bar.set_message(message(forecast, &self.estimate));
            bar.tick();
        }
    }

    /// Says once, as soon as it is known, how long a fixed design will take.
    fn announce(&mut self, forecast: &Forecast) {
        if self.is_announced || !forecast.is_fixed || forecast.most_left_s < ANNOUNCE_FROM_S {
            return;
        }
        self.is_announced = true;
        let text = format!(
            "a block takes {}: {} blocks, about {} more",
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

fn message(forecast: &Forecast, estimate: &str) -> String {
    if forecast.is_warmup {
        return "warming up".to_owned();
    }
    let left = if forecast.is_fixed {
        format!("about {} left", duration(forecast.most_left_s))
    } else {
        format!("at most {} left", duration(forecast.most_left_s))
    };
    format!("block {}, {left}{estimate}", forecast.blocks)
}

/// The comparison that is still open, or the last one.
fn estimate(progress: &Progress, names: &[String]) -> String {
    let open = progress.leading.iter().find(|(_, decision)| decision.verdict == Verdict::Undecided);
    let Some((other, decision)) = open.or(progress.leading.last()) else { return String::new() };
    let range = ratio_range(decision.estimate.exp(), decision.low.exp(), decision.high.exp());
    format!("; {}: {range}", names[*other])
}
