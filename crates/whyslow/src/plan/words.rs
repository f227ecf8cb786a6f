//! From a command line as typed to words, as a POSIX shell splits them, and the refusal of what only a shell can do.

use super::PlanError;
use crate::model::ByteText;

/// Splits a command line for running without a shell.
///
/// Quoted text may hold anything. A command that is not UTF-8 is split at spaces alone, since quoting rules are
/// about characters.
pub fn split(position: usize, command: &ByteText) -> Result<Vec<ByteText>, PlanError> {
    let words = match std::str::from_utf8(&command.0) {
        Ok(text) => {
            refuse_shell_syntax(text)?;
            unquote(text)?
        }
        Err(_) => split_at_spaces(&command.0),
    };
    if words.first().is_none_or(|word| word.0.is_empty()) {
        return Err(PlanError::EmptyCommand { position });
    }
    Ok(words)
}

/// Splits words that are no command: a shell with its options, a wrapper, assignments.
pub fn unquote(text: &str) -> Result<Vec<ByteText>, PlanError> {
    let unmatched = |_| PlanError::UnmatchedQuote { command: text.to_owned() };
    Ok(shell_words::split(text).map_err(unmatched)?.into_iter().map(ByteText::from).collect())
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
