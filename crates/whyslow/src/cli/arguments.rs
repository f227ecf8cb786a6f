//! The table of what can be typed. Nothing is decided here; `plan` says what is possible.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::probe::Probe;
use super::stat::Stat;
use super::values::{
    Cpus, ExportParser, Exported, MetricParser, OutputPolicy, TypedEdit, parse_cpus, parse_edit, parse_limit,
    parse_output, parse_percent, parse_time, views,
};
use crate::machine::local::{Isolation, Settings};

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
    Explain(Box<Explain>),
    Try(Box<TryOut>),
    Probe(Box<Probe>),
    Report(Report),
    Stat(Box<Stat>),
    Doctor(Doctor),
    Completions(Completions),
    Man(Man),
}

/// Time a command, or run several in random order, again and again, and say which is faster
///
/// Every block runs every command once, in an order drawn anew. Measuring stops as soon as the answer is sure (of one
/// command: as soon as its median is known), or when the budget is spent.
#[derive(Args)]
#[command(
    override_usage = "whyslow compare [OPTIONS] COMMAND...\n       whyslow compare [OPTIONS] -- WORD... [-- WORD...]...",
    before_long_help = COMPARE_EXAMPLES,
    before_help = COMPARE_EXAMPLES
)]
pub struct Compare {
    /// A command line each, split into words as a shell would, and run without a shell
    #[arg(value_name = "COMMAND")]
    pub commands: Vec<OsString>,

    /// Commands as words, apart by `--`: nothing needs to be quoted
    #[arg(last = true, value_name = "WORD", allow_hyphen_values = true)]
    pub words: Vec<OsString>,

    #[command(flatten)]
    pub variants: Variants,

    #[command(flatten)]
    pub parameters: Parameters,

    #[command(flatten)]
    pub effort: Effort,

    #[command(flatten)]
    pub runs: Runs,

    #[command(flatten)]
    pub hooks: Hooks,

    #[command(flatten)]
    pub surroundings: Machine,

    #[command(flatten)]
    pub files: Files,

    #[command(flatten)]
    pub output: Output,
}

const COMPARE_EXAMPLES: &str = "Examples:
  whyslow compare 'perl new.pl'
  whyslow compare 'perl old.pl' 'perl new.pl'
  whyslow compare -n old -n new -- perl old.pl 'a b' -- perl new.pl 'a b'
  whyslow compare --env LC_ALL=C --env LC_ALL=C.UTF-8 'sort words' 'sort words'
  whyslow compare -L level 1,6,9 'gzip -{level} -c big'
  whyslow compare -S sh 'ls | wc -l' 'find . -maxdepth 1 | wc -l'
  whyslow compare --record run.jsonl 'make -j1' 'make -j2' --prepare 'make clean'";

/// Find out why one of two commands is slower: measure them, look into both, and try the suspects one by one
///
/// A suspect is guilty when taking it away closes a part of the gap, and cleared when it closes nothing; what stays
/// unexplained is told as well. Without a real difference, nobody is accused. The options are those of `compare`; --budget
/// is the time for all of it [default: 30s, or 40 times as long as one run of both commands].
#[derive(Args)]
#[command(
    override_usage = "whyslow explain [OPTIONS] COMMAND COMMAND\n       whyslow explain [OPTIONS] -- WORD... -- WORD...",
    before_long_help = EXPLAIN_EXAMPLES,
    before_help = EXPLAIN_EXAMPLES
)]
pub struct Explain {
    /// Suspects of your own: a file, or a directory of files that end in .toml
    #[arg(long, value_name = "FILE|DIR")]
    pub suspects: Vec<PathBuf>,

    #[command(flatten)]
    pub compare: Compare,
}

/// Try an edit: run a command with and without it, or see how much of the gap between two commands goes with it
///
/// The edit is a variable (NAME=VALUE), a variable to remove (-NAME), preload=mimalloc, preload=no-sync, preload=populate,
/// preload=no-delay, preload=few-files, preload=LIBRARY, cpus=LIST, or wrap=WORDS. Whether it took effect is
/// looked up in the child.
#[derive(Args)]
#[command(
    override_usage = "whyslow try [OPTIONS] --edit EDIT COMMAND [COMMAND]",
    before_long_help = TRY_EXAMPLES,
    before_help = TRY_EXAMPLES
)]
pub struct TryOut {
    /// What to change; several are changed together
    #[arg(long = "edit", short = 'e', value_name = "EDIT", required = true, allow_hyphen_values = true)]
    #[arg(value_parser = parse_edit)]
    pub edits: Vec<TypedEdit>,

