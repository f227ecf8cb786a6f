//! A question as people ask it (these commands, this effort), turned into an experiment, or into the one error that
//! says what to write instead.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::PlanError;
use super::effort::design;
use super::parameters::{Parameter, placeholders, texts};
use crate::model::{
    ByteText, Edit, Experiment, Factor, FailurePolicy, HookKind, Input, Launch, Level, Metric, Output, Role,
    Workload,
};

/// More variants than anybody reads are a mistake in a parameter.
pub(super) const MOST_VARIANTS: usize = 1_000;

/// What was asked, as typed.
#[derive(Clone, Debug, Default)]
pub struct Question {
    pub commands: Vec<Typed>,
    /// Names by position; missing ones are the command lines.
    pub names: Vec<String>,
    /// A command to compare with: the name or text of one of `commands`, or one more command to run.
    pub reference: Option<ByteText>,
    pub reference_name: Option<String>,
    pub surroundings: Surroundings,
    pub parameters: Vec<Parameter>,
    /// More metrics, taken from the output of the commands.
    pub metrics: Vec<Metric>,
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
    /// The metric that decides when to stop.
    pub leading: Option<String>,
    pub failures: FailurePolicy,
    /// Exit codes that are no failure; 0 if there are none.
    pub success_codes: Vec<i32>,
    pub timeout_s: Option<f64>,
    /// How long to wait after a run for descendants that outlive it.
    pub wait_for_descendants_s: Option<f64>,
    pub gap_s: f64,
    /// Compares what the commands write.
    pub digest_output: bool,
    /// Adds the base once more, to see what this machine calls equal.
    pub with_twin: bool,
    /// A command by itself is enough: there is something to see, if nothing to compare.
    pub may_be_alone: bool,
}

/// A command as typed.
#[derive(Clone, Debug, PartialEq)]
pub enum Typed {
    /// A command line, to be split into words.
    Line(ByteText),
    /// Words already.
    Words(Vec<ByteText>),
}

impl From<&str> for Typed {
    fn from(line: &str) -> Self {
        Typed::Line(line.into())
    }
}

/// What is around the commands. Each list holds one entry for all commands, or one for each by position; a reference
/// that is not one of the commands comes first and takes the single entries only.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// A shell with its options, `default`, or `none`.
    pub shell: Vec<String>,
    /// Words put before the command.
    pub wrapper: Vec<String>,
    /// Assignments `NAME=VALUE`, several in one entry apart by spaces.
    pub env: Vec<String>,
    /// Names, several in one entry apart by spaces.
    pub unset: Vec<String>,
    pub directory: Vec<PathBuf>,
    pub input: Vec<Input>,
    pub output: Vec<Output>,
    pub affinity: Vec<Vec<usize>>,
    pub hooks: BTreeMap<HookKind, Vec<ByteText>>,
}

/// The experiment that answers the question.
pub fn compose(question: &Question) -> Result<Experiment, PlanError> {
    let (levels, base) = levels(question)?;
    let name = levels.iter().map(|level| level.name.as_str()).collect::<Vec<_>>().join(" | ");
    let mut factors = vec![Factor { name: "command".into(), levels, role: Role::Asked }];
    factors.extend(parameter_factors(question)?);
    let metrics: Vec<Metric> = Metric::all_known().into_iter().chain(question.metrics.clone()).collect();
    let variants = factors.iter().map(|factor| factor.levels.len()).product();
    let experiment = Experiment {
        name,
        workload: Workload::Command(Launch {
            timeout_s: question.timeout_s,
            wait_for_descendants_s: question.wait_for_descendants_s,
            digest_output: question.digest_output,
            ..Launch::default()
        }),
        factors,
        design: design(question, (variants, base), &metrics)?,
        metrics,
        asks_why: false,
        is_joined: false,
    };
    check_output_is_seen(question)?;
    check_placeholders(&experiment)?;
    check_variants(variants, question.may_be_alone)?;
    Ok(experiment)
}

fn parameter_factors(question: &Question) -> Result<Vec<Factor>, PlanError> {
    let names: Vec<&str> = question.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    if let Some(twice) = (1..names.len()).find(|&index| names[..index].contains(&names[index])) {
        return Err(PlanError::SameParameter { name: names[twice].to_owned() });
    }
    let level = |name: &String, value: &String| Level {
        name: value.clone(),
        edits: vec![Edit::Parameter(name.clone(), value.clone())],
    };
    let factor = |parameter: &Parameter| Factor {
        name: parameter.name.clone(),
        levels: parameter.values.iter().map(|value| level(&parameter.name, value)).collect(),
        role: Role::Asked,
    };
    Ok(question.parameters.iter().map(factor).collect())
}

/// What goes nowhere or straight to the user cannot be looked at.
fn check_output_is_seen(question: &Question) -> Result<(), PlanError> {
    let option = match (question.digest_output, question.metrics.is_empty()) {
        (true, _) => "--check-output",
        (false, false) => "--metric-from",
        (false, true) => return Ok(()),
    };
    let unseen = question.surroundings.output.iter().find_map(|output| match output {
        Output::Null => Some("null"),
        Output::Inherit => Some("inherit"),
        Output::Pipe | Output::File(_) | Output::Terminal => None,
    });
    unseen.map_or(Ok(()), |output| Err(PlanError::OutputNotSeen { option, output }))
}

