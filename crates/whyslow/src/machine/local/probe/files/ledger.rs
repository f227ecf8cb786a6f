//! What was done with which path. Bounded: of very many paths the least used are forgotten, but not in the totals.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::model::FileUse;

/// A path as the programs named it.
pub type Name = Arc<[u8]>;

/// So many are kept at one time.
const ROW_LIMIT: usize = 50_000;

/// So many are told apart in the number of paths.
const PATH_LIMIT: usize = 2_000_000;

/// So many are told about.
const ROWS_TOLD: usize = 300;

#[derive(Default)]
pub struct Ledger {
    rows: HashMap<Name, FileUse>,
    total: FileUse,
    /// Digests of all paths that there were.
    paths: HashSet<u64>,
    /// Whether a row was forgotten.
    pub is_cut: bool,
}

impl Ledger {
    /// The same change for the path and for the total.
    pub fn note(&mut self, name: &Name, change: impl Fn(&mut FileUse)) {
        change(&mut self.total);
        if let Some(row) = self.rows.get_mut(name) {
            return change(row);
        }
        self.make_room();
        if self.paths.len() < PATH_LIMIT {
            let mut hasher = DefaultHasher::new();
            name.hash(&mut hasher);
            self.paths.insert(hasher.finish());
        }
        change(self.rows.entry(Arc::clone(name)).or_default());
    }

    fn make_room(&mut self) {
        if self.rows.len() < ROW_LIMIT {
            return;
        }
        let mut counts: Vec<u64> = self.rows.values().map(calls).collect();
        let (_, median, _) = counts.select_nth_unstable(ROW_LIMIT / 2);
        let limit = *median;
        // Where most have as few calls as the median, some of those must go as well.
        let mut excess = ROW_LIMIT / 2;
        self.rows.retain(|_, row| {
            let goes = excess > 0 && calls(row) <= limit;
            excess -= usize::from(goes);
            !goes
        });
        self.is_cut = true;
    }

    pub fn total(&self) -> FileUse {
        self.total.clone()
    }

    pub fn paths(&self) -> u64 {
        self.paths.len() as u64
    }

    pub fn into_busiest(self) -> Vec<FileUse> {
        let named = |(name, row): (Name, FileUse)| FileUse {
            path: String::from_utf8_lossy(&name).into_owned(),
            ..row
        };
        let mut rows: Vec<FileUse> = self.rows.into_iter().map(named).collect();
        rows.sort_by(|a, b| calls(b).cmp(&calls(a)).then_with(|| a.path.cmp(&b.path)));
        rows.truncate(ROWS_TOLD);
        rows
    }
}

/// System calls on the path. What was created was opened as well, and a stat that missed was a stat.
fn calls(row: &FileUse) -> u64 {
    row.opened + row.missed + row.stated + row.exec_missed + row.reads + row.writes + row.synced + row.removed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_come_first_and_the_total_is_of_all() {
        let mut ledger = Ledger::default();
        for index in 0..2 * ROW_LIMIT {
            let name: Name = format!("/file/{index}").into_bytes().into();
            ledger.note(&name, |row| row.stated += 1);
            let often: Name = b"/often"[..].into();
            ledger.note(&often, |row| row.reads += 1);
        }
        assert!(ledger.rows.len() <= ROW_LIMIT && ledger.is_cut);
        assert_eq!(ledger.paths(), 2 * ROW_LIMIT as u64 + 1);
        let total = ledger.total();
        assert_eq!((total.stated, total.reads), (2 * ROW_LIMIT as u64, 2 * ROW_LIMIT as u64));
        let busiest = ledger.into_busiest();
        assert_eq!((busiest.len(), busiest[0].path.as_str()), (ROWS_TOLD, "/often"));
        assert_eq!(busiest[0].reads, 2 * ROW_LIMIT as u64);
    }
}
