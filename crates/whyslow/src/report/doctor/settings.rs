//! What the settings and the state of the machine do to measurements. One function each: what is seen, and whether it
//! weakens them. A warning is only for what is known to add scatter or bias, and says how to be rid of it.

use super::super::quantity::{bytes, count, seconds};
use super::Finding;
use crate::analysis::TICKS_FOR_A_SPLIT;
use crate::model::{CheckUp, Circumstances, CpuQuota, Host};

/// More waiting tasks than this for each CPU disturb.
const BUSY_FROM: f64 = 0.5;
/// Less memory than this share of all makes the kernel take some away from programs.
const SCARCE_BELOW: f64 = 0.05;
/// As much memory as this on a disk makes some programs wait for it.
const SWAP_FROM: f64 = 0.1;
/// Clocks that take a microsecond or more to read.
const SLOW_CLOCKS: [&str; 5] = ["acpi_pm", "hpet", "jiffies", "pit", "refined-jiffies"];

pub fn findings(check_up: &CheckUp) -> Vec<Finding> {
    let (host, now) = (&check_up.host, &check_up.circumstances);
    vec![
        cpus(host, now),
        quota(now),
        load(host, now),
        memory(host, now),
        swap(host, now),
        governor(host),
        turbo(now),
        clock(host),
        hypervisor(host),
        ticks(host),
        huge_pages(now),
        addresses(now),
        autogroup(now),
        perf(now),
        tracing(now),
    ]
}

fn cpus(host: &Host, now: &Circumstances) -> Finding {
    let seen = match now.online_cpus {
        Some(online) => format!("{} of {online} may be used", host.cpus),
        None => format!("{} may be used", host.cpus),
    };
    if host.cpus > 1 {
        return Finding::fine("CPUs", seen);
    }
    Finding::warning(
        "CPUs",
        seen,
        "with a second CPU, whyslow and the kernel's own work keep off that of the command",
    )
}

fn quota(now: &Circumstances) -> Finding {
    match now.cpu_quota {
        None => Finding::unknown("CPU quota"),
        Some(CpuQuota::Unlimited) => Finding::fine("CPU quota", "none"),
        Some(CpuQuota::Cpus(cpus)) => Finding::warning(
            "CPU quota",
            format!("{cpus:.2} CPUs"),
            "runs that use it up are stopped for a while; raise cpu.max, or the CPU limit of the container",
        ),
    }
}

fn load(host: &Host, now: &Circumstances) -> Finding {
    let Some(load) = now.load else { return Finding::unknown("load") };
    let seen = format!("{load:.2} tasks in the last minute on {} CPUs", host.cpus);
    if load <= BUSY_FROM * host.cpus as f64 {
        return Finding::fine("load", seen);
    }
    Finding::warning("load", seen, "end other programs, wait (`--wait-quiet`), or go by CPU time")
}

fn memory(host: &Host, now: &Circumstances) -> Finding {
    let Some(available) = now.available_bytes else { return Finding::unknown("free memory") };
    let seen = host.memory_bytes.map(|all| format!(" of {}", bytes(all as f64))).unwrap_or_default();
    let seen = format!("{}{seen}", bytes(available as f64));
    let is_scarce = host.memory_bytes.is_some_and(|all| (available as f64) < SCARCE_BELOW * all as f64);
    if is_scarce {
        return Finding::warning(
            "free memory",
            seen,
            "end other programs: the kernel takes memory from the measured ones",
        );
    }
    Finding::fine("free memory", seen)
}

fn swap(host: &Host, now: &Circumstances) -> Finding {
    let Some(used) = now.swap_used_bytes else { return Finding::unknown("swap in use") };
    let seen = if used == 0 { "none".to_owned() } else { bytes(used as f64) };
    let is_much = host.memory_bytes.is_some_and(|all| used as f64 > SWAP_FROM * all as f64);
    if is_much {
        return Finding::warning("swap in use", seen, "free memory, then `swapoff -a && swapon -a`");
    }
    Finding::fine("swap in use", seen)
}

fn governor(host: &Host) -> Finding {
    match host.governor.as_deref() {
        None => Finding::unknown("governor")
            .advice("frequencies are not visible here, as in most virtual machines"),
        Some("performance") => Finding::fine("governor", "performance"),
        Some(other) => Finding::warning(
            "governor",
            other,
            "CPUs are slow until they are busy; `cpupower frequency-set -g performance`",
        ),
    }
}

fn turbo(now: &Circumstances) -> Finding {
    match now.turbo {
        None => Finding::unknown("turbo"),
        Some(false) => Finding::fine("turbo", "off"),
        Some(true) => Finding::warning(
            "turbo",
            "on",
            "speed depends on heat and on the other CPUs; write 1 to intel_pstate/no_turbo or 0 to cpufreq/boost in /sys/devices/system/cpu",
        ),
    }
}

fn clock(host: &Host) -> Finding {
    match host.clocksource.as_deref() {
        None => Finding::unknown("clock"),
        Some(slow) if SLOW_CLOCKS.contains(&slow) => Finding::warning(
            "clock",
            slow,
            "reading it is slow; if the kernel offers another, write its name to /sys/devices/system/clocksource/clocksource0/current_clocksource",
        ),
        Some(other) => Finding::fine("clock", other),
    }
}

fn hypervisor(host: &Host) -> Finding {
    match host.hypervisor {
        None => Finding::unknown("virtual machine"),
        Some(false) => Finding::fine("virtual machine", "no"),
        Some(true) => {
            Finding::fine("virtual machine", "yes; time that its host takes away is watched in every run")
        }
    }
}

