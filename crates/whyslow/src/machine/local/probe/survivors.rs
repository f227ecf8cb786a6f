//! Descendants that still live when the command has ended. They are looked at until then and ended, so what they would
//! have done after that is in no view: that is told.

use std::collections::BTreeSet;

use super::{proc, spot};
use crate::model::Missing;

/// So many are named.
const NAMED_LIMIT: usize = 5;

#[derive(Clone, Debug, Default)]
pub struct Survivors {
    count: usize,
    names: BTreeSet<String>,
}

impl Survivors {
    /// Those of these processes that have not ended themselves.
    pub fn of(processes: impl IntoIterator<Item = libc::pid_t>) -> Survivors {
        let stats = processes.into_iter().filter_map(proc::stat_of);
        let names: Vec<String> =
            stats.filter(|stat| !matches!(stat.state, 'Z' | 'X')).map(|stat| stat.name).collect();
        Survivors { count: names.len(), names: names.into_iter().collect() }
    }

    pub fn spot(&self) -> Option<Missing> {
        let named: Vec<&str> = self.names.iter().take(NAMED_LIMIT).map(String::as_str).collect();
        let why = format!(
            "{} lived on ({}): looked at until then, and ended",
            if self.count == 1 { "one process".to_owned() } else { format!("{} processes", self.count) },
            named.join(", ")
        );
        (self.count > 0).then(|| {
            spot(
                "what went on after the end of the command",
                why,
                Some("let the command wait for what it starts"),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_living_are_named_and_the_dead_are_none() {
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let pid = child.id() as libc::pid_t;
        // It has its own name when it has become its program.
        while proc::stat_of(pid).is_some_and(|stat| stat.name != "sleep") {
            std::thread::yield_now();
        }
        let spot = Survivors::of([pid]).spot().unwrap();
        assert!(spot.why.starts_with("one process lived on (sleep)"), "{spot:?}");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(Survivors::of([pid]).spot().is_none());
    }
}
