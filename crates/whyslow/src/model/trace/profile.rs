//! Samples with their stacks.

use serde::{Deserialize, Serialize};

/// Where something happened: CPU time in seconds, or page faults in counts.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Profile {
    /// Samples per second that were asked for; 0 where every event was taken.
    pub rate_hz: f64,
    pub samples: u64,
    /// Samples that the kernel dropped.
    pub lost: u64,
    /// What the samples stand for, in seconds or counts.
    pub sampled: f64,
    /// What there was to see, counted exactly: CPU seconds or page faults of the whole tree.
    pub total: Option<f64>,
    pub kernel: KernelView,
    /// Share of the stacks that reach down to the start of their thread.
    pub rooted: f64,
    pub frames: Vec<Frame>,
    /// Without repetition, heaviest first.
    pub stacks: Vec<Stack>,
}

/// How much of the kernel the samples show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelView {
    /// Samples in the kernel are there, with their stacks.
    Seen,
    /// They are not, so what is missing of the total was spent in there.
    Missing,
    #[default]
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Frame {
    /// Function, demangled; the address where it has no name.
    pub name: String,
    /// File name of the program or library, `[kernel]`, `[jit]`.
    pub module: String,
}

#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Stack {
    /// Indices of frames, the innermost first.
    pub frames: Vec<u32>,
    /// In the unit of the profile.
    pub weight: f64,
    /// Name of the thread.
    pub thread: String,
}

impl Profile {
    /// How much of what there was the samples stand for; `None` where that is not known.
    pub fn coverage(&self) -> Option<f64> {
        self.total.filter(|total| *total > 0.0).map(|total| self.sampled / total)
    }

    /// The number of a frame, which is added if it is new.
    pub fn place(&mut self, wanted: &Frame) -> u32 {
        let known = self.frames.iter().position(|frame| frame == wanted);
        known.unwrap_or_else(|| {
            self.frames.push(wanted.clone());
            self.frames.len() - 1
        }) as u32
    }

    /// Weight of the samples that were in this frame itself, for every frame.
    pub fn own(&self) -> Vec<f64> {
        let mut own = vec![0.0; self.frames.len()];
        for stack in &self.stacks {
            if let Some(weight) = stack.frames.first().and_then(|&frame| own.get_mut(frame as usize)) {
                *weight += stack.weight;
            }
        }
        own
    }

    /// Weight of the samples with this frame anywhere in the stack, each stack counted once.
    pub fn inclusive(&self) -> Vec<f64> {
        let mut inclusive = vec![0.0; self.frames.len()];
        for stack in &self.stacks {
            let mut frames = stack.frames.clone();
            frames.sort_unstable();
            frames.dedup();
            for frame in frames {
                if let Some(weight) = inclusive.get_mut(frame as usize) {
                    *weight += stack.weight;
                }
            }
        }
        inclusive
    }

    /// Names of the functions on a stack, the innermost first.
    pub fn names(&self, stack: &Stack) -> Vec<&str> {
        let name = |&frame: &u32| self.frames.get(frame as usize).map_or("", |frame| frame.name.as_str());
        stack.frames.iter().map(name).collect()
    }

    /// Weight of the samples in a function of this name, anywhere in the stack.
    pub fn inclusive_where(&self, is_wanted: impl Fn(&Frame) -> bool) -> f64 {
        let has = |stack: &&Stack| {
            stack.frames.iter().any(|&frame| self.frames.get(frame as usize).is_some_and(&is_wanted))
        };
        self.stacks.iter().filter(has).map(|stack| stack.weight).sum()
    }

    /// Weight of the samples whose innermost frame is wanted.
    pub fn own_where(&self, is_wanted: impl Fn(&Frame) -> bool) -> f64 {
        let has = |stack: &&Stack| {
            let innermost = stack.frames.first().and_then(|&frame| self.frames.get(frame as usize));
            innermost.is_some_and(&is_wanted)
        };
        self.stacks.iter().filter(has).map(|stack| stack.weight).sum()
    }
}
