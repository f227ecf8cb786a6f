//! The table in Org mode.

use std::io::{self, Write};

use super::table;
use crate::analysis::Analysis;
use crate::model::Recording;
use crate::report::printable;

pub fn org(recording: &Recording, analysis: &Analysis, file: &mut dyn Write) -> io::Result<()> {
    let (header, rows) = table::rows(recording, analysis, command);
    let line = |row: &table::Row| format!("| {}  |  {} |\n", row[0], row[1..].join(" |  "));
    write!(file, "{}|--+--+--+--+--|\n{}", line(&header), rows.iter().map(line).collect::<String>())
}

/// Verbatim where that is possible: it ends at its own mark, nothing in it can be escaped, and a bar ends the cell.
fn command(name: &str) -> String {
    let name = printable(name);
    let is_verbatim = !name.contains('|') && !name.is_empty() && name.trim() == name;
    match (is_verbatim, name.contains('='), name.contains('~')) {
        (true, false, _) => format!("={name}="),
        (true, true, false) => format!("~{name}~"),
        _ => name.chars().map(entity).collect(),
    }
}

/// Org's name for a character that could be markup.
fn entity(c: char) -> String {
    let name = match c {
        '|' => "vert",
        '=' => "equal",
        '~' => "tilde",
        '*' => "ast",
        '/' => "slash",
        '_' => "under",
        '+' => "plus",
        '^' => "asciicirc",
        '\\' => "backslash",
        '[' => "lbrack",
        ']' => "rbrack",
        '{' => "lbrace",
        '}' => "rbrace",
        '<' => "lt",
        '>' => "gt",
        '$' => "dollar",
        '&' => "amp",
        '#' => "num",
        '@' => "atsign",
        _ => return c.to_string(),
    };
    format!("\\{name}{{}}")
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn verbatim_is_used_where_it_holds() {
        let cases = [
            ("sleep 1", "=sleep 1="),
            ("FOO=1 x", "~FOO=1 x~"),
            ("a | b", "a \\vert{} b"),
            ("a=~b", "a\\equal{}\\tilde{}b"),
            ("a\nb", "=a\\nb="),
        ];
        for (name, written) in cases {
            assert_eq!(command(name), written, "{name:?}");
        }
    }
}
