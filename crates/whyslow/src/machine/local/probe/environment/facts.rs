//! From what was seen of the process to facts by name. It compares nothing and leaves out what it does not know.

use std::collections::BTreeMap;

use super::super::proc;
use super::snapshot::Snapshot;
use super::{locales, secrets};

pub type Facts = BTreeMap<String, String>;

/// Arguments and variables beyond these are told by their number and a digest.
const MOST_ARGUMENTS: usize = 256;
const MOST_VARIABLES: usize = 1000;

/// `begun` is how it was started, `ended` what it had at its end.
pub fn add(facts: &mut Facts, begun: &Snapshot, ended: &Snapshot) {
    arguments(facts, begun.argv.as_deref().unwrap_or_default());
    if let Some(environ) = &begun.environ {
        variables(facts, environ);
    }
    if let Some(cwd) = &begun.cwd {
        facts.insert("cwd".into(), cwd.display().to_string());
    }
    streams(facts, begun);
    limits(facts, ended.limits.as_deref().unwrap_or_default());
    status(facts, ended.status.as_deref().unwrap_or_default());
    schedule(facts, ended);
    personality(facts, ended.personality.as_deref().unwrap_or_default());
    facts.extend(ended.groups.clone().unwrap_or_default());
}

fn arguments(facts: &mut Facts, argv: &[u8]) {
    let arguments = proc::strings(argv);
    for (place, argument) in arguments.iter().take(MOST_ARGUMENTS).enumerate() {
        facts.insert(format!("argv.{place}"), secrets::shortened(argument));
    }
    if arguments.len() > MOST_ARGUMENTS {
        let rest = format!("{} arguments, digest {:08x}", arguments.len(), secrets::digest(argv));
        facts.insert("argv.all".into(), rest);
    }
}

fn variables(facts: &mut Facts, environ: &[u8]) {
    let variables = proc::strings(environ);
    facts.insert("env.size".into(), environ.len().to_string());
    facts.insert("env.count".into(), variables.len().to_string());
    for variable in variables.iter().take(MOST_VARIABLES) {
        let Some(equals) = variable.iter().position(|byte| *byte == b'=') else { continue };
        let (name, value) = (&variable[..equals], &variable[equals + 1..]);
        // The first of a name is the one that programs find.
        let fact = format!("env.{}", String::from_utf8_lossy(name));
        facts.entry(fact).or_insert_with(|| secrets::kept(name, value));
    }
    locale(facts, &variables);
    // Without TZ the C library reads /etc/localtime, and looks at that file again and again.
    facts.insert("tz".into(), value(&variables, b"TZ").unwrap_or_else(|| "unset".into()));
    let tunables = value(&variables, b"GLIBC_TUNABLES").unwrap_or_else(|| "none".into());
    facts.insert("tunables".into(), tunables);
}

fn value(variables: &[&[u8]], name: &[u8]) -> Option<String> {
    let is_it = |variable: &&[u8]| Some(variable.strip_prefix(name)?.strip_prefix(b"=")?.to_vec());
    variables.iter().find_map(is_it).map(|value| secrets::shortened(&value))
}

/// The locale that setlocale would take for each category: LC_ALL, then its own variable, then LANG.
fn locale(facts: &mut Facts, variables: &[&[u8]]) {
    let set = |name: &str| value(variables, name.as_bytes()).filter(|value| !value.is_empty());
    let mut effective = Vec::new();
    for category in ["LC_CTYPE", "LC_COLLATE", "LC_NUMERIC", "LC_TIME", "LC_MONETARY", "LC_MESSAGES"] {
        let value = set("LC_ALL").or_else(|| set(category)).or_else(|| set("LANG")).unwrap_or("C".into());
        facts.insert(format!("locale.{category}"), value.clone());
        effective.push(value);
    }
    let path = set("LOCPATH").unwrap_or_default();
    // One that is not there makes setlocale fail as a whole, and everything stays as in C.
    if let Some(missing) = effective.iter().find(|name| !locales::is_installed(name, &path)) {
        facts.insert("locale.missing".into(), missing.clone());
        effective = vec!["C".to_owned()];
    }
    effective.dedup();
    facts.insert("locale".into(), effective.join(", "));
}

fn streams(facts: &mut Facts, begun: &Snapshot) {
    for (name, target) in ["stdin", "stdout", "stderr"].iter().zip(&begun.streams) {
        let Some(target) = target else { continue };
        let target = target.display().to_string();
        // Each pipe and socket has a number of its own, which says nothing.
        let kind = target.split(":[").next().unwrap_or_default().to_owned();
        facts.insert(format!("stream.{name}"), kind);
    }
}

fn limits(facts: &mut Facts, text: &[u8]) {
    for limit in proc::limits(text) {
        facts.insert(format!("limit.{}.soft", limit.name), limit.soft);
        facts.insert(format!("limit.{}.hard", limit.name), limit.hard);
    }
}

/// Lines of /proc/PID/status, and what they are called here.
const STATUS: [(&str, &str); 7] = [
    ("Cpus_allowed_list", "cpu.affinity"),
    ("Mems_allowed_list", "memory.nodes"),
    ("Uid", "user"),
    ("Umask", "umask"),
    ("Seccomp_filters", "seccomp.filters"),
    ("THP_enabled", "memory.thp_allowed"),
    ("Speculation_Store_Bypass", "cpu.store_bypass"),
];

