//! Where things happen to lie in memory.

use super::evidence::{has_alike_syscalls, hot_functions, is_user_time};
use super::{Claim, Idea, Mirror, SUSPECTS, Suspect, Suspicion, allocating, settings};
use crate::explain::Case;
use crate::explain::layouts::PADDING;
use crate::model::Edit;

pub const SUSPECT: Suspect = Suspect {
    name: "mem.layout",
    title: "layout in memory",
    about: "The same code on the same data takes another time because of where the stack, the heap or the code happen to \
            lie: data across lines or pages, addresses that share a place in a cache or a predictor. A longer variable in \
            the environment is enough to move the stack.",
    shows: "User time; the same instructions, calls and functions; it comes and goes with the length of the environment.",
    test: "A variable that nobody reads, put into the environment of the slow side: it can change nothing but the layout. \
           Where the programs or their arguments differ, both sides are measured again in eight layouts.",
    fix: "align the data that are hot; compare over several layouts before anything is concluded",
    report: "Mytkowicz and others, ASPLOS 2009, \"Producing Wrong Data Without Doing Anything Obviously Wrong!\".",
    look,
};

/// Moves the stack to an address that is none of those that differ by a cache line or a page.
const BYTES: usize = 1168;
/// Functions of the slow side with this part of its time must be known on the fast side.
const HOT: f64 = 0.05;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    if !case.same_command() || !may_be_layout(case) {
        return None;
    }
    let signs = vec!["user time of the same functions, with the same calls".to_owned()];
    // A variable without a meaning that is known here could still have one for the program.
    let unknown: Vec<usize> = settings::changed(case)
        .into_iter()
        .map(|(index, _)| index)
        .filter(|index| !is_known(case, *index))
        .collect();
    if unknown.is_empty() {
        return None;
    }
    let claim = |difference| Claim { difference, weight: 0.3, is_experiment: false };
    let claims = unknown.into_iter().map(claim).collect();
    let idea = Idea {
        title: "a variable that nobody reads on the slow side".to_owned(),
        slow: vec![Edit::SetEnv(PADDING.into(), "x".repeat(BYTES).as_str().into())],
        fast: Mirror::AsItIs,
        expect: None,
    };
    Some(Suspicion { weight: 0.25, signs, claims, ideas: vec![idea] })
}

/// The same functions take more user time, with the same calls and allocations.
pub fn may_be_layout(case: &Case<'_>) -> bool {
    is_user_time(case, 0.7)
        && has_alike_syscalls(case)
        && has_alike_allocations(case)
        && has_the_same_functions(case)
}

/// Whether another suspect knows what the difference is about.
fn is_known(case: &Case<'_>, difference: usize) -> bool {
    let others = SUSPECTS.iter().filter(|suspect| suspect.name != SUSPECT.name);
    let claims = others.filter_map(|suspect| (suspect.look)(case)).flat_map(|found| found.claims);
    claims.into_iter().any(|claim| claim.difference == difference)
}

fn has_alike_allocations(case: &Case<'_>) -> bool {
    allocating::counted(case).is_none_or(|(fast, slow)| allocating::asks_alike(fast, slow))
}

fn has_the_same_functions(case: &Case<'_>) -> bool {
    let Some(slow_s) = case.slow.median("cpu_s") else { return false };
    hot_functions(case)
        .iter()
        .filter(|(_, more, fast)| more + fast > HOT * slow_s)
        .all(|(_, _, fast)| *fast > 0.0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn padded() -> TestCase {
        TestCase::new("loop", "loop").seconds(0.05, 0.4).slow_env("PAD", "xxxxxxxx")
    }

    #[test]
    fn the_same_work_in_another_place_is_worth_a_try() {
        let found = padded().cpu(&[("main;hot", 1.0)], &[("main;hot", 1.0)]).look(&SUSPECT).unwrap();
        assert_eq!(found.ideas.len(), 1);
        assert!(!found.claims[0].is_experiment);
    }

    #[test]
    fn other_functions_or_calls_are_other_work() {
        let other = padded().cpu(&[("main;hot", 1.0)], &[("main;trace", 1.0)]);
        assert!(other.look(&SUSPECT).is_none());
        let calls = padded().system(0.0, 0.3).syscalls(|_, slow| slow.call("write", 1_000_000));
        assert!(calls.look(&SUSPECT).is_none());
        assert!(TestCase::new("loop 1", "loop 2").look(&SUSPECT).is_none());
        let known = TestCase::new("loop", "loop").seconds(0.05, 0.4).slow_env("MALLOC_PERTURB_", "1");
        assert!(known.look(&SUSPECT).is_none(), "somebody else knows what this variable is about");
    }
}
