//! Samples become stacks without repetition, and addresses become functions, while the command still runs: memory grows
//! with the number of different stacks and not with the length of the run.

use std::collections::HashMap;
use std::rc::Rc;

use super::names::Names;
use super::processes::{Place, Processes};
use super::record::Sample;
use crate::model::{Frame, Stack};

/// Different stacks, by address, after which the addresses are made into functions: there are far fewer of these.
const MOST_BY_ADDRESS: usize = 20_000;

pub struct Folder {
    pub samples: u64,
    /// Those whose stack reaches the start of its thread.
    pub rooted: u64,
    names: Names,
    threads: Numbered<Rc<str>>,
    places: Numbered<Place>,
    frames: Numbered<Frame>,
    /// The frame of every place, as far as they are known.
    frame_of_place: Vec<u32>,
    by_address: HashMap<Key, u64>,
    by_function: HashMap<Key, u64>,
    most_by_address: usize,
    /// Of the sample at hand.
    unwound: Vec<Place>,
}

/// As a profile has them.
pub struct Folded {
    pub frames: Vec<Frame>,
    /// Heaviest first.
    pub stacks: Vec<Stack>,
    /// `None` if there was nothing of the kernel.
    pub kernel_has_names: Option<bool>,
}

/// A thread, and places or frames, the innermost first.
type Key = (u32, Box<[u32]>);

impl Default for Folder {
    fn default() -> Self {
        Folder::with_at_most(MOST_BY_ADDRESS)
    }
}

impl Folder {
    fn with_at_most(most_by_address: usize) -> Folder {
        Folder {
            samples: 0,
            rooted: 0,
            names: Names::default(),
            threads: Numbered::default(),
            places: Numbered::default(),
            frames: Numbered::default(),
            frame_of_place: Vec::new(),
            by_address: HashMap::new(),
            by_function: HashMap::new(),
            most_by_address,
            unwound: Vec::new(),
        }
    }

    pub fn take(&mut self, sample: &Sample<'_>, processes: &mut Processes) {
        let mut unwound = std::mem::take(&mut self.unwound);
        unwound.clear();
        self.samples += 1;
        self.rooted += u64::from(processes.unwind(sample, &mut unwound));
        let thread = self.threads.number(processes.name(sample.thread));
        let stack = unwound.iter().map(|place| self.places.number(*place)).collect();
        self.unwound = unwound;
        *self.by_address.entry((thread, stack)).or_default() += 1;
        if self.by_address.len() > self.most_by_address {
            self.settle(processes);
        }
    }

    /// `weight` is what one sample stands for.
    pub fn finish(mut self, processes: &Processes, weight: f64) -> Folded {
        self.settle(processes);
        let threads = self.threads.all;
        let stack = |((thread, frames), count): (Key, u64)| Stack {
            frames: frames.into_vec(),
            weight: count as f64 * weight,
            thread: threads[thread as usize].to_string(),
        };
        let mut stacks: Vec<Stack> = self.by_function.into_iter().map(stack).collect();
        stacks.sort_by(|one, other| {
            let by_weight = other.weight.total_cmp(&one.weight);
            by_weight.then_with(|| one.frames.cmp(&other.frames)).then_with(|| one.thread.cmp(&other.thread))
        });
        Folded { frames: self.frames.all, stacks, kernel_has_names: self.names.kernel_has_names() }
    }

    fn settle(&mut self, processes: &Processes) {
        let new = &self.places.all[self.frame_of_place.len()..];
        for frame in self.names.resolve(new, &processes.modules) {
            self.frame_of_place.push(self.frames.number(frame));
        }
        for ((thread, places), count) in self.by_address.drain() {
            let frames = places.iter().map(|place| self.frame_of_place[*place as usize]).collect();
            *self.by_function.entry((thread, frames)).or_default() += count;
        }
    }
}

/// Every different thing has a number.
struct Numbered<T> {
    all: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered { all: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbered<T> {
    fn number(&mut self, thing: T) -> u32 {
        if let Some(number) = self.numbers.get(&thing) {
            return *number;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(thing.clone());
        self.numbers.insert(thing, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::{Body, Map, Words};
    use super::*;

    fn folded(most_by_address: usize) -> (Vec<(String, f64)>, u64) {
        let mut processes = Processes::default();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let program = std::env::current_exe().unwrap();
        let is_code = |line: &&str| line.contains(" r-xp ") && line.ends_with(program.to_str().unwrap());
        let fields: Vec<&str> = maps.lines().find(is_code).unwrap().split_whitespace().collect();
        let number = |digits| u64::from_str_radix(digits, 16).unwrap();
        let (start, file_offset) = (number(fields[0].split_once('-').unwrap().0), number(fields[2]));
        let file = program.as_os_str().as_encoded_bytes();
        let map = Map { process: 1, start, length: 1 << 32, file_offset, file };
        processes.take(&Body::Name { process: 1, thread: 1, is_exec: true, name: b"it" });
        processes.take(&Body::Map(map));
        let mut folder = Folder::with_at_most(most_by_address);
        for step in 0..2000 {
            let instruction = start + step * 4099;
            let sample = Sample {
                process: 1,
                thread: 1,
                instruction,
                kernel: Words::default(),
                registers: None,
                stack: &[],
            };
            folder.take(&sample, &mut processes);
        }
        let samples = folder.samples;
        let folded = folder.finish(&processes, 0.5);
        let line = |stack: &Stack| {
            let names = stack.frames.iter().map(|frame| folded.frames[*frame as usize].name.as_str());
            (format!("{} {}", stack.thread, names.collect::<Vec<_>>().join(";")), stack.weight)
        };
        let mut lines: Vec<(String, f64)> = folded.stacks.iter().map(line).collect();
        lines.sort_by(|one, other| one.0.cmp(&other.0));
        (lines, samples)
    }

    #[test]
    fn it_is_the_same_profile_however_often_addresses_are_made_into_functions() {
        let (at_once, samples) = folded(usize::MAX);
        assert_eq!(samples, 2000);
        assert!(at_once.len() > 100 && at_once.len() < 2000, "{}", at_once.len());
        assert_eq!(at_once.iter().map(|line| line.1).sum::<f64>(), 1000.0);
        assert_eq!(folded(50).0, at_once);
    }
}
