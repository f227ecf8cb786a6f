//! Draws listings: numbers in columns, and behind them what they are about, as long as there is room for it.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{GAP, Style, pad, painted, wrapped};
use crate::report::document::{Listing, ListingRow, Tone, toned};

/// A name that is shortened keeps so many columns at least, or its remark makes room.
const SHORTEST: usize = 24;
const SHORTEST_REMARK: usize = 8;
const NARROWEST_TEXT: usize = 10;

pub fn draw(listing: &Listing, style: Style) -> Vec<String> {
    let widths = widths(listing, style);
    let header = numbers(&listing.header.numbers, &widths);
    let header =
        header.clone() + &shortened(&listing.header.text, style.width.saturating_sub(header.width()), style);
    let header = painted(header.trim_end(), Tone::Faint, style);
    let rows = listing.rows.iter().map(|row| {
        let numbers = numbers(&row.numbers, &widths);
        let room = style.width.saturating_sub(numbers.width());
        numbers + &text(row, room, style)
    });
    let rest = listing.rest.iter().flat_map(|rest| wrapped(&[toned(Tone::Faint, rest)], GAP, GAP, style));
    std::iter::once(header).chain(rows).chain(rest).collect()
}

/// The last columns are left out where nothing would be left for the text.
fn widths(listing: &Listing, style: Style) -> Vec<usize> {
    let all = || std::iter::once(&listing.header).chain(&listing.rows);
    let width =
        |column: usize| all().filter_map(|row| row.numbers.get(column)).map(|cell| cell.width()).max();
    let mut widths: Vec<usize> =
        (0..listing.header.numbers.len()).map(|column| width(column).unwrap_or(0)).collect();
    let used = |widths: &[usize]| widths.iter().map(|width| width + GAP.len()).sum::<usize>();
    while widths.len() > 1 && used(&widths) + NARROWEST_TEXT > style.width {
        widths.pop();
    }
    widths
}

fn numbers(cells: &[String], widths: &[usize]) -> String {
    cells.iter().zip(widths).map(|(cell, &width)| pad(cell, width, true) + GAP).collect()
}

fn text(row: &ListingRow, room: usize, style: Style) -> String {
    let kept = row.text.width().min(SHORTEST);
    let for_remark = room.saturating_sub(kept + GAP.len()).min(row.remark.width());
    if row.remark.is_empty() || for_remark < SHORTEST_REMARK.min(row.remark.width()) {
        return shortened(&row.text, room, style);
    }
    let text = shortened(&row.text, room - for_remark - GAP.len(), style);
    text + GAP + &painted(&shortened(&row.remark, for_remark, style), Tone::Faint, style)
}

/// The beginning and the end of a text: of a path and of a function, both tell something.
fn shortened(text: &str, room: usize, style: Style) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mark = if style.unicode { "…" } else { "~" };
    let left = room.saturating_sub(mark.width());
    let head: String = within(text.chars(), left / 2).collect();
    let tail: Vec<char> = within(text.chars().rev(), left - head.width()).collect();
    head + mark + &tail.into_iter().rev().collect::<String>()
}

fn within(characters: impl Iterator<Item = char>, room: usize) -> impl Iterator<Item = char> {
    let mut used = 0;
    characters.take_while(move |c| {
        used += c.width().unwrap_or(0);
        used <= room
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(numbers: [&str; 2], text: &str, remark: &str) -> ListingRow {
        ListingRow { numbers: numbers.map(String::from).to_vec(), text: text.into(), remark: remark.into() }
    }

    fn drawn(width: usize) -> String {
        let rows = vec![
            row(["1", "20 ms"], "short", "a.out"),
            row(["1,234", "1 s"], "std::vector<int, std::allocator<int>>::push_back", "libc.so.6"),
        ];
        let listing = Listing { header: row(["calls", "time"], "function", ""), rows, rest: None };
        draw(&listing, Style { width, colour: false, unicode: true }).join("\n")
    }

    #[test]
    fn names_are_shortened_in_the_middle_and_remarks_go_first() {
        assert_eq!(
            drawn(60),
            "calls   time  function\n    1  20 ms  short  a.out\n1,234    1 s  std::vector<int, …<int>>::push_back  libc.so.6"
        );
        assert_eq!(
            drawn(40),
            "calls   time  function\n    1  20 ms  short  a.out\n1,234    1 s  std::vector<…>>::push_back"
        );
    }
}
