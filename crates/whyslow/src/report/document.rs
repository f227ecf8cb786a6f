//! What is to be shown, before it is known where: lines of text with a tone, tables, notes. Renderers decide about
//! width, colour and characters, and never about words.

/// A text for people.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    pub parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Lines that are wrapped at the width.
    Text(Vec<Line>),
    Table(Table),
    Listing(Listing),
    Definitions(Vec<Definition>),
    Curves(Curves),
    /// One distribution above another on a common axis.
    Distributions(Distributions),
    /// What to keep in mind: each wrapped behind a mark.
    Notes(Vec<Line>),
}

/// A line of text in pieces of one tone each.
pub type Line = Vec<Span>;

#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    pub text: String,
    pub tone: Tone,
}

/// What a piece of text means, which a renderer may turn into colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Strong,
    Faint,
    Faster,
    Slower,
    Same,
    Undecided,
    Warning,
}

/// The first column is text, the others are numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// Numbers, and behind them the text that they are about, shortened where there is no room.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    pub header: ListingRow,
    pub rows: Vec<ListingRow>,
    /// What is to be said of the rows that are not there.
    pub rest: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListingRow {
    pub numbers: Vec<String>,
    pub text: String,
    /// Less important; left out first.
    pub remark: String,
}

/// Quantities over a common axis of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    pub rows: Vec<Curve>,
    /// Written below both ends of the axis.
    pub ends: (String, String),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    pub name: String,
    /// At equal distances, over the whole axis; `None` where it is not known or over.
    pub values: Vec<Option<f64>>,
    /// What the highest bar stands for.
    pub top: f64,
    /// Written behind the bars.
    pub remark: String,
}

/// Text beside what it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    pub head: Line,
    /// Each begins a line, and is wrapped.
    pub body: Vec<Line>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distributions {
    pub rows: Vec<Distribution>,
    /// Written below both ends of the axis.
    pub ends: (String, String),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    pub name: String,
    pub counts: Vec<usize>,
    /// Written behind the bars.
    pub remark: String,
}

pub fn plain(text: impl Into<String>) -> Span {
    toned(Tone::Plain, text)
}

pub fn toned(tone: Tone, text: impl Into<String>) -> Span {
    Span { text: text.into(), tone }
}
