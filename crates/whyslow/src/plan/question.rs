//! A question as people ask it (these commands, this effort), turned into an experiment, or into the one error that
//! says what to write instead.

use crate::model::{
    ByteText, Design, Edit, Experiment, Factor, Launch, Level, Metric, Role, RunCount, Workload,
};

/// What was asked, as typed.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// One command line each, to be split into words.
    pub commands: Vec<ByteText>,
    /// Names by position; missing ones are the command lines.
    pub names: Vec<String>,
    /// A command to compare with: the name or text of one of `commands`, or one more command to run.
    pub reference: Option<ByteText>,
    pub reference_name: Option<String>,
    pub warmup: Option<usize>,
    pub runs: Option<usize>,
    pub min_runs: Option<usize>,
    pub max_runs: Option<usize>,
    pub budget_s: Option<f64>,
    /// In per cent.
    pub confidence: Option<f64>,
    /// In per cent.
    pub margin: Option<f64>,
    pub seed: u64,
}

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
    #[error("there are {names} names for {commands} commands")]
    TooManyNames { names: usize, commands: usize },
    #[error("the name `{name}` is given twice")]
    SameName { name: String },
    #[error("`--reference-name` needs `--reference`")]
    ReferenceNameAlone,
    #[error("the number of runs must be at least 1")]
    NoRuns,
    #[error("`--min-runs {min}` is more than `--max-runs {max}`")]
    RunBounds { min: usize, max: usize },
    #[error("`{option}` must be {range}, not {value}")]
    OutOfRange { option: &'static str, range: &'static str, value: f64 },
}

impl PlanError {
    /// What to do about it, where the message does not say it already.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            PlanError::EmptyCommand { .. } => "write the command with its arguments in quotes: 'perl -e 1'".into(),
            PlanError::UnmatchedQuote { .. } => "quote a literal quote mark once more: 'grep \"it'\\''s\" file'".into(),
            PlanError::ShellSyntax { command, syntax } => format!(
                "to use a shell, write \"sh -c '...'\"; to pass `{syntax}` as it is, quote it inside the command: {}",
                quoted_example(command, syntax)
            ),
            PlanError::OneCommand => {
                "give two commands, or the same one twice to see what this machine calls equal".into()
            }
            PlanError::SameName { .. } => "choose different names with --name".into(),
            _ => return None,
        })
    }
}

fn quoted_example(command: &str, syntax: &str) -> String {
    let word = command.split_whitespace().find(|word| word.contains(syntax)).unwrap_or(syntax);
    format!("'{word}'")
}

/// The experiment that answers the question.
pub fn compose(question: &Question) -> Result<Experiment, PlanError> {
    let (levels, base) = levels(question)?;
    let design = Design {
        runs: run_count(question)?,
        warmup: question.warmup.unwrap_or(Design::default().warmup),
        seed: question.seed,
        budget_s: budget(question)?,
        confidence: percent("--confidence", "above 50 and below 100", question.confidence, 95.0, |p| {
            p > 50.0 && p < 100.0
        })?,
        margin: percent("--margin", "above 0 and at most 100", question.margin, 2.0, |p| p > 0.0 && p <= 100.0)?,
        base,
    };
    Ok(Experiment {
        name: levels.iter().map(|level| level.name.as_str()).collect::<Vec<_>>().join(" | "),
        workload: Workload::Command(Launch::default()),
        factors: vec![Factor { name: "command".into(), levels, role: Role::Asked }],
        metrics: Metric::all_known(),
        design,
    })
}

/// The levels of the command factor and the index of the one that the others are compared with.
fn levels(question: &Question) -> Result<(Vec<Level>, usize), PlanError> {
    let mut levels = question
        .commands
        .iter()
        .enumerate()
        .map(|(index, command)| level(index + 1, command, question.names.get(index)))
        .collect::<Result<Vec<_>, _>>()?;
    if question.names.len() > levels.len() {
        return Err(PlanError::TooManyNames { names: question.names.len(), commands: levels.len() });
    }
    let base = reference(question, &mut levels)?;
    if levels.len() < 2 {
        return Err(PlanError::OneCommand);
    }
    tell_apart(&mut levels, question)?;
    Ok((levels, base))
}

/// Finds the reference among the commands, or puts it before them as hyperfine does.
fn reference(question: &Question, levels: &mut Vec<Level>) -> Result<usize, PlanError> {
    let Some(reference) = &question.reference else {
        return if question.reference_name.is_some() { Err(PlanError::ReferenceNameAlone) } else { Ok(0) };
    };
    let named = levels.iter().position(|level| level.name.as_bytes() == reference.0);
    let typed = question.commands.iter().position(|command| command == reference);
    if let Some(index) = named.or(typed) {
        if let Some(name) = &question.reference_name {
            levels[index].name = name.clone();
        }
        return Ok(index);
    }
    levels.insert(0, level(0, reference, question.reference_name.as_ref())?);
    Ok(0)
}

