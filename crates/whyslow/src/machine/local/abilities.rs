//! Which metrics this machine can give, and in the user's words why it cannot give the others. It looks once,
//! at the start, at one run of a program that does nothing; a number that cannot be true there (a CPU time of
//! 0 where the kernel counts it) is treated as absent for good, because a silent 0 would be believed.

use std::io;
use std::mem::MaybeUninit;
use std::path::Path;

use whyslow_launcher::{Counters, Reply};

use crate::model::{Missing, known_metric};

/// What the system lets us see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// `Err` holds the error number of `perf_event_open`.
    pub task_clock: Result<(), i32>,
    /// The counter of page faults sees the kernel's too.
    pub count_all_faults: bool,
    pub schedstat: bool,
    pub peak_memory: bool,
    pub disk_blocks: bool,
    /// There is a /proc.
    pub proc: bool,
    /// It tells the children of a process.
    pub children: bool,
    pub perf_paranoid: Option<i32>,
}

impl Abilities {
    /// `probe` is a run of the null program.
    pub fn new(counters: &Counters, probe: &Reply) -> Abilities {
        let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok();
        Abilities {
            task_clock: counters.task_clock.map(|_| ()),
            count_all_faults: counters.page_faults == Ok(true),
            schedstat: probe.main_thread.is_some_and(|main| main.on_cpu_ns > 0),
            peak_memory: own_peak_is_known(),
            // wait4 says 0 both for a run without disk access and on a kernel that does not count; this file
            // is there exactly if it counts.
            disk_blocks: Path::new("/proc/self/io").exists(),
            proc: Path::new("/proc/self").exists(),
            children: Path::new("/proc/thread-self/children").exists(),
            perf_paranoid: paranoid.and_then(|text| text.trim().parse().ok()),
        }
    }

    /// `Err` says why the metric cannot be had and how to get it.
    pub fn check(&self, name: &str) -> Result<(), Missing> {
        let Some(known) = known_metric(name) else {
            return Err(missing(name, "no such metric is known".to_owned(), None));
        };
        match name {
            "task_clock_s" => self.task_clock.map_err(|errno| {
                let (why, remedy) = why_no_perf(errno, self.perf_paranoid);
                missing(known.title, why, remedy)
            }),
            "main_cpu_s" | "run_queue_wait_s" if !self.schedstat => {
                Err(self.not_in_proc(known.title, "/proc/PID/schedstat", "CONFIG_SCHED_INFO"))
            }
            "blocks_read" | "blocks_written" if !self.disk_blocks => {
                Err(self.not_in_proc(known.title, "/proc/PID/io", "CONFIG_TASK_IO_ACCOUNTING"))
            }
            "peak_rss_bytes" if !self.peak_memory => Err(missing(
                known.title,
                "the kernel reports a peak of 0 bytes for every program".to_owned(),
                None,
            )),
            _ => Ok(()),
        }
    }

    /// What cannot be seen of any run.
    pub fn blind_spots(&self) -> Vec<Missing> {
        let what = "descendants that outlive a command";
        let spot = match (self.proc, self.children) {
            (_, true) => None,
            (false, _) => Some(missing(
                what,
                "descendants cannot be seen without /proc".to_owned(),
                Some("mount -t proc proc /proc".to_owned()),
            )),
            (true, false) => {
                Some(self.not_in_proc(what, "/proc/PID/task/TID/children", "CONFIG_PROC_CHILDREN"))
            }
        };
        spot.into_iter().collect()
    }

    fn not_in_proc(&self, title: &str, file: &str, option: &str) -> Missing {
        if !self.proc {
            return missing(
                title,
                "there is no /proc".to_owned(),
                Some("mount -t proc proc /proc".to_owned()),
            );
        }
        let remedy = format!("a kernel built with {option}");
        missing(title, format!("the kernel does not give {file}"), Some(remedy))
    }
}

