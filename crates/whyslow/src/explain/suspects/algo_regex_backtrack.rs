//! A pattern that tries everything.

use super::evidence::{hot_functions, is_nothing_but_user_time, is_same_program, runs};
use super::signs::{more_in_functions, more_in_modules};
use super::{Suspect, Suspicion};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "algo.regex-backtrack",
    title: "a regular expression that backtracks",
    about: "A pattern can match the same text in many ways (nested repeats), and the engine tries all of them before it \
            gives up.",
    shows: "User time in the matcher (sre, regmatch, pcre), in a single function.",
    test: "Nothing can be changed from outside; measure a text of one character more yourself: twice the time.",
    fix: "another pattern: no repeat within a repeat, or atomic groups; or an engine that does not backtrack (RE2)",
    report: "python/cpython#123809: re hangs on a pattern of this kind; Cloudflare's outage of July 2019.",
    look,
};

const MATCHERS: [&str; 11] = [
    "regmatch",
    "regexec",
    "S_regtry",
    "sre_",
    "SRE(",
    "pcre_exec",
    "pcre2_match",
    "re_search",
    "Irregexp",
    "java.util.regex",
    "onig_match",
];
const MODULES: [&str; 4] = ["libpcre", "_sre", "_regex", "libonig"];
const MOST_OF_IT: f64 = 0.5;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let more = more_in_functions(case, &MATCHERS)?.max(more_in_modules(case, &MODULES)?);
    if case.share(more) >= 0.3 {
        return Suspicion::of_time(case, more, "the matcher of regular expressions");
    }
    unnamed(case)
}

/// Python's matcher is a static function that a stripped file does not name: one function without a name, in a program
/// that has the module for regular expressions.
fn unnamed(case: &Case<'_>) -> Option<Suspicion> {
    let is_python = runs(&case.slow, "python") && is_same_program(case) && is_nothing_but_user_time(case);
    let (name, more, _) = hot_functions(case).into_iter().next().filter(|_| is_python)?;
    let is_it = name.starts_with("0x") && name.contains("(python") && case.share(more) >= MOST_OF_IT;
    let uses_patterns = imports_patterns(&case.slow);
    if !is_it || uses_patterns == Some(false) {
        return None;
    }
    let sign = format!(
        "one function of the interpreter without a name has {:.0} % of the gap, as the matcher of regular expressions would",
        case.share(more) * 100.0
    );
    Some(Suspicion::located(case, if uses_patterns == Some(true) { 0.4 } else { 0.18 }, vec![sign]))
}

fn imports_patterns(side: &Side<'_>) -> Option<bool> {
    let is_module = |path: &str| path.contains("/re/") || path.contains("/sre_") || path.contains("/re.");
    Some(side.files()?.files.iter().any(|file| is_module(&file.path) && file.opened > file.missed))
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::model::FileUse;

    fn patterns(share: f64) -> TestCase {
        TestCase::new("python3 redos.py 3 good", "python3 redos.py 3 bad").seconds(0.016, 0.066).cpu(
            &[("main;_PyEval_EvalFrameDefault", 1.0)],
            &[("main;_PyEval_EvalFrameDefault", 1.0 - share), ("main;python3.11!0x246a00", share)],
        )
    }

    #[test]
    fn a_matcher_without_a_name() {
        let path = "/usr/lib/python3.11/re/__pycache__/_compiler.cpython-311.pyc".to_owned();
        let test =
            patterns(0.9).files(|_, slow| slow.file(FileUse { path, opened: 1, ..FileUse::default() }));
        assert_eq!(test.candidates()[0], "algo.regex-backtrack");
        let without = patterns(0.9).files(|_, _| {});
        assert_eq!(without.weight(&SUSPECT), 0.0);
    }

    #[test]
    fn a_matcher_that_takes_no_time_is_innocent() {
        assert_eq!(patterns(0.1).weight(&SUSPECT), 0.0);
    }

    #[test]
    fn the_matcher_of_perl() {
        let test = TestCase::new("perl a.pl 1", "perl a.pl 2")
            .cpu(&[("main", 1.0)], &[("main", 0.4), ("main;Perl_regexec_flags;0x123", 0.6)]);
        assert!(test.weight(&SUSPECT) > 0.8);
    }
}
