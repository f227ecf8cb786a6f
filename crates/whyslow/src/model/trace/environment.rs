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

    /// Names whose values differ, with both values; `None` where one side does not have it.
    pub fn differences<'a>(
        &'a self,
        other: &'a Environment,
    ) -> impl Iterator<Item = (&'a str, Option<&'a str>, Option<&'a str>)> {
        let names: std::collections::BTreeSet<&str> =
            self.facts.keys().chain(other.facts.keys()).map(String::as_str).collect();
        names
            .into_iter()
            .map(|name| (name, self.get(name), other.get(name)))
            .filter(|(_, mine, its)| mine != its)
    }
}
