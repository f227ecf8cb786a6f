//! The last resort: one side does more.

use super::evidence::hot_functions;
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
const MOST_SHOWN: usize = 3;
/// Functions with less of the gap explain nothing.
const LEAST_SHOWN: f64 = 0.1;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let is_about_work = case.differences.iter().any(|difference| difference.is_place_or_work());
    is_about_work.then(|| Suspicion::located(case, WEIGHT, signs(case)))
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

    #[test]
    fn the_same_command_does_the_same_work() {
        assert_eq!(TestCase::new("a", "a").slow_env("X", "1").weight(&SUSPECT), 0.0);
    }
}
