//! The line that tells how far a measurement is. It is drawn between runs only: anything that ticks while a
//! command runs would take part in the measurement.

use std::io::Write;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::Screen;
use crate::analysis::{Progress, Verdict};
use crate::model::{Experiment, Run, StagePlan, Unit};
use crate::plan;
use crate::report::{between, duration, percent, short_names};
use crate::session::{Event, Forecast};

/// Drawing more often than the eye can follow only costs time.
const REDRAW_AFTER_S: f64 = 0.1;
/// Runs shorter than this are told by the block.
const TOLD_AFTER_S: f64 = 1.0;
const TICK: Duration = Duration::from_secs(1);
/// What an explanation does first.
const DECIDING: &str = "deciding: ";
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
    /// Of an explanation: how long all of it may take, where that is known, and what it does in this part of it.
    why: Option<Why>,
}

#[derive(Default)]
struct Why {
    most_s: Option<f64>,
    doing: String,
}

impl<'a> ProgressLine<'a> {
    pub fn new(screen: &'a mut Screen<'_>, experiment: &Experiment) -> Self {
        let bar = screen.can_redraw.then(|| {
            let bar = ProgressBar::new_spinner();
            bar.set_style(style(experiment.asks_why));
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
            why: experiment.asks_why.then(|| Why { doing: DECIDING.to_owned(), ..Why::default() }),
        }
    }

    pub fn notice(&mut self, event: &Event<'_>) {
        match event {
            Event::BlockDone(forecast) => self.block_done(forecast),
            Event::Looked(progress) => self.estimate = estimate(progress, &self.names, self.unit),
            // An explanation goes on after its measurements.
            Event::Ended(_) if self.why.is_none() => self.clear(),
            Event::Explained(_) => self.clear(),
            Event::Began(_) if self.looks.1.is_none() => self.draw("warming up".to_owned()),
            Event::Ran(run) => self.ran(run),
            Event::Probing { probe, of, place } => self.probing(probe.known().title, of, *place),
            Event::Probed(_) => self.stand(),
            Event::Checking(title) => self.checking(title),
            Event::StageBegan(plan) => self.trying(plan),
            Event::Bounded { left_s } => self.bounded(Some(*left_s)),
            Event::Began(_)
            | Event::Ended(_)
            | Event::HookFailed(_)
            | Event::Settled(_)
            | Event::Custom(_) => {}
        }
    }

    /// For a line that tells how many looks there will be.
    pub fn with_looks(mut self, all: usize) -> Self {
        self.looks.1 = Some(all);
        self
    }

    fn probing(&mut self, title: &str, of: &str, place: Option<(usize, usize)>) {
        self.looks.0 += 1;
        let of = if self.why.is_some() { format!(" of {of}") } else { String::new() };
        let place = match place.or(self.looks.1.map(|all| (self.looks.0, all))) {
            Some((look, all)) if all > 1 => format!(" ({look} of {all})"),
            _ => String::new(),
        };
        self.told_to(String::new());
        self.draw(format!("looking{place}: {title}{of}"));
        self.tick();
    }

    fn checking(&mut self, title: &str) {
        self.told_to(String::new());
        self.draw(format!("checking that it acts: {title}"));
        self.tick();
    }

    fn trying(&mut self, plan: &StagePlan) {
        self.stand();
        let more = match plan.what_ifs.len() {
            0 | 1 => String::new(),
            all => format!(" and {} more", all - 1),
        };
        self.told_to(match plan.what_ifs.first() {
            Some(first) => format!("trying {}{more}: ", first.title),
            None if plan.growth.is_some() => "growing the work: ".to_owned(),
            None => "other layouts of memory: ".to_owned(),
        });
        (self.warmup, self.drawn_at_s) = (plan.experiment.design.warmup, f64::NEG_INFINITY);
        self.estimate.clear();
        self.names = plan::variants(&plan.experiment).into_iter().map(|variant| variant.name).collect();
        self.draw("warming up".to_owned());
    }

    fn told_to(&mut self, doing: String) {
        if let Some(why) = &mut self.why {
            why.doing = doing;
        }
    }

    /// Of an explanation, when all of it ends at the latest.
    fn bounded(&mut self, left_s: Option<f64>) {
        if let (Some(why), Some(left_s), Some(bar)) = (&mut self.why, left_s, &self.bar) {
            why.most_s = Some(bar.elapsed().as_secs_f64() + left_s);
        }
    }

    /// A look is not timed and may take long: the seconds may pass on the screen meanwhile.
    fn tick(&self) {
        if let Some(bar) = self.bar.as_ref().filter(|_| self.why.is_some()) {
            bar.enable_steady_tick(TICK);
        }
    }

    fn stand(&self) {
        if let Some(bar) = &self.bar {
            bar.disable_steady_tick();
        }
    }

    fn block_done(&mut self, forecast: &Forecast) {
        self.bounded(forecast.explained_in_s);
        self.announce(forecast);
        self.left = match self.why {
            Some(_) => format!("of {}", forecast.last_look),
            None => left(forecast),
        };
        if forecast.elapsed_s - self.drawn_at_s < REDRAW_AFTER_S {
            return;
        }
        self.drawn_at_s = forecast.elapsed_s;
        let between = if self.why.is_some() { " " } else { ", " };
        self.draw(format!(
            "{} {}{between}{}{}",
            self.block_word(),
            forecast.blocks,
            self.left,
            self.estimate
        ));
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
            let between = if self.why.is_some() { " " } else { ", " };
            format!("{} {}{between}{}", self.block_word(), run.block - self.warmup, self.left)
        };
        self.draw(format!("{place}; run {done} of {all} done"));
    }

    /// A block of one run is a run.
    fn block_word(&self) -> &'static str {
        if self.names.len() == 1 { "run" } else { "block" }
    }

    fn draw(&self, message: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(match &self.why {
                Some(Why { most_s: Some(most_s), doing }) => {
                    format!(" of at most {}: {doing}{message}", duration(*most_s))
                }
                Some(Why { most_s: None, doing }) => format!(": {doing}{message}"),
                None => message,
            });
            bar.tick();
        }
    }

    /// Says once, as soon as it is known, how long a fixed design will take.
    fn announce(&mut self, forecast: &Forecast) {
        if self.is_announced || !forecast.is_fixed || forecast.most_left_s < ANNOUNCE_FROM_S {
            return;
        }
        self.is_announced = true;
        let reasons = match forecast.explained_in_s.filter(|_| self.why.is_some()) {
            Some(left_s) => format!(" to decide; all of it at most {}", duration(left_s)),
            None if self.why.is_some() => " to decide, then the reasons".to_owned(),
            None => String::new(),
        };
        let word = self.block_word();
        let text = format!(
            "a {word} takes {}: {} {word}s, about {} more{reasons}",
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

/// Of an explanation, the seconds so far come first. Without the spinner's own character: nothing moves unless there is news.
fn style(asks_why: bool) -> ProgressStyle {
    let took = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
        let _ = write!(text, "{}", duration(state.elapsed().as_secs_f64().floor().max(1.0)));
    };
    let template = if asks_why { "{took}{wide_msg}" } else { "{wide_msg}" };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
    style.with_key("took", took)
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
