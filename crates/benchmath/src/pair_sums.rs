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
#[derive(Clone)]
struct Candidates {
    first: Vec<usize>,
    end: Vec<usize>,
}

impl Candidates {
    fn begin_at(&mut self, staircase: &[usize]) {
        self.first.iter_mut().zip(staircase).for_each(|(first, &cut)| *first = cut.max(*first));
    }

    fn end_at(&mut self, staircase: &[usize]) {
        self.end.iter_mut().zip(staircase).for_each(|(end, &cut)| *end = cut.min(*end));
    }
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
        let mut staircase = Vec::new();
        let below = self.count_where(|sum| sum < pivot, &mut staircase);
        (below, self.count_where(|sum| sum <= pivot, &mut staircase))
    }

    /// The sums with these many smaller or equal ones before them in ascending order (0 is the smallest). The
    /// ranks must ascend and lie below [`Self::count`].
    ///
    /// Candidates shrink around the ranks by pivots from a random sample of them, placed a little below and
    /// above where the ranks should be (the idea of Floyd and Rivest's SELECT, 1975). A pivot that
    /// misses costs a round and never a wrong answer, so the fixed seed affects the time only.
    pub(crate) fn select(&self, ranks: &[u64]) -> Vec<f64> {
        let mut search =
            Search { sums: self, random: SplitMix64::new(1), staircase: Vec::new(), found: Vec::new() };
        search.settle(self.candidates(), ranks);
        search.found
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

    /// How many sums are on the left of the `staircase`, which is where `is_left` turns false: per row the end of
    /// the columns for which it holds.
    ///
    /// One walk from the top right corner: going down a row can only move the crossing to the left. Each step goes
    /// either left or down without a branch, which a processor could not predict.
    fn count_where(&self, is_left: impl Fn(f64) -> bool, staircase: &mut Vec<usize>) -> u64 {
        staircase.resize(self.rows.len(), 0);
        let (mut row, mut column) = (0, self.columns.len());
        while row < self.rows.len() && column > self.first_column(row) {
            staircase[row] = column;
            let goes_down = is_left(self.rows[row] + self.columns[column - 1]);
            row += usize::from(goes_down);
            column -= usize::from(!goes_down);
        }
        for (row, crossing) in staircase.iter_mut().enumerate().skip(row) {
            *crossing = self.first_column(row);
        }
        self.count_left_of(staircase)
    }

    fn form(&self, candidates: &Candidates) -> Vec<f64> {
        let mut sums = Vec::new();
        for (row, (&first, &end)) in candidates.first.iter().zip(&candidates.end).enumerate() {
            let columns = self.columns.get(first..end).unwrap_or_default();
            sums.extend(columns.iter().map(|column| self.rows[row] + column));
        }
        sums
    }
}

/// A selection under way.
struct Search<'a> {
    sums: &'a PairSums<'a>,
    random: SplitMix64,
    /// Scratch space, one entry per row.
    staircase: Vec<usize>,
    found: Vec<f64>,
}

