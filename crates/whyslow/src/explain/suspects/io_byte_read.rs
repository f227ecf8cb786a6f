//! Reading one byte at a time.

use super::evidence::specific;
use super::signs::share_of_calls;
use super::traffic::{reads, writes};
use super::{Suspect, Suspicion};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "io.byte-read",
    title: "reading byte by byte",
    about: "Input is read one byte at a time, since the reader must not take more than its line: a shell's read from a pipe, \
            where it cannot go back; or its buffer is switched off.",
    shows: "Calls of read with one byte each, hundreds of times as many as on the other side; system time.",
    test: "Nothing can be changed from outside; the calls are counted and priced.",
    fix: "read in blocks (a buffered reader); in a shell: from a file instead of a pipe, or let awk, perl or mapfile read \
          the lines",
    report: "unix.stackexchange.com, question 169716: why a shell loop over text is slow.",
    look,
};

const ONE_BYTE: f64 = 2.0;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let (reads, writes) = (reads(case)?, writes(case)?);
    // Another process in front of the pipe reads the same bytes once more in large blocks, so bytes may be twice as many.
    let bytes = (reads.slow_bytes - reads.fast_bytes).max(reads.slow_bytes / 2.0);
    let are_single = reads.more() >= 1000.0 && bytes / reads.more() <= ONE_BYTE;
    if !are_single || reads.slow_calls < 4.0 * reads.fast_calls || writes.more() > reads.more() / 2.0 {
        return None;
    }
    let weight = specific(share_of_calls(case, reads.more()))?;
    let sign = format!("{:.0} reads more, of about one byte each", reads.more());
    Some(Suspicion::located(case, weight, vec![sign]))
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn shells(slow_s: f64) -> TestCase {
        let test = TestCase::scripts("bash shread.sh < words", "cat words | bash shread.sh");
        test.seconds(0.022, slow_s).syscalls(|fast, slow| {
            fast.transfer("read", 5000, 12_800_000);
            slow.transfer("read", 603_020, 1_210_000);
            slow.transfer("write", 6, 603_000);
            slow.processes = 3;
        })
    }

    #[test]
    fn a_shell_behind_a_pipe() {
        let test = shells(0.21);
        assert!(test.weight(&SUSPECT) > 0.5, "{:?}", test.look(&SUSPECT));
        assert_eq!(test.candidates()[0], "io.byte-read");
    }

    #[test]
    fn reads_that_cost_nothing_accuse_nobody() {
        assert_eq!(shells(30.0).weight(&SUSPECT), 0.0);
    }
}
