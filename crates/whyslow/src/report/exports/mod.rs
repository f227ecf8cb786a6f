//! Files that other tools read, from any recording. Each export is a function that writes a recording and its
//! analysis as a file, run by run, since there may be a million of them; with the numbers in full; escaping is that of the form.
//!
//! To add an export: one file with one function, and one row in [`EXPORTS`].

mod asciidoc;
mod csv;
mod go_benchmark;
mod hyperfine_json;
mod hyperfine_json2;
mod markdown;
mod org;
mod profiles;
mod series;
mod table;
mod whyslow_json;

pub use asciidoc::asciidoc;
pub(super) use csv::line as csv_line;
pub use csv::{csv, csv_summary};
pub use go_benchmark::go_benchmark;
pub use hyperfine_json::hyperfine_json;
pub use hyperfine_json2::hyperfine_json2;
pub(super) use markdown::command as code_span;
pub use markdown::markdown;
pub use org::org;
pub use profiles::{PROFILE_EXPORTS, ProfileExport, has_profile, profile_export};
pub use whyslow_json::{pretty, whyslow_json};

use std::io::{self, Write};

use crate::analysis::Analysis;
use crate::model::Recording;

/// One row of the table of exports.
pub struct Export {
    /// What is typed before the `=` of `--export FORM=FILE`.
    pub name: &'static str,
    /// Usual end of the name of such a file, without the dot.
    pub extension: &'static str,
    pub about: &'static str,
    pub write: fn(&Recording, &Analysis, &mut dyn Write) -> io::Result<()>,
}

pub const EXPORTS: &[Export] = &[
    row(
        "json",
        "json",
        "everything that compare --json prints (docs/schema/compare.schema.json)",
        whyslow_json,
    ),
    row(
        "hyperfine-json",
        "json",
        "what hyperfine 1.x exports, for its scripts and other readers",
        hyperfine_json,
    ),
    row("hyperfine-json2", "json", "what hyperfine 2.x exports (schema version 2)", hyperfine_json2),
    row("csv", "csv", "one row for every run, warm-up and failed ones included, with every metric", csv),
    row("csv-summary", "csv", "one row for every variant, as hyperfine 1.x", csv_summary),
    row("markdown", "md", "a table with means, ranges, ratios and verdicts", markdown),
    row("asciidoc", "adoc", "the same table for AsciiDoc", asciidoc),
    row("org", "org", "the same table for Org mode", org),
    row("go", "txt", "Go benchmark text, for benchstat -col /FACTOR", go_benchmark),
];

const fn row(
    name: &'static str,
    extension: &'static str,
    about: &'static str,
    write: fn(&Recording, &Analysis, &mut dyn Write) -> io::Result<()>,
) -> Export {
    Export { name, extension, about, write }
}

/// The export of that name.
pub fn export(name: &str) -> Option<&'static Export> {
    EXPORTS.iter().find(|export| export.name == name)
}
