//! Source files as text without comments, and the plain searches that the rules are made of.

use std::fs;
use std::path::Path;

/// One file.
pub struct Source {
    /// From `src`, such as `plan/question.rs`.
    pub path: String,
    pub text: String,
    /// The text without comments.
    pub code: String,
}

/// Every Rust file below the directory, in order.
pub fn all(directory: &Path) -> Vec<Source> {
    let mut sources = Vec::new();
    collect(directory, "", &mut sources);
    assert!(!sources.is_empty(), "no sources in {}", directory.display());
    sources.sort_by(|one, other| one.path.cmp(&other.path));
    sources
}

fn collect(directory: &Path, prefix: &str, sources: &mut Vec<Source>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{prefix}{name}");
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &format!("{path}/"), sources);
        } else if name.ends_with(".rs") {
            sources.push(Source::new(&path, &fs::read_to_string(entry.path()).unwrap()));
        }
    }
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        Source { path: path.to_owned(), text: text.to_owned(), code: without_comments(text) }
    }

    /// The directory below `src`, or `lib` and `main` for the files beside the rooms.
    pub fn room(&self) -> &str {
        let first = self.path.split('/').next().unwrap_or_default();
        first.trim_end_matches(".rs")
    }

    /// How many `super` lead from this file to the root of the crate.
    fn depth(&self) -> usize {
        let parts = self.path.split('/').filter(|part| *part != "mod.rs");
        parts.count()
    }

    /// The part before the tests at the end.
    pub fn product(&self) -> Source {
        let code = self.code.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
        Source { path: self.path.clone(), text: String::new(), code }
    }

    /// First names behind `crate::`, or behind as many `super::` as it takes to get there.
    pub fn rooms_used(&self) -> Vec<String> {
        let mut rooms = names_behind(&self.code, "crate::");
        rooms.extend(names_behind(&self.code, &"super::".repeat(self.depth())));
        rooms
    }

    /// First names behind `std::`.
    pub fn std_used(&self) -> Vec<String> {
        names_behind(&self.code, "std::")
    }

    /// Whether the word stands there by itself and not as a part of another.
    pub fn has_word(&self, word: &str) -> bool {
        positions(&self.code, word).any(|at| {
            let next = self.code[at + word.len()..].chars().next();
            !word.ends_with(is_name) || !next.is_some_and(is_name)
        })
    }
}

/// `//` ends the line unless it follows a colon, as in an address.
fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("/*") {
        // A line comment that happens to hold the mark of a block.
        let line_start = rest[..start].rfind('\n').map_or(0, |at| at + 1);
        if comment_start(&rest[line_start..start + 2]).is_some_and(|at| at < start - line_start) {
            let end = rest[start..].find('\n').map_or(rest.len(), |at| start + at);
            code.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        code.push_str(&rest[..start]);
        rest = rest[start..].split_once("*/").map_or("", |(_, after)| after);
    }
    code.push_str(rest);
    let lines = code.lines().map(|line| comment_start(line).map_or(line, |at| &line[..at]));
    lines.collect::<Vec<_>>().join("\n")
}

fn comment_start(line: &str) -> Option<usize> {
    line.match_indices("//").map(|(at, _)| at).find(|&at| !line[..at].ends_with(':'))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where the text begins with no letter right before it.
fn positions<'a>(code: &'a str, text: &'a str) -> impl Iterator<Item = usize> + 'a {
    let starts = code.match_indices(text).map(|(at, _)| at);
    starts.filter(|&at| !code[..at].ends_with(is_name))
}

/// The first name of every path that begins so, those in braces included.
fn names_behind(code: &str, prefix: &str) -> Vec<String> {
    positions(code, prefix).flat_map(|at| names_at(&code[at + prefix.len()..])).collect()
}

fn names_at(code: &str) -> Vec<String> {
    match code.strip_prefix('{') {
        Some(group) => outermost(group).into_iter().map(first_name).collect(),
        None => vec![first_name(code)],
    }
}

fn first_name(code: &str) -> String {
    code.trim_start().chars().take_while(|&c| is_name(c)).collect()
}

/// The parts of a group, up to its closing brace, between commas that are not in inner braces.
fn outermost(group: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                parts.push(&group[start..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts
}
