//! What can be typed after `whyslow probe`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::arguments::{ColourPolicy, Hooks, Output, Parameters, Variants};
use crate::cli::values::{ExportParser, Exported, ProbeParser, parse_limit};
use crate::model;

/// Look into one command, or at what is different between several: where the time goes, and what for
///
/// Every probe has a run of its own, because it disturbs what it looks at; how long that run takes is never a
/// measurement. Several commands are each shown as a difference to the first. `whyslow doctor` tells which probes work
/// here.
#[derive(Args)]
#[command(
    override_usage = "whyslow probe [OPTIONS] COMMAND...\n       whyslow probe [OPTIONS] -- WORD... [-- WORD...]...",
    before_long_help = EXAMPLES,
    before_help = EXAMPLES
)]
pub struct Probe {
    /// A command line each, split into words as a shell would, and run without a shell
    #[arg(value_name = "COMMAND")]
    pub commands: Vec<OsString>,

    /// Commands as words, apart by `--`: nothing needs to be quoted
    #[arg(last = true, value_name = "WORD", allow_hyphen_values = true)]
    pub words: Vec<OsString>,

    /// Probes to use, apart by commas: environment, loading, syscalls, files, allocations, cpu, faults, waiting, series,
    /// instructions; `all` is all of them [default: all but instructions]
    #[arg(
        short = 'w',
        long = "with",
        value_name = "PROBES",
        value_delimiter = ',',
        value_parser = ProbeParser,
        hide_possible_values = true
    )]
    pub with: Vec<ProbeList>,

    /// Look so many times with each probe; differences get an interval then
    #[arg(short, long, value_name = "N", default_value = "1")]
    pub repeat: NonZeroUsize,

    /// End a run after this time
    #[arg(long, value_name = "TIME", value_parser = parse_limit)]
    pub timeout: Option<Duration>,

    #[command(flatten)]
    pub variants: Variants,

    #[command(flatten)]
    pub parameters: Parameters,

    #[command(flatten)]
    pub hooks: Hooks,

    #[command(flatten)]
    pub result: Shown,
}

const EXAMPLES: &str = "Examples:
  whyslow probe 'perl old.pl'
  whyslow probe --with cpu,allocations --repeat 5 'perl old.pl' 'perl new.pl'
  whyslow probe --with cpu --export folded=stacks.txt --export speedscope=profile.json 'make -j2'
  whyslow probe --record traces.jsonl -- git status; whyslow report traces.jsonl";

/// One word of `--with`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeList {
    All,
    One(model::Probe),
}

#[derive(Args)]
#[command(next_help_heading = "The result")]
pub struct Shown {
    /// Write what is seen to this file at once, for `whyslow report`; an older one is kept as FILE.old
    #[arg(short = 'o', long = "record", value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// Print everything that was seen as one JSON object
    #[arg(long)]
    pub json: bool,

    /// Print no progress
    #[arg(short, long)]
    pub quiet: bool,

    /// Write it to a file as well (`-` is the standard output): json; profiles of CPU time and page faults as folded,
    /// speedscope, pprof
    #[arg(long = "export", value_name = "FORM=FILE", value_parser = ExportParser, hide_possible_values = true)]
    pub exports: Vec<Exported>,

    /// When to use colour
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ColourPolicy::Auto)]
    pub color: ColourPolicy,
}

impl Shown {
    /// The same as the options of the other commands that show a result.
    pub fn output(&self) -> Output {
        Output {
            json: self.json,
            quiet: self.quiet,
            view: None,
            exports: self.exports.clone(),
            export_json: None,
            export_csv: None,
            export_markdown: None,
            export_asciidoc: None,
            export_orgmode: None,
            color: self.color,
        }
    }
}
