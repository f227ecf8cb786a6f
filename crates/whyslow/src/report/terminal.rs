//! A document as text for a terminal, a pipe or a file: width, colour and characters are decided here.

mod curves;
mod listing;

use anstyle::{AnsiColor, Style as Ansi};
use unicode_width::UnicodeWidthStr;

use super::document::{Definition, Distribution, Distributions, Document, Line, Part, Span, Table, Tone};

/// How to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns to fill at most.
    pub width: usize,
    pub colour: bool,
    /// Whether block characters can be shown.
    pub unicode: bool,
}

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII_BARS: [char; 4] = ['.', ':', '+', '#'];
const GAP: &str = "  ";
const NARROW_GAP: &str = " ";
const NARROWEST: usize = 20;
/// A name and one number.
const FEWEST_COLUMNS: usize = 2;

/// The document as text, every line ended by a newline.
pub fn render(document: &Document, style: Style) -> String {
    let style = Style { width: style.width.max(NARROWEST), ..style };
    let parts: Vec<Vec<String>> = document.parts.iter().map(|part| render_part(part, style)).collect();
    let mut text = String::new();
    for part in parts.iter().filter(|lines| !lines.is_empty()) {
        if !text.is_empty() {
            text.push('\n');
        }
        for line in part {
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    if style.unicode { text } else { text.replace('±', "+-").replace('µ', "u") }
}

fn render_part(part: &Part, style: Style) -> Vec<String> {
    match part {
        Part::Text(lines) => lines.iter().flat_map(|line| text(line, style)).collect(),
        Part::Table(table) => draw_table(table, style),
        Part::Definitions(definitions) => draw_definitions(definitions, style),
        Part::Listing(listing) => listing::draw(listing, style),
        Part::Curves(curves) => curves::draw(curves, style),
        Part::Distributions(distributions) => draw_distributions(distributions, style),
        Part::Notes(notes) => notes.iter().flat_map(|note| wrapped(note, "* ", "  ", style)).collect(),
    }
}

/// A line keeps its own indentation where it has to be continued.
fn text(line: &Line, style: Style) -> Vec<String> {
    let first = line.first().map_or("", |span| span.text.as_str());
    let indent = " ".repeat(first.len() - first.trim_start_matches(' ').len());
    let mut line = line.clone();
    if let Some(first) = line.first_mut() {
        first.text = first.text.trim_start_matches(' ').to_owned();
    }
    wrapped(&line, &indent, &format!("{indent}  "), style)
}

/// Breaks at spaces; a word longer than a line stands alone.
fn wrapped(line: &[Span], first: &str, rest: &str, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    let mut current = first.to_owned();
    let mut used = first.width();
    let mut is_line_start = true;
    for word in words(line) {
        if !is_line_start && used + word.spaces + word.width() > style.width {
            lines.push(std::mem::replace(&mut current, rest.to_owned()));
            used = rest.width();
            is_line_start = true;
        }
        if !is_line_start {
            current.push_str(&" ".repeat(word.spaces));
            used += word.spaces;
        }
        used += word.width();
        word.pieces.iter().for_each(|(text, tone)| current.push_str(&painted(text, *tone, style)));
        is_line_start = false;
    }
    lines.push(current);
    lines
}

/// What must stay on one line: pieces, perhaps of several tones, without a space between them.
struct Word {
    /// Spaces before it.
    spaces: usize,
    pieces: Vec<(String, Tone)>,
}

impl Word {
    fn width(&self) -> usize {
        self.pieces.iter().map(|(text, _)| text.width()).sum()
    }
}

fn words(line: &[Span]) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut spaces = 0;
    for span in line {
        for (index, text) in span.text.split(' ').enumerate() {
            spaces += usize::from(index > 0);
            if text.is_empty() {
                continue;
            }
            match words.last_mut() {
                Some(word) if spaces == 0 => word.pieces.push((text.to_owned(), span.tone)),
                // A number stays with its unit.
                Some(word) if text.starts_with('%') => {
                    word.pieces.push((" ".repeat(spaces) + text, span.tone));
                }
                _ => words.push(Word { spaces, pieces: vec![(text.to_owned(), span.tone)] }),
            }
            spaces = 0;
        }
    }
    words
}

/// In two columns, or with the text below its head where the second would be narrower than [`NARROWEST`].
fn draw_definitions(definitions: &[Definition], style: Style) -> Vec<String> {
    let width_of = |head: &Line| head.iter().map(|span| span.text.width()).sum::<usize>();
    let column =
        definitions.iter().map(|definition| width_of(&definition.head) + GAP.len()).max().unwrap_or(0);
    let is_beside = column + NARROWEST <= style.width;
    let indent = " ".repeat(if is_beside { column } else { 2 * GAP.len() });
    let mut lines = Vec::new();
    for Definition { head, body } in definitions {
        let painted: String = head.iter().map(|span| painted(&span.text, span.tone, style)).collect();
        let mut body = body.iter().flat_map(|line| wrapped(line, &indent, &indent, style));
        let behind = " ".repeat(column - width_of(head));
        let beside = if is_beside { body.next() } else { None };
        lines.push(painted + &behind + beside.as_deref().map_or("", |line| &line[column..]));
        lines.extend(body);
    }
    lines
}

/// Columns move together before they leave the terminal; if that is not enough, the last ones are left out.
fn draw_table(table: &Table, style: Style) -> Vec<String> {
    let all = || std::iter::once(&table.header).chain(&table.rows);
    let mut widths: Vec<usize> = (0..table.header.len())
        .map(|column| all().map(|row| row[column].width()).max().unwrap_or(0))
        .collect();
    let fits = |widths: &[usize], gap: &str| {
        widths.iter().sum::<usize>() + gap.len() * widths.len().saturating_sub(1) <= style.width
    };
    let gap = if fits(&widths, GAP) { GAP } else { NARROW_GAP };
    while widths.len() > FEWEST_COLUMNS && !fits(&widths, gap) {
        widths.pop();
    }
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate();
        let padded = cells.map(|(index, (cell, &width))| pad(cell, width, index > 0));
        padded.collect::<Vec<_>>().join(gap)
    };
    let header = painted(&line(&table.header), Tone::Faint, style);
    std::iter::once(header).chain(table.rows.iter().map(line)).collect()
}

