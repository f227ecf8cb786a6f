//! Order statistics of all pairwise sums `rows[i] + columns[j]`, without forming them.
//!
//! Walsh averages are such sums, and so are the differences between two samples. A million values a side
//! make 10^12 sums; this module only ever looks at O(n) of them. It works because the sums are a sorted
//! matrix: rounded addition is monotone in both arguments, so one walk along the staircase where the
//! sums cross a pivot counts all that lie below, exactly as if they had been formed and sorted.

use crate::random::SplitMix64;

/// All sums of a row value and a column value, both in ascending order and finite.
pub(crate) struct PairSums<'a> {
    rows: &'a [f64],
    columns: &'a [f64],
    /// Whether only pairs with `j >= i` count (each unordered pair once).
    upper: bool,
}

/// The sums still in question: per row the columns `first[i]..end[i]`.
struct Candidates {
    first: Vec<usize>,
    end: Vec<usize>,
}

/// Where a pivot stands: per row, one past the last column whose sum is below it, and not above it.
struct Staircase {
    below: Vec<usize>,
    not_above: Vec<usize>,
}

impl<'a> PairSums<'a> {
    /// Every row with every column.
    pub(crate) fn all(rows: &'a [f64], columns: &'a [f64]) -> Self {
        Self { rows, columns, upper: false }
    }

    /// Every unordered pair of `values`, each value also with itself.
    pub(crate) fn unordered(values: &'a [f64]) -> Self {
        Self { rows: values, columns: values, upper: true }
    }

    /// How many sums there are.
    pub(crate) fn count(&self) -> u64 {
        let (rows, columns) = (self.rows.len() as u64, self.columns.len() as u64);
        if self.upper { rows * (rows + 1) / 2 } else { rows * columns }
    }

    /// How many sums are below `pivot`, and how many are not above it.
    pub(crate) fn count_around(&self, pivot: f64) -> (u64, u64) {
        let staircase = self.staircase(pivot);
        (self.count_left_of(&staircase.below), self.count_left_of(&staircase.not_above))
    }

    /// The sum with `rank` smaller or equal ones before it in ascending order (0 is the smallest).
    /// `rank` must be below [`Self::count`].
    ///
    /// Candidates shrink around the rank by pivots from a random sample of them, placed a little below and
    /// above where the rank should be (the idea of Floyd and Rivest's SELECT, 1975). A pivot that
    /// misses costs a round and never a wrong answer, so the fixed seed affects the time only.
    pub(crate) fn select(&self, rank: u64) -> f64 {
        let mut random = SplitMix64::new(rank);
        let mut candidates = self.candidates();
        loop {
            let before = self.count_left_of(&candidates.first);
            let size = self.count_left_of(&candidates.end) - before;
            if size <= self.few() {
                return self.select_directly(&candidates, (rank - before) as usize);
            }
            let share = (rank - before) as f64 / size as f64;
            for pivot in self.pivots(&candidates, size, share, &mut random) {
                if let Some(found) = self.narrow(&mut candidates, rank, pivot) {
                    return found;
                }
            }
        }
    }

    fn first_column(&self, row: usize) -> usize {
        if self.upper { row } else { 0 }
    }

    fn candidates(&self) -> Candidates {
        Candidates {
            first: (0..self.rows.len()).map(|row| self.first_column(row)).collect(),
            end: vec![self.columns.len(); self.rows.len()],
        }
    }

    /// Below this many candidates it is cheaper to form them.
    fn few(&self) -> u64 {
        2 * self.rows.len() as u64 + 64
    }

    fn count_left_of(&self, ends: &[usize]) -> u64 {
        ends.iter().enumerate().map(|(row, &end)| (end - self.first_column(row)) as u64).sum()
    }

    /// One walk from the top right corner: going down a row can only move the crossing to the left.
    fn staircase(&self, pivot: f64) -> Staircase {
        let mut staircase = Staircase {
            below: Vec::with_capacity(self.rows.len()),
            not_above: Vec::with_capacity(self.rows.len()),
        };
        let (mut below, mut not_above) = (self.columns.len(), self.columns.len());
        for (row, value) in self.rows.iter().enumerate() {
            while not_above > 0 && value + self.columns[not_above - 1] > pivot {
                not_above -= 1;
            }
            below = below.min(not_above);
            while below > 0 && value + self.columns[below - 1] >= pivot {
                below -= 1;
            }
            let first = self.first_column(row);
            staircase.below.push(below.max(first));
            staircase.not_above.push(not_above.max(first));
        }
        staircase
    }

