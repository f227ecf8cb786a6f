//! Where the wall time of a gap went: four parts that add up to it.

use serde::Serialize;

use super::case::Side;
use crate::model::Waiting;

/// Seconds of one run, or of the difference between two variants. The parts add up to the wall time: what is not on a
/// CPU and not waiting for one is blocked, and is negative where several CPUs work at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize)]
pub struct Budget {
    pub wall_s: f64,
    pub user_s: f64,
    pub system_s: f64,
    pub cpu_wait_s: f64,
    pub blocked_s: f64,
}

impl Budget {
    /// Of one variant, by its medians. A wait for a CPU that is not known counts as blocked. The kernel's books are of the
    /// first process alone: of several tasks, the one that waited longest says more where it was watched.
    pub fn of(side: &Side<'_>) -> Budget {
        let (wall_s, cpu_s) = (side.median("wall_s").unwrap_or(0.0), side.median("cpu_s").unwrap_or(0.0));
        let kernel_share = side.kernel_share();
        let system_s = cpu_s * kernel_share;
        let booked_s = side.median("run_queue_wait_s").unwrap_or(0.0);
        let watched_s = side.waiting().map_or(0.0, longest_wait_for_cpu);
        let cpu_wait_s = booked_s.max(watched_s).min((wall_s - cpu_s).max(0.0));
        Budget {
            wall_s,
            user_s: cpu_s - system_s,
            system_s,
            cpu_wait_s,
            blocked_s: wall_s - cpu_s - cpu_wait_s,
        }
    }

    pub fn minus(self, other: Budget) -> Budget {
        Budget {
            wall_s: self.wall_s - other.wall_s,
            user_s: self.user_s - other.user_s,
            system_s: self.system_s - other.system_s,
            cpu_wait_s: self.cpu_wait_s - other.cpu_wait_s,
            blocked_s: self.blocked_s - other.blocked_s,
        }
    }

    pub fn cpu_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}

/// 0 for a single task, of which the books know.
fn longest_wait_for_cpu(seen: &Waiting) -> f64 {
    let waits = seen.threads.iter().map(|task| task.preempted_s);
    if seen.threads.len() > 1 { waits.fold(0.0, f64::max) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::classes::Class;
    use super::super::suspects::testing::TestCase;
    use crate::model::{Seen, ThreadTime, Trace};

    #[test]
    fn what_a_child_waits_for_a_cpu_is_not_blocked() {
        let task = |preempted_s| ThreadTime { preempted_s, ..ThreadTime::default() };
        let wait = |children: usize| {
            let test = TestCase::new("beside 0", "beside 1").seconds(0.17, 0.174).wall(0.18, 0.36);
            let test = test.waiting(|fast, slow| {
                fast.threads = vec![task(0.0); children + 1];
                slow.threads = [vec![task(0.0)], vec![task(0.16); children]].concat();
            });
            let built = test.build();
            let case = built.case();
            (case.gap.metric, case.gap.class, case.gap.budget.cpu_wait_s > 0.15)
        };
        assert_eq!(wait(1), ("wall_s", Class::CpuWait, true));
        assert_eq!(wait(0), ("wall_s", Class::Blocked, false));
    }

    #[test]
    fn user_and_system_time_are_split_in_one_way_on_both_sides() {
        let stacks = [("main", 0.2), ("main;[kernel]!clear_page", 0.8)];
        let mut test =
            TestCase::new("a 1", "a 2").seconds(0.1, 0.2).system(0.02, 0.04).cpu(&stacks, &stacks).build();
        let split = |system_s: f64, part: f64| assert!((system_s - part).abs() < 1e-9, "{system_s}");
        split(test.case().gap.budget.system_s, 0.08);
        // The samples of one side are too few of it: both go by the books.
        for entry in test.recording.traces.iter_mut().filter(|entry| entry.variant == 0) {
            let Seen::Probed(probed) = &mut entry.seen else { continue };
            let Trace::Cpu(profile) = &mut probed.trace else { continue };
            profile.total = Some(2.0);
        }
        split(test.case().gap.budget.system_s, 0.02);
    }
}
