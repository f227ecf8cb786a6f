//! Reads what other benchmark tools wrote: bytes in, data sets out. Nothing here opens a file, computes a statistic
//! or prints.
//!
//! Rules that hold for every form:
//! * A metric is called what the file calls it (`time`, `ns/op`, `real_time`). Where its unit is a time or a size,
//!   the **values are in seconds or bytes**, converted from the unit of the file with one rounding.
//! * What the tool itself printed about a sample (its mean, its spread) is kept **unchanged, in the unit of the
//!   file**; where that is not the unit of the values, the name says it in brackets: `mean [ns]`.
//! * A file that holds only such a summary gives a data set without values.
//! * No value is dropped because it is negative, infinite or not a number.
//! * The schedule is what the form tells: tools that run one benchmark after the other give
//!   [`Schedule::Blocked`](crate::model::Schedule), everything else is unknown. No form tells a random order.
//!
//! A form is one file with a `FORMAT` and one row of [`FORMATS`].

mod benchmark_pm;
pub mod criterion;
mod error;
mod gather;
mod glimpse;
mod go;
mod google_benchmark;
mod hyperfine_csv;
mod hyperfine_json;
mod jmh;
mod json;
mod number;
mod numbers;
mod perf_stat;
mod pyperf;
mod pytest_benchmark;
mod source;
mod units;

use std::num::NonZeroUsize;

use crate::model::DataSet;

pub use error::PeerError;

use error::Fault;
use glimpse::{Glimpse, Shape};
use source::Source;

/// What the user says about the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Name of the form; without it the content tells.
    pub form: Option<String>,
    /// Which column holds the numbers, from 1. Given, it means that the file is plain columns.
    pub column: Option<NonZeroUsize>,
    /// Characters between columns; several of them in a row count once. Given, it means plain columns too.
    pub delimiters: Option<String>,
}

/// One form of file.
pub struct Format {
    /// For `--form` and [`Origin`](crate::model::Origin).
    pub name: &'static str,
    /// For messages and lists: `hyperfine's JSON`.
    pub title: &'static str,
    detect: fn(&Glimpse<'_>) -> bool,
    read: fn(&Source<'_>) -> Result<Vec<DataSet>, Fault>,
}

/// All forms, in the order in which they are tried. Plain numbers are last, since any text may be meant as that.
pub const FORMATS: &[Format] = &[
    hyperfine_json::FORMAT,
    pyperf::FORMAT,
    pytest_benchmark::FORMAT,
    google_benchmark::FORMAT,
    jmh::FORMAT,
    criterion::FORMAT,
    perf_stat::FORMAT,
    hyperfine_csv::FORMAT,
    benchmark_pm::FORMAT,
    go::FORMAT,
    numbers::FORMAT,
];

/// The table of forms.
pub fn forms() -> &'static [Format] {
    FORMATS
}

/// What can be asked for as a form.
pub fn form_names() -> Vec<&'static str> {
    FORMATS.iter().map(|format| format.name).collect()
}

/// Whether this is a recording of whyslow, which [`store`](crate::store) reads.
pub fn is_recording(bytes: &[u8]) -> bool {
    Glimpse::of(without_mark(bytes)).first_key() == Some(b"whyslow")
}

/// Reads one file. `file_name` is only used to name data sets that have no other name, and in messages.
pub fn read(file_name: &str, bytes: &[u8], options: &Options) -> Result<Vec<DataSet>, PeerError> {
    let bytes = without_mark(bytes);
    let glimpse = Glimpse::of(bytes);
    let format = choose(file_name, bytes, &glimpse, options)?;
    let source = Source { file: file_name, form: format.name, bytes, options };
    let sets = (format.read)(&source).map_err(|fault| fault.in_file(file_name, format.title))?;
    let sets: Vec<DataSet> = sets.into_iter().filter(holds_numbers).collect();
    match sets.is_empty() {
        true => Err(PeerError::Empty { file: file_name.to_owned() }),
        false => Ok(sets),
    }
}

fn choose(
    file: &str,
    bytes: &[u8],
    glimpse: &Glimpse<'_>,
    options: &Options,
) -> Result<&'static Format, PeerError> {
    let file = file.to_owned();
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(PeerError::Utf16 { file });
    }
    if let Some(form) = asked_form(options) {
        let format = FORMATS.iter().find(|format| format.name == form);
        return format.ok_or_else(|| PeerError::UnknownForm { form: form.to_owned() });
    }
    if glimpse.shape == Shape::Empty {
        return Err(PeerError::Empty { file });
    }
    if glimpse.first_key() == Some(b"whyslow") {
        return Err(PeerError::Recording { file });
    }
    FORMATS.iter().find(|format| (format.detect)(glimpse)).ok_or(PeerError::Unrecognised { file })
}

/// Columns and delimiters only make sense for plain columns, so that whoever gives them need not name the form.
fn asked_form(options: &Options) -> Option<&str> {
    let columns = options.column.is_some() || options.delimiters.is_some();
    options.form.as_deref().or_else(|| columns.then_some(numbers::FORMAT.name))
}

/// Editors on Windows put a byte-order mark in front of UTF-8.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

fn holds_numbers(set: &DataSet) -> bool {
    !set.values.is_empty() || !set.printed.is_empty()
}
