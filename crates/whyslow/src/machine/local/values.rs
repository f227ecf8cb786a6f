//! From what the launcher saw to the values of the metrics. Pure: the rules about which numbers deserve to be
//! believed are here and can be tested without running anything. What the system did not give is `None`,
//! never 0.

use whyslow_launcher::{Ended, Reply};

use super::abilities::Abilities;
use crate::model::{Exit, Floor, Metric};

/// The descendants' CPU time that is small enough to say that the first thread was all there was.
const OTHERS_CPU_SHARE: f64 = 0.05;
const OTHERS_CPU_S: f64 = 0.001;

/// What is known of a run.
pub struct Seen<'a> {
    pub reply: &'a Reply,
    pub output_bytes: Option<u64>,
    /// What the program printed for each metric that has a source there.
    pub printed: &'a [Option<f64>],
}

/// One value for each metric, in that order.
///
/// A run that took too long keeps what was measured of it. One that the user stopped does not: those numbers
/// say when the user lost patience.
pub fn values(metrics: &[Metric], seen: &Seen<'_>, can: &Abilities) -> Vec<Option<f64>> {
    if matches!(seen.reply.outcome, Ended::NotStarted { .. } | Ended::Cancelled) {
        return vec![None; metrics.len()];
    }
    let value_of = |(index, metric): (usize, &Metric)| match metric.source {
        Some(_) => seen.printed.get(index).copied().flatten(),
        None => value(&metric.name, seen, can),
    };
    metrics.iter().enumerate().map(value_of).collect()
}

fn value(name: &str, seen: &Seen<'_>, can: &Abilities) -> Option<f64> {
    let reply = seen.reply;
    match name {
        "wall_s" => wall_s(reply),
        "cpu_s" => cpu_s(reply),
        "user_s" => cpu_s(reply).map(|_| seconds(reply.user_ns + reply.leftover_user_ns)),
        "system_s" => cpu_s(reply).map(|_| seconds(reply.system_ns + reply.leftover_system_ns)),
        "task_clock_s" => task_clock_s(reply, can),
        "main_cpu_s" => main_cpu_s(reply, can),
        "run_queue_wait_s" => run_queue_wait_s(reply, can),
        "peak_rss_bytes" => peak_rss_bytes(reply),
        "page_faults" => page_faults(reply, can),
        "major_faults" => count(reply.major_faults),
        "voluntary_switches" => count(reply.voluntary_switches),
        "involuntary_switches" => count(reply.involuntary_switches),
        "blocks_read" => count(reply.blocks_in).filter(|_| can.disk_blocks),
        "blocks_written" => count(reply.blocks_out).filter(|_| can.disk_blocks),
        "output_bytes" => seen.output_bytes.and_then(count),
        _ => None,
    }
}

/// How the run ended, in the words of a recording.
pub fn exit(reply: &Reply) -> Exit {
    match &reply.outcome {
        Ended::Exited(code) => Exit::Code(*code),
        Ended::Signaled(signal, _) => Exit::Signal(*signal),
        Ended::Stopped(signal) => Exit::Stopped(*signal),
        Ended::TimedOut => Exit::TimedOut,
        Ended::Cancelled => Exit::Interrupted,
        Ended::NotStarted { errno, step } => Exit::NotStarted { errno: *errno, step: step.to_string() },
    }
}

/// Medians of runs of a program that does nothing; `None` if none of them was one.
pub fn floor(replies: &[Reply]) -> Option<Floor> {
    let ended = || replies.iter().filter(|reply| exit(reply).is_success());
    let wall_s = median(ended().filter_map(wall_s).collect())?;
    let cpu_s = median(ended().filter_map(cpu_s).collect());
    Some(Floor { wall_s, cpu_s, peak_rss_bytes: median(ended().filter_map(peak_rss_bytes).collect()) })
}

/// The middle value, the lower of two: this is an order of magnitude, not a result.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied()
}

fn wall_s(reply: &Reply) -> Option<f64> {
    reply.end_ns.checked_sub(reply.exec_ns).map(seconds)
}

fn peak_rss_bytes(reply: &Reply) -> Option<f64> {
    count(reply.maxrss_bytes).filter(|bytes| *bytes > 0.0)
}

/// A program that ran has used some CPU, so 0 means "less than the kernel books". Orphans that ended with the command
/// or while it was waited for them belong to it.
fn cpu_s(reply: &Reply) -> Option<f64> {
    let leftover_ns = reply.leftover_user_ns + reply.leftover_system_ns;
    let total_ns = reply.user_ns + reply.system_ns + leftover_ns;
    (total_ns > 0).then(|| seconds(total_ns))
}

fn task_clock_s(reply: &Reply, can: &Abilities) -> Option<f64> {
    reply.task_clock_ns.filter(|ns| can.task_clock.is_ok() && *ns > 0).map(seconds)
}

