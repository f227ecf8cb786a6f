//! The files of the programs that were started: what each says about itself, or whose script it is.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::super::elf;
use super::starts::OneProgram;
use crate::model::{LoadedProgram, StartedProgram};

const MOST_PROGRAMS: usize = 40;

/// The kernel reads no more of a first line.
const FIRST_LINE_BYTES: usize = 256;

/// Those that were started most often, then those that ran their scripts.
pub fn programs(started: &[StartedProgram], loaded: &HashMap<PathBuf, OneProgram>) -> Vec<LoadedProgram> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for program in started {
        let path = canonical(Path::new(&program.path));
        seen.insert(path.clone());
        found.push(one(program.path.clone(), Some(program.starts), &path, loaded));
    }
    let mut others: Vec<_> = loaded.iter().filter(|(path, _)| !seen.contains(*path)).collect();
    others.sort_by(|a, b| b.1.starts.cmp(&a.1.starts).then_with(|| a.0.cmp(b.0)));
    for (path, program) in others {
        found.push(one(path.display().to_string(), Some(program.starts), path, loaded));
    }
    found.truncate(MOST_PROGRAMS);
    found
}

fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

pub fn one(
    name: String,
    starts: Option<u64>,
    path: &Path,
    loaded: &HashMap<PathBuf, OneProgram>,
) -> LoadedProgram {
    let script = first_line(path);
    let elf = if script.is_none() { elf::facts(path) } else { None };
    let runner = script.as_deref().and_then(interpreter).map(|path| canonical(&path));
    let load = loaded.get(runner.as_deref().unwrap_or(path));
    LoadedProgram {
        path: name,
        starts,
        libraries: load.map(|load| load.libraries.clone()).unwrap_or_default(),
        search_misses: load.map_or(0, |load| load.search_misses),
        elf,
        script,
    }
}

/// Of a script.
fn first_line(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(FIRST_LINE_BYTES as u64).read_to_end(&mut bytes).ok()?;
    let line = bytes.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    Some(format!("#!{}", String::from_utf8_lossy(line).trim()))
}

fn interpreter(first_line: &str) -> Option<PathBuf> {
    let path = first_line.strip_prefix("#!")?.split_whitespace().next()?;
    Some(PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_name_their_interpreters() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("script");
        fs::write(&path, "#! /bin/sh -e\necho\n").unwrap();
        let line = first_line(&path).unwrap();
        assert_eq!(line, "#!/bin/sh -e");
        assert_eq!(interpreter(&line), Some(PathBuf::from("/bin/sh")));
        assert_eq!(first_line(Path::new("/bin/true")), None);
        assert_eq!(interpreter("#!"), None);
    }
}