impl Search<'_> {
    /// Append the sums of all ranks, which lie among the candidates, to what was found.
    fn settle(&mut self, mut candidates: Candidates, ranks: &[u64]) {
        let (Some(&lowest), Some(&highest)) = (ranks.first(), ranks.last()) else { return };
        let mut size = self.size(&candidates);
        while size > self.sums.few() {
            if let Some(sum) = self.shrink(&mut candidates, size, [lowest, highest]) {
                return self.found.extend(ranks.iter().map(|_| sum));
            }
            let left = self.size(&candidates);
            if left > size / 2 && lowest < highest {
                return self.settle_apart(candidates, ranks);
            }
            size = left;
        }
        self.select_directly(&candidates, ranks);
    }

    /// One round. The sum, when there is only one rank and it is found already.
    fn shrink(&mut self, candidates: &mut Candidates, size: u64, span: [u64; 2]) -> Option<f64> {
        let [low, high] = self.pivots(candidates, size, span);
        if low == high && span[0] == span[1] {
            return self.is_at(low, span[0], candidates).then_some(low);
        }
        self.narrow(candidates, span, low);
        self.narrow(candidates, span, high);
        None
    }

    /// Search ranks that have become too far apart to be searched together in two groups.
    fn settle_apart(&mut self, candidates: Candidates, ranks: &[u64]) {
        let widest = (1..ranks.len()).max_by_key(|&place| ranks[place] - ranks[place - 1]);
        let (some, others) = ranks.split_at(widest.unwrap_or(0));
        self.settle(candidates.clone(), some);
        self.settle(candidates, others);
    }

    fn size(&self, candidates: &Candidates) -> u64 {
        self.sums.count_left_of(&candidates.end) - self.sums.count_left_of(&candidates.first)
    }

    /// Cut the candidates at `pivot` unless that would part the ranks.
    fn narrow(&mut self, candidates: &mut Candidates, [lowest, highest]: [u64; 2], pivot: f64) {
        let not_above = self.sums.count_where(|sum| sum <= pivot, &mut self.staircase);
        if highest < not_above {
            candidates.end_at(&self.staircase);
        } else if lowest >= not_above {
            candidates.begin_at(&self.staircase);
        }
    }

    /// Whether the pivot has this rank, which happens when many sums are equal; otherwise cut there.
    fn is_at(&mut self, pivot: f64, rank: u64, candidates: &mut Candidates) -> bool {
        let below = self.sums.count_where(|sum| sum < pivot, &mut self.staircase);
        if rank < below {
            candidates.end.iter_mut().zip(&self.staircase).for_each(|(end, &cut)| *end = cut.min(*end));
            return false;
        }
        let not_above = self.sums.count_where(|sum| sum <= pivot, &mut self.staircase);
        if rank >= not_above {
            candidates
                .first
                .iter_mut()
                .zip(&self.staircase)
                .for_each(|(first, &cut)| *first = cut.max(*first));
        }
        rank < not_above
    }

    fn select_directly(&mut self, candidates: &Candidates, ranks: &[u64]) {
        let before = self.sums.count_left_of(&candidates.first);
        let mut sums = self.sums.form(candidates);
        for rank in ranks {
            let place = (rank - before) as usize;
            self.found.push(*sums.select_nth_unstable_by(place, f64::total_cmp).1);
        }
    }

    /// Two sampled candidates that should enclose the ranks.
    fn pivots(&mut self, candidates: &Candidates, size: u64, ranks: [u64; 2]) -> [f64; 2] {
        let before = self.sums.count_left_of(&candidates.first);
        let mut sample = self.sample(candidates, size);
        sample.sort_unstable_by(f64::total_cmp);
        let last = (sample.len() - 1) as f64;
        let place = |rank: u64, slack: f64| {
            let share = (rank - before) as f64 / size as f64;
            let deviation = (share * (1.0 - share)).sqrt().max(0.05) * last.sqrt();
            sample[(share * last + slack * deviation).round().clamp(0.0, last) as usize]
        };
        [place(ranks[0], -2.0), place(ranks[1], 2.0)]
    }

    fn sample(&mut self, candidates: &Candidates, size: u64) -> Vec<f64> {
        let sums = self.sums;
        let draws = (sums.rows.len() / 16).clamp(64, 1 << 17);
        let mut wanted: Vec<u64> = (0..draws).map(|_| self.random.below(size)).collect();
        wanted.sort_unstable();
        let (mut row, mut passed) = (0, 0);
        let width = |row: usize| (candidates.end[row] - candidates.first[row]) as u64;
        let pick = |place: u64| {
            while place - passed >= width(row) {
                passed += width(row);
                row += 1;
            }
            sums.rows[row] + sums.columns[candidates.first[row] + (place - passed) as usize]
        };
        wanted.into_iter().map(pick).collect()
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
        let mut ranks: Vec<u64> = (0..formed.len() as u64).step_by(1 + formed.len() / 23).collect();
        ranks.push(formed.len() as u64 - 1);
        let want: Vec<f64> = ranks.iter().map(|&rank| formed[rank as usize]).collect();
        assert_eq!(sums.select(&ranks), want);
        for (rank, want) in ranks.into_iter().zip(want) {
            assert_eq!(sums.select(&[rank]), [want]);
        }
        let pivot = formed[formed.len() / 3];
        let below = formed.iter().filter(|&&sum| sum < pivot).count() as u64;
        let not_above = formed.iter().filter(|&&sum| sum <= pivot).count() as u64;
        assert_eq!(sums.count_around(pivot), (below, not_above));
    }

    #[test]
    fn selection_agrees_with_forming_all_unordered_pairs() {
        for (length, distinct) in
            [(1, 9), (2, 9), (40, 5), (200, 1 << 40), (333, 3), (90, 1), (1200, 1 << 40), (1100, 30)]
        {
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
