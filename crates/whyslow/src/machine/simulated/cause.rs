//! Planted causes: reasons for a program to be slow that depend on how it is launched, so that an edit to the
//! launch takes them away. Pure; nothing here draws a random number.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::program::Cost;
use super::world::CPUS;
use crate::model::{ByteText, Input, Launch, Preload, Trace};

/// One reason, with the launches it applies to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// The name of the culprit, for those who know the truth; the machine shows it to nobody.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    pub when: Condition,
    pub effect: Effect,
    /// What probes see more of a run while the condition holds: counts, files and stacks are added to those that the
    /// program states, facts take the place of those of the same name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<Trace>,
}

/// What must be true of a launch.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    #[default]
    Always,
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    EnvIs {
        name: ByteText,
        value: ByteText,
    },
    EnvIsSet(ByteText),
    /// Some argument after the program is exactly this.
    HasArgument(ByteText),
    /// Some word of the command line contains this text, such as a part of a script.
    WordContains(ByteText),
    /// Some word before the program is exactly this.
    Wrapped(ByteText),
    /// Some entry of LD_PRELOAD, or the name of a library that the launch preloads, contains this text.
    Preloads(ByteText),
    /// It may run on so many CPUs at most.
    CpusAtMost(usize),
    /// A word of the hook before this run contains this text.
    Prepared(ByteText),
    /// The program has run so often at most, this run included.
    UntilRun(usize),
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
    /// Where what is added depends on the first number among the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
}

/// The time that is added is that of `size`, and grows with this power of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    pub size: f64,
    pub exponent: f64,
}

/// A launch together with what it inherits.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    pub launch: &'a Launch,
    pub inherited: &'a [(ByteText, ByteText)],
    /// Number of the word of the command line that names the program; what stands before it is wrapped around it.
    pub program: usize,
    /// Variables and libraries that do not reach the program.
    pub shields: &'a [ByteText],
    /// The hook before this run.
    pub prepared: Option<&'a Launch>,
    /// Of the program's runs, from 1.
    pub run: usize,
}

impl Cause {
    pub fn new(name: &str, when: Condition, effect: Effect) -> Self {
        Cause { name: name.to_owned(), when, effect, traces: Vec::new() }
    }

    pub fn with_trace(mut self, trace: Trace) -> Self {
        self.traces.push(trace);
        self
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
            Condition::All(all) => all.iter().all(|one| one.holds(surroundings)),
            Condition::Any(any) => any.iter().any(|one| one.holds(surroundings)),
            Condition::EnvIs { name, value } => surroundings.variable(name).as_ref() == Some(value),
            Condition::EnvIsSet(name) => surroundings.variable(name).is_some(),
            Condition::HasArgument(text) => launch.argv.iter().skip(1).any(|argument| argument == text),
            Condition::WordContains(text) => launch.argv.iter().any(|word| contains(&word.0, &text.0)),
            Condition::Wrapped(text) => launch.argv[..surroundings.program].contains(text),
            Condition::Preloads(text) => {
                surroundings.libraries().iter().any(|library| contains(library.as_bytes(), &text.0))
            }
            Condition::CpusAtMost(most) => surroundings.cpus().len() <= *most,
            Condition::Prepared(text) => surroundings
                .prepared
                .is_some_and(|hook| hook.argv.iter().any(|word| contains(&word.0, &text.0))),
            Condition::UntilRun(last) => surroundings.run <= *last,
            Condition::Directory(path) => launch.cwd.as_ref() == Some(path),
            Condition::Stdin(input) => launch.stdin == *input,
        }
    }
}

impl<'a> Surroundings<'a> {
    /// Nothing but a launch and what it inherits.
    #[cfg(test)]
    pub fn plain(launch: &'a Launch, inherited: &'a [(ByteText, ByteText)]) -> Self {
        Surroundings { launch, inherited, program: 0, shields: &[], prepared: None, run: 1 }
    }

    /// The value that the program sees: the last change counts, and only then what is inherited.
    pub fn variable(&self, name: &ByteText) -> Option<ByteText> {
        self.environment().remove(name)
    }

    /// All of them, as they reach the program.
    pub fn environment(&self) -> BTreeMap<ByteText, ByteText> {
        let mut environment: BTreeMap<ByteText, ByteText> = self.inherited.iter().cloned().collect();
        for (name, value) in &self.launch.env {
            match value {
                Some(value) => environment.insert(name.clone(), value.clone()),
                None => environment.remove(name),
            };
        }
        environment.extend(self.assignments());
        environment.retain(|name, _| !self.shields.contains(name));
        environment
    }