fn main_cpu_s(reply: &Reply, can: &Abilities) -> Option<f64> {
    let main = reply.main_thread.as_ref().filter(|main| main.on_cpu_ns > 0 && can.schedstat)?;
    Some(seconds(main.on_cpu_ns))
}

/// The kernel tells how long the *first* thread waited for a CPU. If other threads or children did part of
/// the work, their waiting is not in the number; it would look like a quiet machine where there was none. So
/// it is given only if the first thread used all of the tree's CPU time, up to what the two ways of counting
/// differ by.
///
/// The account is that of a zombie, which may have waited once more after its end was noticed: no run waits longer than
/// the time that it did not use.
fn run_queue_wait_s(reply: &Reply, can: &Abilities) -> Option<f64> {
    let main_cpu_s = main_cpu_s(reply, can)?;
    // wait4 misses descendants that nobody waited for, the task clock does not.
    let tree_cpu_s = cpu_s(reply).unwrap_or(0.0).max(task_clock_s(reply, can).unwrap_or(0.0));
    let is_whole_tree = tree_cpu_s <= main_cpu_s * (1.0 + OTHERS_CPU_SHARE) + OTHERS_CPU_S;
    let main = reply.main_thread.as_ref().filter(|_| is_whole_tree)?;
    let wall_ns = reply.end_ns.checked_sub(reply.exec_ns)?;
    Some(seconds(main.wait_ns.min(wall_ns.saturating_sub(main.on_cpu_ns))))
}

/// A counter that may not look at the kernel misses the faults of system calls (reading into fresh memory),
/// so wait4 is better than that. Every program faults in its first page: a counter that says 0 did not count.
fn page_faults(reply: &Reply, can: &Abilities) -> Option<f64> {
    let counted = reply.page_faults.filter(|faults| can.count_all_faults && *faults > 0);
    count(counted.unwrap_or(reply.minor_faults + reply.major_faults))
}

fn seconds(ns: u64) -> f64 {
    // Divided and not multiplied by 1e-9, which is no exact number: so the result is the nearest and prints
    // short.
    ns as f64 / 1e9
}

fn count(count: u64) -> Option<f64> {
    Some(count as f64)
}

#[cfg(test)]
mod tests {
    use whyslow_launcher::SchedStat;

    use super::super::abilities::ALL;
    use super::*;

    /// A run of 20 ms, 10 ms of it on a CPU, all in the first thread.
    fn reply() -> Reply {
        Reply {
            outcome: Ended::Exited(0),
            exec_ns: 5_000_000,
            end_ns: 25_000_000,
            user_ns: 8_000_000,
            system_ns: 2_000_000,
            maxrss_bytes: 1 << 20,
            minor_faults: 90,
            major_faults: 2,
            voluntary_switches: 3,
            involuntary_switches: 0,
            blocks_in: 16,
            blocks_out: 0,
            main_thread: Some(SchedStat { on_cpu_ns: 10_000_000, wait_ns: 7_000_000, slices: 4 }),
            task_clock_ns: Some(10_100_000),
            page_faults: Some(95),
            leftover_user_ns: 0,
            leftover_system_ns: 0,
            leftovers: Some(0),
            strangers: Some(0),
            request_ns: 4_900_000,
        }
    }

    fn of(name: &str, reply: &Reply, can: &Abilities) -> Option<f64> {
        value(name, &Seen { reply, output_bytes: Some(11), printed: &[] }, can)
    }

    #[test]
    fn every_known_metric_in_the_order_asked() {
        let metrics = Metric::all_known();
        let reply = reply();
        let seen = Seen { reply: &reply, output_bytes: Some(11), printed: &[] };
        let given: Vec<f64> = values(&metrics, &seen, &ALL).into_iter().map(Option::unwrap).collect();
        let expected =
            [0.02, 0.01, 0.008, 0.002, 0.0101, 0.01, 0.007, 1048576.0, 95.0, 2.0, 3.0, 0.0, 16.0, 0.0, 11.0];
        assert_eq!(given.len(), expected.len());
        for ((metric, given), expected) in metrics.iter().zip(given).zip(expected) {
            assert!((given - expected).abs() < 1e-12, "{}: {given}", metric.name);
        }
        assert_eq!(of("instructions", &reply, &ALL), None);
    }

