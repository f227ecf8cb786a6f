//! More threads than CPUs.

use super::evidence::{
    changed, claims_on_words, has_alike_syscalls, is_same_program, is_user_time, joined, specific,
    waited_for_cpu,
};
use super::signs::more_calls;
use super::{Suspect, Suspicion, settings};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "conc.oversubscription",
    title: "more threads than CPUs",
    about: "More threads run at a time than there are CPUs, and those that have one wait (or spin) for those that have none.",
    shows: "More threads than CPUs; context switches by the thousand; futex and sched_yield; more CPU time for the same work.",
    test: "the variable that sets the number is swapped, or OMP_NUM_THREADS is set to the number of CPUs on both sides",
    fix: "as many threads as CPUs: OMP_NUM_THREADS, OPENBLAS_NUM_THREADS, -j",
    report: "scikit-learn/scikit-learn#15824 and OpenMathLib/OpenBLAS#3187.",
    look,
};

const VARIABLES: [&str; 11] = [
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "GOMAXPROCS",
    "RAYON_NUM_THREADS",
    "TBB_NUM_THREADS",
    "JULIA_NUM_THREADS",
    "TOKIO_WORKER_THREADS",
];
const POLICIES: [&str; 3] = ["OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    joined(by_number(case), joined(by_switching(case), by_crowding(case)))
}

/// A variable that asks for more threads than there are CPUs, on the slow side only.
fn by_number(case: &Case<'_>) -> Option<Suspicion> {
    let cpus = cpus(case);
    let found = VARIABLES.iter().find_map(|name| {
        let (index, difference) = case.variable(name)?;
        let variables = difference.variables();
        let (_, fast, slow) = variables.iter().find(|(known, _, _)| known == name)?;
        let number =
            |value: &Option<String>| value.as_ref().map_or(Some(cpus), |text| text.trim().parse().ok());
        let (fast, slow) = (number(fast)?, number(slow)?);
        (slow > cpus && slow > fast).then(|| (index, difference.title()))
    });
    let policy = || {
        let (index, difference) = POLICIES.iter().find_map(|name| case.variable(name))?;
        (case.slow.threads() as f64 >= cpus).then(|| (index, difference.title()))
    };
    let (index, title) = found.or_else(policy)?;
    Some(Suspicion::by_difference(index, format!("{title}, on {cpus:.0} CPUs")))
}

/// Threads that are more than the CPUs, and what their switches cost.
fn by_switching(case: &Case<'_>) -> Option<Suspicion> {
    let cpus = cpus(case);
    let threads = case.slow.threads() as f64 + 1.0;
    if threads <= cpus || threads <= case.fast.threads() as f64 + 1.0 && changed(case).is_empty() {
        return None;
    }
    let calls = more_calls(case, &["futex", "sched_yield"])?.max(0.0);
    let switches = |side: &Side<'_>| {
        Some(side.median("voluntary_switches")? + side.median("involuntary_switches").unwrap_or(0.0))
    };
    let switches = case.more(switches).unwrap_or(0.0).max(0.0);
    let priced = case.share(calls * case.prices.syscall_s + switches * case.prices.switch_s);
    let weight = specific(priced)? * 0.9;
    let sign = format!(
        "{threads:.0} threads on {cpus:.0} CPUs, {switches:.0} switches and {calls:.0} futex calls more"
    );
    let mut suspicion = Suspicion::located(case, weight, vec![sign]);
    suspicion.claims.extend(claims_on_words(case, 0.9, is_number_of_jobs));
    let is_untold = !VARIABLES.iter().any(|name| case.variable(name).is_some());
    if is_untold && has_openmp(&case.slow) {
        suspicion.ideas.extend(settings::on_both_sides(case, "OMP_NUM_THREADS", &format!("{cpus:.0}")));
    }
    Some(suspicion)
}

