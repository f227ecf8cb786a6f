//! The last resort: one side does more.

use super::evidence::{hot_functions, is_same_program};
use super::signs::seconds;
use super::{Suspect, Suspicion};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "code.more-work",
    title: "more work",
    about: "The slow side executes more of the same kind of work: another option, another algorithm, more data.",
    shows: "User time spread over the functions that both sides use, or in functions that only one side has.",
    test: "Nothing can be changed safely from outside; the functions that carry the gap are shown.",
    fix: "choose the option or the algorithm that does less",
    report: "Every compression level: gzip -9 against gzip -1.",
    look,
};

/// Any suspect with signs of its own says more.
const WEIGHT: f64 = 0.2;
/// More than a sign that would grow with the work has.
const WEIGHT_OF_EVERYTHING: f64 = 0.6;
/// Calls that are made less often are those of the start.
const OFTEN: u64 = 300;
const FEWEST_KINDS: usize = 3;
const MORE: f64 = 1.3;
const ALIKE: f64 = 1.3;
const MOST_SHOWN: usize = 3;
/// Functions with less of the gap explain nothing.
const LEAST_SHOWN: f64 = 0.1;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let is_about_work = case.differences.iter().any(|difference| difference.is_place_or_work());
    if !is_about_work {
        return None;
    }
    let mut signs = signs(case);
    let Some(times) = times_of_everything(case) else { return Some(Suspicion::located(case, WEIGHT, signs)) };
    signs.insert(1, format!("{times:.1} times as many of all the system calls that it makes often"));
    Some(Suspicion::located(case, WEIGHT_OF_EVERYTHING, signs))
}

/// How many times as much the slow side asks of the kernel, where that holds for whatever it asks for often and for the
/// time: it does the same for more data. A single kind of call that is made more often than the others is another thing.
fn times_of_everything(case: &Case<'_>) -> Option<f64> {
    let (fast, slow) = (case.fast.syscalls()?, case.slow.syscalls()?);
    if !is_same_program(case) || fast.is_cut_short() || slow.is_cut_short() {
        return None;
    }
    let often = slow.calls.iter().filter(|(_, count)| count.calls >= OFTEN);
    let ratios: Vec<f64> =
        often.map(|(name, count)| count.calls as f64 / fast.count(name).max(1) as f64).collect();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(0.0, f64::max);
    let time = case.slow.median(case.gap.metric)? / case.fast.median(case.gap.metric)?;
    let is_alike = most <= least * ALIKE && time <= most * ALIKE && least >= MORE;
    (ratios.len() >= FEWEST_KINDS && is_alike).then(|| slow.total() as f64 / fast.total() as f64)
}

fn signs(case: &Case<'_>) -> Vec<String> {
    let mut signs = vec!["the command lines differ".to_owned()];
    let hot = hot_functions(case).into_iter().filter(|(_, more, _)| case.share(*more) >= LEAST_SHOWN);
    signs.extend(hot.take(MOST_SHOWN).map(|(name, more, fast)| {
        format!(
            "{} more in {name}, {:.0} % of the gap, against {}",
            seconds(more),
            case.share(more) * 100.0,
            seconds(fast)
        )
    }));
    signs
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    #[test]
    fn another_option_is_more_work() {
        let test = TestCase::new("gzip -1 a", "gzip -9 a").seconds(0.1, 0.4).cpu(
            &[("main;deflate_fast", 0.6), ("main;deflate_fast;longest_match", 0.4)],
            &[("main;deflate_slow", 0.3), ("main;deflate_slow;longest_match", 0.7)],
        );
        let suspicion = test.look(&SUSPECT).unwrap();
        assert_eq!(test.candidates()[0], "code.more-work");
        assert!(suspicion.signs[1].contains("longest_match"), "{:?}", suspicion.signs);
    }

    fn walks(more_stats: u64) -> TestCase {
        TestCase::new("find a", "find b").seconds(0.05, 0.2).system(0.03, 0.12).syscalls(|fast, slow| {
            for (name, calls) in [("newfstatat", 9_744), ("close", 12_633), ("getdents64", 6_503)] {
                fast.call(name, calls);
                slow.call(name, calls * 4);
            }
            slow.call("newfstatat", more_stats);
        })
    }

    #[test]
    fn four_times_as_much_of_everything() {
        assert_eq!(walks(0).weight(&SUSPECT), WEIGHT_OF_EVERYTHING);
        assert_eq!(walks(0).candidates()[0], "code.more-work");
    }

    #[test]
    fn one_kind_of_call_that_is_made_more_often_than_others() {
        assert_eq!(walks(300_000).weight(&SUSPECT), WEIGHT);
    }

    #[test]
    fn the_same_command_does_the_same_work() {
        assert_eq!(TestCase::new("a", "a").slow_env("X", "1").weight(&SUSPECT), 0.0);
    }
}
