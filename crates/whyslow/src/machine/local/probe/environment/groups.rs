//! What the control groups of a process limit. Read while it is in them: a group may be gone before its last process is.

use std::path::Path;

use super::facts::Facts;

const CGROUPS: &str = "/sys/fs/cgroup";

/// `text`: what /proc/PID/cgroup says.
pub fn limits(text: &[u8]) -> Facts {
    let mut facts = Facts::new();
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.lines().collect();
    // Version 1 has a group for every controller, most of them the same.
    let mut paths: Vec<&str> = lines.iter().filter_map(|line| line.splitn(3, ':').nth(2)).collect();
    paths.sort_unstable();
    paths.dedup();
    if paths.is_empty() {
        return facts;
    }
    facts.insert("cgroup".into(), paths.join(", "));
    for line in lines {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        if controllers.is_empty() {
            group_limits(
                &mut facts,
                CGROUPS,
                path,
                &[("cpu.max", "cpu_quota"), ("memory.max", "memory_max")],
            );
        } else if controllers.split(',').any(|name| name == "cpu") {
            let root = format!("{CGROUPS}/{controllers}");
            let files = [("cpu.cfs_quota_us", "cpu_quota"), ("cpu.cfs_period_us", "cpu_period")];
            group_limits(&mut facts, &root, path, &files);
        }
    }
    facts
}

/// The first limit on the way up to the root; those above it may be tighter, so all that limit are named.
fn group_limits(facts: &mut Facts, root: &str, path: &str, files: &[(&str, &str)]) {
    for (file, name) in files {
        let mut found = Vec::new();
        for group in Path::new(path.trim_start_matches('/')).ancestors() {
            let text = std::fs::read_to_string(Path::new(root).join(group).join(file)).unwrap_or_default();
            let value = text.trim();
            if !value.is_empty() && !value.starts_with("max") && value != "-1" {
                found.push(value.to_owned());
            }
        }
        let name = format!("cgroup.{name}");
        // Both versions may be there at once, and one of them limits.
        if found.is_empty() {
            facts.entry(name).or_insert_with(|| "none".to_owned());
        } else {
            facts.insert(name, found.join("; "));
        }
    }
}
