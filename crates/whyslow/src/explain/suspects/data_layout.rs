//! The same data in many small files.

use super::evidence::{is_same_program, specific};
use super::signs::{
    base_name, more_calls, more_of_files, more_starts, more_successful_calls, share_of_calls,
};
use super::{Suspect, Suspicion};
use crate::explain::Case;
use crate::model::{FileUse, Syscalls};

pub const SUSPECT: Suspect = Suspect {
    name: "data.layout",
    title: "how the data lie on disk",
    about: "The same program finds the same data in many small files instead of one, or in another form.",
    shows: "An open, a read and a close for each of many files; system time.",
    test: "the data are swapped where both are named in the command lines; they can only be located",
    fix: "pack the data into fewer files (git pack-refs --all, git gc, an archive, a database)",
    report: "git pack-refs(1) was written for repositories with thousands of refs, each of them a file.",
    look,
};

const FEWEST: f64 = 100.0;
/// What one file takes besides its open.
const CALLS: [&str; 12] = [
    "open",
    "openat",
    "openat2",
    "read",
    "pread64",
    "close",
    "fstat",
    "newfstatat",
    "lstat",
    "stat",
    "statx",
    "getdents64",
];
/// Files of programs and libraries are no data.
const CODE: [&str; 11] = [".so", ".py", ".pyc", ".pm", ".pl", ".rb", ".js", ".mjs", ".class", ".jar", ".pth"];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let opened = opened(case)?;
    if opened < FEWEST || !is_same_program(case) || reads_more_alike(case) {
        return None;
    }
    let calls = more_calls(case, &CALLS).unwrap_or(opened * 3.0).min(opened * 6.0);
    let weight = specific(share_of_calls(case, calls))?;
    let sign = format!("{opened:.0} data files more opened, {calls:.0} calls more for them");
    Some(Suspicion::located(case, weight, vec![sign]))
}

/// Data files opened, the slow side minus the fast one.
fn opened(case: &Case<'_>) -> Option<f64> {
    let more = more_successful_calls(case, &["open", "openat", "openat2"])?;
    // Every start of a program opens some.
    let starts = more_starts(case).unwrap_or(0.0).max(0.0);
    // A directory is opened too, and listed by two calls at least.
    let directories = more_calls(case, &["getdents64", "getdents"]).unwrap_or(0.0).max(0.0) / 2.0;
    Some(more - code(case) - starts * 10.0 - directories)
}

/// Whether as many times more is read as files are opened: that is more data, not the same in another form.
fn reads_more_alike(case: &Case<'_>) -> bool {
    let times = |of: fn(&Syscalls) -> u64| {
        let (fast, slow) = (of(case.fast.syscalls()?), of(case.slow.syscalls()?));
        (fast > 0).then(|| slow as f64 / fast as f64)
    };
    let opens = times(|seen| seen.count_of(&["open", "openat", "openat2"]));
    let bytes = times(|seen| seen.bytes_of(&["read", "pread64"]));
    opens.zip(bytes).is_some_and(|(opens, bytes)| (0.7..1.5).contains(&(bytes / opens)))
}

/// Files of code among the paths that are known one by one.
fn code(case: &Case<'_>) -> f64 {
    let opened = |file: &FileUse| file.opened.saturating_sub(file.missed);
    more_of_files(case, is_code, opened).unwrap_or(0.0).max(0.0)
}

fn is_code(path: &str) -> bool {
    let name = base_name(path);
    CODE.iter().any(|ending| name.ends_with(ending)) || name.contains(".so.")
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn refs(slow_s: f64) -> TestCase {
        refs_and(slow_s, |_, _| {})
    }

    fn refs_and(slow_s: f64, also: impl FnOnce(&mut Syscalls, &mut Syscalls)) -> TestCase {
        TestCase::new("git -C packed for-each-ref", "git -C loose for-each-ref")
            .seconds(0.076, slow_s)
            .syscalls(|fast, slow| {
                fast.call("openat", 70);
                for name in ["openat", "close", "newfstatat"] {
                    slow.call(name, 6070);
                }
                slow.transfer("read", 12_000, 250_000);
                also(fast, slow);
            })
    }

    #[test]
    fn loose_refs_are_files() {
        let test = refs(0.113).system(0.056, 0.085);
        assert!(test.weight(&SUSPECT) > 0.6);
        assert_eq!(test.candidates()[0], "data.layout");
    }

    #[test]
    fn files_that_cost_nothing_accuse_nobody() {
        assert_eq!(refs(1.0).weight(&SUSPECT), 0.0);
    }

    #[test]
    fn directories_are_no_data_files() {
        let test = refs_and(0.113, |_, slow| slow.call("getdents64", 12_000));
        assert_eq!(test.weight(&SUSPECT), 0.0);
    }

    #[test]
    fn more_files_with_more_in_them_are_more_data() {
        let read = |bytes| refs_and(0.113, move |fast, _| fast.transfer("read", 100, bytes));
        assert_eq!(read(3_000).weight(&SUSPECT), 0.0);
        assert!(read(240_000).weight(&SUSPECT) > 0.0);
        // The packed file may have been mapped instead of read.
        assert!(read(20).weight(&SUSPECT) > 0.0);
    }

    #[test]
    fn modules_are_no_data() {
        let test = refs(0.113).files(|_, slow| {
            for number in 0..6000 {
                slow.file(FileUse { path: format!("/p/m{number}.py"), opened: 1, ..FileUse::default() });
            }
        });
        assert_eq!(test.weight(&SUSPECT), 0.0);
    }
}