    #[command(flatten)]
    pub compare: Compare,
}

const TRY_EXAMPLES: &str = "Examples:
  whyslow try --edit LC_ALL=C 'sort words'
  whyslow try --edit preload=mimalloc 'perl x.pl'
  whyslow try --edit cpus=0 './threads 2' './threads 8'";

const EXPLAIN_EXAMPLES: &str = "Examples:
  whyslow explain 'env LC_ALL=en_US.UTF-8 sort words' 'env LC_ALL=C sort words'
  whyslow explain --env PYTHONDEVMODE=1 --env PYTHONDEVMODE= 'python3 x.py' 'python3 x.py'
  whyslow explain --record why.jsonl './old input' './new input'; whyslow report why.jsonl";

#[derive(Args)]
#[command(next_help_heading = "What differs (once for all commands, or once for each)")]
pub struct Variants {
    /// Name of a command in the result, by position
    #[arg(short = 'n', long = "name", visible_alias = "command-name", value_name = "NAME")]
    pub names: Vec<String>,

    /// Compare with this one: the name or text of one of the commands, or one more command
    #[arg(long, value_name = "COMMAND")]
    pub reference: Option<OsString>,

    /// Name of the reference in the result
    #[arg(long, value_name = "NAME", requires = "reference")]
    pub reference_name: Option<String>,

    /// Run command lines by this shell, with its options; `none` and `default` (sh) are known
    #[arg(short = 'S', long, value_name = "SHELL")]
    pub shell: Vec<String>,

    /// The same as --shell=none, which is the default
    #[arg(short = 'N', hide = true, conflicts_with = "shell")]
    pub no_shell: bool,

    /// Words to put before the command, such as 'nice -n 5'
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub wrapper: Vec<String>,

    /// Variables to set: NAME=VALUE, several apart by spaces
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,

    /// Variables to remove, several apart by spaces
    #[arg(long, value_name = "NAME")]
    pub unset: Vec<String>,

    /// Directory to run in
    #[arg(long = "directory", visible_alias = "cwd", value_name = "DIR")]
    pub directory: Vec<PathBuf>,

    /// Standard input: `null` or a file, opened afresh for each run [default: null]
    #[arg(long, value_name = "null|FILE")]
    pub input: Vec<PathBuf>,

    /// Standard output: `pipe` (read and forgotten), `null`, `inherit`, or a file with a slash in its name
    /// [default: pipe]
    #[arg(long = "output", value_name = "pipe|null|inherit|FILE", value_parser = parse_output)]
    pub stdout: Vec<OutputPolicy>,

    /// The same as --output=inherit
    #[arg(long, conflicts_with_all = ["stdout", "tty"])]
    pub show_output: bool,

    /// Give the commands a terminal of their own
    #[arg(long, conflicts_with = "stdout")]
    pub tty: bool,

    /// CPUs that the command may use, such as 0,2-3
    #[arg(long, value_name = "CPUS", value_parser = parse_cpus)]
    pub affinity: Vec<Cpus>,

    /// Run the reference a second time, to see what this machine calls equal
    #[arg(long = "aa")]
    pub twin: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Parameters ({NAME} in commands, hooks, names, files and variables)")]
pub struct Parameters {
    /// One variant for each value; `\,` is a comma in a value
    #[arg(short = 'L', long = "parameter-list", num_args = 2, value_names = ["NAME", "A,B,C"], allow_hyphen_values = true)]
    pub lists: Vec<String>,

    /// From MIN to MAX, both included
    #[arg(short = 'P', long = "parameter-scan", num_args = 3, value_names = ["NAME", "MIN", "MAX"], allow_hyphen_values = true)]
    pub scans: Vec<String>,

    /// Step of a scan, by position [default: 1]
    #[arg(
        short = 'D',
        long = "parameter-step-size",
        value_name = "STEP",
        requires = "scans",
        allow_hyphen_values = true
    )]
    pub steps: Vec<String>,

    /// From MIN to MAX, each FACTOR times the last
    #[arg(short = 'G', long = "parameter-geometric", num_args = 4, value_names = ["NAME", "MIN", "MAX", "FACTOR"], allow_hyphen_values = true)]
    pub geometric: Vec<String>,
}

