//! A library that is loaded into every process and does something there.

use super::allocating;
use super::evidence::specific;
use super::{Suspect, Suspicion, settings, signs};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "link.preload",
    title: "preloaded library",
    about: "LD_PRELOAD loads a library into every process (tracers, auditing, fakeroot, wrappers of malloc or of system \
            calls); it costs its start-up code in each of them, and what it does in the calls that it takes over.",
    shows: "User and system time for each program that is started; files that only the library opens; its functions in the \
            profile.",
    test: "The LD_PRELOAD of the fast side on the slow side, or none on both.",
    fix: "unset LD_PRELOAD for what needs no such library",
    report: "Agents for tracing and auditing that are preloaded into every process of a build or a test run.",
    look,
};

/// Start-up code of a library that takes longer in one program is hardly only that.
const LONGEST_START_S: f64 = 0.02;
const FEWEST_STARTS: f64 = 5.0;
/// Of an ordinary one in each program.
const START_S: f64 = 0.2e-3;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let Some(preloaded) = allocating::preloaded(case) else { return by_inheritance(case) };
    let starts = case.slow.starts().map(|starts| starts as f64);
    let is_each_start =
        starts.is_some_and(|starts| starts >= FEWEST_STARTS && case.gap.seconds / starts <= LONGEST_START_S);
    let inside =
        in_library_s(case, &preloaded.slow).map(|seconds| case.share(seconds)).filter(|share| *share > 0.3);
    let mut signs = vec![case.differences[preloaded.difference].title()];
    signs.extend(starts.filter(|_| is_each_start).map(|starts| {
        format!("{starts:.0} programs started, {} each", signs::seconds(case.gap.seconds / starts))
    }));
    signs
        .extend(inside.map(|share| format!("{:.0} % of the gap in functions of the library", share * 100.0)));
    let is_no_gap = case.gap.seconds <= 0.01 * case.slow.median("wall_s").unwrap_or(0.0);
    let is_experiment = is_each_start || inside.is_some() || is_no_gap;
    let claim = preloaded.claim(0.6, is_experiment);
    Some(Suspicion {
        weight: if is_experiment { 0.6 } else { 0.3 },
        signs,
        claims: vec![claim],
        ideas: Vec::new(),
    })
}

/// Seconds of the slow side in frames of these libraries.
fn in_library_s(case: &Case<'_>, files: &[String]) -> Option<f64> {
    let names: Vec<&str> = files.iter().map(|file| signs::base_name(file)).collect();
    let seconds = case.slow.cpu_where(|frame| names.contains(&frame.module.as_str()))?;
    (!names.is_empty()).then_some(seconds)
}

/// Both sides inherit it, and the slow side starts more programs with it.
fn by_inheritance(case: &Case<'_>) -> Option<Suspicion> {
    let library = |side: &Side<'_>| side.env("LD_PRELOAD").filter(|files| !files.is_empty());
    if let Some(hidden) = settings::hidden(case).iter().find(|setting| setting.name == "LD_PRELOAD") {
        let files = hidden.slow.as_deref().unwrap_or_default();
        let files: Vec<String> = files.split([':', ' ']).map(str::to_owned).collect();
        let inside = in_library_s(case, &files).and_then(|seconds| specific(case.share(seconds)));
        return Some(Suspicion::located(case, inside.unwrap_or(0.0).max(0.4), vec![hidden.title()]));
    }
    let (files, _) = library(&case.slow).zip(library(&case.fast))?;
    let starts = signs::more_starts(case)?;
    let weight = specific(case.share(starts * START_S))?;
    let sign = format!("{starts:.0} more programs started with {files}");
    let mut found = Suspicion { weight: weight * 0.5, signs: vec![sign], ..Suspicion::default() };
    found.ideas.extend(settings::removed_on_both_sides(case, "LD_PRELOAD"));
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn preloaded(starts: u64) -> TestCase {
        TestCase::new("spawn 150 true", "spawn 150 true")
            .seconds(0.081, 0.116)
            .slow_env("LD_PRELOAD", "/w/slowctor.so")
            .syscalls(|fast, slow| {
                fast.starts = starts;
                slow.starts = starts;
            })
    }

    #[test]
    fn a_little_in_each_of_many_starts() {
        assert!(preloaded(151).claim_on(&SUSPECT, "LD_PRELOAD").unwrap().is_experiment);
    }

    #[test]
    fn in_one_process_it_may_be_anything_that_the_library_does() {
        assert!(!preloaded(1).claim_on(&SUSPECT, "LD_PRELOAD").unwrap().is_experiment);
        let inside = preloaded(1).cpu(&[("main", 1.0)], &[("main;slowctor.so!write", 0.6), ("main", 0.4)]);
        assert!(inside.claim_on(&SUSPECT, "LD_PRELOAD").unwrap().is_experiment);
    }

    #[test]
    fn an_inherited_one_without_more_starts_is_innocent() {
        let test = TestCase::new("a 1", "a 2").env("LD_PRELOAD", "/w/x.so").syscalls(|_, _| {});
        assert!(test.look(&SUSPECT).is_none());
    }
}
