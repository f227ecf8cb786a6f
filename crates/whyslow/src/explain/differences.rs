//! What is typed, set or put around differently on the two sides, in pieces that can be swapped one at a time. A swap is
//! a list of edits for a level: pure, and nothing in here knows whether it matters.

use std::ops::Range;

use crate::model::{ByteText, Edit, HookKind, Launch, Variant};

/// Longer command lines are compared as a whole: the table of their words would be too large.
const MOST_WORDS: usize = 400;
/// A run of words of the same length on both sides is swapped word by word, up to this length.
const MOST_SPLIT: usize = 6;
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "mksh", "busybox"];

/// One piece.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `None`: inherited. `Some(None)`: removed.
    Variable {
        name: ByteText,
        fast: Option<Option<ByteText>>,
        slow: Option<Option<ByteText>>,
    },
    /// Words of the command line, or of the text that a shell gets with `-c` (`script` is the number of that word).
    Words {
        script: Option<usize>,
        fast_at: Range<usize>,
        slow_at: Range<usize>,
        fast: Vec<ByteText>,
        slow: Vec<ByteText>,
        /// They stand where a shell or `env` takes `A=1` for a variable: `dd bs=1` sets none.
        before_program: bool,
    },
    Directory,
    Stdin,
    Stdout,
    Affinity,
    Preloads,
    Hook(HookKind),
}

/// Which side's value a swap puts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Towards {
    Fast,
    Slow,
}

/// Everything in which the two launches differ.
pub fn differences(fast: &Variant, slow: &Variant) -> Vec<Difference> {
    let mut kinds = words(&fast.launch, &slow.launch);
    kinds.extend(variables(&fast.launch, &slow.launch));
    let (one, other) = (&fast.launch, &slow.launch);
    let around = [
        (one.cwd != other.cwd, Kind::Directory),
        (one.stdin != other.stdin, Kind::Stdin),
        (one.stdout != other.stdout, Kind::Stdout),
        (one.affinity != other.affinity, Kind::Affinity),
        (one.preloads != other.preloads, Kind::Preloads),
    ];
    kinds.extend(around.into_iter().filter(|(differs, _)| *differs).map(|(_, kind)| kind));
    let argv = |variant: &Variant, kind| variant.hooks.get(&kind).map(|launch| launch.argv.clone());
    kinds.extend(
        HookKind::ALL.into_iter().filter(|&kind| argv(fast, kind) != argv(slow, kind)).map(Kind::Hook),
    );
    kinds.into_iter().map(|kind| Difference { kind }).collect()
}

