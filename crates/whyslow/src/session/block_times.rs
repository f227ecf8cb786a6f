//! How long blocks take. Asked several times in every block, so it must not look at all of them each time: a million
//! runs would take forever.

use benchmath::quantiles;

/// Up to so many blocks the typical time is always that of all.
const EXACT_UP_TO: usize = 100;

/// The times of the measured blocks.
#[derive(Default)]
pub struct BlockTimes {
    all_s: Vec<f64>,
    typical_s: Option<f64>,
    /// Number of blocks that `typical_s` comes from.
    judged: usize,
}

impl BlockTimes {
    pub fn push(&mut self, took_s: f64) {
        self.all_s.push(took_s);
        let has_grown = self.all_s.len() * 20 >= self.judged * 21;
        if self.all_s.len() <= EXACT_UP_TO || has_grown {
            self.judged = self.all_s.len();
            self.typical_s = quantiles::median(&self.all_s);
        }
    }

    pub fn len(&self) -> usize {
        self.all_s.len()
    }

    /// The median of all blocks, or of at least nineteen in twenty of many; `None` before the first.
    pub fn typical_s(&self) -> Option<f64> {
        self.typical_s
    }
}

impl FromIterator<f64> for BlockTimes {
    fn from_iter<I: IntoIterator<Item = f64>>(times: I) -> Self {
        let mut all = BlockTimes::default();
        times.into_iter().for_each(|took_s| all.push(took_s));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_typical_time_follows_the_blocks() {
        assert_eq!(BlockTimes::default().typical_s(), None);
        for blocks in [1, 2, 99, 100, 101, 1_000, 12_345] {
            let times: BlockTimes = (1..=blocks).map(|block| block as f64).collect();
            let exact = (blocks as f64 + 1.0) / 2.0;
            let typical = times.typical_s().unwrap();
            assert_eq!(times.len(), blocks);
            assert!(typical <= exact && typical >= 0.95 * exact, "{typical} of {blocks}");
            assert!(blocks > EXACT_UP_TO || typical == exact, "{typical} of {blocks}");
        }
    }
}