/// Threads of its own that take the CPUs from each other, and spin rather than ask the kernel to wait.
fn by_crowding(case: &Case<'_>) -> Option<Suspicion> {
    let threads = |side: &Side<'_>| side.threads() as f64;
    let is_crowded = threads(&case.slow) > cpus(case) && threads(&case.slow) > threads(&case.fast);
    let ready = waited_for_cpu(case);
    // Nobody else is in the crowd, and the work is not that of other code.
    let is_alone = case.more(|side| side.processes().map(|count| count as f64)).is_none_or(|more| more < 1.0);
    if !is_crowded || !is_alone || !is_same_program(case) {
        return None;
    }
    let weight = match ready {
        Some(share) if share > 0.3 => 0.35 + 0.5 * share,
        Some(_) => return None,
        // More work for each thread looks the same: a little more than that.
        None if is_spinning(case) => 0.25,
        None => return None,
    };
    let sign = format!("{:.0} threads besides the first one on {:.0} CPUs", threads(&case.slow), cpus(case));
    Some(Suspicion::located(case, weight, vec![sign]))
}

/// Time of the program itself, while others of it are ready and have no CPU.
fn is_spinning(case: &Case<'_>) -> bool {
    let budget = case.gap.budget;
    is_user_time(case, 0.5) && has_alike_syscalls(case) && budget.cpu_wait_s > 0.5 * budget.wall_s
}

fn is_number_of_jobs(word: &str) -> bool {
    let value = word.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let is_option =
        ["-j", "--jobs", "--threads", "--workers", "-P", "-T"].iter().any(|option| word.starts_with(option));
    is_option && value.parse::<u32>().is_ok()
}

fn has_openmp(side: &Side<'_>) -> bool {
    let names = ["libgomp", "libomp", "libiomp", "openblas"];
    let is_it = |text: &str| names.iter().any(|name| text.contains(name));
    let loaded = side.loading().is_some_and(|seen| {
        seen.programs.iter().any(|program| program.libraries.iter().any(|library| is_it(library)))
    });
    loaded || side.environment().is_some_and(|seen| seen.facts.keys().any(|name| is_it(name)))
}

fn cpus(case: &Case<'_>) -> f64 {
    case.host.cpus.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn threads(slow: u64) -> TestCase {
        TestCase::new("omp 8000 2000", "omp 8000 2000")
            .fast_env("OMP_NUM_THREADS", "2")
            .slow_env("OMP_NUM_THREADS", &slow.to_string())
            .seconds(0.04, 0.88)
            .median("voluntary_switches", 1.0, 107_360.0)
            .syscalls(|fast, seen| {
                (fast.threads, seen.threads) = (1, slow - 1);
                seen.call("futex", 200_000);
            })
    }

    #[test]
    fn eight_threads_on_two_cpus() {
        assert!(threads(8).claim_on(&SUSPECT, "OMP_NUM_THREADS").unwrap().is_experiment);
        assert!(threads(8).weight(&SUSPECT) >= 0.5);
    }

    #[test]
    fn fewer_threads_than_cpus_are_something_else() {
        assert_eq!(threads(1).claim_on(&SUSPECT, "OMP_NUM_THREADS"), None);
    }

    #[test]
    fn threads_that_spin_for_each_other_make_no_calls() {
        let spin = |threads: u64, ready: f64| {
            TestCase::new("spin 2 40", "spin 5 40")
                .seconds(0.15, 0.6)
                .wall(0.4, 2.4)
                .median("run_queue_wait_s", 0.0, ready)
                .syscalls(move |fast, slow| (fast.threads, slow.threads) = (2, threads))
        };
        assert!(spin(5, 1.5).weight(&SUSPECT) > 0.2);
        assert_eq!(spin(2, 1.5).weight(&SUSPECT), 0.0);
    }

    #[test]
    fn many_threads_that_do_not_switch_are_innocent() {
        let test = TestCase::new("a 1", "a 2").seconds(0.1, 4.0).syscalls(|_, slow| {
            slow.threads = 31;
            slow.call("futex", 300);
        });
        assert_eq!(test.weight(&SUSPECT), 0.0);
    }
}
