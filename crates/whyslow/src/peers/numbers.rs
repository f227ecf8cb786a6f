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
    let lines = source.bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    set.values.reserve_exact(lines);
    for (index, line) in source.bytes.split(|byte| *byte == b'\n').enumerate() {
        let Some(word) = columns.wanted(line) else { continue };
        let value = number::parse(word).ok_or_else(|| Fault::not_a_number(index + 1, word))?;
        if set.values.is_empty() {
            set.origin.line = index + 1;
        }
        set.values.push(value);
    }
    Ok(vec![set])
}

/// Finds the word of a line that is asked for.
struct Columns {
    delimiter: [bool; 256],
    column: usize,
}

impl Columns {
    fn new(options: &Options) -> Result<Self, Fault> {
        let delimiters = options.delimiters.as_deref().unwrap_or(" \t");
        if delimiters.is_empty() {
            return Err(Fault::NoDelimiter);
        }
        let mut delimiter = [false; 256];
        delimiters.bytes().for_each(|byte| delimiter[usize::from(byte)] = true);
        Ok(Columns { delimiter, column: options.column.map_or(1, NonZeroUsize::get) })
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