fn level(position: usize, command: &ByteText, name: Option<&String>) -> Result<Level, PlanError> {
    let argv = split(position, command)?;
    let name = name.cloned().unwrap_or_else(|| command.lossy().trim().to_owned());
    Ok(Level { name, edits: vec![Edit::Argv(argv)] })
}

/// The same command given twice gets numbers; a name given twice is a mistake.
fn tell_apart(levels: &mut [Level], question: &Question) -> Result<(), PlanError> {
    let given = |name: &String| question.names.contains(name) || question.reference_name.as_ref() == Some(name);
    let names: Vec<String> = levels.iter().map(|level| level.name.clone()).collect();
    for (index, name) in names.iter().enumerate() {
        let same: Vec<usize> = (0..names.len()).filter(|&other| names[other] == *name).collect();
        if same.len() == 1 {
            continue;
        }
        if given(name) {
            return Err(PlanError::SameName { name: name.clone() });
        }
        let number = same.iter().position(|&other| other == index).unwrap_or(0) + 1;
        levels[index].name = format!("{name} #{number}");
    }
    Ok(())
}

/// Splits a command line as a POSIX shell would, and refuses what only a shell could do.
///
/// Quoted text may hold anything. A command that is not UTF-8 is split at spaces alone, since quoting rules are
/// about characters.
fn split(position: usize, command: &ByteText) -> Result<Vec<ByteText>, PlanError> {
    let words = match std::str::from_utf8(&command.0) {
        Ok(text) => {
            refuse_shell_syntax(text)?;
            let unmatched = |_| PlanError::UnmatchedQuote { command: text.to_owned() };
            shell_words::split(text).map_err(unmatched)?.into_iter().map(ByteText::from).collect()
        }
        Err(_) => split_at_spaces(&command.0),
    };
    if words.first().is_none_or(|word: &ByteText| word.0.is_empty()) {
        return Err(PlanError::EmptyCommand { position });
    }
    Ok(words)
}

fn split_at_spaces(bytes: &[u8]) -> Vec<ByteText> {
    let word = |word: &[u8]| ByteText(word.to_vec());
    bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(word).collect()
}

/// An operator, variable or pattern outside quotes would be passed on literally, which nobody means.
fn refuse_shell_syntax(text: &str) -> Result<(), PlanError> {
    match unquoted_syntax(text) {
        None => Ok(()),
        Some(syntax) => Err(PlanError::ShellSyntax { command: text.trim().to_owned(), syntax }),
    }
}

fn unquoted_syntax(text: &str) -> Option<String> {
    let mut quote = None;
    let mut word_start = true;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let start = std::mem::replace(&mut word_start, c.is_whitespace());
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => drop(characters.next()),
            (Some('"'), '$' | '`') | (None, '`' | '$') if expands(c, characters.peek()) => {
                return Some(c.to_string());
            }
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '|' | '&' | ';' | '<' | '>' | '(' | ')') => {
                let doubled = characters.peek() == Some(&c) && matches!(c, '|' | '&' | '>' | '<');
                return Some(if doubled { format!("{c}{c}") } else { c.to_string() });
            }
            (None, '*' | '?') => return Some(c.to_string()),
            (None, '[') if characters.clone().take_while(|c| !c.is_whitespace()).any(|c| c == ']') => {
                return Some("[".into());
            }
            (None, '~') if start => return Some("~".into()),
            (None, '#') if start => return Some("#".into()),
            _ => {}
        }
    }
    leading_assignment(text)
}

/// `$` alone, or before a space or a closing quote, is an ordinary character.
fn expands(c: char, next: Option<&char>) -> bool {
    c == '`' || next.is_some_and(|&next| next.is_alphanumeric() || "_{(@*#?$!-".contains(next))
}

/// `LC_ALL=C sort` sets a variable in a shell, and is a program called `LC_ALL=C` without one.
fn leading_assignment(text: &str) -> Option<String> {
    let word = text.split_whitespace().next()?;
    let (name, _) = word.split_once('=')?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    is_name.then(|| format!("{name}="))
}

fn run_count(question: &Question) -> Result<RunCount, PlanError> {
    let counts = [question.runs, question.min_runs, question.max_runs];
    if counts.contains(&Some(0)) {
        return Err(PlanError::NoRuns);
    }
    match (question.runs, question.min_runs.unwrap_or(0), question.max_runs) {
        (Some(runs), ..) => Ok(RunCount::Exactly(runs)),
        (None, min, Some(max)) if min > max => Err(PlanError::RunBounds { min, max }),
        (None, min, max) => Ok(RunCount::UntilDecided { min, max }),
    }
}

fn budget(question: &Question) -> Result<f64, PlanError> {
    let value = question.budget_s.unwrap_or(Design::default().budget_s);
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(PlanError::OutOfRange { option: "--budget", range: "a positive number of seconds", value })
}

