//! Samples that grow line by line, for forms in which a benchmark can come back later in the file.

use std::collections::{HashMap, HashSet};

use crate::model::{DataSet, Schedule};

/// The data sets of a file, found again by key.
#[derive(Default)]
pub(super) struct Gathering {
    sets: Vec<DataSet>,
    places: HashMap<String, usize>,
    turns: Turns,
}

impl Gathering {
    /// A line of this benchmark comes now.
    pub fn turn(&mut self, benchmark: &str) {
        self.turns.next(benchmark);
    }

    /// The data set of the key, made where it is new.
    pub fn entry(&mut self, key: String, make: impl FnOnce() -> DataSet) -> &mut DataSet {
        let place = *self.places.entry(key).or_insert_with(|| {
            self.sets.push(make());
            self.sets.len() - 1
        });
        &mut self.sets[place]
    }

    /// All of them in the order of their first lines, with the schedule that the order of the lines tells.
    pub fn finish(mut self) -> Vec<DataSet> {
        let schedule = self.turns.schedule();
        self.sets.iter_mut().for_each(|set| set.schedule = schedule);
        self.sets
    }
}

/// Whether benchmarks ran one after the other or took turns. Turns alone do not make a good schedule: where every
/// second run is slower, strict alternation looks like a difference. So it is unknown and never interleaved.
#[derive(Default)]
struct Turns {
    seen: HashSet<String>,
    last: Option<String>,
    comes_back: bool,
}

impl Turns {
    fn next(&mut self, benchmark: &str) {
        if self.last.as_deref() == Some(benchmark) {
            return;
        }
        self.comes_back |= !self.seen.insert(benchmark.to_owned());
        self.last = Some(benchmark.to_owned());
    }

    fn schedule(&self) -> Schedule {
        if self.comes_back { Schedule::Unknown } else { Schedule::Blocked }
    }
}
