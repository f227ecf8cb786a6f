//! Fewer CPUs than the work could use.

use super::evidence::{by_variable, changed, wrapper};
use super::signs::base_name;
use super::{Claim, Suspect, Suspicion};
use crate::explain::Case;
use crate::explain::differences::Kind;

pub const SUSPECT: Suspect = Suspect {
    name: "conc.affinity",
    title: "CPUs that it may run on",
    about: "The process may run on fewer CPUs than it has threads or processes, or on one that others use.",
    shows: "Another set of allowed CPUs; wall time up with the same CPU time; waiting for a CPU.",
    test: "the set of CPUs, the variable, or the taskset that only one side has is swapped",
    fix: "let it run on all CPUs (taskset -c 0-N, OMP_PROC_BIND, the CPU set of the container)",
    report: "numpy/numpy#4580: OpenBLAS pinned Python, and all it started, to one CPU.",
    look,
};

/// numactl is about memory as well.
const WRAPPERS: [&str; 1] = ["taskset"];
const VARIABLES: [&str; 5] =
    ["GOMP_CPU_AFFINITY", "KMP_AFFINITY", "OMP_PROC_BIND", "OMP_PLACES", "OPENBLAS_MAIN_FREE"];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let fact = case.fact_difference("cpu.affinity");
    let sign = fact.map(|(fast, slow)| {
        format!("may run on the CPUs {} against {}", slow.unwrap_or("unknown"), fast.unwrap_or("unknown"))
    });
    // Where both sides were looked at and may run on the same CPUs, there is nothing to suspect.
    let is_the_same =
        fact.is_none() && case.slow.environment().is_some() && case.fast.environment().is_some();
    if let Some(index) = around(case).filter(|_| !is_the_same) {
        let sign = sign.unwrap_or_else(|| case.differences[index].title());
        return Some(Suspicion::by_difference(index, sign));
    }
    if let Some(found) = by_variable(case, &VARIABLES) {
        return Some(found);
    }
    let is_parallel = case.slow.threads() > 0 || case.slow.processes().unwrap_or(1) > 1;
    let sign = sign.filter(|_| is_parallel && case.gap.metric == "wall_s")?;
    Some(Suspicion::located(case, 0.6, vec![sign]))
}

/// The set itself, a wrapper that only one side has, or the list of CPUs behind a wrapper of both.
fn around(case: &Case<'_>) -> Option<usize> {
    let set = case.differences.iter().position(|difference| matches!(difference.kind, Kind::Affinity));
    set.or_else(|| wrapper(case, &WRAPPERS).map(|(index, _)| index))
        .or_else(|| list(case))
        .or_else(|| on_the_fast_side(case))
}

/// The fast side is pinned: to a CPU where it stays.
fn on_the_fast_side(case: &Case<'_>) -> Option<usize> {
    let is_it = |word: &String| WRAPPERS.contains(&base_name(word));
    changed(case)
        .into_iter()
        .find(|one| one.slow.is_empty() && one.fast.first().is_some_and(is_it))
        .map(|one| one.index)
}

fn list(case: &Case<'_>) -> Option<usize> {
    let starts = |side: &crate::explain::Side<'_>| {
        side.launch().argv.first().is_some_and(|word| WRAPPERS.contains(&base_name(&word.lossy())))
    };
    let is_list = |words: &[String]| {
        let [word] = words else { return false };
        let word = word.trim_start_matches("0x");
        !word.is_empty() && word.chars().all(|letter| letter.is_ascii_hexdigit() || ",-".contains(letter))
    };
    let is_early = |claim: &Claim| matches!(&case.differences[claim.difference].kind, Kind::Words { fast_at, script: None, .. } if fast_at.start <= 2);
    let found = changed(case).into_iter().find(|one| is_list(&one.fast) && is_list(&one.slow))?;
    let claim = Claim { difference: found.index, weight: 1.0, is_experiment: true };
    (starts(&case.fast) && starts(&case.slow) && is_early(&claim)).then_some(found.index)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn experiments(test: &TestCase) -> usize {
        let seen = test.look(&SUSPECT);
        seen.map_or(0, |seen| seen.claims.iter().filter(|claim| claim.is_experiment).count())
    }

    #[test]
    fn pinned_by_taskset() {
        assert_eq!(experiments(&TestCase::new("spin 2", "taskset -c 0 spin 2")), 1);
        assert_eq!(experiments(&TestCase::new("taskset -c 0,1 spin 2", "taskset -c 0 spin 2")), 1);
        assert_eq!(experiments(&TestCase::new("taskset -c 0 spin 1", "taskset -c 0 spin 2")), 0);
    }

    #[test]
    fn the_same_cpus_are_innocent() {
        let facts = [("cpu.affinity", "0-1")];
        let test = TestCase::new("spin 2", "taskset -c 0-1 spin 2").facts(&facts, &facts);
        assert_eq!(experiments(&test), 0);
    }
}