fn percent(
    option: &'static str,
    range: &'static str,
    value: Option<f64>,
    default: f64,
    is_right: impl Fn(f64) -> bool,
) -> Result<f64, PlanError> {
    let value = value.unwrap_or(default);
    if is_right(value) { Ok(value / 100.0) } else { Err(PlanError::OutOfRange { option, range, value }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::variants;

    fn ask(commands: &[&str]) -> Question {
        Question { commands: commands.iter().map(|&text| text.into()).collect(), ..Question::default() }
    }

    fn names(experiment: &Experiment) -> Vec<String> {
        variants(experiment).into_iter().map(|variant| variant.name).collect()
    }

    fn error(question: &Question) -> PlanError {
        compose(question).expect_err("an error")
    }

    #[test]
    fn commands_are_split_as_a_shell_splits_words() {
        let experiment = compose(&ask(&["ls '/tmp/a b'", r#"perl -e "print 1" x\ y"#])).unwrap();
        let argv: Vec<_> = variants(&experiment).into_iter().map(|variant| variant.launch.argv).collect();
        assert_eq!(argv[0], ["ls".into(), "/tmp/a b".into()]);
        assert_eq!(argv[1], ["perl".into(), "-e".into(), "print 1".into(), "x y".into()]);
    }

    #[test]
    fn shell_syntax_outside_quotes_is_refused_and_named() {
        let refused = [
            ("sort < file", "<"),
            ("echo hi>/tmp/x", ">"),
            ("a && b", "&&"),
            ("a | b", "|"),
            ("a;b", ";"),
            ("sleep 1 &", "&"),
            ("echo $HOME", "$"),
            ("echo \"$HOME\"", "$"),
            ("echo `date`", "`"),
            ("ls ~", "~"),
            ("ls ~/x", "~"),
            ("ls *.c", "*"),
            ("ls a?", "?"),
            ("ls [ab].c", "["),
            ("LC_ALL=C sort x", "LC_ALL="),
            ("(true)", "("),
        ];
        for (command, syntax) in refused {
            let expected =
                PlanError::ShellSyntax { command: command.into(), syntax: syntax.into() };
            assert_eq!(error(&ask(&[command, "true"])), expected, "{command}");
        }
    }

    #[test]
    fn what_only_looks_like_shell_syntax_is_let_through() {
        let fine = [
            "grep 'a|b' file",
            "perl -e 'print $x; exit'",
            "sh -c 'a && b > c'",
            r"echo \$HOME \*",
            "grep \"a$\" file",
            "test a = b",
            "env LC_ALL=C sort",
            "git show HEAD~1",
            "echo a#b",
            "find . -name '*.c'",
            "[ -f x",
        ];
        for command in fine {
            assert!(compose(&ask(&[command, "true"])).is_ok(), "{command}");
        }
    }

    #[test]
    fn a_command_given_twice_is_numbered_and_a_name_given_twice_refused() {
        assert_eq!(names(&compose(&ask(&["true", "true"])).unwrap()), ["true #1", "true #2"]);
        let question = Question { names: vec!["a".into(), "a".into()], ..ask(&["true", "false"]) };
        assert_eq!(error(&question), PlanError::SameName { name: "a".into() });
    }

    #[test]
    fn the_reference_is_one_of_the_commands_or_runs_first() {
        let among = Question { reference: Some("false".into()), ..ask(&["true", "false"]) };
        let experiment = compose(&among).unwrap();
        assert_eq!((names(&experiment).len(), experiment.design.base), (2, 1));

        let by_name =
            Question { names: vec!["a".into(), "b".into()], reference: Some("b".into()), ..ask(&["x", "y"]) };
        assert_eq!(compose(&by_name).unwrap().design.base, 1);

        let more = Question {
            reference: Some("sleep 1".into()),
            reference_name: Some("old".into()),
            ..ask(&["true"])
        };
        let experiment = compose(&more).unwrap();
        assert_eq!((names(&experiment), experiment.design.base), (vec!["old".into(), "true".into()], 0));
    }

    #[test]
    fn impossible_numbers_are_refused_with_the_range() {
        let question = |edit: fn(&mut Question)| {
            let mut question = ask(&["true", "false"]);
            edit(&mut question);
            error(&question)
        };
        assert_eq!(question(|q| q.runs = Some(0)), PlanError::NoRuns);
        assert_eq!(question(|q| q.max_runs = Some(0)), PlanError::NoRuns);
        assert_eq!(
            question(|q| (q.min_runs, q.max_runs) = (Some(9), Some(3))),
            PlanError::RunBounds { min: 9, max: 3 }
        );
        assert!(matches!(question(|q| q.confidence = Some(100.0)), PlanError::OutOfRange { .. }));
        assert!(matches!(question(|q| q.margin = Some(f64::NAN)), PlanError::OutOfRange { .. }));
        assert!(matches!(question(|q| q.budget_s = Some(-1.0)), PlanError::OutOfRange { .. }));
    }

    #[test]
    fn empty_and_broken_commands_are_refused() {
        assert_eq!(error(&ask(&["", "true"])), PlanError::EmptyCommand { position: 1 });
        assert_eq!(error(&ask(&["true", "'' x"])), PlanError::EmptyCommand { position: 2 });
        assert!(matches!(error(&ask(&["echo 'a", "true"])), PlanError::UnmatchedQuote { .. }));
        assert_eq!(error(&ask(&["true"])), PlanError::OneCommand);
    }
}