#[derive(Args)]
#[command(next_help_heading = "How much to measure, and what the answer must be worth")]
pub struct Effort {
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

    /// Time for measuring, in seconds or with a unit (90s, 5m, 1h) [default: 30s, of one command 10s]
    #[arg(short, long, value_name = "TIME", value_parser = parse_time)]
    pub budget: Option<Duration>,

    /// Chance in per cent that no claim of the comparison is wrong [default: 95]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, allow_negative_numbers = true)]
    pub confidence: Option<f64>,

    /// Differences up to so many per cent count as none [default: 2]; how well the median of a command by itself is to
    /// be known [default: 1]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, allow_negative_numbers = true)]
    pub margin: Option<f64>,

    /// Draws the order of the runs; the same seed gives the same orders [default: from the clock]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// The metric that decides when to stop, such as cpu or peak_rss [default: wall]
    #[arg(long, value_name = "METRIC", value_parser = MetricParser, hide_possible_values = true)]
    pub metric: Option<String>,

    /// A metric from the output: a regular expression with a group, or `json:/pointer`; OPTIONS are a unit (s, ms,
    /// us, ns, B, kB, MB, count) and `more` if more is better
    #[arg(long, value_name = "NAME[,OPTIONS]=PATTERN")]
    pub metric_from: Vec<String>,
}

#[derive(Args)]
#[command(next_help_heading = "Runs")]
pub struct Runs {
    /// End a run after this time; it is counted as failed
    #[arg(long, value_name = "TIME", value_parser = parse_limit)]
    pub timeout: Option<Duration>,

    /// Wait after each run for descendants that outlive their command, at most so long; what they use is in the CPU time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub wait_descendants: Option<Duration>,

    /// Go on after runs that fail, or only after those with these exit codes; they are counted and left out
    #[arg(short, long, value_name = "CODES", num_args = 0..=1, require_equals = true, default_missing_value = "all-non-zero")]
    pub ignore_failure: Option<String>,

    /// Exit codes that are no failure, such as 0,1 for grep [default: 0]
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    pub success_codes: Vec<i32>,

    /// Pause before each run, for what the last one left behind to settle
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub gap: Option<Duration>,

    /// Say so if the commands do not write the same, or one of them not the same in every run
    #[arg(long)]
    pub check_output: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Hooks (run by sh, not measured; once for all commands, or once for each)")]
pub struct Hooks {
    /// Before the first run of a command
    #[arg(short, long, value_name = "COMMAND")]
    pub setup: Vec<OsString>,

    /// Before every run
    #[arg(short, long, value_name = "COMMAND")]
    pub prepare: Vec<OsString>,

    /// After every run, also one that failed
    #[arg(short = 'C', long, value_name = "COMMAND")]
    pub conclude: Vec<OsString>,

    /// At the end, however it comes
    #[arg(short, long, value_name = "COMMAND")]
    pub cleanup: Vec<OsString>,
}

#[derive(Args)]
#[command(next_help_heading = "The machine")]
pub struct Machine {
    /// Give the commands precedence over everything else (needs root): by the scheduler's groups, or in real time
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "autogroup")]
    pub isolate: Option<IsolationPolicy>,

    /// CPUs for all commands, such as 0,2-3
    #[arg(long, value_name = "CPUS", value_parser = parse_cpus)]
    pub pin: Option<Cpus>,

    /// Wait before a block while other programs keep the CPUs busy, at most 5 s
    #[arg(long)]
    pub wait_quiet: bool,
}