    /// Cut the candidates at `pivot`; the pivot itself when it has the rank.
    fn narrow(&self, candidates: &mut Candidates, rank: u64, pivot: f64) -> Option<f64> {
        let staircase = self.staircase(pivot);
        if rank < self.count_left_of(&staircase.below) {
            for (end, below) in candidates.end.iter_mut().zip(staircase.below) {
                *end = below.min(*end);
            }
        } else if rank >= self.count_left_of(&staircase.not_above) {
            for (first, not_above) in candidates.first.iter_mut().zip(staircase.not_above) {
                *first = not_above.max(*first);
            }
        } else {
            return Some(pivot);
        }
        None
    }

    fn select_directly(&self, candidates: &Candidates, place: usize) -> f64 {
        let mut sums = Vec::new();
        for (row, (&first, &end)) in candidates.first.iter().zip(&candidates.end).enumerate() {
            let columns = self.columns.get(first..end).unwrap_or_default();
            sums.extend(columns.iter().map(|column| self.rows[row] + column));
        }
        *sums.select_nth_unstable_by(place, f64::total_cmp).1
    }

    /// Two sampled candidates that should enclose the wanted share of the candidates.
    fn pivots(&self, candidates: &Candidates, size: u64, share: f64, random: &mut SplitMix64) -> [f64; 2] {
        let mut sample = self.sample(candidates, size, random);
        sample.sort_unstable_by(f64::total_cmp);
        let last = (sample.len() - 1) as f64;
        let slack = 2.0 * (sample.len() as f64).sqrt() * (share * (1.0 - share)).sqrt().max(0.05);
        [share * last - slack, share * last + slack]
            .map(|place| sample[place.round().clamp(0.0, last) as usize])
    }

    fn sample(&self, candidates: &Candidates, size: u64, random: &mut SplitMix64) -> Vec<f64> {
        let draws = (self.rows.len() / 16).clamp(64, 1 << 15);
        let mut wanted: Vec<u64> = (0..draws).map(|_| random.below(size)).collect();
        wanted.sort_unstable();
        let (mut row, mut passed) = (0, 0);
        let width = |row: usize| (candidates.end[row] - candidates.first[row]) as u64;
        let mut pick = |place: u64| {
            while place - passed >= width(row) {
                passed += width(row);
                row += 1;
            }
            self.rows[row] + self.columns[candidates.first[row] + (place - passed) as usize]
        };
        wanted.into_iter().map(&mut pick).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ascending(length: usize, distinct: u64, seed: u64) -> Vec<f64> {
        let mut random = SplitMix64::new(seed);
        let mut values: Vec<f64> = (0..length).map(|_| random.below(distinct) as f64 / 7.0 - 2.0).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    fn check(sums: &PairSums, mut formed: Vec<f64>) {
        formed.sort_by(f64::total_cmp);
        assert_eq!(sums.count(), formed.len() as u64);
        for rank in (0..formed.len()).step_by(1 + formed.len() / 23).chain([formed.len() - 1]) {
            assert_eq!(sums.select(rank as u64), formed[rank]);
        }
        let pivot = formed[formed.len() / 3];
        let below = formed.iter().filter(|&&sum| sum < pivot).count() as u64;
        let not_above = formed.iter().filter(|&&sum| sum <= pivot).count() as u64;
        assert_eq!(sums.count_around(pivot), (below, not_above));
    }

    #[test]
    fn selection_agrees_with_forming_all_unordered_pairs() {
        for (length, distinct) in [(1, 9), (2, 9), (40, 5), (200, 1 << 40), (333, 3), (90, 1)] {
            let values = ascending(length, distinct, 4);
            let formed =
                (0..length).flat_map(|i| values[i..].iter().map(|b| values[i] + b).collect::<Vec<_>>());
            check(&PairSums::unordered(&values), formed.collect());
        }
    }

    #[test]
    fn selection_agrees_with_forming_all_pairs_of_two_samples() {
        for (rows, columns, distinct) in [(1, 1, 9), (7, 300, 1 << 40), (250, 90, 6), (150, 150, 1)] {
            let (rows, columns) = (ascending(rows, distinct, 1), ascending(columns, distinct, 2));
            let formed = rows.iter().flat_map(|a| columns.iter().map(move |b| a + b));
            check(&PairSums::all(&rows, &columns), formed.collect());
        }
    }
}
