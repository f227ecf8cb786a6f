//! Modules of interpreted languages, by the files that are opened for them: the evidence that the suspects about imports,
//! bytecode and search paths share.

use std::collections::BTreeSet;

use super::signs;
use crate::explain::{Case, Side};
use crate::model::FileUse;

/// Finding, reading and running one module, measured for the standard libraries of Python and Perl.
pub const MODULE_S: f64 = 0.35e-3;
/// Compiling one Python module for want of its bytecode.
pub const COMPILE_S: f64 = 2e-3;

const SOURCES: [&str; 7] = [".py", ".pm", ".pl", ".rb", ".mjs", ".cjs", ".lua"];

/// Whether a path is that of a module, in source or in bytecode.
fn is_module(path: &str) -> bool {
    let is_node = path.contains("/node_modules/") && path.ends_with(".js");
    SOURCES.iter().any(|end| path.ends_with(end)) || path.ends_with(".pyc") || is_node
}

/// Where a module is looked for: its name with any of the ends that a loader tries.
fn is_searched(path: &str) -> bool {
    is_module(path)
        || path.contains("/site-packages/")
        || path.contains("/lib/perl5/")
        || path.ends_with(".pmc")
}

/// Modules that a side opens, by what they are called: a source and its bytecode are one.
pub fn opened(side: &Side<'_>) -> Option<f64> {
    let files = &side.files()?.files;
    let is_opened = |file: &&FileUse| file.opened > 0 && is_module(&file.path);
    let by_name: BTreeSet<(String, u64)> =
        files.iter().filter(is_opened).map(|file| (stem(&file.path), file.opened)).collect();
    Some(by_name.iter().map(|(_, opened)| *opened as f64).sum())
}

/// `bigpkg/m1` for both `bigpkg/m1.py` and `bigpkg/__pycache__/m1.cpython-311.pyc`.
fn stem(path: &str) -> String {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).trim_end_matches("/__pycache__");
    let name = signs::base_name(path).split('.').next().unwrap_or_default();
    format!("{folder}/{name}")
}

/// Bytecode that was looked for and is not there, more on the slow side.
pub fn more_missing_bytecode(case: &Case<'_>) -> Option<f64> {
    let missed = |file: &FileUse| file.missed + file.stat_missed;
    signs::more_of_files(case, |path| path.ends_with(".pyc"), missed)
}

/// Bytecode that was read, more on the fast side. What is not listed on the slow side may have been read all the same.
pub fn less_bytecode(case: &Case<'_>) -> Option<f64> {
    let is_cut = case.slow.files().is_some_and(|seen| seen.paths > seen.files.len() as u64);
    if is_cut {
        return None;
    }
    let opened = |file: &FileUse| file.opened.saturating_sub(file.missed);
    signs::more_of_files(case, |path| path.ends_with(".pyc"), opened).map(|more| -more)
}

/// Places searched for modules in vain, more on the slow side.
pub fn more_search_misses(case: &Case<'_>) -> Option<f64> {
    signs::more_of_files(case, is_searched, |file| file.missed + file.stat_missed)
}

/// Looks at folders that only the slow side searches, and what was looked for there in vain.
pub fn more_looks_at_folders(case: &Case<'_>, folders: &[String]) -> Option<f64> {
    let folder_of = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let is_folder = |path: &str| folders.iter().any(|folder| folder == path);
    let at_folders = signs::more_of_files(case, is_folder, |file| file.opened + file.missed + file.stated)?;
    let is_below = |path: &str| folder_of(path).is_some_and(|folder| folders.contains(&folder));
    let within = signs::more_of_files(case, is_below, |file| file.missed + file.stat_missed)?;
    Some(at_folders + within)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    #[test]
    fn a_source_and_its_bytecode_are_one_module() {
        let test = TestCase::new("python3 a.py", "python3 b.py")
            .files(|_, slow| {
                for path in ["/p/m1.py", "/p/__pycache__/m1.cpython-311.pyc", "/p/m2.py", "/etc/passwd"] {
                    slow.file(FileUse { path: path.to_owned(), opened: 1, ..FileUse::default() });
                }
            })
            .build();
        assert_eq!(opened(&test.case().slow), Some(2.0));
        assert_eq!(opened(&test.case().fast), Some(0.0));
    }
}
