//! Asking about every file.

use super::evidence::specific;
use super::signs::{more_of_files, more_starts, more_successful_calls, share_of_calls};
use super::{Suspect, Suspicion};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "io.stat-storm",
    title: "a stat for every file",
    about: "Every entry of a tree is asked about one by one, where the directory itself or an index would tell.",
    shows: "Thousands of successful stat, lstat, statx or access calls more, on as many paths; system time.",
    test: "Nothing can be changed from outside; the calls are counted and priced.",
    fix: "use what the directory says (os.scandir, find -type), or ask less often (git status -uno)",
    report: "PEP 471: os.walk became 2 to 20 times as fast with scandir.",
    look,
};

const CALLS: [&str; 12] = [
    "stat",
    "lstat",
    "newfstatat",
    "fstatat64",
    "stat64",
    "lstat64",
    "statx",
    "access",
    "faccessat",
    "faccessat2",
    "readlink",
    "readlinkat",
];
const FEWEST: f64 = 200.0;
/// A storm is about many paths: the same file again and again is something else (a time zone, a poll).
const FEWEST_PATHS: f64 = 50.0;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    // Each start of a program brings some of its own; where the files were looked at, one that is asked about again and
    // again does not count.
    let starts = more_starts(case).unwrap_or(0.0).max(0.0);
    let more = more_successful_calls(case, &CALLS)? - starts * 10.0 - repeated(case);
    if more < FEWEST || !has_many_paths(&case.slow) {
        return None;
    }
    let weight = specific(share_of_calls(case, more))?;
    let sign = format!("{more:.0} questions about files more (stat and the like)");
    Some(Suspicion::located(case, weight, vec![sign]))
}

fn repeated(case: &Case<'_>) -> f64 {
    let repeated = more_of_files(
        case,
        |_| true,
        |file| {
            let asked = file.stated.saturating_sub(file.stat_missed);
            if asked > 100 { asked } else { 0 }
        },
    );
    repeated.unwrap_or(0.0).max(0.0)
}

fn has_many_paths(side: &Side<'_>) -> bool {
    side.files().is_none_or(|files| files.paths as f64 >= FEWEST_PATHS)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::model::FileUse;

    fn walks(slow_s: f64) -> TestCase {
        TestCase::new("python3 walk.py d scandir", "python3 walk.py d listdir")
            .seconds(0.02, slow_s)
            .syscalls(|fast, slow| {
                fast.call("newfstatat", 120);
                slow.call("newfstatat", 24_180);
            })
    }

    #[test]
    fn a_question_about_every_entry() {
        let test = walks(0.075).system(0.013, 0.055);
        assert!(test.weight(&SUSPECT) > 0.7);
        assert_eq!(test.candidates()[0], "io.stat-storm");
    }

    #[test]
    fn questions_that_cost_nothing_accuse_nobody() {
        assert_eq!(walks(2.0).weight(&SUSPECT), 0.0);
    }

    #[test]
    fn one_file_again_and_again_is_no_storm() {
        let test = walks(0.075).files(|_, slow| {
            let path = "/etc/localtime".to_owned();
            slow.file(FileUse { path, stated: 24_060, ..FileUse::default() });
        });
        assert_eq!(test.weight(&SUSPECT), 0.0);
    }
}
