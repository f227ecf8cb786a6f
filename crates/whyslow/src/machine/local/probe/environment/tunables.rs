//! What the loader of the program makes of GLIBC_TUNABLES and MALLOC_*: unknown names vanish silently, so the loader itself
//! is asked. Only values are told that are named there, or that differ from those without these variables.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use super::super::proc;
use super::facts::Facts;

pub fn add(facts: &mut Facts, environ: &[u8]) {
    let variables = proc::strings(environ);
    let is_about_it = |name: &[u8]| name.starts_with(b"GLIBC_TUNABLES=") || name.starts_with(b"MALLOC_");
    let wanted: Vec<&[u8]> = variables.into_iter().filter(|name| is_about_it(name)).collect();
    let Some(loader) = facts.get("program.loader").cloned().filter(|path| path.contains("/ld-linux")) else {
        return;
    };
    if wanted.is_empty() {
        return;
    }
    let (usual, effective) = (listed(&loader, &[]), listed(&loader, &wanted));
    for name in wanted.iter().flat_map(|variable| named(variable)) {
        let value = effective.get(&name).cloned().unwrap_or_else(|| "unknown to the loader".to_owned());
        facts.insert(format!("tunable.{name}"), value);
    }
    for (name, value) in effective {
        if usual.get(&name) != Some(&value) {
            facts.insert(format!("tunable.{name}"), value);
        }
    }
}

/// `GLIBC_TUNABLES=name=value:name=value`.
fn named(variable: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(variable);
    let tunables = text.strip_prefix("GLIBC_TUNABLES=").unwrap_or_default();
    tunables.split(':').filter_map(|tunable| Some(tunable.split_once('=')?.0.to_owned())).collect()
}

/// The loader prints and ends; it loads nothing.
fn listed(loader: &str, variables: &[&[u8]]) -> BTreeMap<String, String> {
    let pair = |variable: &&[u8]| {
        let equals = variable.iter().position(|byte| *byte == b'=')?;
        Some((
            OsStr::from_bytes(&variable[..equals]).to_owned(),
            OsStr::from_bytes(&variable[equals + 1..]).to_owned(),
        ))
    };
    let mut command = Command::new(loader);
    command.arg("--list-tunables").env_clear().envs(variables.iter().filter_map(pair));
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
    output.map(|output| parse(&output.stdout)).unwrap_or_default()
}

/// `glibc.malloc.tcache_count: 0x7 (min: 0x0, max: 0xffff)`.
fn parse(text: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(text);
    let pair = |line: &str| {
        let (name, rest) = line.split_once(": ")?;
        let value = rest.split(" (min").next()?;
        name.starts_with("glibc.").then(|| (name.to_owned(), value.trim().to_owned()))
    };
    text.lines().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let text =
            b"glibc.rtld.nns: 0x4 (min: 0x1, max: 0x10)\nglibc.malloc.check: 0 (min: 0, max: 3)\nrubbish\n";
        let listed = parse(text);
        assert_eq!(listed.len(), 2);
        assert_eq!(listed["glibc.rtld.nns"], "0x4");
        assert_eq!(named(b"GLIBC_TUNABLES=a.b=1:c=2:rubbish"), ["a.b", "c"]);
        assert_eq!(named(b"MALLOC_ARENA_MAX=1"), [""; 0]);
    }
}
