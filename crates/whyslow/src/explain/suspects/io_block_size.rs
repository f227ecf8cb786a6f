//! Copying in small blocks.

use super::evidence::{claims_on_words, specific};
use super::signs::share_of_calls;
use super::traffic::{Traffic, reads, writes};
use super::{Suspect, Suspicion};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "io.block-size",
    title: "small blocks",
    about: "Data are read, or read and written, in blocks so small that the system calls cost more than the bytes.",
    shows: "Many times as many calls of read and write for the same bytes; system time.",
    test: "the option is swapped where it differs; a size in the program itself can only be located",
    fix: "use larger blocks: 64 KiB is enough for most devices (dd bs=64k)",
    report: "Asked again and again as \"dd is slow\": its block size is 512 bytes unless bs= is given.",
    look,
};

/// Smaller pieces are single characters, with what a program in front of the pipe reads: io.byte-read where nothing is written the same way.
const ONE_BYTE: f64 = 4.0;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let (reads, writes) = (reads(case)?, writes(case)?);
    let calls = match (reads.is_split(), writes.is_split()) {
        (true, true) => reads.more() + writes.more(),
        (true, false) if reads.piece_bytes() > ONE_BYTE => reads.more(),
        _ => return None,
    };
    let weight = specific(share_of_calls(case, calls))?;
    let sign = |traffic: Traffic, what| traffic.is_split().then(|| traffic.sign(what));
    let signs = sign(reads, "read").into_iter().chain(sign(writes, "written")).collect();
    let mut suspicion = Suspicion::located(case, weight, signs);
    suspicion.claims.extend(claims_on_words(case, 1.0, is_block_size));
    Some(suspicion)
}

fn is_block_size(word: &str) -> bool {
    ["bs=", "ibs=", "obs=", "--block-size", "--bs=", "--buffer-size", "blocksize="]
        .iter()
        .any(|option| word.starts_with(option))
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn copies(slow_s: f64) -> TestCase {
        TestCase::new("dd if=a of=b bs=64k", "dd if=a of=b bs=1").seconds(0.002, slow_s).syscalls(
            |fast, slow| {
                fast.transfer("read", 20, 405_000);
                fast.transfer("write", 7, 400_000);
                slow.transfer("read", 400_013, 405_000);
                slow.transfer("write", 400_000, 400_000);
            },
        )
    }

    #[test]
    fn dd_with_blocks_of_a_byte() {
        let test = copies(0.48);
        assert!(test.weight(&SUSPECT) > 0.5);
        assert_eq!(test.candidates()[0], "io.block-size");
        assert_eq!(test.weight(&super::super::io_unbuffered::SUSPECT), 0.0);
        assert_eq!(test.weight(&super::super::io_byte_read::SUSPECT), 0.0);
    }

    #[test]
    fn calls_that_cost_nothing_accuse_nobody() {
        assert_eq!(copies(60.0).weight(&SUSPECT), 0.0);
    }
}
