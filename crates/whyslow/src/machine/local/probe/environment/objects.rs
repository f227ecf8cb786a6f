//! The program file and the libraries that were mapped: which they are, and whose malloc is used.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use regex::bytes::Regex;

use super::super::elf;
use super::super::proc::{self, Mapped};
use super::facts::Facts;
use crate::model::OWN_MALLOC;

const MOST_LIBRARIES: usize = 400;

/// A C library has its version in the first megabytes.
const MOST_LIBC_BYTES: u64 = 8 << 20;

pub fn add(facts: &mut Facts, program: &Path, maps: &[u8]) {
    facts.insert("program.path".into(), program.display().to_string());
    if let Ok(file) = program.metadata() {
        facts.insert("program.size".into(), file.len().to_string());
    }
    let identity = elf::identity(program).unwrap_or_default();
    facts.extend(identity.build_id.map(|id| ("program.build_id".to_owned(), id)));
    facts.extend(identity.interpreter.map(|path| ("program.loader".to_owned(), path)));
    let has_own = elf::facts(program).is_some_and(|facts| facts.own_malloc);
    let mut owner = has_own.then(|| OWN_MALLOC.to_owned());
    let mut libc = None;
    for mapped in libraries(maps, program).take(MOST_LIBRARIES) {
        let path = Path::new(&mapped.path);
        let Some(identity) = elf::identity(path) else { continue };
        let soname = identity.soname.unwrap_or_else(|| file_name(path));
        if soname.starts_with("libc.so") || soname.starts_with("libc.musl") {
            libc = Some(mapped.path.clone());
        } else if identity.exports_malloc && !soname.starts_with("ld-") {
            owner.get_or_insert_with(|| mapped.path.clone());
        }
        let build_id = identity.build_id.unwrap_or_else(|| "no build id".to_owned());
        facts.insert(format!("library.{soname}"), format!("{} {build_id}", mapped.path));
    }
    if !maps.is_empty() {
        facts.extend(owner.or(libc.clone()).map(|owner| ("malloc_owner".to_owned(), owner)));
    }
    facts.extend(libc.map(|path| ("libc".to_owned(), libc_version(Path::new(&path)).unwrap_or(path))));
}

/// Objects with code besides the program.
fn libraries(maps: &[u8], program: &Path) -> impl Iterator<Item = Mapped> {
    let program = program.to_path_buf();
    let is_library = move |mapped: &Mapped| mapped.is_code && Path::new(&mapped.path) != program;
    proc::mapped_files(maps).into_iter().filter(is_library)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// What it says when it is run, without running it.
fn libc_version(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST_LIBC_BYTES).read_to_end(&mut bytes).ok()?;
    let text = Regex::new(
        r"(?-u)GNU C Library \([^\x00\n]*\) [^\x00\n]*version [0-9.]+|musl libc \([^\x00]*\)\x00*[^\x00]*",
    )
    .ok()?;
    text.find(&bytes).map(|found| String::from_utf8_lossy(found.as_bytes()).replace('\0', " "))
}
