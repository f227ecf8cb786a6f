//! Tallies as lines of a table.

use whyslow::analysis::Verdict;

use crate::tally::Tally;

impl Tally {
    pub fn heading(first: &str) -> String {
        format!(
            "  {first:<22} {:>7} {:>9} {:>9} {:>9} {:>11} {:>9} {:>7}",
            "number", "slower %", "faster %", "same %", "undecided %", "covered %", "blocks"
        )
    }

    pub fn line(&self, name: &str) -> String {
        let percent = |verdict| 100.0 * self.share(verdict);
        format!(
            "  {name:<22} {:>7} {:>9.1} {:>9.1} {:>9.1} {:>11.1} {:>9.1} {:>7.0}",
            self.count(),
            percent(Verdict::Slower),
            percent(Verdict::Faster),
            percent(Verdict::Same),
            percent(Verdict::Undecided),
            100.0 * self.coverage(),
            self.median_blocks()
        )
    }
}
