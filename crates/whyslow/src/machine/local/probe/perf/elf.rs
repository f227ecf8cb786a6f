//! What an ELF file says that it takes to unwind through it and to tell its functions apart: where it is mapped, its
//! unwind tables, where its functions begin. Read once for each file; foreign bytes, so that whatever is in them is a
//! fact or none.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use framehop::ExplicitModuleSectionInfo;
use object::read::elf::{ElfFile64, ElfSymbol64, ProgramHeader};
use object::read::{Object, ObjectSection, ObjectSymbol, ReadCache, ReadRef};
use object::{Endianness, SymbolKind, elf};

/// Where unstripped copies of system libraries are, by build id.
const DEBUG_FILES: &str = "/usr/lib/debug/.build-id";
/// Tables larger than this are not read: no program has them.
const MOST_TABLE_BYTES: u64 = 1 << 28;

pub type Bytes = Arc<[u8]>;

#[derive(Clone, Default)]
pub struct Elf {
    loads: Vec<Load>,
    sections: ExplicitModuleSectionInfo<Bytes>,
    has_symbols: bool,
    entry: u64,
    /// Functions of an image in memory, or of a stripped file; those of other files are looked up in the file.
    exported: Vec<(Range<u64>, String)>,
    build_id: Vec<u8>,
}

/// A part of the file that is mapped to be executed.
#[derive(Clone, Debug, PartialEq)]
struct Load {
    file: Range<u64>,
    address: u64,
}

impl Elf {
    pub fn open(path: &Path) -> Option<Elf> {
        let cache = ReadCache::new(File::open(path).ok()?);
        Elf::read(&cache)
    }

    /// An image that is in memory, such as that of the vDSO.
    fn in_memory(image: &[u8]) -> Option<Elf> {
        let file = ElfFile64::<Endianness, &[u8]>::parse(image).ok()?;
        Some(Elf { exported: exported(&file), ..Elf::read(image)? })
    }

    /// The last function with a name that begins at or before an address, and where, in a file whose other functions have
    /// lost theirs.
    pub fn exported_before(&self, address: u64) -> Option<(String, u64)> {
        let before = self.exported.iter().filter(|(range, _)| range.start <= address);
        before.max_by_key(|(range, _)| range.start).map(|(range, name)| (name.clone(), range.start))
    }

    pub fn exported_at(&self, address: u64) -> Option<String> {
        let found = self.exported.iter().find(|(range, _)| range.contains(&address));
        found.map(|(_, name)| name.clone())
    }

    fn read<'data, R: ReadRef<'data>>(data: R) -> Option<Elf> {
        let file = ElfFile64::<Endianness, R>::parse(data).ok()?;
        let endian = file.endian();
        let mut found = Elf {
            has_symbols: file.section_by_name(".symtab").is_some(),
            entry: file.entry(),
            build_id: file.build_id().ok().flatten().unwrap_or_default().to_vec(),
            ..Elf::default()
        };
        if !found.has_symbols {
            found.exported = exported(&file);
        }
        let headers = file.elf_program_headers().iter();
        let loads = headers.filter(|header| header.p_type(endian) == elf::PT_LOAD);
        found.sections.base_svma =
            loads.clone().map(|header| header.p_vaddr(endian)).min().unwrap_or(0) & !0xfff;
        for header in loads.filter(|header| header.p_flags(endian).contains(elf::PF_X)) {
            let start = header.p_offset(endian);
            let file = start..start.saturating_add(header.p_filesz(endian));
            found.loads.push(Load { file, address: header.p_vaddr(endian) });
        }
        let range = |name: &str| {
            let section = file.section_by_name(name)?;
            Some(section.address()..section.address().saturating_add(section.size()))
        };
        let table = |name: &str| {
            let section = file.section_by_name(name)?;
            let is_plain = section.size() <= MOST_TABLE_BYTES;
            let bytes = if is_plain { section.data().ok()? } else { return None };
            (!bytes.is_empty()).then(|| Bytes::from(bytes))
        };
        let sections = &mut found.sections;
        sections.text_svma = range(".text");
        sections.got_svma = range(".got");
        sections.eh_frame_svma = range(".eh_frame");
        sections.eh_frame = table(".eh_frame");
        sections.eh_frame_hdr_svma = range(".eh_frame_hdr");
        sections.eh_frame_hdr = table(".eh_frame_hdr");
        if sections.eh_frame.is_none() {
            sections.debug_frame = table(".debug_frame");
        }
        Some(found)
    }

    /// What has to be taken off an address in memory to have the address in the file's own terms, if this part of the
    /// file is mapped there.
    pub fn bias(&self, mapped_at: u64, file_offset: u64) -> Option<u64> {
        let holds = |load: &&Load| load.file.start & !0xfff <= file_offset && file_offset < load.file.end;
        let load = self.loads.iter().find(holds)?;
        let address = load.address.wrapping_add(file_offset).wrapping_sub(load.file.start);
        Some(mapped_at.wrapping_sub(address))
    }

    pub fn entry(&self) -> u64 {
        self.entry
    }

    /// Whether this is in the code that the kernel starts the program or its loader with, which nobody has called. Not
    /// all of them say so in their unwind tables.
    pub fn is_start(&self, address: u64) -> bool {
        const START_BYTES: u64 = 0x40;
        self.entry != 0 && (self.entry..self.entry.saturating_add(START_BYTES)).contains(&address)
    }

