//! Others that want the same CPU.

use super::evidence::{by_wrapper, waited_for_cpu};
use super::{Suspect, Suspicion};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "sched.contention",
    title: "waiting for a CPU",
    about: "The process is ready to run and waits for a CPU that others use: its own children, other jobs, or everybody \
            who has a higher priority.",
    shows: "Time in the run queue; involuntary switches; wall time up with the same CPU time.",
    test: "the nice, chrt or ionice that only one side has is swapped; a load of the machine cannot be taken away",
    fix: "fewer jobs at a time, a higher priority, or a quiet machine",
    report: "samyama-ai/samyama-graph#715: a benchmark beside a build measured the build.",
    look,
};

const WRAPPERS: [&str; 4] = ["nice", "chrt", "schedtool", "ionice"];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    if let Some(suspicion) = by_wrapper(case, &WRAPPERS).filter(|_| case.gap.metric == "wall_s") {
        return Some(suspicion);
    }
    let share = waited_for_cpu(case)?;
    let busy = |side: &crate::explain::Side<'_>| side.processes().unwrap_or(1) + side.threads();
    let is_crowded = busy(&case.slow) > busy(&case.fast) && busy(&case.slow) > case.host.cpus as u64;
    let preempted = case.more(|side| side.median("involuntary_switches")).unwrap_or(0.0);
    if share <= 0.1 || (!is_crowded && preempted < 10.0) {
        return None;
    }
    let weight = if is_crowded { 0.3 + 0.5 * share } else { 0.1 + 0.4 * share };
    let sign =
        format!("{:.0} % of the gap is spent ready to run, {preempted:.0} preemptions more", share * 100.0);
    Some(Suspicion::located(case, weight, vec![sign]))
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn crowds(processes: u64) -> TestCase {
        TestCase::scripts("work", "busy & busy & work")
            .seconds(0.2, 0.2)
            .wall(0.2, 0.5)
            .median("involuntary_switches", 5.0, 120.0)
            .median("run_queue_wait_s", 0.0, 0.28)
            .syscalls(|_, slow| slow.processes = processes)
    }

    #[test]
    fn jobs_of_its_own() {
        assert!(crowds(4).weight(&SUSPECT) > 0.7);
    }

    #[test]
    fn who_waits_for_nothing_is_not_crowded() {
        let test =
            crowds(4).median("run_queue_wait_s", 0.0, 0.01).waiting(|_, slow| slow.preempted_s = Some(0.01));
        assert_eq!(test.weight(&SUSPECT), 0.0);
    }

    #[test]
    fn nice_is_an_experiment() {
        let test = TestCase::new("spin", "nice -n 19 spin").seconds(0.2, 0.2).wall(0.2, 0.5);
        assert!(test.look(&SUSPECT).unwrap().claims[0].is_experiment);
    }
}