    /// Of `env A=1 program`.
    fn assignments(&self) -> impl Iterator<Item = (ByteText, ByteText)> + 'a {
        let wrapping = &self.launch.argv[..self.program];
        let is_env = wrapping.iter().any(|word| *word == "env".into());
        let assigned = |word: &ByteText| {
            let place = word.0.iter().position(|&byte| byte == b'=')?;
            Some((ByteText(word.0[..place].to_vec()), ByteText(word.0[place + 1..].to_vec())))
        };
        wrapping.iter().filter(move |_| is_env).filter_map(assigned)
    }

    /// Preloaded ones as the loader is told of them: those of the launch first.
    pub fn libraries(&self) -> Vec<String> {
        let value = self.variable(&"LD_PRELOAD".into()).unwrap_or_default();
        // The dynamic loader takes both as separators.
        let named = value.0.split(|&byte| byte == b':' || byte == b' ').filter(|entry| !entry.is_empty());
        let named = named.map(|entry| String::from_utf8_lossy(entry).into_owned());
        let is_shielded =
            |library: &String| self.shields.iter().any(|shield| contains(library.as_bytes(), &shield.0));
        let own = self.launch.preloads.iter().map(file);
        own.chain(named).filter(|library| !is_shielded(library)).collect()
    }

    /// Those that it may run on.
    pub fn cpus(&self) -> Vec<usize> {
        self.launch.affinity.clone().unwrap_or_else(|| (0..CPUS).collect())
    }

    /// The first number among the arguments.
    fn size(&self) -> Option<f64> {
        let arguments = self.launch.argv.iter().skip(self.program + 1);
        arguments.filter_map(|word| word.lossy().parse().ok()).next()
    }
}

fn file(preload: &Preload) -> String {
    match preload {
        Preload::Mimalloc => "/simulated/libmimalloc.so".to_owned(),
        Preload::File(path) => path.display().to_string(),
        Preload::Shim(shim) => format!("/simulated/{}.so", shim.name()),
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
}

impl Default for Effect {
    fn default() -> Self {
        Effect {
            user_factor: 1.0,
            system_factor: 1.0,
            blocked_factor: 1.0,
            extra: Cost::default(),
            growth: None,
        }
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

    /// The added time grows so with the first number among the arguments.
    pub fn growing(self, size: f64, exponent: f64) -> Self {
        Effect { growth: Some(Growth { size, exponent }), ..self }
    }

    pub fn on(&self, cost: Cost, surroundings: &Surroundings) -> Cost {
        let multiplied = Cost {
            user_s: cost.user_s * self.user_factor,
            system_s: cost.system_s * self.system_factor,
            blocked_s: cost.blocked_s * self.blocked_factor,
            ..cost
        };
        multiplied.plus(self.added(surroundings))
    }

    fn added(&self, surroundings: &Surroundings) -> Cost {
        let factor = self.growth.zip(surroundings.size());
        let factor = factor.map_or(1.0, |(growth, size)| (size / growth.size).powf(growth.exponent));
        let (user_s, system_s) = (self.extra.user_s * factor, self.extra.system_s * factor);
        Cost { user_s, system_s, blocked_s: self.extra.blocked_s * factor, ..self.extra }
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
        condition.holds(&Surroundings::plain(&launch(env), &inherited))
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
        let cost = Effect { user_factor: 3.0, extra, ..Effect::default() };
        let launch = launch(&[]);
        let cost = cost.on(Cost::of_cpu(1.0), &Surroundings::plain(&launch, &[]));
        assert!((cost.user_s - 3.7).abs() < 1e-12);
        assert_eq!((cost.system_s, cost.page_faults), (0.1, 505.0));
    }

    #[test]
    fn what_is_wrapped_around_a_program_counts() {
        let argv = ["env", "LC_ALL=C", "a", "-v"].map(ByteText::from).to_vec();
        let wrapped = Launch { argv, preloads: vec![Preload::Mimalloc], ..Launch::default() };
        let around = Surroundings { program: 2, ..Surroundings::plain(&wrapped, &[]) };
        assert!(Condition::env_is("LC_ALL", "C").holds(&around));
        assert!(Condition::Wrapped("env".into()).holds(&around));
        assert!(!Condition::Wrapped("a".into()).holds(&around));
        assert!(Condition::Preloads("mimalloc".into()).holds(&around));
        assert!(Condition::WordContains("ALL=".into()).holds(&around));
        let shields = ["LC_ALL".into(), "mimalloc".into()];
        let shielded = Surroundings { shields: &shields, ..around };
        assert!(!Condition::env_is_set("LC_ALL").holds(&shielded));
        assert!(!Condition::Preloads("mimalloc".into()).holds(&shielded));
    }

    #[test]
    fn hooks_cpus_and_earlier_runs_are_conditions() {
        let launch = Launch { affinity: Some(vec![1]), ..launch(&[]) };
        let hook = Launch { argv: vec!["evict".into(), "/w/big".into()], ..Launch::default() };
        let around = Surroundings { prepared: Some(&hook), run: 3, ..Surroundings::plain(&launch, &[]) };
        let holds = |condition: Condition| condition.holds(&around);
        assert!(holds(Condition::Prepared("evict".into())) && !holds(Condition::Prepared("warm".into())));
        assert!(holds(Condition::CpusAtMost(1)));
        assert!(holds(Condition::UntilRun(3)) && !holds(Condition::UntilRun(2)));
        let both = [Condition::CpusAtMost(1), Condition::UntilRun(2)];
        assert!(!holds(Condition::All(both.to_vec())) && holds(Condition::Any(both.to_vec())));
    }

    #[test]
    fn what_is_added_grows_with_the_size() {
        let launch = Launch { argv: vec!["a".into(), "list".into(), "200".into()], ..Launch::default() };
        let effect = Effect::adding(Cost::of_cpu(1.0)).growing(400.0, 2.0);
        let cost = effect.on(Cost::default(), &Surroundings::plain(&launch, &[]));
        assert!((cost.cpu_s() - 0.25).abs() < 1e-12 && cost.page_faults == 500.0);
    }
}
