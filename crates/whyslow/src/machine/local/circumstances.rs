//! What weakens or strengthens measurements on this machine right now. Only looks: nothing is changed, and whatever
//! the system does not tell, or tells in a way that is not understood, is unknown.

use std::fs;
use std::path::Path;

use crate::model::{Circumstances, CpuQuota};

const CPUS: &str = "/sys/devices/system/cpu";
const GROUPS: &str = "/sys/fs/cgroup";
const KERNEL: &str = "/proc/sys/kernel";

/// Looks at everything once.
pub fn circumstances() -> Circumstances {
    let memory = text_of("/proc/meminfo").unwrap_or_default();
    Circumstances {
        online_cpus: text_of(&format!("{CPUS}/online")).and_then(|text| listed(&text)),
        cpu_quota: cpu_quota(),
        turbo: turbo(),
        huge_pages: text_of("/sys/kernel/mm/transparent_hugepage/enabled").and_then(|text| chosen(&text)),
        load: text_of("/proc/loadavg").and_then(|text| text.split_whitespace().next()?.parse().ok()),
        autogroup: number(&format!("{KERNEL}/sched_autogroup_enabled")).map(|value| value != 0),
        address_randomization: number(&format!("{KERNEL}/randomize_va_space")),
        available_bytes: memory_field(&memory, "MemAvailable"),
        swap_used_bytes: swap_used(&memory),
        perf_event_paranoid: number(&format!("{KERNEL}/perf_event_paranoid")),
        ptrace_scope: ptrace_scope(),
    }
}

fn text_of(path: &str) -> Option<String> {
    fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn number(path: &str) -> Option<i64> {
    text_of(path)?.trim().parse().ok()
}

/// How many are in a list such as `0-3,8`.
fn listed(text: &str) -> Option<usize> {
    let count = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    text.trim().split(',').map(count).try_fold(0_usize, |sum, count| sum.checked_add(count?))
}

/// The word in brackets.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    let (word, _) = rest.split_once(']')?;
    (!word.is_empty()).then(|| word.to_owned())
}

/// A field of /proc/meminfo, which is in KiB.
fn memory_field(text: &str, wanted: &str) -> Option<u64> {
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = fields.find(|(name, _)| *name == wanted)?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

fn swap_used(text: &str) -> Option<u64> {
    memory_field(text, "SwapTotal")?.checked_sub(memory_field(text, "SwapFree")?)
}

fn turbo() -> Option<bool> {
    let forbidden = number(&format!("{CPUS}/intel_pstate/no_turbo")).map(|value| value != 0);
    let allowed = number(&format!("{CPUS}/cpufreq/boost")).map(|value| value != 0);
    forbidden.map(|is_forbidden| !is_forbidden).or(allowed)
}

/// Where there are such settings but not this one, nothing restricts tracing.
fn ptrace_scope() -> Option<i64> {
    let path = format!("{KERNEL}/yama/ptrace_scope");
    let is_absent = Path::new(KERNEL).is_dir() && !Path::new(&path).exists();
    if is_absent { Some(0) } else { number(&path) }
}

/// The narrowest limit of all groups that this process is in.
fn cpu_quota() -> Option<CpuQuota> {
    let membership = text_of("/proc/self/cgroup")?;
    // Without the mounted tree nobody can tell.
    fs::read_dir(GROUPS).ok()?.next()?.ok()?;
    let limits = directories(&membership).into_iter().filter_map(|directory| limit_in(&directory));
    let narrowest = limits.min_by(f64::total_cmp);
    Some(narrowest.map_or(CpuQuota::Unlimited, CpuQuota::Cpus))
}

/// The directories that can hold a limit for the members of these groups: their own, and all above them.
fn directories(membership: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in membership.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let roots: &[&str] = match controllers {
            "" => &["", "/unified"],
            named if named.split(',').any(|name| name == "cpu") => &["/cpu", "/cpu,cpuacct"],
            _ => continue,
        };
        for root in roots {
            let levels = Path::new(path).ancestors().filter_map(Path::to_str);
            found.extend(levels.map(|level| format!("{GROUPS}{root}{}", level.trim_end_matches('/'))));
        }
    }
    found
}

fn limit_in(directory: &str) -> Option<f64> {
    let unified = text_of(&format!("{directory}/cpu.max")).and_then(|text| share(&text));
    let apart = || {
        let quota = text_of(&format!("{directory}/cpu.cfs_quota_us"))?;
        share(&format!("{quota} {}", text_of(&format!("{directory}/cpu.cfs_period_us"))?))
    };
    unified.or_else(apart)
}

/// Quota and period, as CPUs; `max` and -1 are no limit.
fn share(text: &str) -> Option<f64> {
    let mut words = text.split_whitespace().map(str::parse::<f64>);
    let (quota, period) = (words.next()?.ok()?, words.next()?.ok()?);
    (quota > 0.0 && period > 0.0 && quota.is_finite()).then(|| quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_counted() {
        for (text, count) in [("0\n", 1), ("0-3", 4), ("0-3,8,10-11\n", 7)] {
            assert_eq!(listed(text), Some(count), "{text}");
        }
        for garbage in ["", "\n", "x", "3-1", "0-", "1,,2", "0-18446744073709551615"] {
            assert_eq!(listed(garbage), None, "{garbage}");
        }
    }

    #[test]
    fn the_choice_is_in_brackets() {
        assert_eq!(chosen("always [madvise] never\n").as_deref(), Some("madvise"));
        for garbage in ["", "always", "[always", "][", "[]"] {
            assert_eq!(chosen(garbage), None, "{garbage}");
        }
    }

    #[test]
    fn memory_that_is_left() {
        let text = "MemTotal: 100 kB\nMemAvailable:   40 kB\nSwapTotal: 9 kB\nSwapFree: 9 kB\n";
        assert_eq!(memory_field(text, "MemAvailable"), Some(40 * 1024));
        assert_eq!(swap_used(text), Some(0));
        assert_eq!(swap_used("SwapTotal: 1 kB\nSwapFree: 2 kB\n"), None);
        for garbage in ["", "MemAvailable", "MemAvailable: kB", "MemAvailable: 4", "MemAvailable: -1 kB"] {
            assert_eq!(memory_field(garbage, "MemAvailable"), None, "{garbage}");
        }
    }

    #[test]
    fn quotas() {
        assert_eq!(share("150000 100000\n"), Some(1.5));
        for unlimited in ["max 100000\n", "-1\n 100000\n", "", "100000", "0 0", "inf 1"] {
            assert_eq!(share(unlimited), None, "{unlimited}");
        }
    }

    #[test]
    fn a_limit_may_be_in_any_group_above() {
        let both = "3:cpuset:/x\n2:cpu,cpuacct:/a\n0::/user.slice/b:c\nnonsense\n";
        let found = directories(both);
        for expected in [
            "/sys/fs/cgroup/cpu,cpuacct/a",
            "/sys/fs/cgroup/cpu",
            "/sys/fs/cgroup/user.slice/b:c",
            "/sys/fs/cgroup/user.slice",
            "/sys/fs/cgroup",
        ] {
            assert!(found.iter().any(|path| path == expected), "{expected} in {found:?}");
        }
        assert!(directories("").is_empty());
    }
}
