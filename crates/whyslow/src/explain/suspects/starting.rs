//! What it takes to start programs with shared libraries: the evidence that the suspects about linking share.

use super::allocating::more_faults;
use super::signs;
use crate::explain::{Case, Side};
use crate::model::{ElfFacts, LoadedProgram};

/// Starting one dynamic program, and loading one library more, where the loader gave no times.
const LOAD_S: f64 = 0.4e-3;
const LIBRARY_S: f64 = 60e-6;
/// Looking up one symbol.
const RELOCATION_S: f64 = 0.1e-6;
/// Counts that are so close are alike.
const ALIKE: f64 = 1.15;

/// Sums over all programs that a side starts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Starts {
    pub dynamic: f64,
    pub libraries: f64,
    pub relocations: f64,
    pub search_misses: f64,
    /// In the loader.
    pub seconds: Option<f64>,
}

impl Starts {
    /// The sign of what the loader takes, where its clock was read.
    pub fn in_loader(&self) -> Option<String> {
        self.seconds.map(|seconds| format!("{} in the loader", signs::seconds(seconds)))
    }
}

pub fn starts(side: &Side<'_>) -> Option<Starts> {
    let loading = side.loading()?;
    let sum = |count: fn(&LoadedProgram) -> f64| -> f64 {
        loading.programs.iter().map(|program| starts_of(program) * count(program)).sum()
    };
    Some(Starts {
        dynamic: loading.loads? as f64,
        libraries: sum(|program| program.libraries.len() as f64),
        relocations: loading.relocations as f64,
        search_misses: sum(|program| program.search_misses as f64),
        seconds: loading.startup_s,
    })
}

fn starts_of(program: &LoadedProgram) -> f64 {
    program.starts.map_or(1.0, |starts| starts as f64)
}

/// Both sides, the fast one first.
pub fn both(case: &Case<'_>) -> Option<(Starts, Starts)> {
    Some((starts(&case.fast)?, starts(&case.slow)?))
}

pub fn is_alike(one: f64, other: f64) -> bool {
    one.max(other) <= one.min(other) * ALIKE
}

/// Cost of what the loader does more: by its own clock where it gave one, and the pages that it touches.
pub fn more_s(case: &Case<'_>, fast: &Starts, slow: &Starts) -> f64 {
    let by_clock = slow.seconds.zip(fast.seconds.or((fast.dynamic == 0.0).then_some(0.0)));
    let by_count = || {
        let loads = (slow.dynamic - fast.dynamic).max(0.0) * LOAD_S;
        let libraries = (slow.libraries - fast.libraries).max(0.0) * LIBRARY_S;
        let symbols = (slow.relocations - fast.relocations).max(0.0) * RELOCATION_S;
        loads.max(libraries) + symbols
    };
    let in_loader = by_clock.map_or_else(by_count, |(slow, fast)| (slow - fast).max(0.0));
    in_loader + more_faults(case) * case.prices.fault_s
}

/// Processes that go on in the program of their parent.
pub fn forks(side: &Side<'_>) -> Option<u64> {
    let syscalls = side.syscalls()?;
    Some(syscalls.processes.saturating_sub(syscalls.starts.max(1)))
}

/// Whether one of the programs of this side has a property of its file.
pub fn any_elf(side: &Side<'_>, is_so: impl Fn(&ElfFacts) -> bool) -> bool {
    let programs = side.loading().map(|loading| loading.programs.as_slice()).unwrap_or_default();
    programs.iter().filter_map(|program| program.elf.as_ref()).any(is_so)
}

/// Places searched for a shared library in vain, more on the slow side.
pub fn more_search_misses(case: &Case<'_>) -> Option<f64> {
    let is_library = |path: &str| {
        let name = signs::base_name(path);
        name.contains(".so") && (name.ends_with(".so") || name.contains(".so."))
    };
    let by_files = signs::more_of_files(case, is_library, |file| file.missed);
    let by_calls = signs::more_errors(case, &["openat", "open"], "ENOENT");
    // The list of files has an end, the count of calls has none.
    let by_loader = both(case).map(|(fast, slow)| slow.search_misses - fast.search_misses);
    match (by_files, by_calls) {
        (Some(files), Some(calls)) if files > 0.5 * calls => Some(calls.max(files)),
        (Some(files), _) => Some(files.max(by_loader.unwrap_or(0.0))),
        (None, calls) => by_loader.filter(|misses| *misses > 0.0).or(calls),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::model::Loading;

    /// One program with so many starts and libraries.
    pub fn program(path: &str, starts: u64, libraries: u64) -> LoadedProgram {
        LoadedProgram {
            path: path.to_owned(),
            starts: Some(starts),
            libraries: (0..libraries).map(|number| format!("lib{number}.so")).collect(),
            elf: Some(ElfFacts { is_static: libraries == 0, ..ElfFacts::default() }),
            ..LoadedProgram::default()
        }
    }

    pub fn load(loading: &mut Loading, path: &str, starts: u64, libraries: u64) {
        *loading.loads.get_or_insert(0) += if libraries > 0 { starts } else { 0 };
        loading.programs.push(program(path, starts, libraries));
    }
}
