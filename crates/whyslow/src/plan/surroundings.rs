//! What is around a command (shell, wrapper, environment, directory, streams, hooks), as edits of its level.

use super::PlanError;
use super::question::{Surroundings, Typed};
use super::words::{split, unquote};
use crate::model::{ByteText, Edit, HookKind};

/// What runs hooks, and commands with `--shell default`.
const DEFAULT_SHELL: &str = "sh";

impl Surroundings {
    /// Every list has one entry for all, or one for each of `commands` commands.
    pub(super) fn check(&self, commands: usize) -> Result<(), PlanError> {
        let lists = [
            ("shells", self.shell.len()),
            ("wrappers", self.wrapper.len()),
            ("environments", self.env.len()),
            ("unset lists", self.unset.len()),
            ("directories", self.directory.len()),
            ("inputs", self.input.len()),
            ("outputs", self.output.len()),
            ("affinities", self.affinity.len()),
        ];
        let hooks = self.hooks.iter().map(|(kind, hooks)| (kind.plural(), hooks.len()));
        let wrong = lists.into_iter().chain(hooks).find(|&(_, entries)| entries > 1 && entries != commands);
        wrong.map_or(Ok(()), |(what, entries)| Err(PlanError::EntryCount { what, entries, commands }))
    }

    /// The edits for the command at `index`; `None` is a reference that is not one of the commands.
    pub(super) fn edits(
        &self,
        index: Option<usize>,
        position: usize,
        command: &Typed,
    ) -> Result<Vec<Edit>, PlanError> {
        let mut edits = vec![Edit::Argv(self.argv(index, position, command)?)];
        if let Some(assignments) = pick(&self.env, index) {
            edits.extend(assignments_of(assignments)?);
        }
        if let Some(names) = pick(&self.unset, index) {
            edits.extend(names.split_whitespace().map(|name| Edit::UnsetEnv(name.into())));
        }
        edits.extend(pick(&self.directory, index).cloned().map(Edit::Directory));
        edits.extend(pick(&self.input, index).cloned().map(Edit::Stdin));
        edits.extend(pick(&self.output, index).cloned().map(Edit::Stdout));
        edits.extend(pick(&self.affinity, index).cloned().map(Edit::Affinity));
        for (&kind, hooks) in &self.hooks {
            edits.extend(
                pick(hooks, index).filter(|hook| !hook.0.is_empty()).map(|hook| hook_edit(kind, hook)),
            );
        }
        Ok(edits)
    }

    /// What tells the command at `index` from the others, as one would type it before the command.
    pub(super) fn shown(&self, index: usize) -> String {
        let differing = |entries: &[String]| match entries {
            [] | [_] => String::new(),
            entries => entries.get(index).map_or(String::new(), |entry| format!("{entry} ")),
        };
        differing(&self.env) + &differing(&self.wrapper)
    }

    fn argv(
        &self,
        index: Option<usize>,
        position: usize,
        command: &Typed,
    ) -> Result<Vec<ByteText>, PlanError> {
        let words = match (shell(pick(&self.shell, index)), command) {
            (None, Typed::Line(line)) => split(position, line)?,
            (_, Typed::Words(words)) if words.first().is_none_or(|word| word.0.is_empty()) => {
                return Err(PlanError::EmptyCommand { position });
            }
            (_, Typed::Words(words)) => words.clone(),
            (Some(_), Typed::Line(line)) if line.lossy().trim().is_empty() => {
                return Err(PlanError::EmptyCommand { position });
            }
            (Some(shell), Typed::Line(line)) => {
                let mut words = unquote(shell)?;
                words.extend(["-c".into(), line.clone()]);
                words
            }
        };
        let wrapper = pick(&self.wrapper, index).map_or(Ok(Vec::new()), |wrapper| unquote(wrapper))?;
        Ok(wrapper.into_iter().chain(words).collect())
    }
}

/// Words are run as they are; a shell is for command lines.
fn shell(typed: Option<&String>) -> Option<&str> {
    match typed.map(String::as_str) {
        None | Some("none") => None,
        Some("default") => Some(DEFAULT_SHELL),
        shell => shell,
    }
}

/// The single entry, or the one at the position.
fn pick<T>(entries: &[T], index: Option<usize>) -> Option<&T> {
    match entries {
        [only] => Some(only),
        entries => entries.get(index?),
    }
}

fn assignments_of(text: &str) -> Result<Vec<Edit>, PlanError> {
    let assignment = |word: ByteText| {
        let text = word.lossy().into_owned();
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Edit::SetEnv(name.into(), value.into())),
            _ => Err(PlanError::NoAssignment { text }),
        }
    };
    unquote(text)?.into_iter().map(assignment).collect()
}

/// Hooks always use a shell, as they do in hyperfine: they are not measured.
fn hook_edit(kind: HookKind, hook: &ByteText) -> Edit {
    Edit::Hook(kind, vec![DEFAULT_SHELL.into(), "-c".into(), hook.clone()])
}
