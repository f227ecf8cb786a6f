//! How large the environment is: every program that is started gets a copy.

use super::evidence::specific;
use super::{Claim, Idea, Mirror, Suspect, Suspicion};
use crate::explain::{Case, Side};
use crate::model::Edit;

pub const SUSPECT: Suspect = Suspect {
    name: "env.size",
    title: "size of the environment",
    about: "The kernel copies the whole environment to every program that is started, and programs search and copy it \
            once more.",
    shows: "System time and page faults for each program that is started; as many programs on both sides.",
    test: "A large variable is swapped, and the variables that only the slow side has are taken away from it together.",
    fix: "start the program with fewer and smaller variables (env -i, unexported shell functions)",
    report: "The environment counts with every exec: getconf ARG_MAX, and execve(2) in the Linux manual.",
    look,
};

/// Less is in no environment worth a word.
const FEWEST_BYTES: f64 = 16.0 * 1024.0;
/// Copying it into a new program, and reading it there: 110 us for 100 KiB, measured.
const BYTE_S: f64 = 1.1e-9;
/// A variable that counts by itself.
const LARGE: usize = 1024;
/// Variables whose size is the matter of other suspects.
const OTHERS: [&str; 7] =
    ["PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH", "PERL5LIB", "CLASSPATH", "NODE_PATH"];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let more = by_facts(case).or_else(|| by_launches(case)).filter(|more| *more >= FEWEST_BYTES)?;
    let starts = case.slow.starts().map_or(1.0, |starts| starts as f64);
    let weight = specific(case.share(more * starts * BYTE_S));
    // Where nobody counted the starts, it may be anything about the variable.
    let is_counted = case.slow.starts().is_some();
    let weight = if is_counted { weight? } else { 0.3 };
    let claims = claims(case, weight, is_counted);
    let signs = vec![format!("{:.0} KiB more in the environment of {starts:.0} programs", more / 1024.0)];
    let mut found = Suspicion { weight, signs, claims, ideas: Vec::new() };
    found.ideas.extend(without_additional(case));
    if found.claims.is_empty() && found.ideas.is_empty() {
        found.claims = Suspicion::located(case, weight, Vec::new()).claims;
    }
    Some(found)
}

fn by_facts(case: &Case<'_>) -> Option<f64> {
    case.more(|side: &Side<'_>| side.environment()?.get("env.size")?.parse().ok())
}

fn by_launches(case: &Case<'_>) -> Option<f64> {
    let bytes = |side: &Side<'_>| -> f64 {
        let set = side
            .launch()
            .env
            .iter()
            .filter_map(|(name, value)| Some(name.0.len() + value.as_ref()?.0.len() + 2));
        set.sum::<usize>() as f64
    };
    Some(bytes(&case.slow) - bytes(&case.fast))
}

/// Large variables that differ and that have no other meaning here.
fn claims(case: &Case<'_>, weight: f64, is_experiment: bool) -> Vec<Claim> {
    let is_large = |difference: &crate::explain::Difference| {
        difference.variables().iter().any(|(name, fast, slow)| {
            let length = |value: &Option<String>| value.as_ref().map_or(0, String::len);
            length(slow) > length(fast) + LARGE && !OTHERS.contains(&name.as_str())
        })
    };
    let large = case.differences.iter().enumerate().filter(|(_, difference)| is_large(difference));
    large.map(|(difference, _)| Claim { difference, weight, is_experiment }).collect()
}

/// All variables that only the slow side sets, away.
fn without_additional(case: &Case<'_>) -> Option<Idea> {
    let names: Vec<_> = case
        .slow
        .launch()
        .env
        .iter()
        .filter(|(name, value)| value.is_some() && case.fast.variable(&name.lossy()).is_none())
        .filter(|(name, _)| !OTHERS.contains(&name.lossy().as_ref()))
        .map(|(name, _)| name.clone())
        .collect();
    (names.len() > 1).then(|| Idea {
        title: format!("without {} variables on the slow side", names.len()),
        slow: names.into_iter().map(Edit::UnsetEnv).collect(),
        fast: Mirror::AsItIs,
        expect: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn starts(count: u64) -> TestCase {
        TestCase::new("spawn true", "spawn true").slow_env("BIG", &"x".repeat(100 * 1024)).syscalls(
            |fast, slow| {
                fast.starts = count;
                slow.starts = count;
            },
        )
    }

    #[test]
    fn a_large_variable_and_many_starts() {
        let test = starts(200).seconds(0.15, 0.18);
        assert!(test.weight(&SUSPECT) > 0.3);
        assert!(test.claim_on(&SUSPECT, "BIG").unwrap().is_experiment);
    }

    #[test]
    fn many_small_ones_are_removed_together() {
        let mut test = starts(500).seconds(0.3, 0.4);
        for number in 0..20 {
            test = test.slow_env(&format!("A{number}"), &"y".repeat(1000));
        }
        assert_eq!(test.look(&SUSPECT).unwrap().ideas[0].slow.len(), 21);
    }

    #[test]
    fn a_single_start_is_too_cheap() {
        assert_eq!(starts(1).seconds(0.1, 0.2).weight(&SUSPECT), 0.0);
    }
}
