//! The table in AsciiDoc.

use std::io::{self, Write};

use super::table;
use crate::analysis::Analysis;
use crate::model::Recording;
use crate::report::printable;

pub fn asciidoc(recording: &Recording, analysis: &Analysis, file: &mut dyn Write) -> io::Result<()> {
    let (header, rows) = table::rows(recording, analysis, command);
    let row = |row: &table::Row| format!("\n| {} \n", row.join(" \n| "));
    let rows = std::iter::once(&header).chain(&rows).map(row);
    write!(file, "[cols=\"<,>,>,>,>\"]\n|==={}|===\n", rows.collect::<String>())
}

/// Monospaced. Whatever could be markup is written as a character reference; a plain command stays as it is.
fn command(name: &str) -> String {
    let characters: Vec<char> = printable(name).chars().collect();
    let encode = |(place, &c): (usize, &char)| {
        let is_doubled = characters.get(place + 1) == Some(&c) || (place > 0 && characters[place - 1] == c);
        if is_markup(c) || (is_doubled && matches!(c, '-' | '.' | '/' | ':')) {
            format!("&#{};", u32::from(c))
        } else {
            c.to_string()
        }
    };
    let text: String = characters.iter().enumerate().map(encode).collect();
    if text.trim().is_empty() { text } else { format!("`{text}`") }
}

fn is_markup(c: char) -> bool {
    c.is_ascii_punctuation() && !matches!(c, '-' | '.' | ',' | '/' | ':' | '=' | '@' | '%')
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn markup_is_written_as_references() {
        let cases = [
            ("sleep 0.1", "`sleep 0.1`"),
            ("LC_ALL=C sort", "`LC&#95;ALL=C sort`"),
            ("a | b", "`a &#124; b`"),
            ("ls --all", "`ls &#45;&#45;all`"),
            ("echo `x`", "`echo &#96;x&#96;`"),
            ("a\nb", "`a&#92;nb`"),
        ];
        for (name, written) in cases {
            assert_eq!(command(name), written, "{name:?}");
        }
    }
}
