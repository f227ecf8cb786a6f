//! Whether a preloaded library gets into a program and can take the place of its malloc. What keeps it out is told by the
//! file, before anything runs; of the programs that the first one starts nothing is known. It never runs anything.

use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use object::read::elf::{FileHeader, ProgramHeader};
use object::read::{Object, ObjectSymbol, ReadCache, ReadRef};
use object::{Endianness, elf};

use super::environment::Prepared;

/// Interpreters of interpreters end somewhere; the kernel allows five.
const MOST_INTERPRETERS: usize = 5;

/// Libraries of sanitizers, which must come before all others.
const SANITIZERS: [&str; 5] = ["libasan.", "libtsan.", "liblsan.", "libhwasan.", "libclang_rt."];

/// What keeps a preloaded library out, or makes it useless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    Static,
    /// 32 bits, or another processor.
    OtherMachine,
    /// It runs with other rights than its caller, who therefore may not preload anything.
    OtherRights,
    /// It exports one, which comes before that of any library.
    OwnMalloc,
    /// Its runtime must be the first library, or the program does not start.
    Sanitizer,
}

impl Obstacle {
    pub fn why(self) -> &'static str {
        match self {
            Obstacle::Static => "is a static program, into which no library can be loaded",
            Obstacle::OtherMachine => {
                "is a program for another kind of processor than whyslow, or one of 32 bits"
            }
            Obstacle::OtherRights => {
                "runs with other rights than its caller (setuid), and then the loader preloads nothing"
            }
            Obstacle::OwnMalloc => "has a malloc of its own, which comes before that of any library",
            Obstacle::Sanitizer => {
                "was built with a sanitizer, and does not start with another library in front of it"
            }
        }
    }

    /// No library gets in at all.
    pub fn keeps_out(self) -> bool {
        matches!(self, Obstacle::Static | Obstacle::OtherMachine | Obstacle::OtherRights)
    }

    pub fn remedy(self) -> &'static str {
        match self {
            Obstacle::Static => "look at a build that is linked dynamically",
            Obstacle::OtherMachine => "look at a build for this processor",
            Obstacle::OtherRights => "run whyslow as the user whose rights the program takes",
            Obstacle::OwnMalloc => "look at a build with the malloc of the libc",
            Obstacle::Sanitizer => "look at a build without -fsanitize",
        }
    }
}

/// The program that is run in the end, which for a script is its interpreter, and what is in the way, if anything. What
/// cannot be read is let through: the loader will say what it thinks of it.
pub fn obstacle(prepared: &Prepared) -> (PathBuf, Option<Obstacle>) {
    let mut path = in_directory(prepared, prepared.program.as_bytes());
    for _ in 0..MOST_INTERPRETERS {
        match interpreter(prepared, &path) {
            Some(interpreter) => path = interpreter,
            None => break,
        }
    }
    let obstacle = if has_other_rights(&path) { Some(Obstacle::OtherRights) } else { of_file(&path) };
    (path, obstacle)
}

/// Relative paths begin where the run does.
fn in_directory(prepared: &Prepared, path: &[u8]) -> PathBuf {
    let cwd = prepared.cwd.as_ref().map(|cwd| Path::new(OsStr::from_bytes(cwd.as_bytes())));
    cwd.unwrap_or(Path::new("")).join(OsStr::from_bytes(path))
}

/// What the first line of a script names; of `env` what it would start.
fn interpreter(prepared: &Prepared, path: &Path) -> Option<PathBuf> {
    let mut beginning = Vec::new();
    File::open(path).ok()?.take(256).read_to_end(&mut beginning).ok()?;
    let line = beginning.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let named = in_directory(prepared, words.next()?);
    if named.file_name() != Some(OsStr::new("env")) {
        return Some(named);
    }
    let program = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='));
    program.and_then(|program| in_path(prepared, program)).or(Some(named))
}

fn in_path(prepared: &Prepared, name: &[u8]) -> Option<PathBuf> {
    let path = prepared.env.iter().find_map(|variable| variable.as_bytes().strip_prefix(b"PATH="))?;
    let mut places = path.split(|byte| *byte == b':').map(|directory| in_directory(prepared, directory));
    places.find_map(|directory| Some(directory.join(OsStr::from_bytes(name))).filter(|file| file.is_file()))
}

/// As the kernel decides whether exec is a secure one.
fn has_other_rights(path: &Path) -> bool {
    let Ok(about) = fs::metadata(path) else { return false };
    // SAFETY: no memory is involved.
    let (user, group) = unsafe { (libc::getuid(), libc::getgid()) };
    let is_setuid = about.mode() & libc::S_ISUID != 0 && about.uid() != user;
    let is_setgid =
        about.mode() & libc::S_ISGID != 0 && about.mode() & libc::S_IXGRP != 0 && about.gid() != group;
    is_setuid || is_setgid || (user != 0 && has_capabilities(path))
}