/// With parameters, braces around any other name are a mistake; without, they are ordinary characters.
fn check_placeholders(experiment: &Experiment) -> Result<(), PlanError> {
    let known: Vec<String> = experiment.factors[1..].iter().map(|factor| factor.name.clone()).collect();
    if known.is_empty() {
        return Ok(());
    }
    let edits = experiment.factors[0].levels.iter().flat_map(|level| &level.edits);
    let used = edits.flat_map(texts).flat_map(placeholders);
    let names = experiment.factors[0].levels.iter().flat_map(|level| placeholders(level.name.as_bytes()));
    match used.chain(names).find(|name| !known.contains(name)) {
        Some(name) => Err(PlanError::UnknownPlaceholder { name, known }),
        None => Ok(()),
    }
}

fn check_variants(count: usize, may_be_alone: bool) -> Result<(), PlanError> {
    match count {
        0 if may_be_alone => Err(PlanError::NoCommand),
        0 | 1 if !may_be_alone => Err(PlanError::OneCommand),
        count if count > MOST_VARIANTS => Err(PlanError::TooManyVariants { count }),
        _ => Ok(()),
    }
}

/// The levels of the command factor and the index of the one that the others are compared with.
fn levels(question: &Question) -> Result<(Vec<Level>, usize), PlanError> {
    let count = question.commands.len();
    question.surroundings.check(count)?;
    let mut levels = question
        .commands
        .iter()
        .enumerate()
        .map(|(index, command)| {
            let edits = question.surroundings.edits(Some(index), index + 1, command)?;
            let name = question.names.get(index).cloned();
            let name = name.unwrap_or_else(|| question.surroundings.shown(index) + &shown(command));
            Ok(Level { name, edits })
        })
        .collect::<Result<Vec<_>, PlanError>>()?;
    if question.names.len() > count {
        return Err(PlanError::TooManyNames { names: question.names.len(), commands: count });
    }
    let empty = question.names.iter().position(|name| name.trim().is_empty());
    if let Some(index) = empty {
        return Err(PlanError::EmptyName { position: index + 1 });
    }
    let base = reference(question, &mut levels)?;
    if question.with_twin && !question.parameters.is_empty() {
        return Err(PlanError::TwinWithParameters);
    }
    if question.with_twin && !levels.is_empty() {
        let twin = Level { name: format!("{} again", levels[base].name), edits: levels[base].edits.clone() };
        levels.insert(base + 1, twin);
    }
    tell_apart(&mut levels, question)?;
    Ok((levels, base))
}

/// A command as a person would type it.
fn shown(command: &Typed) -> String {
    match command {
        Typed::Line(line) => line.lossy().trim().to_owned(),
        Typed::Words(words) => shell_words::join(words.iter().map(|word| word.lossy().into_owned())),
    }
}

/// Finds the reference among the commands, or puts it before them as hyperfine does.
fn reference(question: &Question, levels: &mut Vec<Level>) -> Result<usize, PlanError> {
    let Some(reference) = &question.reference else {
        return if question.reference_name.is_some() { Err(PlanError::ReferenceNameAlone) } else { Ok(0) };
    };
    let named = levels.iter().position(|level| level.name.as_bytes() == reference.0);
    let typed = question.commands.iter().position(|command| shown(command).as_bytes() == reference.0);
    if let Some(index) = named.or(typed) {
        if let Some(name) = &question.reference_name {
            levels[index].name = name.clone();
        }
        return Ok(index);
    }
    let command = Typed::Line(reference.clone());
    let name = question.reference_name.clone().unwrap_or_else(|| shown(&command));
    let edits = question.surroundings.edits(None, 0, &command)?;
    levels.insert(0, Level { name, edits });
    Ok(0)
}

/// The same command given twice gets numbers; a name given twice is a mistake.
fn tell_apart(levels: &mut [Level], question: &Question) -> Result<(), PlanError> {
    let given = |name: &String| {
        question.names.iter().chain(&question.reference_name).any(|given| given.trim() == name)
    };
    let names: Vec<String> = levels.iter().map(|level| level.name.trim().to_owned()).collect();
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
            let expected = PlanError::ShellSyntax { command: command.into(), syntax: syntax.into() };
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
    fn output_that_nobody_sees_cannot_be_looked_at() {
        for (output, name) in [(Output::Null, "null"), (Output::Inherit, "inherit")] {
            let surroundings = Surroundings { output: vec![Output::Pipe, output], ..Surroundings::default() };
            let unseen = Question { surroundings, ..ask(&["true", "false"]) };
            assert!(compose(&unseen).is_ok());
            let checked = Question { digest_output: true, ..unseen.clone() };
            assert_eq!(error(&checked), PlanError::OutputNotSeen { option: "--check-output", output: name });
            let metrics = vec![crate::plan::metric_from("speed=([0-9]+)").unwrap()];
            let read = Question { metrics, ..unseen };
            assert_eq!(error(&read), PlanError::OutputNotSeen { option: "--metric-from", output: name });
        }
    }

    #[test]
    fn empty_and_broken_commands_are_refused() {
        assert_eq!(error(&ask(&["", "true"])), PlanError::EmptyCommand { position: 1 });
        assert_eq!(error(&ask(&["true", "'' x"])), PlanError::EmptyCommand { position: 2 });
        assert!(matches!(error(&ask(&["echo 'a", "true"])), PlanError::UnmatchedQuote { .. }));
        assert_eq!(error(&ask(&["true"])), PlanError::OneCommand);
    }
}
