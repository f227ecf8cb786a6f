//! What can be wrong with a file of another tool. A reader says a [`Fault`]: the line and the reason. [`PeerError`]
//! adds the file, so that the reader of the message knows where to look.

/// Why a file gave no data sets. Displayed as a lower-case fragment that names the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeerError {
    #[error("{file} holds no numbers")]
    Empty { file: String },
    #[error("{file} is in none of the known forms")]
    Unrecognised { file: String },
    #[error("{file} is UTF-16 text")]
    Utf16 { file: String },
    #[error("{file} is a recording of whyslow, not of another tool")]
    Recording { file: String },
    #[error("no form is called {form:?}")]
    UnknownForm { form: String },
    #[error("delimiters are characters, and there are none")]
    NoDelimiter,
    /// The words are those of ministat, with what stands there added.
    #[error("invalid data on line {line} in {file}: {text:?} is not a number")]
    NotANumber { file: String, line: usize, text: String },
    #[error("{file}{}: not {title}: {reason}", place(.line))]
    Malformed { file: String, line: Option<usize>, title: &'static str, reason: String },
}

impl PeerError {
    /// The line at fault, from 1.
    pub fn line(&self) -> Option<usize> {
        match self {
            PeerError::NotANumber { line, .. } => Some(*line),
            PeerError::Malformed { line, .. } => *line,
            _ => None,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            PeerError::Empty { .. } => {
                "was the benchmark interrupted, or its output sent elsewhere?".to_owned()
            }
            PeerError::Utf16 { .. } => {
                "save it as UTF-8; in PowerShell: `| Out-File -Encoding utf8`".to_owned()
            }
            PeerError::Recording { .. } => "`whyslow report FILE` shows recordings".to_owned(),
            PeerError::NoDelimiter => "the default is a space and a tab".to_owned(),
            PeerError::NotANumber { .. } => format!(
                "-C chooses another column, -d other delimiters, `#` begins a comment; files of other tools are known \
                 as {}",
                super::form_names().join(", ")
            ),
            PeerError::Malformed { .. } => "was it cut off, or edited? another form can be forced".to_owned(),
            PeerError::Unrecognised { .. } | PeerError::UnknownForm { .. } => {
                format!("the forms are {}", super::form_names().join(", "))
            }
        }
    }
}

fn place(line: &Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!(", line {line}"))
}

/// The same without the name of the file, which readers need not know.
#[derive(Debug)]
pub(super) enum Fault {
    NotANumber { line: usize, text: String },
    NoDelimiter,
    Malformed { line: Option<usize>, reason: String },
}

impl Fault {
    pub fn new(reason: impl Into<String>) -> Self {
        Fault::Malformed { line: None, reason: reason.into() }
    }

    pub fn at(line: usize, reason: impl Into<String>) -> Self {
        Fault::Malformed { line: Some(line), reason: reason.into() }
    }

    pub fn not_a_number(line: usize, text: &[u8]) -> Self {
        Fault::NotANumber { line, text: excerpt(text) }
    }

    pub fn in_file(self, file: &str, title: &'static str) -> PeerError {
        let file = file.to_owned();
        match self {
            Fault::NotANumber { line, text } => PeerError::NotANumber { file, line, text },
            Fault::NoDelimiter => PeerError::NoDelimiter,
            Fault::Malformed { line, reason } => PeerError::Malformed { file, line, title, reason },
        }
    }
}

/// serde_json puts the place at the end of its words; here it becomes the line.
impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        let text = error.to_string();
        let reason = text.rfind(" at line ").map_or(text.as_str(), |end| &text[..end]);
        let line = Some(error.line()).filter(|line| *line > 0);
        Fault::Malformed { line, reason: lower_first(reason) }
    }
}

fn lower_first(text: &str) -> String {
    match text.starts_with("EOF") {
        true => text.replacen("EOF", "the end of the file", 1),
        false => text.to_owned(),
    }
}

/// Enough of what stands in a file to recognise it; a line can be a megabyte long.
pub(super) fn excerpt(text: &[u8]) -> String {
    const LONGEST: usize = 40;
    let shown = String::from_utf8_lossy(&text[..text.len().min(4 * LONGEST)]);
    match shown.chars().count() > LONGEST {
        true => shown.chars().take(LONGEST).chain(['…']).collect(),
        false => shown.into_owned(),
    }
}
