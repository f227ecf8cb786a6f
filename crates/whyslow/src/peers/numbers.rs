//! Plain numbers, one a line or in a column, by the rules of ministat: trailing white space is cut, a word that begins
//! with `#` ends the line, lines without the column are skipped, and the word in the column has to be a whole
//! number of `strtod`. Unlike ministat, a line may be as long as it likes. Read without an allocation per line, since a
//! million lines are nothing unusual.

use std::num::NonZeroUsize;

use crate::model::{DataSet, Schedule};

use super::error::Fault;
use super::glimpse::{Glimpse, Shape};
use super::number::{self, is_space};
use super::source::{Source, metric};
use super::units::Measure;
use super::{Format, Options};

pub(super) const FORMAT: Format = Format { name: "numbers", title: "plain numbers", detect, read };

/// JSON cannot be meant as numbers; anything else is told where it is no number.
fn detect(glimpse: &Glimpse<'_>) -> bool {
    glimpse.shape == Shape::Text
}

fn read(source: &Source<'_>) -> Result<Vec<DataSet>, Fault> {
    let columns = Columns::new(source.options)?;
    let mut set = source.data_set(source.file, metric("value", &Measure::less(None)));
    set.schedule = Schedule::Unknown;
    set.values.reserve_exact(line_ends(source.bytes) + 1);
    let (mut rest, mut line) = (source.bytes, 0);
    while !rest.is_empty() {
        line += 1;
        let (value, after) = columns.next(rest, line)?;
        rest = after;
        let Some(value) = value else { continue };
        if set.values.is_empty() {
            set.origin.line = line;
        }
        set.values.push(value);
    }
    Ok(vec![set])
}

/// Counted before, so that memory is asked for once. In parts that a byte can count, since then sixteen bytes or more are
/// compared at once.
fn line_ends(text: &[u8]) -> usize {
    let in_part = |part: &[u8]| part.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>();
    text.chunks(usize::from(u8::MAX)).map(|part| usize::from(in_part(part))).sum()
}

/// Finds the word of a line that is asked for.
struct Columns {
    delimiter: [bool; 256],
    column: usize,
    /// Nothing but a number on the line means that number. Digits and points could be delimiters too.
    bare_numbers: bool,
}

impl Columns {
    fn new(options: &Options) -> Result<Self, Fault> {
        let delimiters = options.delimiters.as_deref().unwrap_or(" \t");
        if delimiters.is_empty() {
            return Err(Fault::NoDelimiter);
        }
        let mut delimiter = [false; 256];
        delimiters.bytes().for_each(|byte| delimiter[usize::from(byte)] = true);
        let column = options.column.map_or(1, NonZeroUsize::get);
        Ok(Columns { delimiter, column, bare_numbers: column == 1 && options.delimiters.is_none() })
    }

    /// The number of the first line, if it has the column, and what comes after the line.
    fn next<'a>(&self, text: &'a [u8], line: usize) -> Result<(Option<f64>, &'a [u8]), Fault> {
        if let Some((value, after)) = bare_number(text).filter(|_| self.bare_numbers) {
            return Ok((Some(value), after));
        }
        let end = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
        let after = text.get(end + 1..).unwrap_or(&[]);
        let Some(word) = self.wanted(&text[..end]) else { return Ok((None, after)) };
        let value = number::parse(word).ok_or_else(|| Fault::not_a_number(line, word))?;
        Ok((Some(value), after))
    }

    fn wanted<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        let end = line.iter().rposition(|byte| !is_space(*byte))? + 1;
        let mut rest = &line[..end];
        for column in 1.. {
            let start = rest.iter().position(|byte| !self.delimits(*byte))?;
            let length = rest[start..].iter().position(|byte| self.delimits(*byte));
            let word = &rest[start..length.map_or(rest.len(), |length| start + length)];
            if word[0] == b'#' {
                return None;
            }
            if column == self.column {
                return Some(word);
            }
            rest = &rest[start + word.len()..];
        }
        None
    }

    fn delimits(&self, byte: u8) -> bool {
        self.delimiter[usize::from(byte)]
    }
}

/// The short way for lines that are a number and nothing else: they need not be searched for their end first.
fn bare_number(text: &[u8]) -> Option<(f64, &[u8])> {
    let (value, length) = number::leading_decimal(text)?;
    let rest = &text[length..];
    let after = rest.strip_prefix(b"\n").or_else(|| rest.strip_prefix(b"\r\n"))?;
    Some((value, after))
}
