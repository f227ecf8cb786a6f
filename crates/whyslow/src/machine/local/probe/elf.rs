//! What program files and libraries say about themselves. It reads parts of files, also of hostile ones; a file that
//! is no ELF file, or a broken one, says nothing.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use object::elf;
use object::read::elf::{ElfFile, ElfFile32, ElfFile64};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, Sym, SymbolTable};
use object::{FileKind, Object, ReadCache, ReadRef};
use regex::bytes::Regex;

use crate::model::ElfFacts;

/// Of a section of strings no more than this is looked through.
const MOST_STRING_BYTES: u64 = 64 << 20;

/// So many compilers and flags are kept; the libraries in a static program can bring hundreds.
const MOST_PRODUCERS: usize = 20;

/// What tells one object from another.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Identity {
    pub build_id: Option<String>,
    /// The name that programs ask for.
    pub soname: Option<String>,
    pub exports_malloc: bool,
    pub interpreter: Option<String>,
}

pub fn facts(path: &Path) -> Option<ElfFacts> {
    let cache = ReadCache::new(File::open(path).ok()?);
    match FileKind::parse(&cache).ok()? {
        FileKind::Elf32 => Some(facts_of(&ElfFile32::<object::Endianness, _>::parse(&cache).ok()?)),
        FileKind::Elf64 => Some(facts_of(&ElfFile64::<object::Endianness, _>::parse(&cache).ok()?)),
        _ => None,
    }
}

pub fn identity(path: &Path) -> Option<Identity> {
    let cache = ReadCache::new(File::open(path).ok()?);
    match FileKind::parse(&cache).ok()? {
        FileKind::Elf32 => Some(identity_of(&ElfFile32::<object::Endianness, _>::parse(&cache).ok()?)),
        FileKind::Elf64 => Some(identity_of(&ElfFile64::<object::Endianness, _>::parse(&cache).ok()?)),
        _ => None,
    }
}

/// The address of a symbol, counted from where the file is loaded.
pub fn exported(path: &Path, name: &[u8]) -> Option<u64> {
    let cache = ReadCache::new(File::open(path).ok()?);
    match FileKind::parse(&cache).ok()? {
        FileKind::Elf32 => address(&ElfFile32::<object::Endianness, _>::parse(&cache).ok()?, name),
        FileKind::Elf64 => address(&ElfFile64::<object::Endianness, _>::parse(&cache).ok()?, name),
        _ => None,
    }
}

/// Whether a program asks libraries for a function of this name; `None` of one that asks none for anything.
pub fn imports_function(path: &Path, name: &[u8]) -> Option<bool> {
    let cache = ReadCache::new(File::open(path).ok()?);
    match FileKind::parse(&cache).ok()? {
        FileKind::Elf32 => has_import(&ElfFile32::<object::Endianness, _>::parse(&cache).ok()?, name),
        FileKind::Elf64 => has_import(&ElfFile64::<object::Endianness, _>::parse(&cache).ok()?, name),
        _ => None,
    }
}

fn has_import<'data, Elf: FileHeader, R: ReadRef<'data>>(
    file: &ElfFile<'data, Elf, R>,
    name: &[u8],
) -> Option<bool> {
    interpreter(file).map(|_| imports(file).contains(name))
}

fn address<'data, Elf: FileHeader, R: ReadRef<'data>>(
    file: &ElfFile<'data, Elf, R>,
    name: &[u8],
) -> Option<u64> {
    let symbol = defined(file, file.elf_dynamic_symbol_table(), name)?;
    Some(symbol.st_value(file.endian()).into())
}

fn identity_of<'data, Elf: FileHeader, R: ReadRef<'data>>(file: &ElfFile<'data, Elf, R>) -> Identity {
    Identity {
        build_id: build_id(file),
        soname: Dynamic::of(file).soname,
        exports_malloc: defined(file, file.elf_dynamic_symbol_table(), b"malloc").is_some(),
        interpreter: interpreter(file),
    }
}