    #[test]
    fn zeros_that_cannot_be_true_are_unknown() {
        let nothing = SchedStat { on_cpu_ns: 0, wait_ns: 0, slices: 0 };
        let silent = Reply {
            user_ns: 0,
            system_ns: 0,
            maxrss_bytes: 0,
            main_thread: Some(nothing),
            task_clock_ns: Some(0),
            page_faults: Some(0),
            ..reply()
        };
        let unknown = [
            "cpu_s",
            "user_s",
            "system_s",
            "task_clock_s",
            "main_cpu_s",
            "run_queue_wait_s",
            "peak_rss_bytes",
        ];
        for name in unknown {
            assert_eq!(of(name, &silent, &ALL), None, "{name}");
        }
        assert_eq!(of("page_faults", &silent, &ALL), Some(92.0), "wait4 counted");
        let all_user = Reply { system_ns: 0, ..reply() };
        assert_eq!(of("system_s", &all_user, &ALL), Some(0.0), "a part may be 0");
    }

    #[test]
    fn what_the_system_denies_is_unknown() {
        let bare = Abilities { schedstat: false, disk_blocks: false, task_clock: Err(libc::EACCES), ..ALL };
        let user_only = Abilities { count_all_faults: false, ..ALL };
        assert_eq!(of("page_faults", &reply(), &user_only), Some(92.0));
        let denied = Reply { task_clock_ns: None, page_faults: None, main_thread: None, ..reply() };
        for name in ["task_clock_s", "main_cpu_s", "run_queue_wait_s", "blocks_read", "blocks_written"] {
            assert_eq!(of(name, &denied, &bare), None, "{name}");
        }
        assert_eq!(of("page_faults", &denied, &bare), Some(92.0));
    }

    #[test]
    fn what_orphans_used_is_in_the_cpu_time() {
        let with = Reply { leftover_user_ns: 4_000_000, leftover_system_ns: 1_000_000, ..reply() };
        assert_eq!(of("cpu_s", &with, &ALL), Some(0.015));
        assert_eq!(of("user_s", &with, &ALL), Some(0.012));
        assert_eq!(of("run_queue_wait_s", &with, &ALL), None, "not all of the work was the first thread's");
    }

    #[test]
    fn the_wait_of_the_first_thread_is_not_given_for_a_tree() {
        // 10 ms in the first thread allow for 1.5 ms elsewhere.
        let single = Reply { user_ns: 9_400_000, ..reply() };
        assert_eq!(of("run_queue_wait_s", &single, &ALL), Some(0.007));
        let waited_for = Reply { user_ns: 9_600_000, ..reply() };
        assert_eq!(of("run_queue_wait_s", &waited_for, &ALL), None);
        let not_waited_for = Reply { task_clock_ns: Some(11_600_000), ..reply() };
        assert_eq!(of("run_queue_wait_s", &not_waited_for, &ALL), None);
        assert_eq!(of("main_cpu_s", &not_waited_for, &ALL), Some(0.01));
    }

    #[test]
    fn no_run_waits_longer_than_it_lasts() {
        let main_thread = Some(SchedStat { on_cpu_ns: 10_000_000, wait_ns: 12_000_000, slices: 4 });
        assert_eq!(of("run_queue_wait_s", &Reply { main_thread, ..reply() }, &ALL), Some(0.01));
        let busy = Some(SchedStat { on_cpu_ns: 21_000_000, wait_ns: 1, slices: 4 });
        assert_eq!(of("run_queue_wait_s", &Reply { main_thread: busy, ..reply() }, &ALL), Some(0.0));
    }

    #[test]
    fn the_floor_is_the_middle_of_the_runs_that_ended_well() {
        let run =
            |wall_ns: u64, user_ns| Reply { end_ns: 5_000_000 + wall_ns, user_ns, system_ns: 0, ..reply() };
        let failed = Reply { outcome: Ended::Exited(1), ..run(1, 1) };
        let floor = floor(&[run(90_000, 0), failed, run(50_000, 40_000), run(60_000, 0)]).unwrap();
        assert!((floor.wall_s - 60e-6).abs() < 1e-12);
        assert_eq!(floor.cpu_s, Some(40e-6));
        assert_eq!(super::floor(&[]), None);
    }

    #[test]
    fn a_run_that_did_not_happen_has_no_values() {
        for outcome in [Ended::NotStarted { errno: 2, step: "exec" }, Ended::Cancelled] {
            let reply = Reply { outcome, ..reply() };
            let seen = Seen { reply: &reply, output_bytes: None, printed: &[] };
            assert!(values(&Metric::all_known(), &seen, &ALL).iter().all(Option::is_none));
        }
    }

    #[test]
    fn ends() {
        let end = |outcome| exit(&Reply { outcome, ..reply() });
        assert_eq!(end(Ended::Exited(22)), Exit::Code(22));
        assert_eq!(end(Ended::Signaled(9, false)), Exit::Signal(9));
        assert_eq!(end(Ended::Stopped(21)), Exit::Stopped(21));
        assert_eq!(end(Ended::TimedOut), Exit::TimedOut);
        assert_eq!(end(Ended::Cancelled), Exit::Interrupted);
    }
}
