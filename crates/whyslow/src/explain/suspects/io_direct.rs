//! Reading and writing past the page cache.

use super::evidence::{blocked_share, claims_on_words, has_alike_syscalls, more_in_files, specific};
use super::{Suspect, Suspicion};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "io.direct",
    title: "direct I/O",
    about: "Files are opened with O_DIRECT: every read and write goes to the device, nothing is read ahead or kept in \
            memory.",
    shows: "O_DIRECT in the flags of open; a wait for each read or write, or as many calls that take longer in the kernel.",
    test: "the option is swapped where it differs; a flag in the program itself can only be located",
    fix: "drop the flag, or read and write larger blocks",
    report: "tursodatabase/turso#8921: O_DIRECT without read-ahead made queries ten times as slow.",
    look,
};

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let more = more_in_files(case, |file| file.direct).filter(|more| *more >= 1.0);
    let is_told = |word: &str| word.to_ascii_lowercase().contains("direct");
    let claims = claims_on_words(case, 1.0, is_told);
    if more.is_none() && (claims.is_empty() || case.slow.files().is_some()) {
        return None;
    }
    let weight = specific(blocked_share(case).max(dearer_calls_share(case)))?;
    let sign = more.map_or("the slow side asks for direct I/O".to_owned(), |more| {
        format!("{more:.0} files more opened with O_DIRECT")
    });
    let mut suspicion = Suspicion::located(case, weight, vec![sign]);
    suspicion.claims.extend(claims);
    Some(suspicion)
}

/// The part of the gap that is spent in the kernel for as many calls: each of them talks to the device.
fn dearer_calls_share(case: &Case<'_>) -> f64 {
    let is_same_work = case.gap.metric == "cpu_s" && has_alike_syscalls(case);
    if is_same_work { case.share(case.gap.budget.system_s).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::model::FileUse;

    fn opened() -> TestCase {
        TestCase::new("dd if=a of=/dev/null bs=4k", "dd if=a of=/dev/null bs=4k iflag=direct")
            .seconds(0.02, 0.03)
            .files(|_, slow| {
                slow.file(FileUse { path: "/w/a".to_owned(), opened: 1, direct: 1, ..FileUse::default() });
            })
    }

    #[test]
    fn every_read_waits_for_the_device() {
        let test = opened().wall(0.02, 0.9);
        let suspicion = test.look(&SUSPECT).unwrap();
        assert!(suspicion.weight > 0.9);
        assert!(suspicion.claims.iter().any(|claim| claim.weight == 1.0 && !claim.is_experiment));
    }

    #[test]
    fn a_device_that_takes_a_cpu_for_each_request() {
        let test = opened().seconds(0.01, 0.05).system(0.005, 0.044).wall(0.01, 0.09);
        assert_eq!(test.candidates()[0], "io.direct");
    }

    #[test]
    fn a_flag_that_costs_no_wait_is_innocent() {
        assert_eq!(opened().seconds(0.1, 0.4).weight(&SUSPECT), 0.0);
        let calls =
            opened().seconds(0.1, 0.4).system(0.1, 0.4).syscalls(|_, slow| slow.call("read", 900_000));
        assert_eq!(calls.weight(&SUSPECT), 0.0);
    }
}
