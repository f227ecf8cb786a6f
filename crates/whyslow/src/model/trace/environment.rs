//! What a run finds around it, as facts that can be compared one by one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Facts by name. A name is a group and what it is about, with dots: `env.LC_ALL`, `limit.nofile.soft`, `cpu.affinity`,
/// `program.path`, `interpreter.version`, `library.libc.so.6`, `kernel.thp`. A value of a variable that looks like a
/// secret is a digest.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Environment {
    pub facts: BTreeMap<String, String>,
}

impl Environment {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.facts.get(name).map(String::as_str)
    }

    /// The fact `process` of an environment of a process that only waited for another one, which was too quick to be seen.
    pub const WAITING: &str = "the first, which only waits";

    /// Names whose values differ, with both values; `None` where one side does not have it. Where one is the environment
    /// of who did the work and the other of who waited for it, only what does not depend on the program is compared.
    pub fn differences<'a>(
        &'a self,
        other: &'a Environment,
    ) -> impl Iterator<Item = (&'a str, Option<&'a str>, Option<&'a str>)> {
        let is_waiting = |side: &Environment| side.get("process") == Some(Environment::WAITING);
        let are_alike = is_waiting(self) == is_waiting(other);
        let names: std::collections::BTreeSet<&str> =
            self.facts.keys().chain(other.facts.keys()).map(String::as_str).collect();
        names
            .into_iter()
            // Which process it was says nothing by itself.
            .filter(move |name| *name != "process" && (are_alike || !depends_on_program(name)))
            .map(|name| (name, self.get(name), other.get(name)))
            .filter(|(_, mine, its)| mine != its)
    }
}

fn depends_on_program(name: &str) -> bool {
    let groups = [
        "argv",
        "cwd",
        "env",
        "interpreter",
        "libc",
        "library",
        "locale",
        "malloc_owner",
        "program",
        "stream",
        "tunable",
        "tunables",
        "tz",
    ];
    name.split('.').next().is_some_and(|group| groups.contains(&group))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(process: &str, path: &str, limit: &str) -> Environment {
        let facts = [("process", process), ("program.path", path), ("limit.nofile.soft", limit)];
        Environment { facts: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).into() }
    }

    #[test]
    fn a_shell_that_waits_is_not_compared_with_a_program() {
        let program = environment("a descendant", "/bin/perl", "1");
        let shell = environment(Environment::WAITING, "/bin/sh", "2");
        let names = |other: &Environment| {
            program.differences(other).map(|(name, ..)| name.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(&shell), ["limit.nofile.soft"]);
        assert_eq!(names(&environment("the first", "/bin/ruby", "1")), ["program.path"]);
    }
}