fn status(facts: &mut Facts, text: &[u8]) {
    for (line, name) in STATUS {
        if let Some(value) = proc::field(text, line) {
            facts.insert(name.into(), value.replace('\t', " "));
        }
    }
    let named = |value: &str, names: &[&str]| {
        let name = value.parse::<usize>().ok().and_then(|number| names.get(number).copied());
        name.unwrap_or(value).to_owned()
    };
    if let Some(value) = proc::field(text, "Seccomp") {
        facts.insert("seccomp".into(), named(value, &["off", "strict", "filter"]));
    }
    if let Some(value) = proc::field(text, "NoNewPrivs") {
        facts.insert("no_new_privs".into(), named(value, &["no", "yes"]));
    }
    if let Some(value) = proc::field(text, "TracerPid").and_then(|pid| pid.parse().ok()) {
        facts.insert("tracer".into(), tracer(value));
    }
}

/// We trace it ourselves just now; that is not what an undisturbed run has.
fn tracer(pid: i32) -> String {
    // A tracer is a thread.
    let status = proc::read(pid, "status").unwrap_or_default();
    let process = proc::field(&status, "Tgid").and_then(|process| process.parse::<u32>().ok());
    if pid == 0 || process == Some(std::process::id()) {
        return "none".to_owned();
    }
    proc::field(&status, "Name").unwrap_or("unknown").to_owned()
}

fn schedule(facts: &mut Facts, ended: &Snapshot) {
    let Some(stat) = ended.stat.as_deref().and_then(proc::stat) else { return };
    facts.insert("nice".into(), stat.nice.to_string());
    let policies = ["other", "fifo", "round robin", "batch", "4", "idle", "deadline"];
    let policy = policies.get(stat.policy as usize).copied().unwrap_or("unknown");
    let with_priority = format!("{policy} {}", stat.realtime_priority);
    facts.insert("scheduler".into(), if stat.realtime_priority > 0 { with_priority } else { policy.into() });
    // `/autogroup-12 nice 0`: the number is of the session.
    let autogroup = ended.autogroup.as_deref().map(|text| String::from_utf8_lossy(text).into_owned());
    if let Some(nice) = autogroup.as_deref().and_then(|text| text.trim().split(" nice ").nth(1)) {
        facts.insert("autogroup.nice".into(), nice.to_owned());
    }
}

fn personality(facts: &mut Facts, text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    let Ok(flags) = u64::from_str_radix(text.trim(), 16) else { return };
    facts.insert("personality".into(), format!("{flags:#x}"));
    let is_off = flags & libc::ADDR_NO_RANDOMIZE as u64 != 0;
    facts.insert("aslr".into(), if is_off { "off for this process" } else { "as the kernel says" }.into());
}

/// Whatever the bytes are, nothing may panic: for tests and fuzzers.
#[cfg(any(test, fuzzing))]
pub fn read_all(bytes: &[u8]) {
    let some = || Some(bytes.to_vec());
    let snapshot = Snapshot {
        argv: some(),
        environ: some(),
        status: some(),
        limits: some(),
        stat: some(),
        personality: some(),
        autogroup: some(),
        ..Snapshot::default()
    };
    add(&mut Facts::new(), &snapshot, &snapshot);
    super::groups::limits(bytes);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::mutated::{mutated, of_this_process};
    use super::*;

    fn of(snapshot: Snapshot) -> Facts {
        let mut facts = Facts::new();
        add(&mut facts, &snapshot, &snapshot);
        facts
    }

    #[test]
    fn variables_and_what_follows_from_them() {
        let environ = b"LANG=de_DE.UTF-8\0LC_COLLATE=C\0A=1\0A=2\0API_TOKEN=abc\0no equals\0".to_vec();
        let facts = of(Snapshot { environ: Some(environ.clone()), ..Snapshot::default() });
        assert_eq!(facts["env.A"], "1");
        assert_eq!(facts["env.size"], environ.len().to_string());
        assert_eq!(facts["locale.LC_COLLATE"], "C");
        assert_eq!(facts["locale.LC_CTYPE"], "de_DE.UTF-8");
        assert_eq!(facts["tz"], "unset");
        assert!(!facts["env.API_TOKEN"].contains("abc"));
    }

    #[test]
    fn states_have_words() {
        let status =
            b"Uid:\t0\t0\t0\t0\nTracerPid:\t0\nNoNewPrivs:\t1\nSeccomp:\t2\nCpus_allowed_list:\t0-1\n";
        let facts = of(Snapshot { status: Some(status.to_vec()), ..Snapshot::default() });
        let get = |name: &str| facts[name].as_str();
        assert_eq!([get("tracer"), get("no_new_privs"), get("seccomp")], ["none", "yes", "filter"]);
        assert_eq!([get("cpu.affinity"), get("user")], ["0-1", "0 0 0 0"]);
        let off = of(Snapshot { personality: Some(b"00040000\n".to_vec()), ..Snapshot::default() });
        assert_eq!(off["aslr"], "off for this process");
    }

    #[test]
    fn many_arguments_are_told_by_a_digest() {
        let argv = b"x\0".repeat(1000);
        let facts = of(Snapshot { argv: Some(argv), ..Snapshot::default() });
        assert!(facts["argv.all"].starts_with("1000 arguments") && !facts.contains_key("argv.256"));
    }

    fn file(name: &str) -> impl Strategy<Value = Option<Vec<u8>>> + use<> {
        mutated(of_this_process(&[name, "status"])).prop_map(Some)
    }

    proptest! {
        #[test]
        fn nothing_panics_on_a_real_process_that_is_broken(
            (argv, environ, status) in (file("cmdline"), file("environ"), file("status")),
            (limits, stat, personality) in (file("limits"), file("stat"), file("personality")),
            (autogroup, cgroup) in (file("autogroup"), file("cgroup")),
        ) {
            super::super::groups::limits(&cgroup.unwrap_or_default());
            of(Snapshot { argv, environ, status, limits, stat, personality, autogroup, ..Snapshot::default() });
        }

        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            read_all(&bytes);
        }
    }
}