fn has_capabilities(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: strings, and no place to write to: only the length is asked for.
    unsafe { libc::getxattr(path.as_ptr(), c"security.capability".as_ptr(), std::ptr::null_mut(), 0) > 0 }
}

fn of_file(path: &Path) -> Option<Obstacle> {
    let (file, own) = (File::open(path).ok()?, File::open("/proc/self/exe").ok()?);
    let (data, own) = (ReadCache::new(file), ReadCache::new(own));
    let magic = data.read_bytes_at(0, 20).ok()?;
    let ours = own.read_bytes_at(0, 20).ok()?;
    if magic[..4] != elf::ELFMAG {
        return None;
    }
    // The class, and the machine.
    if magic[4] != ours[4] || magic[18..20] != ours[18..20] {
        return Some(Obstacle::OtherMachine);
    }
    of_elf(&data).ok().flatten()
}

fn of_elf<'data>(data: impl ReadRef<'data>) -> object::Result<Option<Obstacle>> {
    let header = elf::FileHeader64::<Endianness>::parse(data)?;
    let endian = header.endian()?;
    let segments = header.program_headers(endian, data)?;
    if !segments.iter().any(|segment| segment.p_type(endian) == elf::PT_INTERP) {
        return Ok(Some(Obstacle::Static));
    }
    let file = object::read::elf::ElfFile64::<Endianness, _>::parse(data)?;
    let mut has_malloc = false;
    for symbol in file.dynamic_symbols() {
        let name = symbol.name_bytes().unwrap_or_default();
        if [&b"__asan_init"[..], b"__tsan_init", b"__msan_init", b"__hwasan_init"].contains(&name) {
            return Ok(Some(Obstacle::Sanitizer));
        }
        has_malloc |= name == b"malloc" && symbol.is_definition();
    }
    if needs_sanitizer(header, data)? {
        return Ok(Some(Obstacle::Sanitizer));
    }
    Ok(has_malloc.then_some(Obstacle::OwnMalloc))
}

fn needs_sanitizer<'data>(
    header: &elf::FileHeader64<Endianness>,
    data: impl ReadRef<'data>,
) -> object::Result<bool> {
    let endian = header.endian()?;
    let sections = header.sections(endian, data)?;
    let Some((entries, strings)) = sections.dynamic(endian, data)? else { return Ok(false) };
    let strings = sections.strings(endian, data, strings)?;
    let is_sanitizer =
        |name: &[u8]| SANITIZERS.iter().any(|sanitizer| name.starts_with(sanitizer.as_bytes()));
    let mut needed = entries.iter().filter(|entry| entry.d_tag.get(endian) == elf::DT_NEEDED);
    Ok(needed.any(|entry| {
        let offset = u32::try_from(entry.d_val.get(endian)).unwrap_or(u32::MAX);
        strings.get(offset).is_ok_and(is_sanitizer)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Launch;

    fn prepared(program: &str, directory: &Path) -> Prepared {
        let launch =
            Launch { argv: vec![program.into()], cwd: Some(directory.to_owned()), ..Launch::default() };
        Prepared::new(&launch, &[(b"PATH".to_vec(), b"/usr/bin:/bin".to_vec())]).unwrap()
    }

    #[test]
    fn a_script_is_its_interpreter() {
        let place = tempfile::tempdir().unwrap();
        for (line, program) in [
            ("#!/bin/sh -e\n", "/bin/sh"),
            ("#! /usr/bin/env -S A=1 perl -w\n", "/usr/bin/perl"),
            ("#!./other\n", "/bin/sh"),
        ] {
            fs::write(place.path().join("script"), line).unwrap();
            fs::write(place.path().join("other"), "#!/bin/sh\n").unwrap();
            assert_eq!(obstacle(&prepared("./script", place.path())), (program.into(), None), "{line}");
        }
    }

    #[test]
    fn other_rights_and_other_machines() {
        let place = tempfile::tempdir().unwrap();
        let mut header = fs::read("/proc/self/exe").unwrap();
        header.truncate(64);
        header[18..20].copy_from_slice(&[0xff, 0x7f]);
        fs::write(place.path().join("foreign"), &header).unwrap();
        assert_eq!(obstacle(&prepared("./foreign", place.path())).1, Some(Obstacle::OtherMachine));
        fs::write(place.path().join("text"), "text").unwrap();
        assert_eq!(obstacle(&prepared("./text", place.path())).1, None);
        assert_eq!(obstacle(&prepared("./none", place.path())).1, None);
    }
}
