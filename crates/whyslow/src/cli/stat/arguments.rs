//! What can be typed after `whyslow stat`. The letters are those of ministat.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use crate::cli::arguments::Output;
use crate::cli::values::parse_percent;
use crate::peers;

/// Say what measurements that you already have are worth: is the difference real?
///
/// Reads plain numbers and columns, and files of hyperfine, Go's testing package, pyperf, pytest-benchmark, criterion,
/// Google Benchmark, JMH, perf stat, Perl's Benchmark.pm and whyslow. Samples of several files are compared by name;
/// those of one file with its first.
#[derive(Args)]
#[command(before_long_help = EXAMPLES, before_help = EXAMPLES)]
pub struct Stat {
    /// Files with measurements; `-` is the standard input, which is read where none is given. Of a directory, what
    /// criterion keeps there
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub reading: Reading,

    #[command(flatten)]
    pub judging: Judging,

    #[command(flatten)]
    pub drawing: Drawing,

    #[command(flatten)]
    pub output: Output,
}

const EXAMPLES: &str = "Examples:
  whyslow stat old.txt new.txt
  whyslow stat -A -c 99 old.txt new.txt
  go test -bench=. -count=10 | whyslow stat
  whyslow stat --view benchstat old.json new.json
  whyslow stat target/criterion --metric time";

#[derive(Args)]
#[command(next_help_heading = "Reading")]
pub struct Reading {
    /// What the files are, where their content tells it wrong: numbers, hyperfine-json, hyperfine-csv, go, pyperf,
    /// pytest-benchmark, criterion, google-benchmark, jmh, perf-stat, benchmark-pm
    #[arg(long, value_name = "NAME", value_parser = parse_form)]
    pub form: Option<String>,

    /// Take the numbers of this column, from 1
    #[arg(short = 'C', long, value_name = "N")]
    pub column: Option<NonZeroUsize>,

    /// Characters between columns [default: space and tab]
    #[arg(short, long, value_name = "CHARACTERS", allow_hyphen_values = true)]
    pub delimiters: Option<String>,

    /// Only this metric, such as time, ns/op or wall_s [default: every metric of the files]
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,

    /// The values were taken side by side: value i of each sample close in time, in random order
    #[arg(long)]
    pub interleaved: bool,
}

#[derive(Args)]
#[command(next_help_heading = "What the answer must be worth")]
pub struct Judging {
    /// Chance in per cent that no claim is wrong [default: 95]
    #[arg(short, long, value_name = "PERCENT", value_parser = parse_percent, allow_negative_numbers = true)]
    pub confidence: Option<f64>,

    /// Differences up to so many per cent count as none [default: 2]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, allow_negative_numbers = true)]
    pub margin: Option<f64>,
}

#[derive(Args)]
#[command(next_help_heading = "As ministat (each of these chooses its view)")]
pub struct Drawing {
    /// Statistics only: neither plot nor comparison
    #[arg(short = 'n', long)]
    pub statistics_only: bool,

    /// No plot
    #[arg(short = 'A', long)]
    pub no_plot: bool,

    /// Bars of each sample in a line of their own
    #[arg(short, long)]
    pub separate_bars: bool,

    /// Columns of the plot [default: 74, or what fits]
    #[arg(short, long, value_name = "COLUMNS")]
    pub width: Option<usize>,

    /// Exactly what the original prints, its mistakes included; with --view, that of another program
    #[arg(long)]
    pub compat: bool,
}

impl Drawing {
    /// Whether something was asked for that only one view has.
    pub fn is_asked(&self) -> bool {
        self.statistics_only || self.no_plot || self.separate_bars || self.compat || self.width.is_some()
    }
}

fn parse_form(text: &str) -> Result<String, String> {
    let names = peers::form_names();
    match names.contains(&text) {
        true => Ok(text.to_owned()),
        false => Err(format!("known are {}", names.join(", "))),
    }
}
