//! Programs that the kernel hides from whoever samples and records: those that run with other rights than their caller, and
//! those that may be run but not read. There is the name of such a one and then the end of all records of it, before even
//! its file is mapped. So its time is missing, and that of its children.

use std::collections::{BTreeSet, HashMap};

use super::super::spot;
use super::super::tracer::is_root;
use super::record::Body;
use crate::model::Missing;

/// So many are named.
const NAMED_LIMIT: usize = 5;

#[derive(Default)]
pub struct Hidden {
    /// Processes that have become a program of this name, of which nothing is mapped yet.
    starting: HashMap<u32, String>,
    found: BTreeSet<String>,
}

impl Hidden {
    pub fn take(&mut self, body: &Body<'_>) {
        match body {
            Body::Name { process, is_exec: true, name, .. } => {
                self.starting.insert(*process, String::from_utf8_lossy(name).into_owned());
            }
            Body::Map(map) => drop(self.starting.remove(&map.process)),
            Body::Exit { process, .. } => {
                let name = self.starting.remove(process);
                self.found.extend(name.filter(|_| self.found.len() < NAMED_LIMIT));
            }
            // The map may be among them.
            Body::Lost(_) => self.starting.clear(),
            _ => {}
        }
    }

    pub fn spot(&self) -> Option<Missing> {
        let names: Vec<&str> = self.found.iter().map(String::as_str).collect();
        let why = format!(
            "the kernel shows nothing of what they and their children do, since they run with the rights of their files or \
             may not be read: {}",
            names.join(", ")
        );
        (!names.is_empty()).then(|| spot("programs with other rights than you", why, remedy()))
    }
}

/// Root is shown all but what other users' files turn it into.
pub fn remedy() -> Option<&'static str> {
    (!is_root()).then_some("run as root")
}

#[cfg(test)]
mod tests {
    use super::super::record::Map;
    use super::*;

    const EXIT: Body<'static> = Body::Exit { process: 1, thread: 1 };
    const MAP: Body<'static> =
        Body::Map(Map { process: 1, start: 0, length: 1, file_offset: 0, file: b"/bin/su" });

    fn name(is_exec: bool) -> Body<'static> {
        Body::Name { process: 1, thread: 1, is_exec, name: b"su" }
    }

    #[test]
    fn what_ends_before_its_file_is_mapped_is_hidden() {
        let is_hidden = |records: &[Body<'static>]| {
            let mut hidden = Hidden::default();
            records.iter().for_each(|body| hidden.take(body));
            hidden.spot().is_some_and(|spot| spot.why.ends_with(": su"))
        };
        assert!(is_hidden(&[name(true), EXIT]));
        assert!(!is_hidden(&[name(true), MAP, EXIT]));
        assert!(!is_hidden(&[name(false), EXIT]) && !is_hidden(&[EXIT]));
        assert!(!is_hidden(&[name(true), Body::Lost(3), EXIT]));
    }
}