/// Functions that only a program with a malloc of its own has: under the usual name, or under another one that its own calls
/// go to. perl has a `Perl_malloc` in every build, but tells the size of a block only where that is no wrapper.
const OWN_MALLOCS: [&[u8]; 4] = [b"malloc", b"Perl_malloced_size", b"je_malloc", b"mi_malloc"];

fn has_own_malloc<'data, Elf: FileHeader, R: ReadRef<'data>>(file: &ElfFile<'data, Elf, R>) -> bool {
    [file.elf_dynamic_symbol_table(), file.elf_symbol_table()]
        .iter()
        .any(|table| OWN_MALLOCS.iter().any(|name| defined(file, table, name).is_some()))
}

fn facts_of<'data, Elf: FileHeader, R: ReadRef<'data>>(file: &ElfFile<'data, Elf, R>) -> ElfFacts {
    let dynamic = Dynamic::of(file);
    let interpreter = interpreter(file);
    let imports = imports(file);
    ElfFacts {
        is_static: interpreter.is_none() && dynamic.needed.is_empty(),
        is_pie: file.elf_header().e_type(file.endian()) == elf::ET_DYN
            && (dynamic.is_pie || interpreter.is_some()),
        is_bind_now: dynamic.is_bind_now,
        is_stripped: file.elf_symbol_table().is_empty(),
        has_debug_info: file.has_debug_symbols(),
        instrumentation: instrumentation(file, &imports, &dynamic.needed),
        producers: producers(file),
        own_malloc: has_own_malloc(file),
        text_bytes: text_bytes(file),
        imports: imports.len() as u64,
        build_id: build_id(file),
        hash_style: dynamic.hash_style(),
        needed: dynamic.needed,
        interpreter,
    }
}

/// What the dynamic section says.
#[derive(Default)]
struct Dynamic {
    soname: Option<String>,
    needed: Vec<String>,
    is_bind_now: bool,
    is_pie: bool,
    has_gnu_hash: bool,
    has_sysv_hash: bool,
}

impl Dynamic {
    fn of<'data, Elf: FileHeader, R: ReadRef<'data>>(file: &ElfFile<'data, Elf, R>) -> Dynamic {
        let mut found = Dynamic::default();
        let Ok(table) = file.elf_dynamic_table() else { return found };
        for entry in &table {
            let text = || table.string(entry).ok().map(lossy);
            match entry.tag {
                elf::DT_NEEDED => found.needed.extend(text()),
                elf::DT_SONAME => found.soname = text(),
                elf::DT_BIND_NOW => found.is_bind_now = true,
                elf::DT_FLAGS => found.is_bind_now |= entry.val & elf::DF_BIND_NOW.0 != 0,
                elf::DT_FLAGS_1 => {
                    found.is_bind_now |= entry.val & elf::DF_1_NOW.0 != 0;
                    found.is_pie |= entry.val & elf::DF_1_PIE.0 != 0;
                }
                elf::DT_GNU_HASH => found.has_gnu_hash = true,
                elf::DT_HASH => found.has_sysv_hash = true,
                _ => {}
            }
        }
        found
    }