fn pad(text: &str, width: usize, right: bool) -> String {
    let fill = " ".repeat(width.saturating_sub(text.width()));
    if right { fill + text } else { text.to_owned() + &fill }
}

fn draw_distributions(distributions: &Distributions, style: Style) -> Vec<String> {
    let name_width = distributions.rows.iter().map(|row| row.name.width()).max().unwrap_or(0);
    let bins = distributions.rows.iter().map(|row| row.counts.len()).max().unwrap_or(0);
    let remarks = distributions.rows.iter().map(|row| row.remark.width()).max().unwrap_or(0);
    let room = style.width.saturating_sub(name_width + remarks + 2 * GAP.len()).min(bins);
    if room < 8 {
        return Vec::new();
    }
    let mut lines: Vec<String> = distributions
        .rows
        .iter()
        .map(|row| {
            format!("{}{GAP}{}{GAP}{}", pad(&row.name, name_width, false), bars(row, room, style), row.remark)
        })
        .collect();
    let (low, high) = &distributions.ends;
    let between = " ".repeat(room.saturating_sub(low.width() + high.width()));
    let axis = painted(&format!("{low}{between}{high}"), Tone::Faint, style);
    lines.push(format!("{}{GAP}{axis}", " ".repeat(name_width)));
    lines
}

/// One character for each bin, its height by the share of the fullest one; a single run is never invisible.
fn bars(row: &Distribution, room: usize, style: Style) -> String {
    let counts = squeeze(&row.counts, room);
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let glyphs: &[char] = if style.unicode { &BARS } else { &ASCII_BARS };
    let glyph = |count: usize| match count {
        0 => ' ',
        count => glyphs[(count * glyphs.len()).div_ceil(most).clamp(1, glyphs.len()) - 1],
    };
    counts.into_iter().map(glyph).collect()
}

/// Fewer columns than bins: neighbours are added up.
fn squeeze(counts: &[usize], room: usize) -> Vec<usize> {
    let mut squeezed = vec![0; room];
    for (bin, count) in counts.iter().enumerate() {
        squeezed[bin * room / counts.len()] += count;
    }
    squeezed
}