fn variables(fast: &Launch, slow: &Launch) -> Vec<Kind> {
    let mut names: Vec<&ByteText> = fast.env.iter().chain(&slow.env).map(|(name, _)| name).collect();
    names.sort_by(|one, other| one.0.cmp(&other.0));
    names.dedup();
    let change = |launch: &Launch, name: &ByteText| {
        launch.env.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    names
        .into_iter()
        .map(|name| Kind::Variable { name: name.clone(), fast: change(fast, name), slow: change(slow, name) })
        .filter(|kind| !matches!(kind, Kind::Variable { fast, slow, .. } if fast == slow))
        .collect()
}

fn words(fast: &Launch, slow: &Launch) -> Vec<Kind> {
    if let Some(place) = common_script(&fast.argv, &slow.argv) {
        let (one, other) = (pieces(&fast.argv[place]), pieces(&slow.argv[place]));
        return hunks(Some(place), &one, &other);
    }
    hunks(None, &fast.argv, &slow.argv)
}

/// The number of the word that both sides give a shell as its script, where nothing else differs.
fn common_script(fast: &[ByteText], slow: &[ByteText]) -> Option<usize> {
    let name = fast.first()?.lossy().into_owned();
    let is_shell = SHELLS.contains(&name.rsplit('/').next().unwrap_or(""));
    let differing: Vec<usize> =
        (0..fast.len().max(slow.len())).filter(|&place| fast.get(place) != slow.get(place)).collect();
    let [place] = differing.as_slice() else { return None };
    let after_c = *place > 0 && fast[place - 1].0.starts_with(b"-") && fast[place - 1].0.ends_with(b"c");
    (is_shell && after_c && fast.len() == slow.len()).then_some(*place)
}

/// Words together with the white space behind them, so that they make the text again.
pub fn pieces(script: &ByteText) -> Vec<ByteText> {
    let mut pieces: Vec<Vec<u8>> = vec![Vec::new()];
    for &byte in &script.0 {
        let last = pieces.last_mut().map_or(&[][..], |piece| piece.as_slice());
        let ended = last.last().is_some_and(u8::is_ascii_whitespace);
        if ended && !byte.is_ascii_whitespace() {
            pieces.push(Vec::new());
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push(byte);
        }
    }
    pieces.into_iter().map(ByteText).collect()
}

/// Runs of words that differ, by the longest common subsequence.
fn hunks(script: Option<usize>, fast: &[ByteText], slow: &[ByteText]) -> Vec<Kind> {
    let kind = |fast_at: Range<usize>, slow_at: Range<usize>| Kind::Words {
        script,
        fast: fast[fast_at.clone()].to_vec(),
        slow: slow[slow_at.clone()].to_vec(),
        before_program: is_before_program(&fast[..fast_at.start], script.is_some())
            && is_before_program(&slow[..slow_at.start], script.is_some()),
        fast_at,
        slow_at,
    };
    let ranges = if fast.len().max(slow.len()) > MOST_WORDS {
        if fast == slow { Vec::new() } else { vec![(0..fast.len(), 0..slow.len())] }
    } else {
        differing_ranges(fast, slow)
    };
    ranges.into_iter().flat_map(split).map(|(fast_at, slow_at)| kind(fast_at, slow_at)).collect()
}

/// Whether these words, with which a command line or a script begins, have no program behind them yet.
fn is_before_program(words: &[ByteText], in_script: bool) -> bool {
    let texts: Vec<String> = words.iter().map(|word| word.lossy().trim().to_owned()).collect();
    let ends_command = |word: &String| {
        ["do", "then", "else", "{", "(", "!"].contains(&word.as_str()) || word.ends_with([';', '&', '|', '('])
    };
    let begin = if in_script { texts.iter().rposition(ends_command).map_or(0, |place| place + 1) } else { 0 };
    texts[begin..].iter().all(|word| {
        word == "env" || word.ends_with("/env") || word.starts_with('-') || assignment(word).is_some()
    })
}

type Ranges = (Range<usize>, Range<usize>);

fn split((fast, slow): Ranges) -> Vec<Ranges> {
    if fast.len() != slow.len() || fast.len() > MOST_SPLIT {
        return vec![(fast, slow)];
    }
    fast.zip(slow).map(|(one, other)| (one..one + 1, other..other + 1)).collect()
}

fn differing_ranges(fast: &[ByteText], slow: &[ByteText]) -> Vec<Ranges> {
    let common = common_lengths(fast, slow);
    let (mut one, mut other) = (0, 0);
    let mut ranges: Vec<Ranges> = Vec::new();
    while one < fast.len() || other < slow.len() {
        if one < fast.len() && other < slow.len() && fast[one] == slow[other] {
            (one, other) = (one + 1, other + 1);
            continue;
        }
        let begun = (one, other);
        while (one < fast.len() || other < slow.len())
            && !(one < fast.len() && other < slow.len() && fast[one] == slow[other])
        {
            let skips_fast =
                other == slow.len() || (one < fast.len() && common[one + 1][other] >= common[one][other + 1]);
            if skips_fast { one += 1 } else { other += 1 }
        }
        ranges.push((begun.0..one, begun.1..other));
    }
    ranges
}

/// `lengths[i][j]`: of the longest common subsequence of the words from i and from j on.
fn common_lengths(fast: &[ByteText], slow: &[ByteText]) -> Vec<Vec<usize>> {
    let mut lengths = vec![vec![0; slow.len() + 1]; fast.len() + 1];
    for one in (0..fast.len()).rev() {
        for other in (0..slow.len()).rev() {
            lengths[one][other] = if fast[one] == slow[other] {
                lengths[one + 1][other + 1] + 1
            } else {
                lengths[one + 1][other].max(lengths[one][other + 1])
            };
        }
    }
    lengths
}

/// The edits of a level with these differences swapped: `edits` are those of the side that is changed, `onto` is that
/// side and `from` the other one.
pub fn swapped(
    edits: &[Edit],
    onto: &Variant,
    from: &Variant,
    which: &[&Difference],
    towards: Towards,
) -> Vec<Edit> {
    let mut edits: Vec<Edit> = edits.to_vec();
    if which.iter().any(|difference| matches!(difference.kind, Kind::Words { .. })) {
        edits.push(Edit::Argv(swapped_argv(&onto.launch.argv, which, towards)));
    }
    for difference in which {
        match &difference.kind {
            Kind::Words { .. } => {}
            Kind::Variable { name, fast, slow } => {
                edits.retain(|edit| !sets(edit, name));
                let value = if towards == Towards::Fast { fast } else { slow };
                edits.extend(value.as_ref().map(|value| set(name, value.as_ref())));
            }
            kind => {
                edits.retain(|edit| !is_about(edit, kind));
                edits.extend(taken_from(from, kind));
            }
        }
    }
    edits
}

fn sets(edit: &Edit, name: &ByteText) -> bool {
    matches!(edit, Edit::SetEnv(known, _) | Edit::UnsetEnv(known) if known == name)
}

fn set(name: &ByteText, value: Option<&ByteText>) -> Edit {
    value.map_or_else(|| Edit::UnsetEnv(name.clone()), |value| Edit::SetEnv(name.clone(), value.clone()))
}

fn is_about(edit: &Edit, kind: &Kind) -> bool {
    match (edit, kind) {
        (Edit::Directory(_), Kind::Directory)
        | (Edit::Stdin(_), Kind::Stdin)
        | (Edit::Stdout(_), Kind::Stdout)
        | (Edit::Affinity(_), Kind::Affinity)
        | (Edit::Preload(_), Kind::Preloads) => true,
        (Edit::Hook(of, _), Kind::Hook(wanted)) => of == wanted,
        _ => false,
    }
}

fn taken_from(variant: &Variant, kind: &Kind) -> Vec<Edit> {
    let launch = &variant.launch;
    match kind {
        Kind::Directory => launch.cwd.clone().map(Edit::Directory).into_iter().collect(),
        Kind::Stdin => vec![Edit::Stdin(launch.stdin.clone())],
        Kind::Stdout => vec![Edit::Stdout(launch.stdout.clone())],
        Kind::Affinity => launch.affinity.clone().map(Edit::Affinity).into_iter().collect(),
        Kind::Preloads => launch.preloads.iter().cloned().map(Edit::Preload).collect(),
        Kind::Hook(kind) => {
            variant.hooks.get(kind).map(|hook| Edit::Hook(*kind, hook.argv.clone())).into_iter().collect()
        }
        Kind::Words { .. } | Kind::Variable { .. } => Vec::new(),
    }
}

/// From the last one on, so that the places of the others stay right.
fn swapped_argv(argv: &[ByteText], which: &[&Difference], towards: Towards) -> Vec<ByteText> {
    let mut argv = argv.to_vec();
    let mut script: Option<(usize, Vec<ByteText>)> = None;
    for difference in which.iter().rev() {
        let Kind::Words { script: place, fast_at, slow_at, fast, slow, .. } = &difference.kind else {
            continue;
        };
        let (at, words) = if towards == Towards::Fast { (slow_at, fast) } else { (fast_at, slow) };
        match place {
            None => drop(argv.splice(at.clone(), words.iter().cloned())),
            Some(place) => {
                let (_, pieces) = script.get_or_insert_with(|| (*place, pieces(&argv[*place])));
                drop(pieces.splice(at.clone(), words.iter().cloned()));
            }
        }
    }
    if let Some((place, pieces)) = script {
        argv[place] = ByteText(joined(&pieces));
    }
    argv
}

/// A piece that was the last of its text has no white space behind it.
fn joined(pieces: &[ByteText]) -> Vec<u8> {
    let mut text: Vec<u8> = Vec::new();
    for piece in pieces {
        if text.last().is_some_and(|last| !last.is_ascii_whitespace()) {
            text.push(b' ');
        }
        text.extend_from_slice(&piece.0);
    }
    text
}

impl Difference {
    /// Whether it is a variable of this name, set by the launch, by `env` or before a command of a script.
    pub fn is_variable(&self, name: &str) -> bool {
        self.variables().iter().any(|(known, _, _)| known == name)
    }

    /// Variables that it sets: name, value on the fast side, value on the slow side; `None` where it is not set there.
    pub fn variables(&self) -> Vec<(String, Option<String>, Option<String>)> {
        match &self.kind {
            Kind::Variable { name, fast, slow } => {
                let text = |value: &Option<Option<ByteText>>| {
                    value.as_ref().and_then(Option::as_ref).map(|value| value.lossy().into_owned())
                };
                vec![(name.lossy().into_owned(), text(fast), text(slow))]
            }
            Kind::Words { fast, slow, before_program: true, .. } => assigned(fast, slow),
            _ => Vec::new(),
        }
    }

    /// Words that only the slow side has, and words that only the fast side has.
    pub fn words(&self) -> Option<(Vec<String>, Vec<String>)> {
        let texts = |words: &[ByteText]| words.iter().map(|word| word.lossy().trim().to_owned()).collect();
        match &self.kind {
            Kind::Words { fast, slow, .. } => Some((texts(fast), texts(slow))),
            _ => None,
        }
    }

    /// The part of a path that is another one on the slow side: `libs1` and `libs120` of LD_LIBRARY_PATH=/w/libs1. Where two
    /// differences are of the same part, neither is anything without the other.
    pub fn renamed(&self) -> Option<(String, String)> {
        let values = match (self.variables().as_slice(), self.words()) {
            ([(_, Some(fast), Some(slow))], _) => (fast.clone(), slow.clone()),
            ([], Some((fast, slow))) if fast.len() == 1 && slow.len() == 1 => (fast.concat(), slow.concat()),
            _ => return None,
        };
        let parts = |value: &'_ str| value.split('/').map(str::to_owned).collect::<Vec<_>>();
        let (fast, slow) = (parts(&values.0), parts(&values.1));
        let differing: Vec<usize> =
            (0..fast.len()).filter(|&place| fast.get(place) != slow.get(place)).collect();
        match differing.as_slice() {
            &[place] if fast.len() == slow.len() && fast.len() > 1 => {
                Some((fast[place].clone(), slow[place].clone()))
            }
            _ => None,
        }
    }

    /// Whether it is another program file (and perhaps other words with it).
    pub fn is_program(&self) -> bool {
        matches!(&self.kind, Kind::Words { fast_at, slow_at, fast, slow, .. }
            if fast_at.start == 0 && slow_at.start == 0 && !fast.is_empty() && !slow.is_empty())
    }

    /// Whether it is about what surrounds the program and not about the program or its arguments.
    pub fn is_surrounding(&self) -> bool {
        !matches!(self.kind, Kind::Words { .. }) || !self.variables().is_empty()
    }

    /// Whether it is about what is done or to what: the program, its arguments, where it runs, what it reads and writes.
    pub fn is_place_or_work(&self) -> bool {
        match self.kind {
            Kind::Directory | Kind::Stdin | Kind::Stdout => true,
            _ => !self.is_surrounding(),
        }
    }

    /// What differs, fast side first.
    pub fn title(&self) -> String {
        if let [(name, fast, slow)] = self.variables().as_slice() {
            let shown = |value: &Option<String>| match value.as_deref() {
                None => "unset".to_owned(),
                Some("") => "''".to_owned(),
                Some(value) => shortened(value),
            };
            return format!("{name}: {} -> {}", shown(fast), shown(slow));
        }
        match &self.kind {
            Kind::Words { fast, slow, .. } => {
                let shown = |words: &[ByteText]| {
                    let words: Vec<String> =
                        words.iter().map(|word| word.lossy().trim().to_owned()).collect();
                    if words.is_empty() { "nothing".to_owned() } else { shortened(&words.join(" ")) }
                };
                let what = if self.is_program() { "program" } else { "arguments" };
                format!("{what}: {} -> {}", shown(fast), shown(slow))
            }
            Kind::Variable { name, .. } => name.lossy().into_owned(),
            Kind::Directory => "working directory".to_owned(),
            Kind::Stdin => "standard input".to_owned(),
            Kind::Stdout => "standard output".to_owned(),
            Kind::Affinity => "CPUs it may run on".to_owned(),
            Kind::Preloads => "preloaded libraries".to_owned(),
            Kind::Hook(kind) => format!("{} hook", kind.name()),
        }
    }
}

/// Assignments among words that are nothing else: `env A=1` or `A=1`.
fn assigned(fast: &[ByteText], slow: &[ByteText]) -> Vec<(String, Option<String>, Option<String>)> {
    let parse = |words: &[ByteText]| -> Option<Vec<(String, String)>> {
        let texts = words.iter().map(|word| word.lossy().trim().to_owned());
        texts.filter(|word| word != "env" && word != "/usr/bin/env").map(|word| assignment(&word)).collect()
    };
    let (Some(fast), Some(slow)) = (parse(fast), parse(slow)) else { return Vec::new() };
    let mut names: Vec<&String> = fast.iter().chain(&slow).map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    let value = |of: &[(String, String)], name: &str| {
        of.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    names.into_iter().map(|name| (name.clone(), value(&fast, name), value(&slow, name))).collect()
}

fn assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let is_name = !name.is_empty()
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !name.starts_with(|letter: char| letter.is_ascii_digit());
    is_name.then(|| (name.to_owned(), value.to_owned()))
}

fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    let start: String = text.chars().take(MOST - 3).collect();
    format!("{start}...")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(fast: &str, slow: &str) -> Vec<String> {
        let launch = |line: &str| Launch {
            argv: line.split(' ').map(|word| ByteText::from(word.replace('_', " "))).collect(),
            ..Launch::default()
        };
        let kinds = words(&launch(fast), &launch(slow));
        let names = |kind| Difference { kind }.variables().into_iter().map(|(name, _, _)| name);
        kinds.into_iter().flat_map(names).collect()
    }

    #[test]
    fn assignments_set_variables_only_in_front_of_a_program() {
        assert_eq!(variables("env A=1 prog", "env A=2 prog"), ["A"]);
        assert_eq!(variables("prog", "env A=1 B=2 prog"), ["A", "B"]);
        assert_eq!(variables("env -u C A=1 prog", "env -u C A=2 prog").len(), 0);
        assert!(variables("dd bs=1 if=a", "dd bs=2 if=a").is_empty());
        assert_eq!(variables("sh -c cd_x;_A=1_prog", "sh -c cd_x;_A=2_prog"), ["A"]);
        assert!(variables("sh -c prog_A=1", "sh -c prog_A=2").is_empty());
    }

    fn renamed(fast: &str, slow: &str) -> Option<(String, String)> {
        let text = |text: &str| Some(Some(ByteText::from(text)));
        let kind = Kind::Variable { name: "A".into(), fast: text(fast), slow: text(slow) };
        Difference { kind }.renamed()
    }

    #[test]
    fn a_part_of_a_path_may_have_another_name() {
        let pair = Some(("one".to_owned(), "other".to_owned()));
        assert_eq!(renamed("/w/one", "/w/other"), pair);
        assert_eq!(renamed("/w/one/bin/x", "/w/other/bin/x"), pair);
        assert_eq!(renamed("/w/one/a", "/w/other/b"), None, "two parts");
        assert_eq!(renamed("one", "other"), None, "no path");
        assert_eq!(renamed("/w/one", "/w"), None);
    }
}
