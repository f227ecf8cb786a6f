//! Planted causes: reasons for a program to be slow that depend on how it is launched, so that an edit to the
//! launch takes them away. Pure; nothing here draws a random number.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::program::Cost;
use crate::model::{ByteText, Input, Launch};

/// One reason, with the launches it applies to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// The name of the culprit, for those who know the truth; the machine shows it to nobody.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    pub when: Condition,
    pub effect: Effect,
}

/// What must be true of a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    Always,
    Not(Box<Condition>),
    EnvIs {
        name: ByteText,
        value: ByteText,
    },
    EnvIsSet(ByteText),
    /// Some argument after the program is exactly this.
    HasArgument(ByteText),
    /// Some entry of LD_PRELOAD contains this text.
    Preloads(ByteText),
    Directory(PathBuf),
    Stdin(Input),
}

/// What a cause does to the cost of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Effect {
    pub user_factor: f64,
    pub system_factor: f64,
    pub blocked_factor: f64,
    /// Added after the factors.
    pub extra: Cost,
}

/// A launch together with the environment that it inherits.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    pub launch: &'a Launch,
    pub inherited: &'a [(ByteText, ByteText)],
}

impl Cause {
    pub fn new(name: &str, when: Condition, effect: Effect) -> Self {
        Cause { name: name.to_owned(), when, effect }
    }
}

impl Condition {
    pub fn env_is(name: &str, value: &str) -> Self {
        Condition::EnvIs { name: name.into(), value: value.into() }
    }

    pub fn env_is_set(name: &str) -> Self {
        Condition::EnvIsSet(name.into())
    }

    pub fn negated(self) -> Self {
        Condition::Not(Box::new(self))
    }

    pub fn holds(&self, surroundings: &Surroundings) -> bool {
        let launch = surroundings.launch;
        match self {
            Condition::Always => true,
            Condition::Not(inner) => !inner.holds(surroundings),
            Condition::EnvIs { name, value } => surroundings.variable(name) == Some(value),
            Condition::EnvIsSet(name) => surroundings.variable(name).is_some(),
            Condition::HasArgument(text) => launch.argv.iter().skip(1).any(|argument| argument == text),
            Condition::Preloads(text) => surroundings.preloads(text),
            Condition::Directory(path) => launch.cwd.as_ref() == Some(path),
            Condition::Stdin(input) => launch.stdin == *input,
        }
    }
}

impl Surroundings<'_> {
    /// The value that the program sees: the last change counts, and only then what is inherited.
    fn variable(&self, name: &ByteText) -> Option<&ByteText> {
        let changed = self.launch.env.iter().rev().find(|(known, _)| known == name);
        match changed {
            Some((_, value)) => value.as_ref(),
            None => self.inherited.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value),
        }
    }

    fn preloads(&self, text: &ByteText) -> bool {
        let entries = self.variable(&"LD_PRELOAD".into()).map_or(&[][..], |value| &value.0);
        // The dynamic loader takes both as separators.
        entries.split(|&byte| byte == b':' || byte == b' ').any(|entry| contains(entry, &text.0))
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
}

impl Default for Effect {
    fn default() -> Self {
        Effect { user_factor: 1.0, system_factor: 1.0, blocked_factor: 1.0, extra: Cost::default() }
    }
}

impl Effect {
    /// Multiplies time on a CPU, user and system alike.
    pub fn on_cpu(factor: f64) -> Self {
        Effect { user_factor: factor, system_factor: factor, ..Effect::default() }
    }

    /// Adds a cost.
    pub fn adding(extra: Cost) -> Self {
        Effect { extra, ..Effect::default() }
    }

    pub fn on(&self, cost: Cost) -> Cost {
        let multiplied = Cost {
            user_s: cost.user_s * self.user_factor,
            system_s: cost.system_s * self.system_factor,
            blocked_s: cost.blocked_s * self.blocked_factor,
            ..cost
        };
        multiplied.plus(self.extra)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(env: &[(&str, Option<&str>)]) -> Launch {
        let change = |(name, value): &(&str, Option<&str>)| ((*name).into(), value.map(ByteText::from));
        Launch {
            argv: vec!["a".into(), "-v".into()],
            env: env.iter().map(change).collect(),
            ..Launch::default()
        }
    }

    fn holds(condition: &Condition, env: &[(&str, Option<&str>)]) -> bool {
        let inherited = [("LANG".into(), "C.UTF-8".into())];
        condition.holds(&Surroundings { launch: &launch(env), inherited: &inherited })
    }

    #[test]
    fn the_last_change_of_a_variable_counts() {
        let utf8 = Condition::env_is("LANG", "C.UTF-8");
        assert!(holds(&utf8, &[]));
        assert!(!holds(&utf8, &[("LANG", Some("C"))]));
        assert!(holds(&utf8, &[("LANG", Some("C")), ("LANG", Some("C.UTF-8"))]));
        assert!(!holds(&Condition::env_is_set("LANG"), &[("LANG", None)]));
    }

    #[test]
    fn a_condition_can_be_turned_round() {
        let without = Condition::env_is_set("FAST").negated();
        assert!(holds(&without, &[]));
        assert!(!holds(&without, &[("FAST", Some("1"))]));
    }

    #[test]
    fn arguments_are_compared_whole_and_without_the_program() {
        assert!(holds(&Condition::HasArgument("-v".into()), &[]));
        assert!(!holds(&Condition::HasArgument("-".into()), &[]));
        assert!(!holds(&Condition::HasArgument("a".into()), &[]));
    }

    #[test]
    fn a_preload_is_found_in_a_list() {
        let mimalloc = Condition::Preloads("mimalloc".into());
        assert!(holds(&mimalloc, &[("LD_PRELOAD", Some("/lib/x.so:/lib/libmimalloc.so.2"))]));
        assert!(!holds(&mimalloc, &[("LD_PRELOAD", Some("/lib/x.so"))]));
        assert!(!holds(&mimalloc, &[]));
    }

    #[test]
    fn an_effect_multiplies_first_and_adds_then() {
        let extra = Cost { user_s: 1.0, page_faults: 5.0, ..Cost::default() };
        let cost = Effect { user_factor: 3.0, extra, ..Effect::default() }.on(Cost::of_cpu(1.0));
        assert!((cost.user_s - 3.7).abs() < 1e-12);
        assert_eq!((cost.system_s, cost.page_faults), (0.1, 505.0));
    }
}
