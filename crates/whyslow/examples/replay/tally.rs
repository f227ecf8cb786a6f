//! How many experiments ended in which way.

use whyslow::analysis::{Decision, Verdict};

/// The ends of experiments whose true effect is known.
#[derive(Default)]
pub struct Tally {
    ends: Vec<End>,
}

#[derive(Clone, Copy)]
struct End {
    verdict: Verdict,
    covers: bool,
    blocks: usize,
}

impl Tally {
    /// `truth` is the true log ratio.
    pub fn add(&mut self, decision: &Decision, blocks: usize, truth: f64) {
        let covers = decision.low <= truth && truth <= decision.high;
        self.ends.push(End { verdict: decision.verdict, covers, blocks });
    }

    pub fn extend(&mut self, other: &Tally) {
        self.ends.extend(&other.ends);
    }

    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Share of the experiments that ended with this verdict.
    pub fn share(&self, verdict: Verdict) -> f64 {
        self.share_where(|end| end.verdict == verdict)
    }

    /// Share that claimed a difference in either direction.
    pub fn claims(&self) -> f64 {
        self.share(Verdict::Slower) + self.share(Verdict::Faster)
    }

    /// Share of the final intervals that hold the truth.
    pub fn coverage(&self) -> f64 {
        self.share_where(|end| end.covers)
    }

    /// Blocks at the end of the experiments.
    pub fn median_blocks(&self) -> f64 {
        let blocks: Vec<f64> = self.ends.iter().map(|end| end.blocks as f64).collect();
        benchmath::median(&blocks).unwrap_or(f64::NAN)
    }

    fn share_where(&self, holds: impl Fn(&End) -> bool) -> f64 {
        self.ends.iter().filter(|end| holds(end)).count() as f64 / self.ends.len() as f64
    }
}
