//! The table in GitHub's Markdown.

use std::io::{self, Write};

use super::table;
use crate::analysis::Analysis;
use crate::model::Recording;
use crate::report::printable;

pub fn markdown(recording: &Recording, analysis: &Analysis, file: &mut dyn Write) -> io::Result<()> {
    let (header, rows) = table::rows(recording, analysis, command);
    let line = |row: &table::Row| format!("| {} |\n", row.join(" | "));
    let divider = "|:---|---:|---:|---:|---:|\n";
    write!(file, "{}{divider}{}", line(&header), rows.iter().map(line).collect::<String>())
}

/// A code span, with a fence longer than any row of backticks inside. A pipe ends a cell even there unless it is
/// escaped; behind a backslash that escape is read differently by different readers, so such commands are written
/// letter by letter.
pub fn command(name: &str) -> String {
    let name = printable(name);
    if name.contains("\\|") || name.ends_with('\\') || name.trim().is_empty() {
        return format!("<code>{}</code>", name.chars().map(entity).collect::<String>());
    }
    let fence = "`".repeat(1 + longest_row_of_backticks(&name));
    let is_at_end = |c: char| name.starts_with(c) || name.ends_with(c);
    // Readers take off one space on each side when both are there.
    let pad = if is_at_end('`') || (name.starts_with(' ') && name.ends_with(' ')) { " " } else { "" };
    format!("{fence}{pad}{}{pad}{fence}", name.replace('|', "\\|"))
}

fn longest_row_of_backticks(name: &str) -> usize {
    name.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

fn entity(c: char) -> String {
    if c.is_ascii_punctuation() { format!("&#{};", u32::from(c)) } else { c.to_string() }
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn commands_stay_in_their_cell_and_in_their_span() {
        let cases = [
            ("sleep 1", "`sleep 1`"),
            ("a | b", "`a \\| b`"),
            ("echo `date`", "`` echo `date` ``"),
            ("a``b", "```a``b```"),
            ("a\nb", "`a\\nb`"),
            ("FOO=1 x", "`FOO=1 x`"),
            ("a\\|b", "<code>a&#92;&#124;b</code>"),
            ("", "<code></code>"),
        ];
        for (name, written) in cases {
            assert_eq!(command(name), written, "{name:?}");
        }
    }
}
