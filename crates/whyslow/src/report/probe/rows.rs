//! Tables of quantities, and of their differences: what is equal is summed up, what scatters too much is not told apart.

use super::Pair;
use crate::analysis::traces::Difference;
use crate::report::compose::printable;
use crate::report::document::{Listing, ListingRow, Part, Tone, plain, toned};
use crate::report::quantity;

/// What is smaller than the first so many is counted.
pub const MOST_ROWS: usize = 15;
const FEWEST_ROWS: usize = 5;
/// Rows below this share of all differences are small.
const SMALLEST: f64 = 0.02;

/// One quantity of both variants, with a value for each look.
pub struct Quantity {
    pub name: String,
    pub remark: String,
    pub base: Vec<f64>,
    pub other: Vec<f64>,
    /// What one sample stands for; 0 of an exact quantity.
    pub grain: f64,
    pub write: fn(f64) -> String,
}

impl Quantity {
    /// An exact one.
    pub fn new<T>(
        name: impl Into<String>,
        write: fn(f64) -> String,
        (base, other): (&[&T], &[&T]),
        of: impl Fn(&T) -> f64,
    ) -> Quantity {
        let values = |traces: &[&T]| traces.iter().map(|trace| of(trace)).collect();
        Quantity {
            name: name.into(),
            remark: String::new(),
            base: values(base),
            other: values(other),
            grain: 0.0,
            write,
        }
    }
}

/// One row, ready to be shown.
pub struct Row {
    pub text: String,
    pub remark: String,
    pub difference: Difference,
    pub write: fn(f64) -> String,
}

/// The order of the rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Order {
    AsGiven,
    /// The largest difference first; for quantities of one unit.
    Largest,
}

/// What differs, and a line about the rest; `things` is what one row is, and several are.
pub fn differences(quantities: Vec<Quantity>, pair: &Pair<'_>, order: Order, things: [&str; 2]) -> Vec<Part> {
    let rows = quantities.into_iter().filter_map(|quantity| {
        let difference = Difference::of(&quantity.base, &quantity.other, quantity.grain)?;
        let Quantity { name, remark, write, .. } = quantity;
        Some(Row { text: name, remark, difference, write })
    });
    let mut rows: Vec<Row> = rows.collect();
    if let Order::Largest = order {
        rows.sort_by(|one, other| other.difference.amount().abs().total_cmp(&one.difference.amount().abs()));
    }
    table(rows, pair, order, things)
}

pub fn table(rows: Vec<Row>, pair: &Pair<'_>, order: Order, things: [&str; 2]) -> Vec<Part> {
    let (same, rows): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| row.difference.is_nothing());
    let (blurred, rows): (Vec<Row>, Vec<Row>) =
        rows.into_iter().partition(|row| row.difference.is_within_scatter());
    let more = rows.len() - worth_showing(&rows, order);
    let known = same.iter().filter(|row| !is_empty(row)).count();
    let mut rest: Vec<String> = Vec::new();
    rest.extend((more > 0).then(|| format!("and {more} smaller differences")));
    let blurred = blurred.len();
    let counted = |count: usize| if count == 1 { things[0] } else { things[1] };
    rest.extend(
        (blurred > 0).then(|| format!("within the scatter of the looks: {blurred} {}", counted(blurred))),
    );
    rest.extend((known > 0).then(|| match rows.is_empty() && blurred == 0 {
        true => format!("same: all {known} {}", things[1]),
        false => format!("same: {known} other {}", counted(known)),
    }));
    let rest = (!rest.is_empty()).then(|| rest.join("; "));
    if rows.is_empty() {
        let text = rest.unwrap_or_else(|| format!("in neither: {}", things[1]));
        return vec![Part::Text(vec![vec![plain("  "), toned(Tone::Faint, text)]])];
    }
    vec![Part::Listing(Listing { rest, ..listing(&rows[..rows.len() - more], pair) })]
}

/// What is small beside the rest is counted, however much room there is.
fn worth_showing(rows: &[Row], order: Order) -> usize {
    let all: f64 = rows.iter().map(|row| row.difference.amount().abs()).sum();
    let large = rows.iter().filter(|row| row.difference.amount().abs() >= SMALLEST * all).count();
    let fewest = if order == Order::Largest { FEWEST_ROWS } else { rows.len() };
    large.max(fewest).min(MOST_ROWS).min(rows.len())
}

/// In neither variant: not even a thing that is the same.
fn is_empty(row: &Row) -> bool {
    row.difference.base == 0.0 && row.difference.other == 0.0
}

fn listing(rows: &[Row], pair: &Pair<'_>) -> Listing {
    let has_interval = rows.iter().any(|row| row.difference.interval.is_some_and(|(low, high)| low < high));
    let [base, other] = pair.labels;
    let mut header = vec![base.to_owned(), other.to_owned(), "difference".to_owned()];
    header.extend(has_interval.then(|| "95 %".to_owned()));
    let row = |row: &Row| {
        let Difference { base, other, interval } = row.difference;
        let mut numbers = vec![(row.write)(base), (row.write)(other), signed(other - base, row.write)];
        if has_interval {
            let half = interval.map(|(low, high)| (high - low) / 2.0).filter(|&half| half > 0.0);
            numbers.push(half.map_or(String::new(), |half| format!("±{}", (row.write)(half))));
        }
        ListingRow { numbers, text: printable(&row.text), remark: printable(&row.remark) }
    };
    Listing {
        header: ListingRow { numbers: header, ..ListingRow::default() },
        rows: rows.iter().map(row).collect(),
        rest: None,
    }
}

pub fn signed(value: f64, write: fn(f64) -> String) -> String {
    let sign = if value < 0.0 { '-' } else { '+' };
    format!("{sign}{}", write(value.abs()))
}

/// A table of one variant; the heads of its numbers and of its text.
pub fn plain_listing(heads: &[&str], text: &str, rows: Vec<ListingRow>) -> Part {
    listing_with_rest(heads, text, rows, None)
}

/// The same with a word about the rows that are left out.
pub fn listing_with_rest(heads: &[&str], text: &str, rows: Vec<ListingRow>, rest: Option<String>) -> Part {
    let header = ListingRow {
        numbers: heads.iter().map(|head| (*head).to_owned()).collect(),
        text: text.to_owned(),
        remark: String::new(),
    };
    Part::Listing(Listing { header, rows, rest })
}

pub fn row(numbers: Vec<String>, text: impl Into<String>, remark: impl Into<String>) -> ListingRow {
    ListingRow { numbers, text: printable(&text.into()), remark: printable(&remark.into()) }
}

/// Nothing is no time at all, and not none of a microsecond.
pub fn time(value_s: f64) -> String {
    if value_s == 0.0 { "0".to_owned() } else { quantity::seconds(value_s) }
}

/// A count that is worth a cell; nothing is blank.
pub fn cell(count: u64) -> String {
    if count == 0 { String::new() } else { quantity::count(count as f64) }
}

/// The same of bytes.
pub fn bytes_cell(bytes: u64) -> String {
    if bytes == 0 { String::new() } else { quantity::bytes(bytes as f64) }
}
