//! Work that goes through temporary files.

use super::evidence::{blocked_share, by_variable, joined, specific};
use super::signs::more_of_files;
use super::{Idea, Suspect, Suspicion, settings};
use crate::explain::Case;
use crate::model::FileUse;

pub const SUSPECT: Suspect = Suspect {
    name: "io.temp-files",
    title: "temporary files",
    about: "Data that do not fit into the buffer go to temporary files and come back from there.",
    shows: "Files created, written and removed in TMPDIR; system time, and waiting where that is a disk.",
    test: "TMPDIR is swapped where it differs, or set to /dev/shm on both sides; a buffer size can only be located",
    fix: "give the program a larger buffer (sort -S), or point TMPDIR to a tmpfs with room",
    report: "DFO-Ocean-Navigator/Ocean-Data-Map-Project#456: temporary files moved from /tmp to /dev/shm.",
    look,
};

/// Seconds for one byte that is written and read again, and for making and removing one file.
const BYTE_S: f64 = 0.5e-9;
const FILE_S: f64 = 30e-6;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    joined(by_variable(case, &["TMPDIR", "TEMP", "TMP"]).filter(|_| uses_them(case)), in_files(case))
}

/// Where the files were looked at, the variable can only matter to a side that has some.
fn uses_them(case: &Case<'_>) -> bool {
    let of = |side: &crate::explain::Side<'_>| {
        let place = side.env("TMPDIR").unwrap_or_default();
        side.files().is_none_or(|files| {
            files.files.iter().any(|file| {
                file.created > 0
                    && (is_temporary(&file.path) || (!place.is_empty() && file.path.starts_with(&place)))
            })
        })
    };
    of(&case.slow) || of(&case.fast)
}

fn in_files(case: &Case<'_>) -> Option<Suspicion> {
    let place = case.slow.env("TMPDIR").filter(|place| place.starts_with('/'));
    let is_wanted = |path: &str| {
        is_temporary(path) || place.as_ref().is_some_and(|place| path.starts_with(place.as_str()))
    };
    let sum = |count: fn(&FileUse) -> u64| more_of_files(case, is_wanted, count);
    let (created, bytes) = (sum(|file| file.created)?, sum(|file| file.written_bytes + file.read_bytes)?);
    if created < 1.0 {
        return None;
    }
    let work = case.share(bytes * BYTE_S + created * FILE_S);
    let weight = specific(if bytes > 0.0 { work.max(blocked_share(case)) } else { work })?;
    let sign = format!("{created:.0} temporary files more, {:.1} MB through them", bytes / 1e6);
    let mut suspicion = Suspicion::located(case, weight, vec![sign]);
    if case.variable("TMPDIR").is_none() && blocked_share(case) > 0.2 {
        suspicion.ideas.extend(in_memory(case));
    }
    Some(suspicion)
}

fn is_temporary(path: &str) -> bool {
    ["/tmp/", "/var/tmp/", "/dev/shm/"].iter().any(|place| path.starts_with(place))
}

fn in_memory(case: &Case<'_>) -> Option<Idea> {
    let idea = settings::on_both_sides(case, "TMPDIR", "/dev/shm")?;
    Some(Idea { title: format!("temporary files in memory ({})", idea.title), ..idea })
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn sorts(slow_s: f64) -> TestCase {
        TestCase::new("sort -S 100M text", "sort -S 1M text").seconds(0.3, slow_s).files(|_, slow| {
            for number in 0..40 {
                slow.file(FileUse {
                    path: format!("/tmp/sort{number}"),
                    created: 1,
                    removed: 1,
                    writes: 300,
                    written_bytes: 1_000_000,
                    read_bytes: 1_000_000,
                    ..FileUse::default()
                });
            }
        })
    }

    #[test]
    fn a_small_buffer_goes_through_files() {
        assert!(sorts(0.5).weight(&SUSPECT) > 0.3);
        let waits = sorts(0.5).wall(0.3, 3.0).look(&SUSPECT).unwrap();
        assert!(waits.weight > 0.8 && waits.ideas.len() == 1);
    }

    #[test]
    fn few_bytes_in_a_large_gap_are_innocent() {
        assert_eq!(sorts(9.0).weight(&SUSPECT), 0.0);
    }

    #[test]
    fn the_variable_is_an_experiment_where_files_are_made() {
        let test = sorts(0.5).slow_env("TMPDIR", "/mnt/slow");
        assert!(test.claim_on(&SUSPECT, "TMPDIR").unwrap().is_experiment);
        let unused = TestCase::new("a", "a").slow_env("TMPDIR", "/mnt/slow").files(|_, _| {});
        assert_eq!(unused.claim_on(&SUSPECT, "TMPDIR"), None);
    }
}