    fn hash_style(&self) -> Option<String> {
        let style = match (self.has_gnu_hash, self.has_sysv_hash) {
            (true, true) => "both",
            (true, false) => "gnu",
            (false, true) => "sysv",
            (false, false) => return None,
        };
        Some(style.to_owned())
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn build_id<'data, Elf: FileHeader, R: ReadRef<'data>>(file: &ElfFile<'data, Elf, R>) -> Option<String> {
    let bytes = file.build_id().ok()??;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn interpreter<'data, Elf: FileHeader, R: ReadRef<'data>>(file: &ElfFile<'data, Elf, R>) -> Option<String> {
    let mut headers = file.elf_program_headers().iter();
    headers.find_map(|header| header.interpreter(file.endian(), file.data()).ok()?).map(lossy)
}

fn text_bytes<'data, Elf: FileHeader, R: ReadRef<'data>>(file: &ElfFile<'data, Elf, R>) -> u64 {
    let headers = file.elf_program_headers().iter();
    let is_code = |header: &&Elf::ProgramHeader| {
        header.p_type(file.endian()) == elf::PT_LOAD && header.p_flags(file.endian()).0 & elf::PF_X.0 != 0
    };
    headers.filter(is_code).map(|header| header.p_filesz(file.endian()).into()).fold(0, u64::saturating_add)
}

fn defined<'data, Elf: FileHeader, R: ReadRef<'data>>(
    file: &ElfFile<'data, Elf, R>,
    table: &SymbolTable<'data, Elf, R>,
    name: &[u8],
) -> Option<&'data Elf::Sym> {
    let is_it = |symbol: &Elf::Sym| table.symbol_name(file.endian(), symbol).is_ok_and(|its| its == name);
    table.iter().find(|symbol| {
        !symbol.is_undefined(file.endian()) && symbol.st_name(file.endian()) != 0 && is_it(symbol)
    })
}

/// Names of undefined dynamic symbols.
fn imports<'data, Elf: FileHeader, R: ReadRef<'data>>(
    file: &ElfFile<'data, Elf, R>,
) -> BTreeSet<&'data [u8]> {
    let table = file.elf_dynamic_symbol_table();
    let undefined = table.iter().filter(|symbol| symbol.is_undefined(file.endian()));
    let names = undefined.filter_map(|symbol| table.symbol_name(file.endian(), symbol).ok());
    names.filter(|name| !name.is_empty()).collect()
}

/// Prefixes of symbols or names of libraries, and what they are a sign of.
const SIGNS: [(&str, &[&str]); 8] = [
    ("asan", &["__asan_init", "libasan.so"]),
    ("ubsan", &["__ubsan_handle_", "libubsan.so"]),
    ("tsan", &["__tsan_init", "libtsan.so"]),
    ("msan", &["__msan_init"]),
    ("gprof", &["mcount", "_mcount", "__monstartup", "__mcount_internal"]),
    ("gcov", &["__gcov_init", "__gcov_exit", "llvm_gcov_init", "__llvm_profile_runtime"]),
    ("libstdc++ debug mode", &["_ZNK11__gnu_debug", "_ZN11__gnu_debug", "_ZNSt7__debug", "_ZNKSt7__debug"]),
    ("libstdc++ assertions", &["_ZSt21__glibcxx_assert_fail", "_ZSt22__replacement_assert"]),
];

fn instrumentation<'data, Elf: FileHeader, R: ReadRef<'data>>(
    file: &ElfFile<'data, Elf, R>,
    imports: &BTreeSet<&[u8]>,
    needed: &[String],
) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut note = |name: &[u8]| {
        let of = |signs: &[&str]| signs.iter().any(|sign| name.starts_with(sign.as_bytes()));
        found.extend(SIGNS.iter().filter(|(_, signs)| of(signs)).map(|(what, _)| *what));
    };
    needed.iter().for_each(|name| note(name.as_bytes()));
    for table in [file.elf_symbol_table(), file.elf_dynamic_symbol_table()] {
        table.iter().filter_map(|symbol| table.symbol_name(file.endian(), symbol).ok()).for_each(&mut note);
    }
    // Static programs have these from their C library, so there they say nothing.
    if imports.contains(&b"__stack_chk_fail"[..]) {
        found.insert("stack protector");
    }
    if imports.iter().any(|name| name.starts_with(b"__") && name.ends_with(b"_chk")) {
        found.insert("fortify");
    }
    found.into_iter().map(str::to_owned).collect()
}