fn ticks(host: &Host) -> Finding {
    let split = "user and system time";
    match (host.tick_accounting, host.tick_s) {
        (Some(false), _) => Finding::fine(split, "booked exactly"),
        (Some(true), Some(tick_s)) => Finding::fine(
            split,
            format!(
                "booked by the tick of {}: they mean something from {} of CPU time a run",
                seconds(tick_s),
                seconds(TICKS_FOR_A_SPLIT * tick_s)
            ),
        ),
        (Some(true), None) => Finding::fine(
            split,
            format!(
                "booked by the tick: they mean something from {} ticks of CPU time a run",
                count(TICKS_FOR_A_SPLIT)
            ),
        ),
        (None, _) => Finding::unknown(split),
    }
}

fn huge_pages(now: &Circumstances) -> Finding {
    match now.huge_pages.as_deref() {
        None => Finding::unknown("huge pages"),
        Some("always") => Finding::warning(
            "huge pages",
            "always",
            "a run gets them as memory happens to be free; `echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`",
        ),
        Some(other) => Finding::fine("huge pages", other),
    }
}

fn addresses(now: &Circumstances) -> Finding {
    match now.address_randomization {
        None => Finding::unknown("random addresses"),
        Some(0) => Finding::warning(
            "random addresses",
            "off",
            "one layout, lucky or not, is measured every time; `sysctl kernel.randomize_va_space=2`",
        ),
        Some(_) => Finding::fine("random addresses", "on: the luck of one layout averages out"),
    }
}

fn autogroup(now: &Circumstances) -> Finding {
    match now.autogroup {
        None => Finding::unknown("autogroup"),
        Some(true) => {
            Finding::fine("autogroup", "on: `--isolate` can put the commands before all other sessions")
        }
        Some(false) => Finding::fine("autogroup", "off: `nice` ranks the commands among all programs"),
    }
}

fn perf(now: &Circumstances) -> Finding {
    let subject = "perf_event_paranoid";
    match now.perf_event_paranoid {
        None => Finding::unknown(subject),
        Some(level) if level > 2 => Finding::warning(
            subject,
            level.to_string(),
            "only root may count; `sysctl kernel.perf_event_paranoid=2`, or 1 to see the kernel's part too",
        ),
        Some(2) => Finding::fine(subject, "2: without the kernel's part, except for root; 1 shows it"),
        Some(level) => Finding::fine(subject, level.to_string()),
    }
}

fn tracing(now: &Circumstances) -> Finding {
    let subject = "ptrace_scope";
    match now.ptrace_scope {
        None => Finding::unknown(subject),
        Some(level) if level > 1 => Finding::warning(
            subject,
            level.to_string(),
            "programs cannot be looked into; `sysctl kernel.yama.ptrace_scope=1` (3 needs a restart)",
        ),
        Some(level) => Finding::fine(subject, level.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Mark;
    use super::*;

    fn calm() -> CheckUp {
        let host = Host {
            cpus: 4,
            memory_bytes: Some(1 << 30),
            governor: Some("performance".into()),
            ..Host::default()
        };
        let circumstances = Circumstances {
            cpu_quota: Some(CpuQuota::Unlimited),
            turbo: Some(false),
            load: Some(0.1),
            available_bytes: Some(1 << 29),
            swap_used_bytes: Some(0),
            address_randomization: Some(2),
            perf_event_paranoid: Some(1),
            ptrace_scope: Some(0),
            ..Circumstances::default()
        };
        CheckUp { host, circumstances, floor: None, metrics: Vec::new(), probes: Vec::new() }
    }

    fn warned(check_up: &CheckUp) -> Vec<String> {
        let found = findings(check_up).into_iter();
        found.filter(|finding| finding.mark == Mark::Warning).map(|finding| finding.subject).collect()
    }

    #[test]
    fn a_calm_machine_has_no_warnings() {
        assert!(warned(&calm()).is_empty());
    }

    #[test]
    fn every_rule_warns() {
        let host = Host {
            cpus: 1,
            memory_bytes: Some(1 << 30),
            governor: Some("powersave".into()),
            clocksource: Some("hpet".into()),
            ..Host::default()
        };
        let circumstances = Circumstances {
            online_cpus: Some(8),
            cpu_quota: Some(CpuQuota::Cpus(0.5)),
            turbo: Some(true),
            huge_pages: Some("always".into()),
            load: Some(0.6),
            autogroup: Some(true),
            address_randomization: Some(0),
            available_bytes: Some(1 << 20),
            swap_used_bytes: Some(1 << 28),
            perf_event_paranoid: Some(4),
            ptrace_scope: Some(3),
        };
        let bad = CheckUp { host, circumstances, floor: None, metrics: Vec::new(), probes: Vec::new() };
        let all = ["CPUs", "CPU quota", "load", "free memory", "swap in use", "governor", "turbo", "clock"];
        let more = ["huge pages", "random addresses", "perf_event_paranoid", "ptrace_scope"];
        assert_eq!(warned(&bad), [&all[..], &more].concat());
        assert!(
            findings(&bad).iter().all(|finding| finding.mark != Mark::Warning || finding.advice.is_some())
        );
    }

    #[test]
    fn what_the_system_does_not_tell_is_unknown_and_never_0() {
        let blind = CheckUp {
            host: Host { cpus: 2, ..Host::default() },
            circumstances: Circumstances::default(),
            floor: None,
            metrics: Vec::new(),
            probes: Vec::new(),
        };
        for finding in findings(&blind).iter().skip(1) {
            assert_eq!(
                (finding.mark, finding.seen.as_str()),
                (Mark::Unknown, "unknown here"),
                "{}",
                finding.subject
            );
        }
    }
}
