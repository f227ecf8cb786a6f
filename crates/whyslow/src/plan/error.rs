//! What can be wrong with a question, and what to write instead.

use super::question::MOST_VARIANTS;

/// A question that cannot be measured, with the remedy.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    #[error("command {position} is empty")]
    EmptyCommand { position: usize },
    #[error("the quotes of `{command}` do not match")]
    UnmatchedQuote { command: String },
    #[error("`{command}` uses shell syntax (`{syntax}`), but commands run without a shell")]
    ShellSyntax { command: String, syntax: String },
    #[error("a comparison needs at least two commands")]
    OneCommand,
    #[error("there is no command to run")]
    NoCommand,
    #[error("these are {count} variants, and more than {MOST_VARIANTS} cannot be compared")]
    TooManyVariants { count: usize },
    #[error("there are {names} names for {}", counted(*commands))]
    TooManyNames { names: usize, commands: usize },
    #[error("name {position} is empty")]
    EmptyName { position: usize },
    #[error("the name `{name}` is given twice")]
    SameName { name: String },
    #[error("`--reference-name` needs `--reference`")]
    ReferenceNameAlone,
    #[error("there are {entries} {what} for {commands} commands")]
    EntryCount { what: &'static str, entries: usize, commands: usize },
    #[error("`{text}` is not an assignment NAME=VALUE")]
    NoAssignment { text: String },
    #[error("the parameter `{name}` is given twice")]
    SameParameter { name: String },
    #[error("cannot scan `{name}`: {what}")]
    Scan { name: String, what: String },
    #[error("`{{{name}}}` is no parameter")]
    UnknownPlaceholder { name: String, known: Vec<String> },
    #[error("`{name}` is no metric")]
    UnknownMetric { name: String, known: Vec<String> },
    #[error("`--metric-from {text}` is not NAME[,OPTIONS]=PATTERN: {what}")]
    OutputMetric { text: String, what: String },
    #[error("`{name}` cannot decide: the kernel's timer tick misbooks single runs")]
    MisbookedMetric { name: String },
    #[error("`--aa` runs the reference twice, which does not go with parameters")]
    TwinWithParameters,
    #[error("`{option}` looks at the output, and with `--output {output}` there is nothing to look at")]
    OutputNotSeen { option: &'static str, output: &'static str },
    #[error("the number of runs must be at least 1")]
    NoRuns,
    #[error("`--min-runs {min}` is more than `--max-runs {max}`")]
    RunBounds { min: usize, max: usize },
    #[error("`{option}` must be {range}, not {}", short(*value))]
    OutOfRange { option: &'static str, range: &'static str, value: f64 },
}

impl PlanError {
    /// What to do about it, where the message does not say it already.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            PlanError::EmptyCommand { .. } => {
                "write the command with its arguments in quotes: 'perl -e 1'".into()
            }
            PlanError::UnmatchedQuote { .. } => {
                "quote a literal quote mark once more: 'grep \"it'\\''s\" file'".into()
            }
            PlanError::ShellSyntax { command, syntax } => format!(
                "to use a shell, write \"sh -c '...'\"; to pass `{syntax}` as it is, quote it inside the command: {}",
                quoted_example(command, syntax)
            ),
            PlanError::OneCommand => {
                "give two commands, or the same one twice to see what this machine calls equal; one alone is timed by `whyslow compare COMMAND` and looked into by `whyslow probe COMMAND`".into()
            }
            PlanError::NoCommand => "give one, in quotes: 'perl -e 1'".into(),
            PlanError::OutputNotSeen { .. } => {
                "leave --output out (a pipe that is read), or give it a file".into()
            }
            PlanError::SameName { .. } => "choose different names with --name".into(),
            PlanError::EntryCount { what, .. } => {
                format!(
                    "give one {what} for all commands, or one for each",
                    what = what.trim_end_matches('s')
                )
            }
            PlanError::MisbookedMetric { .. } => "use --metric cpu, the sum of both, which is right".into(),
            PlanError::TwinWithParameters => {
                "write the value into the command: whyslow compare --aa 'gzip -6 -c big'".into()
            }
            PlanError::NoAssignment { .. } => "write --env 'LC_ALL=C TZ=UTC'".into(),
            PlanError::UnknownPlaceholder { name, known } => {
                format!("the parameters are {}{}", known.join(", "), nearest(name, known))
            }
            PlanError::UnknownMetric { name, known } => {
                format!("the metrics are {}{}", known.join(", "), nearest(name, known))
            }
            _ => return None,
        })
    }
}

/// A number of three hundred digits tells nobody more than its power.
fn short(value: f64) -> String {
    if value.is_finite() && value.abs() >= 1e9 { format!("{value:e}") } else { value.to_string() }
}

fn quoted_example(command: &str, syntax: &str) -> String {
    let word = command.split_whitespace().find(|word| word.contains(syntax)).unwrap_or(syntax);
    format!("'{word}'")
}

/// `; did you mean x?` where one of the names is close.
fn nearest(name: &str, known: &[String]) -> String {
    let close = known.iter().map(|other| (strsim::jaro_winkler(name, other), other));
    let best = close.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(likeness, _)| *likeness > 0.8);
    best.map_or(String::new(), |(_, other)| format!("; did you mean {other}?"))
}

fn counted(commands: usize) -> String {
    if commands == 1 { "1 command".to_owned() } else { format!("{commands} commands") }
}
