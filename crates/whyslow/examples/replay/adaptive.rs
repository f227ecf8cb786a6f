//! One experiment replayed on recorded runs: the looks, the decision and the stop rule are those of a session, only
//! the times come from a trace in place of a machine.

use benchmath::random::SplitMix64;
use whyslow::analysis::{Decision, Verdict, decide, settle};
use whyslow::model::{Design, Looks};
use whyslow::plan::block_order;

/// The replays look at 10, 15, 23, 35, 53, 80, 120 and 180 blocks.
pub const MOST_BLOCKS: usize = 180;

/// How a replayed experiment ended.
pub struct Outcome {
    pub decision: Decision,
    pub blocks: usize,
}

/// What every replay asks: 95 % confidence, a margin of 2 %.
pub fn design(blocks: usize) -> Design {
    // A block is said to take one second, so that the budget in seconds is the number of blocks.
    Design { budget_s: blocks as f64, ..Design::default() }
}

/// The looks of an experiment that can afford that many blocks.
pub fn looks(blocks: usize) -> Looks {
    settle(&design(blocks.min(MOST_BLOCKS)), 1, 1.0)
}

/// Looks at more and more of the log ratios, as a session does, and stops when it would. A block without a ratio
/// counts as a block. `None` where no block has a ratio.
pub fn replay(ratios: &[Option<f64>], looks: &Looks) -> Option<Outcome> {
    let mut last = None;
    for &blocks in &looks.at {
        let decision = decide_after(&ratios[..blocks.min(ratios.len())], looks.alpha_each)?;
        last = Some(Outcome { decision, blocks });
        if decision.verdict != Verdict::Undecided && decision.is_precise {
            break;
        }
    }
    last
}

fn decide_after(ratios: &[Option<f64>], alpha: f64) -> Option<Decision> {
    let known: Vec<f64> = ratios.iter().copied().flatten().collect();
    decide(&known, alpha, design(0).margin.ln_1p())
}

/// Experiments on the runs of one command: neighbouring runs are called a block, and the schedule of a session
/// decides which of the two was "base" and which "other". That is what an interleaved comparison of the
/// command with itself would have measured; with a `factor`, of the command with a slower one.
pub struct Relabelling<'a> {
    values: &'a [f64],
    looks: Looks,
    random: SplitMix64,
}

impl<'a> Relabelling<'a> {
    /// `None` where the runs are too few for any decision.
    pub fn new(values: &'a [f64], seed: u64) -> Option<Self> {
        let looks = looks(values.len() / 2);
        let needed = 2 * looks.at.last()?;
        (needed <= values.len()).then(|| Relabelling { values, looks, random: SplitMix64::new(seed) })
    }

    /// One experiment from a random start, with the values of "other" multiplied by `factor`.
    pub fn experiment(&mut self, factor: f64) -> Option<Outcome> {
        let blocks = *self.looks.at.last()?;
        let start = self.random.below((self.values.len() - 2 * blocks + 1) as u64) as usize;
        let seed = self.random.next_u64();
        let slots = self.values[start..].chunks_exact(2).take(blocks).enumerate();
        let ratios: Vec<_> = slots.map(|(block, slots)| log_ratio(slots, seed, block, factor)).collect();
        replay(&ratios, &self.looks)
    }
}

fn log_ratio(slots: &[f64], seed: u64, block: usize, factor: f64) -> Option<f64> {
    let order = block_order(seed, block, 2);
    let (base, other) = if order[0] == 0 { (slots[0], slots[1]) } else { (slots[1], slots[0]) };
    (base > 0.0 && other > 0.0).then(|| (other * factor / base).ln())
}
