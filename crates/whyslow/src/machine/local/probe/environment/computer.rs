//! Settings of the kernel and the CPU that every run here has in common: for comparing with another computer.

use std::fs;

use super::super::super::host;
use super::facts::Facts;
use super::secrets;

const FILES: [(&str, &str); 20] = [
    ("kernel.version", "/proc/sys/kernel/version"),
    ("kernel.thp", "/sys/kernel/mm/transparent_hugepage/enabled"),
    ("kernel.thp_defrag", "/sys/kernel/mm/transparent_hugepage/defrag"),
    ("kernel.thp_shmem", "/sys/kernel/mm/transparent_hugepage/shmem_enabled"),
    ("kernel.clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("kernel.governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    ("kernel.energy_preference", "/sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference"),
    ("kernel.max_frequency", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq"),
    ("kernel.no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo"),
    ("kernel.boost", "/sys/devices/system/cpu/cpufreq/boost"),
    ("kernel.smt", "/sys/devices/system/cpu/smt/control"),
    ("kernel.aslr", "/proc/sys/kernel/randomize_va_space"),
    ("kernel.overcommit", "/proc/sys/vm/overcommit_memory"),
    ("kernel.swappiness", "/proc/sys/vm/swappiness"),
    ("kernel.numa_balancing", "/proc/sys/kernel/numa_balancing"),
    ("kernel.autogroup", "/proc/sys/kernel/sched_autogroup_enabled"),
    ("kernel.somaxconn", "/proc/sys/net/core/somaxconn"),
    ("kernel.max_map_count", "/proc/sys/vm/max_map_count"),
    ("kernel.ksm", "/sys/kernel/mm/ksm/run"),
    ("kernel.mglru", "/sys/kernel/mm/lru_gen/enabled"),
];

pub fn add(facts: &mut Facts) {
    let host = host::host();
    facts.insert("kernel.release".into(), host.kernel);
    facts.insert("cpu.architecture".into(), host.architecture);
    if let Some(model) = host.cpu_model {
        facts.insert("cpu.model".into(), model);
    }
    if let Some(bytes) = host.memory_bytes {
        facts.insert("memory.total_bytes".into(), bytes.to_string());
    }
    for (name, path) in FILES {
        if let Some(value) = fs::read_to_string(path).ok().as_deref().and_then(setting) {
            facts.insert(name.into(), value);
        }
    }
    mitigations(facts);
    features(facts, &fs::read_to_string("/proc/cpuinfo").unwrap_or_default());
    system(facts);
}

/// Of a choice such as `always [madvise] never` only what is chosen.
fn setting(text: &str) -> Option<String> {
    let text = text.trim();
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(chosen, _)| chosen);
    let value = chosen.unwrap_or(text);
    (!value.is_empty()).then(|| value.to_owned())
}

/// What the kernel does against faults of the CPU costs time in system calls.
fn mitigations(facts: &mut Facts) {
    let command_line = fs::read_to_string("/proc/cmdline").unwrap_or_default();
    let asked = command_line.split_whitespace().find_map(|word| word.strip_prefix("mitigations="));
    facts.insert("kernel.mitigations".into(), asked.unwrap_or("as the kernel decides").to_owned());
    let Ok(entries) = fs::read_dir("/sys/devices/system/cpu/vulnerabilities") else { return };
    for entry in entries.flatten() {
        let Ok(state) = fs::read_to_string(entry.path()) else { continue };
        if state.starts_with("Mitigation") {
            let name = entry.file_name().to_string_lossy().into_owned();
            facts.insert(format!("kernel.mitigation.{name}"), state.trim().to_owned());
        }
    }
}

fn features(facts: &mut Facts, cpu_text: &str) {
    let field = |line: &str| {
        let (key, value) = line.split_once(':')?;
        ["flags", "Features"].contains(&key.trim()).then(|| value.trim().to_owned())
    };
    let Some(features) = cpu_text.lines().find_map(field) else { return };
    let mut words: Vec<&str> = features.split_whitespace().collect();
    words.sort_unstable();
    let digest = secrets::digest(words.join(" ").as_bytes());
    facts.insert("cpu.features".into(), format!("{} features, digest {digest:08x}", words.len()));
    // Those that libraries choose their code by.
    for name in
        ["avx", "avx2", "avx512f", "avx512bw", "aes", "sha_ni", "erms", "fsrm", "bmi2", "sve", "asimd"]
    {
        facts.insert(format!("cpu.feature.{name}"), if words.contains(&name) { "yes" } else { "no" }.into());
    }
}

fn system(facts: &mut Facts) {
    let text = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    if let Some(name) = name {
        facts.insert("system".into(), name.trim_matches('"').to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices() {
        assert_eq!(setting("always [madvise] never\n").as_deref(), Some("madvise"));
        assert_eq!(setting(" tsc \n").as_deref(), Some("tsc"));
        assert_eq!(setting("\n"), None);
        assert_eq!(setting("[\n").as_deref(), Some("["));
    }

    #[test]
    fn this_computer_has_a_kernel() {
        let mut facts = Facts::new();
        add(&mut facts);
        assert!(facts["kernel.release"].starts_with("Linux"), "{facts:?}");
    }
}
