//! A filter that looks at every system call.

use super::evidence::{LEAST, changed, has_alike_syscalls, joined, wrapper};
use super::signs::more_starts;
use super::{Claim, Suspect, Suspicion};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "sys.seccomp",
    title: "filter of system calls",
    about: "A sandbox (seccomp) runs a small program in the kernel before every system call; older ones also switch on slow \
            protections of the CPU.",
    shows: "Seccomp in /proc/PID/status on one side only; as many system calls, each of them dearer; system time.",
    test: "the sandbox that only one side has is swapped, where the filter is seen to go with it",
    fix: "fewer system calls, a shorter filter, or seccomp=unconfined where that may be",
    report: "moby/moby#41389: the default filter took 15 % of a Perl loop.",
    look,
};

const WRAPPERS: [&str; 8] =
    ["firejail", "bwrap", "systemd-run", "docker", "podman", "minijail0", "setpriv", "nsjail"];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    joined(by_fact(case), by_wrapper(case))
}

/// The filter is seen on the slow side only, and its system time is dearer by the call.
fn by_fact(case: &Case<'_>) -> Option<Suspicion> {
    let (fast, slow) = case.fact_difference("seccomp.filters").or_else(|| case.fact_difference("seccomp"))?;
    let filters = |value: Option<&str>| match value.unwrap_or("0") {
        "off" => 0.0,
        text => text.parse::<f64>().unwrap_or(1.0),
    };
    if filters(slow) <= filters(fast) {
        return None;
    }
    let dearer = case.share(case.gap.budget.system_s).clamp(0.0, 1.0);
    let sign = format!("seccomp: {} against {}", slow.unwrap_or("off"), fast.unwrap_or("off"));
    let weight = if has_alike_syscalls(case) { dearer } else { dearer * 0.3 };
    let mut suspicion = Suspicion::located(case, weight, vec![sign]);
    suspicion.claims.extend(goes_with(case).filter(|_| weight > 0.5));
    (weight > LEAST).then_some(suspicion)
}

/// One difference, which stands in front of the same command, and the filter comes and goes with it.
fn goes_with(case: &Case<'_>) -> Option<Claim> {
    let changed = changed(case);
    let [only] = changed.as_slice() else { return None };
    let is_in_front = only.fast.is_empty() && case.differences.len() == 1;
    let starts = more_starts(case).unwrap_or(0.0);
    let claim = Claim { difference: only.index, weight: 1.0, is_experiment: true };
    (is_in_front && starts <= 1.0).then_some(claim)
}

fn by_wrapper(case: &Case<'_>) -> Option<Suspicion> {
    let (index, name) = wrapper(case, &WRAPPERS)?;
    let is_known = case.fast.environment().is_some() && case.slow.environment().is_some();
    if is_known || case.share(case.gap.budget.system_s) < 0.3 {
        return None;
    }
    let sign = format!("the slow side runs in the sandbox of {name}");
    Some(Suspicion::of_difference(index, 0.4, vec![sign]))
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn filtered(system_s: f64) -> TestCase {
        TestCase::new("getppid 1000000", "filtered getppid 1000000")
            .seconds(0.1, 0.3)
            .system(0.09, system_s)
            .facts(&[("seccomp", "off")], &[("seccomp", "filter")])
            .syscalls(|fast, slow| {
                fast.call("getppid", 1_000_000);
                slow.call("getppid", 1_000_000);
                slow.starts = 2;
            })
    }

    #[test]
    fn dearer_calls_under_a_filter() {
        let suspicion = filtered(0.28).look(&SUSPECT).unwrap();
        assert!(suspicion.weight > 0.9);
        assert!(suspicion.claims.iter().any(|claim| claim.is_experiment));
    }

    #[test]
    fn a_filter_beside_user_time_is_innocent() {
        assert_eq!(filtered(0.095).weight(&SUSPECT), 0.0);
    }
}
