//! How many files may be open: some programs close them all in every child, whether they are open or not.

use super::evidence::specific;
use super::{Claim, Expectation, Idea, Suspect, Suspicion, signs};
use crate::explain::differences::Kind;
use crate::explain::{Case, Difference};
use crate::model::Shim;

pub const SUSPECT: Suspect = Suspect {
    name: "env.rlimit-nofile",
    title: "limit of open files",
    about: "A program that closes every possible descriptor before it starts another one makes as many system calls as \
            the limit of open files allows, and containers allow a million.",
    shows: "System time; close (or fcntl) that fails with EBADF, as often as the limit times the number of children.",
    test: "A limit of 1024 in every program, on both sides; or the limit of the fast side on the slow side.",
    fix: "start it with ulimit -n 1024, or use a version that calls close_range",
    report: "moby/moby#9876 and docker/for-linux#502: a limit of a million files in containers.",
    look,
};

const CALLS: [&str; 3] = ["close", "fcntl", "fstat"];
const LIMIT: &str = "limit.nofile.soft";
/// The limit that the shim sets; where there are fewer, it does nothing.
const USUAL: f64 = 1024.0;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let failed = signs::more_errors(case, &CALLS, "EBADF").filter(|more| *more > 0.0);
    let weight = failed.and_then(|failed| specific(signs::share_of_calls(case, failed)));
    let mut signs: Vec<String> = failed
        .map(|failed| format!("{failed:.0} more files closed that were not open"))
        .into_iter()
        .collect();
    if let Some((Some(fast), Some(slow))) = case.fact_difference(LIMIT) {
        signs.push(format!("at most {slow} open files against {fast}"));
    }
    let setting = case.differences.iter().position(|difference| is_limit(case, difference));
    if weight.is_none() && setting.is_none() {
        return None;
    }
    let mut found = Suspicion::located(case, weight.unwrap_or(0.3), signs);
    if let Some(difference) = setting {
        found.claims = vec![Claim { difference, weight: 1.0, is_experiment: true }];
    }
    if weight.is_some() && limit(case).is_none_or(|limit| limit > USUAL) {
        found.ideas.push(few_files());
    }
    Some(found)
}

fn limit(case: &Case<'_>) -> Option<f64> {
    case.slow.environment()?.get(LIMIT)?.parse().ok()
}

fn few_files() -> Idea {
    let expect = Some(Expectation { fact: LIMIT.to_owned(), contains: "1024".to_owned() });
    Idea { expect, ..Idea::with_shim("at most 1024 open files on both sides", Shim::FewFiles) }
}

/// Whether a difference in a command line is nothing but this limit: a number behind `ulimit -n`, the whole of that, or
/// `prlimit --nofile`.
fn is_limit(case: &Case<'_>, difference: &Difference) -> bool {
    let Kind::Words { fast_at, slow_at, script, .. } = &difference.kind else { return false };
    let Some((fast, slow)) = difference.words() else { return false };
    let before = |side: &crate::explain::Side<'_>, at: usize| -> Vec<String> {
        let words: Vec<String> = match script {
            Some(place) => crate::explain::differences::pieces(&side.launch().argv[*place])
                .iter()
                .map(|piece| piece.lossy().trim().to_owned())
                .collect(),
            None => side.launch().argv.iter().map(|word| word.lossy().into_owned()).collect(),
        };
        words[at.saturating_sub(2).min(words.len())..at.min(words.len())].to_vec()
    };
    let are_numbers = is_behind(&before(&case.fast, fast_at.start), &fast)
        && is_behind(&before(&case.slow, slow_at.start), &slow);
    are_numbers || is_setting(&fast, &slow)
}

fn is_number(word: &str) -> bool {
    let number = word.trim_end_matches(';');
    number == "unlimited" || (!number.is_empty() && number.chars().all(|digit| digit.is_ascii_digit()))
}

fn is_option(word: &str) -> bool {
    matches!(word, "-n" | "-Sn" | "-Hn" | "-SHn" | "-HSn")
}

/// Numbers behind `ulimit -n`.
fn is_behind(before: &[String], words: &[String]) -> bool {
    let is_limit = before.len() == 2 && before[0].ends_with("ulimit") && is_option(&before[1]);
    is_limit && words.iter().all(|word| is_number(word))
}

/// The whole of it, on one side or on both, and nothing else.
fn is_setting(fast: &[String], slow: &[String]) -> bool {
    let sets = |words: &[String]| {
        let is_ulimit = |pair: &[String]| pair[0] == "ulimit" && is_option(&pair[1]);
        words.windows(2).any(is_ulimit) || words.iter().any(|word| word.starts_with("--nofile="))
    };
    let is_known = |word: &String| {
        let is_glue = matches!(word.as_str(), "ulimit" | "&&" | ";" | "exec");
        let is_prlimit = signs::base_name(word) == "prlimit" || word.starts_with("--nofile=");
        is_number(word) || is_option(word) || is_glue || is_prlimit
    };
    (sets(fast) || sets(slow)) && fast.iter().chain(slow).all(is_known)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn python(fast: &str, slow: &str, closed: u64) -> TestCase {
        let line = |limit: &str| format!("ulimit -n {limit} && exec python2.7 subproc.py 60 1");
        TestCase::scripts(&line(fast), &line(slow)).seconds(0.097, 0.3).system(0.034, 0.23).syscalls(
            |fast, slow| {
                fast.fail("close", "EBADF", 60_000);
                slow.fail("close", "EBADF", 60_000 + closed);
            },
        )
    }

    #[test]
    fn another_number_behind_ulimit_is_the_experiment() {
        let found = python("1024", "20000", 1_140_000).look(&SUSPECT).unwrap();
        assert!(found.claims[0].is_experiment && found.weight > 0.5);
    }

    #[test]
    fn a_storm_of_closes_is_worth_a_try() {
        let test = TestCase::new("python3 a.py", "python2 a.py")
            .seconds(0.097, 0.3)
            .system(0.034, 0.23)
            .syscalls(|_, slow| slow.fail("close", "EBADF", 1_140_000));
        let found = test.look(&SUSPECT).unwrap();
        assert_eq!(found.ideas[0].title, "at most 1024 open files on both sides");
        let few = test.facts(&[(LIMIT, "1024")], &[(LIMIT, "1024")]);
        assert!(few.look(&SUSPECT).unwrap().ideas.is_empty(), "the shim would change nothing");
    }

    #[test]
    fn a_number_of_something_else_and_few_closes_accuse_nobody() {
        let test = TestCase::scripts("sleep 1", "sleep 2")
            .seconds(0.1, 0.2)
            .syscalls(|_, slow| slow.fail("close", "EBADF", 100));
        assert!(test.look(&SUSPECT).is_none());
    }

    #[test]
    fn the_whole_of_ulimit_may_be_on_one_side_only() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(is_setting(&[], &words("ulimit -n 20000; exec")));
        assert!(is_setting(&[], &words("prlimit --nofile=20000")));
        assert!(!is_setting(&[], &words("ulimit -n 20000 ; rm -r x")));
    }
}
