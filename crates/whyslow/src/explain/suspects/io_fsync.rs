//! Waiting until data are on the disk.

use super::evidence::{blocked_share, specific};
use super::signs::{counts, more_calls};
use super::{Idea, Suspect, Suspicion};
use crate::explain::Case;
use crate::model::Shim;

pub const SUSPECT: Suspect = Suspect {
    name: "io.fsync",
    title: "waiting for the disk to have it (fsync)",
    about: "After each file or record the program waits until the disk has it: safe, and as slow as the disk.",
    shows: "Calls of fsync, fdatasync or msync; wall time far above CPU time; voluntary switches.",
    test: "a preloaded library in which these calls do nothing, on both sides; for the experiment only",
    fix: "sync once at the end, or put what can be lost on a tmpfs (or eatmydata, where all of it can)",
    report: "dpkg in image builds: --force-unsafe-io and eatmydata exist for this.",
    look,
};

const TITLE: &str = "fsync and its like do nothing, on both sides";
/// Enough to be tried, and too little for a name.
const UNSEEN: f64 = 0.1;
const CALLS: [&str; 6] = ["fsync", "fdatasync", "sync_file_range", "msync", "sync", "syncfs"];
/// What a slow disk takes for one: the bound on what can be blamed on so many.
const SLOWEST_S: f64 = 0.05;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let Some(more) = more_calls(case, &CALLS) else { return unseen(case) };
    let priced = case.share(more * SLOWEST_S).min(blocked_share(case));
    let weight = specific(priced).filter(|_| more >= 1.0)?;
    let count =
        |side: &crate::explain::Side<'_>| side.syscalls().map_or(0, |seen| seen.count_of(&CALLS)) as f64;
    let sign = counts("calls that wait for the disk:", count(&case.slow), count(&case.fast));
    let idea = Idea::with_shim(TITLE, Shim::NoSync);
    Some(Suspicion::located(case, weight, vec![sign]).with_idea(idea))
}

/// Where no calls could be seen, a wait may be one for a disk that is written to; the experiment tells.
fn unseen(case: &Case<'_>) -> Option<Suspicion> {
    let writes = case.slow.median("blocks_written").is_none_or(|blocks| blocks > 0.0);
    (writes && blocked_share(case) > 0.5).then(|| {
        let signs = vec!["blocked, with writes to a disk; its calls could not be seen".to_owned()];
        let idea = Idea::with_shim(TITLE, Shim::NoSync);
        Suspicion::located(case, UNSEEN, signs).with_idea(idea)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    #[test]
    fn a_sync_after_each_file() {
        let test = TestCase::new("fsyncer fs 60 0", "fsyncer fs 60 1")
            .seconds(0.003, 0.007)
            .wall(0.004, 0.155)
            .syscalls(|_, slow| slow.call("fsync", 60));
        let suspicion = test.look(&SUSPECT).unwrap();
        assert!(suspicion.weight > 0.9 && suspicion.ideas.len() == 1);
        assert!(suspicion.claims.iter().all(|claim| !claim.is_experiment));
    }

    #[test]
    fn where_calls_cannot_be_seen_it_is_tried() {
        let unseen =
            TestCase::new("fsyncer fs 60 0", "fsyncer fs 60 1").seconds(0.003, 0.007).wall(0.004, 0.155);
        assert_eq!(unseen.look(&SUSPECT).unwrap().ideas.len(), 1);
        assert!(unseen.median("blocks_written", 0.0, 0.0).look(&SUSPECT).is_none());
    }

    #[test]
    fn a_disk_that_does_not_wait_is_innocent() {
        let test = TestCase::new("a 0", "a 1").seconds(0.1, 0.4).syscalls(|_, slow| slow.call("fsync", 60));
        assert_eq!(test.weight(&SUSPECT), 0.0);
    }
}