/// Compilers with their flags. They stand as whole strings in the sections of strings; where these are compressed, or
/// there is no debug information, only `.comment` is left, which has no flags.
fn producers<'data, Elf: FileHeader, R: ReadRef<'data>>(file: &ElfFile<'data, Elf, R>) -> Vec<String> {
    let mut found = BTreeSet::new();
    for name in [".debug_str", ".debug_line_str", ".debug_info"] {
        found.extend(section(file, name.as_bytes()).map(strings_of_compilers).unwrap_or_default());
    }
    if found.is_empty() {
        let comment = section(file, b".comment").unwrap_or_default();
        found.extend(comment.split(|byte| *byte == 0).filter(|text| !text.is_empty()).map(lossy));
    }
    found.into_iter().take(MOST_PRODUCERS).collect()
}

fn section<'data, Elf: FileHeader, R: ReadRef<'data>>(
    file: &ElfFile<'data, Elf, R>,
    name: &[u8],
) -> Option<&'data [u8]> {
    let (_, section) = file.elf_section_table().section_by_name(file.endian(), name)?;
    let is_compressed = section.sh_flags(file.endian()).0 & elf::SHF_COMPRESSED.0 != 0;
    if is_compressed || section.sh_type(file.endian()) == elf::SHT_NOBITS {
        return None;
    }
    let length = section.sh_size(file.endian()).into().min(MOST_STRING_BYTES);
    file.data().read_bytes_at(section.sh_offset(file.endian()).into(), length).ok()
}

fn strings_of_compilers(bytes: &[u8]) -> Vec<String> {
    // A string of its own begins after a NUL, or after the number in front of it in .debug_info.
    let makers = r"(?-u)(GNU (?:C|Fortran|Ada|GIMPLE|Go|D|Rust|Objective-C|Modula-2)[^\x00-\x1f]*|(?:[A-Za-z]+ )?clang version [^\x00-\x1f]*|clang LLVM \([^\x00-\x1f]*|Intel\(R\) [^\x00-\x1f]*|Go cmd/compile [^\x00-\x1f]*)\x00";
    let Ok(makers) = Regex::new(makers) else { return Vec::new() };
    makers.captures_iter(bytes).filter_map(|found| Some(lossy(found.get(1)?.as_bytes()))).collect()
}

/// Whatever the bytes are, nothing may panic: for tests and fuzzers.
#[cfg(any(test, fuzzing))]
pub fn read_all(path: &Path) {
    facts(path);
    identity(path);
    exported(path, b"malloc");
    imports_function(path, b"malloc");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fuzzed;
    use super::super::mutated::{mutated, of_programs};
    use super::*;

    #[test]
    fn our_own_file() {
        let path = std::env::current_exe().unwrap();
        let facts = facts(&path).unwrap();
        assert!(!facts.is_static && facts.text_bytes > 100_000 && facts.imports > 50, "{facts:?}");
        assert!(facts.needed.iter().any(|name| name.starts_with("libc.so")), "{facts:?}");
        assert_eq!(identity(&path).unwrap().build_id, facts.build_id);
        assert!(!identity(&path).unwrap().exports_malloc);
    }

    #[test]
    fn compilers_stand_between_zeros() {
        let bytes =
            b"main\0GNU C17 12.2.0 -O0 -g\0GNU C library\x01\0char\0Debian clang version 14.0.6\0rest clang";
        assert_eq!(strings_of_compilers(bytes), ["GNU C17 12.2.0 -O0 -g", "Debian clang version 14.0.6"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn random_bytes_are_no_program(bytes in proptest::collection::vec(any::<u8>(), 0..400), with_magic: bool) {
            fuzzed::program(&if with_magic { [b"\x7fELF\x02\x01\x01", bytes.as_slice()].concat() } else { bytes });
        }

        #[test]
        fn real_programs_that_are_broken_do_no_harm(bytes in mutated(of_programs())) {
            fuzzed::program(&bytes);
        }

        #[test]
        fn broken_programs_do_no_harm(place in 0..4096_usize, byte in any::<u8>(), cut in 64..30_000_usize) {
            let mut program = std::fs::read("/bin/true").unwrap_or_default();
            if place < program.len() {
                program[place] = byte;
                fuzzed::program(&program);
                fuzzed::program(&program[..cut.min(program.len())]);
            }
        }
    }
}