/// Why `perf_event_open` failed, and what to do about it.
pub fn why_no_perf(errno: i32, paranoid: Option<i32>) -> (String, Option<String>) {
    let why = match (errno, paranoid) {
        (libc::ENODATA, _) => "the counter of perf_event_open stays at 0".to_owned(),
        (libc::ENOSYS | libc::ENOENT | libc::EOPNOTSUPP, _) => {
            "this kernel has no perf_event_open".to_owned()
        }
        (_, Some(level)) if is_refusal(errno) => {
            format!("perf_event_open is not permitted (kernel.perf_event_paranoid = {level})")
        }
        _ if is_refusal(errno) => "perf_event_open is not permitted".to_owned(),
        _ => format!("perf_event_open failed: {}", io::Error::from_raw_os_error(errno)),
    };
    // With a lower setting, something else than the setting stands in the way.
    let is_setting_too_strict = paranoid.is_some_and(|level| level > 2);
    let remedy = if is_setting_too_strict {
        "sysctl kernel.perf_event_paranoid=2 or less"
    } else {
        "let the sandbox or container allow it (docker: --security-opt seccomp=unconfined)"
    };
    (why, is_refusal(errno).then(|| remedy.to_owned()))
}

/// Asked of this process, because the null program is so small that a kernel may round its peak to 0.
fn own_peak_is_known() -> bool {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills the structure, and zeroes are valid for it should it fail.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    usage.ru_maxrss > 0
}

fn is_refusal(errno: i32) -> bool {
    matches!(errno, libc::EACCES | libc::EPERM)
}

fn missing(what: &str, why: String, remedy: Option<String>) -> Missing {
    Missing { what: what.to_owned(), why, remedy }
}

/// Where the system gives everything.
#[cfg(test)]
pub const ALL: Abilities = Abilities {
    task_clock: Ok(()),
    count_all_faults: true,
    schedstat: true,
    peak_memory: true,
    disk_blocks: true,
    proc: true,
    children: true,
    perf_paranoid: Some(2),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::KNOWN_METRICS;

    #[test]
    fn everything_known_can_be_had_where_the_system_gives_all() {
        for known in KNOWN_METRICS {
            assert_eq!(ALL.check(known.name), Ok(()), "{}", known.name);
        }
        assert_eq!(ALL.check("instructions").unwrap_err().what, "instructions");
    }

    #[test]
    fn a_refused_counter_names_the_setting_only_if_the_setting_is_the_reason() {
        let strict = Abilities { task_clock: Err(libc::EACCES), perf_paranoid: Some(4), ..ALL };
        let missing = strict.check("task_clock_s").unwrap_err();
        assert_eq!(missing.why, "perf_event_open is not permitted (kernel.perf_event_paranoid = 4)");
        assert_eq!(missing.remedy.as_deref(), Some("sysctl kernel.perf_event_paranoid=2 or less"));

        let filtered = Abilities { task_clock: Err(libc::EPERM), ..ALL };
        assert!(filtered.check("task_clock_s").unwrap_err().remedy.unwrap().contains("seccomp"));

        let absent = Abilities { task_clock: Err(libc::ENOSYS), ..ALL };
        assert_eq!(absent.check("task_clock_s").unwrap_err().remedy, None);
        assert_eq!(absent.check("page_faults"), Ok(()), "wait4 counts them too");
    }

    #[test]
    fn without_proc_the_rest_is_still_there() {
        let bare = Abilities {
            task_clock: Err(libc::EPERM),
            schedstat: false,
            disk_blocks: false,
            proc: false,
            children: false,
            perf_paranoid: None,
            ..ALL
        };
        for name in ["main_cpu_s", "run_queue_wait_s", "blocks_read", "blocks_written"] {
            assert_eq!(bare.check(name).unwrap_err().why, "there is no /proc", "{name}");
        }
        for name in ["wall_s", "cpu_s", "peak_rss_bytes", "page_faults", "output_bytes"] {
            assert_eq!(bare.check(name), Ok(()), "{name}");
        }
        assert_eq!(bare.blind_spots()[0].why, "descendants cannot be seen without /proc");
        assert_eq!(ALL.blind_spots(), []);
        let partly = Abilities { children: false, ..ALL };
        assert!(partly.blind_spots()[0].remedy.as_deref().unwrap().contains("CONFIG_PROC_CHILDREN"));
    }
}
