//! How both sides grow with the size of the work, where a word of both command lines is a number that can be made smaller.

use benchmath::growth::{Growth, growth};

use super::stages::Originals;
use crate::analysis::Samples;
use crate::model::{ByteText, Edit, GrowthPlan, Level, Recording, SizePlan, Stage, StagePlan};

/// An exponent names nobody by itself, so it may miss more often than a share.
pub const ALPHA: f64 = 0.05;
/// Smaller numbers are modes and switches.
const LEAST_SIZE: u64 = 100;
/// Exponents that are so close are those of the same algorithm.
const ALIKE: f64 = 0.2;
/// The sizes that are tried besides the original one.
const DIVISORS: [u64; 2] = [4, 2];

/// The exponents of both sides: 1 is linear, 2 quadratic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growths {
    pub fast: Option<f64>,
    pub slow: f64,
    /// Ends of the interval of the slow side's.
    pub low: f64,
    pub high: f64,
}

impl Growths {
    /// Both grow in the same way, so that another size has the same ratio.
    fn is_alike(&self) -> bool {
        self.fast.is_some_and(|fast| (self.slow - fast).abs() < ALIKE)
    }

    pub fn text(&self) -> String {
        if self.is_alike() {
            return format!(
                "both grow as n^{:.1}: more time for each step, not another algorithm",
                self.slow
            );
        }
        let slow = format!("grows as n^{:.1} [{:.1}, {:.1}]", self.slow, self.low, self.high);
        match self.fast {
            Some(fast) => format!("{slow}, the fast side as n^{fast:.1}"),
            None => format!("{slow}; the fast side takes hardly more than its start, so it has no exponent"),
        }
    }
}

/// The number of a word that is the same number on both sides, with its value.
fn size_word(originals: &Originals<'_>) -> Option<(usize, u64)> {
    let (fast, slow) = (&originals.fast.launch.argv, &originals.slow.launch.argv);
    let number = |word: &ByteText| word.lossy().parse::<u64>().ok().filter(|&size| size >= LEAST_SIZE);
    // The same place from the front: a program or its options may differ, but not their number.
    let places = 1..fast.len().min(slow.len());
    places.filter(|&place| fast[place] == slow[place]).find_map(|place| Some((place, number(&slow[place])?)))
}

/// A round with the original size, smaller ones, and 1 for what it takes to do nothing.
pub fn plan(originals: &Originals<'_>, round: StagePlan) -> Option<StagePlan> {
    let (place, size) = size_word(originals)?;
    let mut round = round;
    let levels = &mut round.experiment.factors[0].levels;
    let mut add = |size: u64| {
        let mut with = |edits: &[Edit], argv: &[ByteText], side: &str| {
            let mut argv = argv.to_vec();
            argv[place] = size.to_string().as_str().into();
            let edits = edits.iter().cloned().chain([Edit::Argv(argv)]).collect();
            levels.push(Level { name: format!("{side} {size}"), edits });
            levels.len() - 1
        };
        let fast = with(&originals.fast_edits, &originals.fast.launch.argv, "fast");
        let slow = with(&originals.slow_edits, &originals.slow.launch.argv, "slow");
        SizePlan { size: size as f64, fast, slow }
    };
    let floor = add(1);
    let mut sizes: Vec<SizePlan> = DIVISORS.iter().map(|divisor| add(size / divisor)).collect();
    sizes.push(SizePlan { size: size as f64, fast: round.fast, slow: round.slow });
    round.growth = Some(GrowthPlan { word: place, floor, sizes });
    Some(round)
}

/// What the round showed.
pub fn growths(recording: &Recording, stage: &Stage, metric: &str) -> Option<Growths> {
    let plan = stage.plan.growth.as_ref()?;
    let part = stage.recording(recording);
    let variants = stage.plan.experiment.factors[0].levels.len();
    let samples = Samples::collect_of(&part, variants, |name| name == metric);
    let side = |of: &dyn Fn(&SizePlan) -> usize| -> Option<Growth> {
        let columns: Vec<Vec<Option<f64>>> =
            plan.sizes.iter().map(|size| samples.by_block(of(size), metric)).collect();
        let count = columns.iter().map(Vec::len).min()?;
        let blocks: Vec<Vec<f64>> =
            (0..count).filter_map(|block| columns.iter().map(|column| column[block]).collect()).collect();
        let sizes: Vec<f64> = plan.sizes.iter().map(|size| size.size).collect();
        growth(&sizes, &blocks, &samples.values(of(&plan.floor), metric), ALPHA)
    };
    let slow = side(&|size| size.slow)?.exponent;
    let fast = side(&|size| size.fast).map(|growth| growth.exponent.estimate);
    Some(Growths { fast, slow: slow.estimate, low: slow.low, high: slow.high })
}
