//! CPU time that a group may not exceed.

use super::evidence::{changed, waited_for_cpu, wrapper};
use super::{Claim, Suspect, Suspicion};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "sched.quota",
    title: "CPU quota",
    about: "The group of the process (a container, a service) has used up its share of CPU time and has to stand still until \
            the next period.",
    shows: "Wall time up with the same CPU time; a quota in cpu.max or cpu.cfs_quota_us; nr_throttled in cpu.stat.",
    test: "the wrapper or the setting that only one side has is swapped, where the quota is seen to go with it",
    fix: "raise the quota, or use fewer threads than the quota has CPUs",
    report: "kubernetes/kubernetes#67577: limits that throttle below the quota.",
    look,
};

const WRAPPERS: [&str; 3] = ["cpulimit", "systemd-run", "cgexec"];
/// Of the process that did the work.
const QUOTA: &str = "cgroup.cpu_quota";

fn look(case: &Case<'_>) -> Option<Suspicion> {
    if case.gap.metric != "wall_s" || !has_same_work(case) {
        return None;
    }
    let fact = case.fact_difference(QUOTA);
    let is_lower = fact.and_then(|(_, slow)| slow).is_some_and(|slow| slow != "none");
    let is_wrapped = wrapper(case, &WRAPPERS).is_some();
    if !is_lower && !is_wrapped && is_without(case) {
        return None;
    }
    // Where nothing tells, what is left: ready to run, on a machine where nothing else differs.
    let weight = match (is_lower, is_wrapped) {
        (true, _) => 0.9,
        (false, true) => 0.6,
        _ => waited_for_cpu(case).filter(|share| *share > 0.3).map(|share| 0.2 + 0.4 * share)?,
    };
    let mut signs = vec!["more wall time for the same CPU time, without waiting for anything".to_owned()];
    signs.extend(fact.map(|(fast, slow)| {
        format!("CPU quota {} against {}", slow.unwrap_or("unknown"), fast.unwrap_or("unknown"))
    }));
    let mut suspicion = Suspicion::located(case, weight, signs);
    // One difference, and with it the quota comes and goes.
    if let ([only], true) = (changed(case).as_slice(), is_lower && case.differences.len() == 1) {
        suspicion.claims.push(Claim { difference: only.index, weight: 1.0, is_experiment: true });
    }
    Some(suspicion)
}

/// Both sides were seen to have none, so whatever they wait for is something else.
fn is_without(case: &Case<'_>) -> bool {
    let none = |side: &Side<'_>| side.environment().and_then(|facts| facts.get(QUOTA)) == Some("none");
    none(&case.fast) && none(&case.slow)
}

/// CPU time, processes and threads are the same.
fn has_same_work(case: &Case<'_>) -> bool {
    let cpu = case.more(|side| side.median("cpu_s")).unwrap_or(0.0);
    let same = |count: fn(&crate::model::Syscalls) -> u64| {
        let both = case.fast.syscalls().zip(case.slow.syscalls());
        both.is_none_or(|(fast, slow)| count(slow).abs_diff(count(fast)) <= 1)
    };
    case.share(cpu).abs() < 0.25 && same(|seen| seen.processes) && same(|seen| seen.threads)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::model::{WaitKind, WaitPlace};

    fn quotas() -> TestCase {
        TestCase::new("cgrun.sh 0 spin 100", "cgrun.sh 40 spin 100").seconds(0.17, 0.17).wall(0.22, 0.4)
    }

    #[test]
    fn throttled_and_seen() {
        let test = quotas().facts(&[("cgroup.cpu_quota", "none")], &[("cgroup.cpu_quota", "40000")]);
        let suspicion = test.look(&SUSPECT).unwrap();
        assert!(suspicion.claims.iter().any(|claim| claim.is_experiment));
        assert_eq!(test.candidates()[0], "sched.quota");
    }

    #[test]
    fn throttled_and_not_seen_is_located() {
        let suspicion = quotas().waiting(|_, slow| slow.preempted_s = Some(0.0)).look(&SUSPECT).unwrap();
        assert!(suspicion.claims.iter().all(|claim| !claim.is_experiment));
    }

    #[test]
    fn who_waits_for_something_has_cpu_time_left() {
        let test = quotas().waiting(|_, slow| {
            let what = "clock_nanosleep".to_owned();
            slow.places.push(WaitPlace { kind: WaitKind::Sleep, what, seconds: 0.18 });
        });
        assert_eq!(test.weight(&SUSPECT), 0.0);
    }

    #[test]
    fn who_has_none_is_not_held_up_by_it() {
        let none = [("cgroup.cpu_quota", "none")];
        let test = quotas().waiting(|_, slow| slow.preempted_s = Some(0.0)).facts(&none, &none);
        assert!(test.look(&SUSPECT).is_none());
    }

    #[test]
    fn work_is_no_quota() {
        assert_eq!(TestCase::new("a 1", "a 2").seconds(0.1, 0.4).weight(&SUSPECT), 0.0);
    }
}
