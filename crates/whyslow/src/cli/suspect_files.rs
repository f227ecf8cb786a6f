//! Suspects that users wrote, from files.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::Trouble;
use crate::explain::custom::{self, CustomSuspect};
use crate::machine::local::check_edits;
use crate::model::Edit;

/// Nobody writes more.
const LARGEST_BYTES: u64 = 1 << 20;
const WHAT_TO_NAME: &str =
    "name a TOML file, or a directory of files that end in .toml; docs/explain-your-own.md shows the form";

/// Suspects in files, or in all files of a directory that end in .toml.
pub fn read(paths: &[PathBuf]) -> Result<Vec<CustomSuspect>, Trouble> {
    let mut all = Vec::new();
    for path in paths {
        let files = if path.is_dir() { files_in(path)? } else { vec![path.clone()] };
        for file in files {
            all.extend(suspects(&file)?);
        }
    }
    Ok(all)
}

fn trouble(path: &Path, why: impl std::fmt::Display) -> Trouble {
    Trouble::new(format!("cannot read {}: {why}", path.display())).hint(WHAT_TO_NAME)
}

fn files_in(directory: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let failed = |error| trouble(directory, error);
    let entries: Result<Vec<_>, _> = directory.read_dir().map_err(failed)?.collect();
    let mut found: Vec<PathBuf> = entries.map_err(failed)?.iter().map(std::fs::DirEntry::path).collect();
    found.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    found.sort();
    if found.is_empty() {
        return Err(trouble(directory, "no file in it ends in .toml"));
    }
    Ok(found)
}

fn suspects(file: &Path) -> Result<Vec<CustomSuspect>, Trouble> {
    let text = text(file)?;
    custom::parse(&text, &can_be_made).map_err(|error| {
        Trouble::new(format!("{}, line {}: {}", file.display(), error.line, error.what)).hint(error.remedy)
    })
}

/// Reading what is no file may never end.
fn text(file: &Path) -> Result<String, Trouble> {
    let failed = |error| trouble(file, error);
    let about = std::fs::metadata(file).map_err(failed)?;
    if !about.is_file() {
        return Err(trouble(file, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(file).map_err(failed)?.take(LARGEST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LARGEST_BYTES {
        return Err(trouble(file, "it is larger than 1 MiB"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|byte| *byte == b'\n').count();
        trouble(file, format!("line {line} is not text in UTF-8"))
    })
}

fn can_be_made(edits: &[Edit]) -> Result<(), (String, String)> {
    check_edits(edits).map_err(|error| {
        let trouble = Trouble::from(&error);
        (trouble.what, trouble.hint.unwrap_or_else(|| WHAT_TO_NAME.to_owned()))
    })
}
