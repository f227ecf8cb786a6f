//! The table of what can be typed. Nothing is decided here; `plan` says what is possible.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Find out which of several ways of doing the same work is faster, whether the difference is real, and why.
#[derive(Parser)]
#[command(name = "whyslow", version, max_term_width = 100, propagate_version = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    Compare(Box<Compare>),
    Report(Report),
}

/// Run two or more commands in random order, again and again, and say which is faster
///
/// Every block runs every command once, in an order drawn anew. Measuring stops as soon as the answer is sure, or
/// when the budget is spent.
#[derive(Args)]
#[command(after_help = "Examples:
  whyslow compare 'perl old.pl' 'perl new.pl'
  whyslow compare -n C -n UTF-8 'env LC_ALL=C sort words' 'env LC_ALL=C.UTF-8 sort words'
  whyslow compare --record run.jsonl 'gzip -6 -k -c big' 'zstd -3 -k -c big'
  whyslow compare --runs 20 \"sh -c 'ls | wc -l'\" 'find . -maxdepth 1'")]
pub struct Compare {
    /// A command line each, split into words as a shell would, and run without a shell
    #[arg(value_name = "COMMAND", required = true)]
    pub commands: Vec<OsString>,

    /// Name of a command in the result, by position
    #[arg(short = 'n', long = "name", visible_alias = "command-name", value_name = "NAME")]
    pub names: Vec<String>,

    /// Compare with this one: the name or text of one of the commands, or one more command
    #[arg(long, value_name = "COMMAND")]
    pub reference: Option<OsString>,

    /// Name of the reference in the result
    #[arg(long, value_name = "NAME", requires = "reference")]
    pub reference_name: Option<String>,

    /// Runs of each command before measuring [default: 1]
    #[arg(short, long, value_name = "N")]
    pub warmup: Option<usize>,

    /// Exactly so many measured runs of each command
    #[arg(short, long, value_name = "N", conflicts_with_all = ["min_runs", "max_runs"])]
    pub runs: Option<usize>,

    /// At least so many measured runs of each command
    #[arg(short, long, value_name = "N")]
    pub min_runs: Option<usize>,

    /// At most so many measured runs of each command
    #[arg(short = 'M', long, value_name = "N")]
    pub max_runs: Option<usize>,

    /// Time for measuring, in seconds or with a unit (90s, 5m, 1h) [default: 30s]
    #[arg(short, long, value_name = "TIME", value_parser = parse_time)]
    pub budget: Option<Duration>,

    /// Chance in per cent that no claim of the comparison is wrong [default: 95]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, allow_negative_numbers = true)]
    pub confidence: Option<f64>,

    /// Differences up to so many per cent count as none [default: 2]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, allow_negative_numbers = true)]
    pub margin: Option<f64>,

    /// Draws the order of the runs; the same seed gives the same orders [default: from the clock]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Write every run to this file at once, for `whyslow report`; an older one is kept as FILE.old
    #[arg(short = 'o', long = "record", value_name = "FILE")]
    pub record: Option<PathBuf>,

    #[command(flatten)]
    pub output: Output,
}

/// Show the result of a recording again, without running anything
#[derive(Args)]
pub struct Report {
    /// A file that `whyslow compare --record` wrote
    #[arg(value_name = "FILE")]
    pub recording: PathBuf,

    #[command(flatten)]
    pub output: Output,
}

/// How to show a result
#[derive(Args)]
pub struct Output {
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,

    /// Print the verdicts only, and no progress
    #[arg(short, long)]
    pub quiet: bool,

    /// When to use colour
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ColourPolicy::Auto)]
    pub color: ColourPolicy,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColourPolicy {
    Auto,
    Always,
    Never,
}

/// `30` is seconds; `90s`, `5m`, `1h 30m` and `500ms` have units.
fn parse_time(text: &str) -> Result<Duration, String> {
    let wrong = || "not a time such as 30, 90s, 5m or 1h".to_owned();
    if let Ok(seconds) = text.trim().parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).map_err(|_| wrong());
    }
    let span: jiff::SignedDuration = text.parse().map_err(|_| wrong())?;
    Duration::try_from(span).map_err(|_| wrong())
}

/// `2`, `2%` and `2 %`.
fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    number.parse().map_err(|_| "not a number of per cent such as 2 or 0.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_table_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn times_and_shares_take_the_usual_forms() {
        assert_eq!(parse_time("30"), Ok(Duration::from_secs(30)));
        assert_eq!(parse_time("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_time("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(parse_time("1h 30m"), Ok(Duration::from_secs(5_400)));
        for wrong in ["", "-1", "x", "1e999", "nan"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_percent("2 %"), Ok(2.0));
        assert!(parse_percent("two").is_err());
    }
}