impl Machine {
    /// What the machine is asked to do.
    pub fn settings(&self) -> Settings {
        let isolation = |policy| match policy {
            IsolationPolicy::Autogroup => Isolation::Autogroup,
            IsolationPolicy::Fifo => Isolation::Fifo,
        };
        Settings {
            isolate: self.isolate.map(isolation),
            pin: self.pin.as_ref().map(|cpus| cpus.0.clone()),
            wait_quiet: self.wait_quiet,
            ..Settings::default()
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IsolationPolicy {
    /// Autogroup nice -20
    Autogroup,
    /// SCHED_FIFO, priority 1
    Fifo,
}

/// Arguments, and groups of them by the names of their types.
const FIXED_BY_A_RECORDING: [&str; 9] =
    ["commands", "words", "record", "dry_run", "Variants", "Parameters", "Effort", "Runs", "Hooks"];

#[derive(Args)]
#[command(next_help_heading = "Files")]
pub struct Files {
    /// Write every run to this file at once, for `whyslow report`; an older one is kept as FILE.old, FILE.old.2 and
    /// so on
    #[arg(short = 'o', long = "record", value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// Go on with a recording that was interrupted, in the order that it was to have
    #[arg(long, value_name = "FILE", conflicts_with_all = FIXED_BY_A_RECORDING)]
    pub resume: Option<PathBuf>,

    /// Print what would be run, and run nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Show the result of a recording again, without running anything
#[derive(Args)]
pub struct Report {
    /// A file that `--record` wrote
    #[arg(value_name = "FILE")]
    pub recording: PathBuf,

    #[command(flatten)]
    pub output: Output,
}

/// How to show a result
#[derive(Args)]
#[command(next_help_heading = "The result")]
pub struct Output {
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,

    /// Print the verdicts only, and no progress
    #[arg(short, long)]
    pub quiet: bool,

    /// Print it as another program would: ministat, cmpthese, timestr, benchstat, hyperfine
    #[arg(long, value_name = "NAME", conflicts_with = "json", value_parser = views(), hide_possible_values = true)]
    pub view: Option<String>,

    /// Write it to a file as well (`-` is the standard output): json, hyperfine-json, hyperfine-json2, csv,
    /// csv-summary, markdown, asciidoc, org, go; where probes have looked, folded, speedscope, pprof
    #[arg(long = "export", value_name = "FORM=FILE", value_parser = ExportParser, hide_possible_values = true)]
    pub exports: Vec<Exported>,

    /// The same as --export hyperfine-json=FILE
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub export_json: Option<PathBuf>,

    /// The same as --export csv-summary=FILE
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub export_csv: Option<PathBuf>,

    /// The same as --export markdown=FILE
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub export_markdown: Option<PathBuf>,

    /// The same as --export asciidoc=FILE
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub export_asciidoc: Option<PathBuf>,

    /// The same as --export org=FILE
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub export_orgmode: Option<PathBuf>,

    /// When to use colour
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ColourPolicy::Auto)]
    pub color: ColourPolicy,
}

/// Say what can be measured on this machine, what weakens measurements, and what to do about it
///
/// Measures how small a difference means anything here, by running a loop and `true` beside themselves. The exit code
/// is 0 if all is fine, 1 if something weakens measurements, 2 if nothing can be measured.
#[derive(Args)]
#[command(before_help = "Examples:\n  whyslow doctor\n  whyslow doctor --seconds 0 --quiet")]
pub struct Doctor {
    /// Time for measuring the noise; 0 leaves it out
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "20")]
    pub seconds: Duration,

    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,

    /// Print only what weakens measurements, and no progress
    #[arg(short, long)]
    pub quiet: bool,

    /// When to use colour
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ColourPolicy::Auto)]
    pub color: ColourPolicy,
}

/// Print a script that completes commands and options, to be read by the shell
#[derive(Args)]
#[command(
    after_help = "Example:\n  whyslow completions bash > ~/.local/share/bash-completion/completions/whyslow"
)]
pub struct Completions {
    pub shell: clap_complete::Shell,
}

/// Print the manual page
#[derive(Args)]
#[command(after_help = "Example:\n  whyslow man | man -l -")]
pub struct Man {
    /// Of this subcommand
    pub subcommand: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColourPolicy {
    Auto,
    Always,
    Never,
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
    fn a_recording_that_goes_on_has_its_options() {
        let resume = |more: &[&str]| {
            let words = [&["whyslow", "compare", "--resume", "x.jsonl"], more].concat();
            Arguments::try_parse_from(words).is_ok()
        };
        for more in [&["--runs", "3"][..], &["--budget", "9"], &["-n", "a"], &["-p", "true"], &["--dry-run"]]
        {
            assert!(!resume(more), "{more:?}");
        }
        assert!(resume(&["--json", "--export", "csv=x.csv", "--wait-quiet"]));
    }
}
