//! What can be asked of a view. One set of options serves all views; each uses what it has a use for.

use super::printf::{Conversion, Kind};

#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Exactly what the original prints, and nothing beside it.
    pub compat: bool,
    /// Confidence of intervals and tests, such as 0.95.
    pub confidence: f64,
    /// A ratio between 1/(1+margin) and 1+margin counts as no difference.
    pub margin: f64,
    /// Chance of a false claim for each comparison with the first set, where it is not just `1 - confidence` divided
    /// among the comparisons: data that were looked at more than once have spent some of it.
    pub alpha_each: Option<f64>,
    /// Columns of a plot, frame not counted.
    pub width: usize,
    /// `-A` of ministat turns this off.
    pub plot: bool,
    /// `-n` of ministat: neither plot nor comparison.
    pub only_statistics: bool,
    /// `-s` of ministat: a row of bars for each set.
    pub separate_bars: bool,
    /// `-q` of ministat: no names and no header.
    pub quiet: bool,
    /// Benchmark.pm's choice of columns.
    pub style: TimeStyle,
    /// Benchmark.pm's format of times, without the `%`.
    pub format: Conversion,
}

/// Which times Benchmark.pm shows, and which it divides by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TimeStyle {
    /// Children's times where there are any.
    #[default]
    Auto,
    All,
    /// No children.
    Noc,
    /// No parent: children only.
    Nop,
    /// Nothing at all.
    None,
}

impl TimeStyle {
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "auto" => TimeStyle::Auto,
            "all" => TimeStyle::All,
            "noc" => TimeStyle::Noc,
            "nop" => TimeStyle::Nop,
            "none" => TimeStyle::None,
            _ => return None,
        })
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            compat: false,
            confidence: 0.95,
            margin: 0.02,
            alpha_each: None,
            width: 74,
            plot: true,
            only_statistics: false,
            separate_bars: false,
            quiet: false,
            style: TimeStyle::Auto,
            format: Conversion::new(5, 2, Kind::Fixed),
        }
    }
}

impl Options {
    /// Chance of a false claim for one of the comparisons of `others` sets with one base.
    pub fn alpha_against_base(&self, others: usize) -> f64 {
        self.alpha_each.unwrap_or((1.0 - self.confidence) / others.max(1) as f64)
    }

    /// The same where each of `sets` sets is compared with each other.
    pub fn alpha_of_every_pair(&self, sets: usize) -> f64 {
        // sets - 1 comparisons with a base become sets (sets - 1) / 2.
        self.alpha_against_base(sets.saturating_sub(1)) * 2.0 / sets.max(2) as f64
    }
}