    /// For framehop: a module at a range of memory.
    pub fn module(&self, range: Range<u64>, bias: u64) -> framehop::Module<Bytes> {
        let base = bias.wrapping_add(self.sections.base_svma);
        framehop::Module::new(String::new(), range, base, self.sections.clone())
    }

    /// The file to look for names in: itself, or the unstripped copy where that is installed.
    pub fn symbol_file(&self, path: &Path) -> PathBuf {
        let installed = || {
            let (first, rest) = self.build_id.split_first()?;
            let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
            let file = Path::new(DEBUG_FILES).join(format!("{first:02x}/{rest}.debug"));
            file.is_file().then_some(file)
        };
        let stripped = (!self.has_symbols).then(installed).flatten();
        stripped.unwrap_or_else(|| path.to_owned())
    }

    /// Where functions begin, in order, as far as the unwind tables have them.
    pub fn function_starts(&self) -> Vec<u64> {
        let starts = || {
            let section = self.sections.eh_frame_hdr_svma.as_ref()?.start;
            function_starts(self.sections.eh_frame_hdr.as_ref()?, section)
        };
        starts().unwrap_or_default()
    }
}

/// The sorted table of `.eh_frame_hdr`, in the one form that linkers write: pairs of 4 bytes relative to the section.
fn function_starts(table: &[u8], section: u64) -> Option<Vec<u64>> {
    const DATA_RELATIVE_4: u8 = 0x3b;
    const UNSIGNED_4: u8 = 0x03;
    let (head, rest) = table.split_at_checked(4)?;
    // The pointer to .eh_frame has 4 bytes in all known forms but the absolute one.
    let is_known =
        head[0] == 1 && head[1] & 0x0f != 0x04 && head[2] == UNSIGNED_4 && head[3] == DATA_RELATIVE_4;
    if !is_known {
        return None;
    }
    let count = u32::from_le_bytes(rest.get(4..8)?.try_into().ok()?) as usize;
    let pairs = rest.get(8..)?.chunks_exact(8).take(count);
    let starts = pairs.map(|pair| {
        let relative = i32::from_le_bytes([pair[0], pair[1], pair[2], pair[3]]);
        section.wrapping_add(i64::from(relative) as u64)
    });
    let mut starts: Vec<u64> = starts.collect();
    starts.sort_unstable();
    Some(starts)
}

/// The memory in which this process has the vDSO, which is the same for all of this kind.
pub fn vdso() -> Option<Elf> {
    const MOST_BYTES: usize = 64 << 10;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.ends_with("[vdso]"))?;
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    let (start, end) = (usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?);
    let length = end.checked_sub(start).filter(|length| *length <= MOST_BYTES)?;
    // SAFETY: the kernel has mapped these bytes to be read, for as long as this process lives, and nobody writes them.
    let image = unsafe { std::slice::from_raw_parts(start as *const u8, length) };
    Elf::in_memory(image)
}

/// Functions that other files may call.
fn exported<'data, R: ReadRef<'data>>(file: &ElfFile64<'data, Endianness, R>) -> Vec<(Range<u64>, String)> {
    let function = |symbol: ElfSymbol64<'data, '_, Endianness, R>| {
        let range = symbol.address()..symbol.address().saturating_add(symbol.size());
        let is_here = symbol.is_definition() && symbol.kind() == SymbolKind::Text;
        is_here.then(|| Some((range, symbol.name().ok()?.to_owned())))?
    };
    file.dynamic_symbols().filter_map(function).collect()
}

/// Whatever the bytes are, nothing may panic: for tests and fuzzers.
#[cfg(any(test, fuzzing))]
pub fn read_all(path: &Path, address: u64) {
    if let Some(elf) = Elf::open(path) {
        elf.bias(0x1000, address);
        elf.exported_before(address);
        elf.exported_at(elf.entry());
        elf.is_start(address);
        elf.function_starts();
        elf.module(0x1000..0x2000, 0x1000);
        elf.symbol_file(path);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::super::super::mutated::{mutated, of_programs};
    use super::*;

    #[test]
    fn the_running_program_is_understood() {
        let elf = Elf::open(&std::env::current_exe().unwrap()).unwrap();
        assert!(elf.has_symbols && elf.sections.eh_frame.is_some() && !elf.loads.is_empty());
        let starts = elf.function_starts();
        assert!(starts.len() > 1000 && starts.is_sorted());
        let load = &elf.loads[0];
        let bias = elf.bias(0x5555_0000_0000, load.file.start).unwrap();
        assert_eq!(bias.wrapping_add(load.address), 0x5555_0000_0000);
        assert_eq!(elf.bias(0x5555_0000_0000, u64::MAX), None);
        assert!(vdso().is_some_and(|vdso| !vdso.function_starts().is_empty()));
    }

    #[test]
    fn nonsense_is_no_elf_file() {
        assert!(Elf::in_memory(b"").is_none());
        assert!(Elf::in_memory(&[0x7f; 4096]).is_none());
        assert!(Elf::open(Path::new("/etc/passwd")).is_none());
        assert_eq!(function_starts(&[1, 0x1b, 3, 0x3b, 0, 0, 0, 0, 255, 255, 255, 255, 1], 0), Some(vec![]));
        assert_eq!(function_starts(&[1, 0x1b], 0), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn real_programs_that_are_broken_do_no_harm(bytes in mutated(of_programs()), address in any::<u64>()) {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(&bytes).unwrap();
            read_all(file.path(), address);
        }
    }
}