fn painted(text: &str, tone: Tone, style: Style) -> String {
    let paint = paint(tone);
    if !style.colour || paint == Ansi::new() || text.is_empty() {
        return text.to_owned();
    }
    format!("{paint}{text}{paint:#}")
}

fn paint(tone: Tone) -> Ansi {
    let colour = |colour: AnsiColor| Ansi::new().fg_color(Some(colour.into()));
    match tone {
        Tone::Plain => Ansi::new(),
        Tone::Strong => Ansi::new().bold(),
        Tone::Faint => Ansi::new().dimmed(),
        Tone::Faster => colour(AnsiColor::Green).bold(),
        Tone::Slower => colour(AnsiColor::Red).bold(),
        Tone::Same => colour(AnsiColor::Cyan).bold(),
        Tone::Undecided | Tone::Warning => colour(AnsiColor::Yellow).bold(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::{plain, toned};
    use super::*;

    const NARROW: Style = Style { width: 24, colour: false, unicode: true };

    fn render_parts(parts: Vec<Part>, style: Style) -> String {
        render(&Document { parts }, style)
    }

    #[test]
    fn lines_break_at_spaces_and_keep_pieces_together() {
        let line = vec![plain("  one two three "), toned(Tone::Strong, "four"), plain(", five")];
        let text = render_parts(vec![Part::Text(vec![line])], Style { width: 20, ..NARROW });
        assert_eq!(text, "  one two three\n    four, five\n");
    }

    #[test]
    fn notes_hang_behind_their_mark() {
        let text = render_parts(vec![Part::Notes(vec![vec![plain("a b c d e f g h i j k l m n")]])], NARROW);
        assert_eq!(text, "* a b c d e f g h i j k\n  l m n\n");
    }

    #[test]
    fn definitions_stand_beside_their_head_or_below_it() {
        let definition = |head: &str, body: &str| Definition {
            head: vec![plain(head)],
            body: vec![vec![plain(body)], vec![plain("so there")]],
        };
        let part =
            Part::Definitions(vec![definition("a", "one two three four five"), definition("long", "x")]);
        let wide = render_parts(vec![part.clone()], Style { width: 26, ..NARROW });
        assert_eq!(wide, "a     one two three four\n      five\n      so there\nlong  x\n      so there\n");
        let narrow = render_parts(vec![part], NARROW);
        assert_eq!(narrow, "a\n    one two three four\n    five\n    so there\nlong\n    x\n    so there\n");
    }

    #[test]
    fn tables_are_aligned_by_what_is_seen() {
        let row = |cells: [&str; 2]| cells.map(String::from).to_vec();
        let table =
            Table { header: row(["", "time"]), rows: vec![row(["né", "1 s"]), row(["漢字", "10 s"])] };
        let text = render_parts(vec![Part::Table(table)], NARROW);
        assert_eq!(text, "      time\nné     1 s\n漢字  10 s\n");
    }

    #[test]
    fn a_single_run_is_seen_beside_many() {
        let row = Distribution {
            name: "a".into(),
            counts: vec![1, 0, 1_000, 500, 0, 0, 0, 0, 0, 0],
            remark: "±1 %".into(),
        };
        let ends = ("1 s".into(), "2 s".into());
        let part = Part::Distributions(Distributions { rows: vec![row], ends });
        assert_eq!(render_parts(vec![part.clone()], NARROW), "a  ▁ █▄        ±1 %\n   1 s    2 s\n");
        let ascii = Style { unicode: false, ..NARROW };
        assert_eq!(render_parts(vec![part], ascii), "a  . #:        +-1 %\n   1 s    2 s\n");
    }

    #[test]
    fn colour_is_added_only_when_asked_for() {
        let part = Part::Text(vec![vec![toned(Tone::Faster, "x")]]);
        assert_eq!(render_parts(vec![part.clone()], NARROW), "x\n");
        let coloured = render_parts(vec![part], Style { colour: true, ..NARROW });
        assert!(coloured.starts_with("\u{1b}[") && coloured.contains('x'), "{coloured:?}");
    }
}
