//! From places to functions with names. A function without a name is called by the address where it begins, so that it
//! is one function all the same; code that a process made itself has the names that its maker wrote down for perf.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use blazesym::MaybeDefault;
use blazesym::symbolize::source::{Elf as ElfSource, Kernel as KernelSource, Source};
use blazesym::symbolize::{Input, Symbolized, Symbolizer};

use super::jit::JitNames;
use super::modules::{Kind, Module, Modules};
use super::processes::Place;
use crate::model::Frame;

pub struct Names {
    symbolizer: Symbolizer,
    files: HashMap<Module, FileNames>,
    made: HashMap<u32, JitNames>,
    kernel_has_names: Option<bool>,
    since: SystemTime,
}

struct FileNames {
    symbols: PathBuf,
    starts: Vec<u64>,
}

impl Default for Names {
    fn default() -> Self {
        // Its own demangling takes the C function `f` for the type `float`.
        let builder =
            Symbolizer::builder().enable_code_info(false).enable_inlined_fns(false).enable_demangling(false);
        Names {
            symbolizer: builder.build(),
            files: HashMap::new(),
            made: HashMap::new(),
            kernel_has_names: None,
            // The clock of files is behind by up to a tick.
            since: SystemTime::now() - Duration::from_millis(20),
        }
    }
}

impl Names {
    /// One frame for each place, in that order.
    pub fn resolve(&mut self, places: &[Place], modules: &Modules) -> Vec<Frame> {
        let mut frames = vec![Frame::default(); places.len()];
        let mut by_module: HashMap<Module, Vec<usize>> = HashMap::new();
        for (index, place) in places.iter().enumerate() {
            by_module.entry(place.module).or_default().push(index);
        }
        for (module, indices) in by_module {
            let addresses: Vec<u64> = indices.iter().map(|index| places[*index].address).collect();
            let title = modules.kind(module).title();
            let names = self.names(module, &addresses, modules);
            for (index, name) in indices.into_iter().zip(names) {
                frames[index] = Frame { name, module: title.clone() };
            }
        }
        frames
    }

    pub fn kernel_has_names(&self) -> Option<bool> {
        self.kernel_has_names
    }

    fn names(&mut self, module: Module, addresses: &[u64], modules: &Modules) -> Vec<String> {
        match modules.kind(module) {
            Kind::File(path) => {
                let elf = modules.elf(module);
                let file = self.files.entry(module).or_insert_with(|| FileNames {
                    symbols: elf.map_or_else(|| path.clone(), |elf| elf.symbol_file(path)),
                    starts: elf.map(|elf| elf.function_starts()).unwrap_or_default(),
                });
                let source = ElfSource { debug_syms: false, ..ElfSource::new(&file.symbols) };
                let found = self.symbolizer.symbolize(&source.into(), Input::VirtOffset(addresses));
                let before = |address| elf.and_then(|elf| elf.exported_before(address));
                let names = named(addresses, found.ok(), &file.starts, before);
                let entry = elf.map_or(0, |elf| elf.entry());
                names.into_iter().map(|name| for_people(name, entry)).collect()
            }
            Kind::Kernel => self.kernel_names(addresses),
            Kind::Made { process } => {
                let names = self.made.entry(*process).or_insert_with(|| JitNames::of(*process, self.since));
                let title = || modules.kind(module).title();
                addresses.iter().map(|address| names.find(*address).unwrap_or_else(title)).collect()
            }
            Kind::Vdso => {
                let starts = modules.elf(module).map(|elf| elf.function_starts()).unwrap_or_default();
                addresses.iter().map(|address| vdso_name(modules, module, *address, &starts)).collect()
            }
            Kind::Nowhere => addresses.iter().map(|_| modules.kind(module).title()).collect(),
        }
    }

    fn kernel_names(&mut self, addresses: &[u64]) -> Vec<String> {
        let kernel =
            KernelSource { vmlinux: MaybeDefault::None, debug_syms: false, ..KernelSource::default() };
        let found = self.symbolizer.symbolize(&Source::Kernel(kernel), Input::AbsAddr(addresses)).ok();
        let is_named = |symbols: &Vec<Symbolized<'_>>| symbols.iter().any(|symbol| symbol.as_sym().is_some());
        let any = found.as_ref().is_some_and(is_named);
        self.kernel_has_names = Some(any || self.kernel_has_names.unwrap_or(false));
        if !any {
            // Addresses in the kernel move with every boot, so they are no names.
            return vec!["[kernel]".to_owned(); addresses.len()];
        }
        named(addresses, found, &[], |_| None)
    }
}

/// `before` is the last function with a name at or before an address, and where that begins.
fn named(
    addresses: &[u64],
    found: Option<Vec<Symbolized<'_>>>,
    starts: &[u64],
    before: impl Fn(u64) -> Option<(String, u64)>,
) -> Vec<String> {
    let mut found = found.unwrap_or_default().into_iter();
    let name = |address: &u64| {
        let start = function_start(starts, *address);
        let symbol = found.next().and_then(Symbolized::into_sym);
        let Some(symbol) = symbol else {
            let unnamed = unnamed(start.unwrap_or(*address));
            return match before(*address) {
                Some((name, at)) => neighbour(unnamed, &name, address - at),
                None => unnamed,
            };
        };
        // A stripped file names only some functions; the others must not be called like the one before them.
        let is_inside = symbol.size.is_some_and(|size| symbol.offset < size);
        if is_inside || start.is_none_or(|start| start <= symbol.addr) {
            return symbol.name.into_owned();
        }
        neighbour(unnamed(start.unwrap_or(*address)), &symbol.name, address - symbol.addr)
    };
    addresses.iter().map(name).collect()
}

/// Functions of one source file lie side by side, so the last one with a name tells where in the program this one is.
fn neighbour(unnamed: String, before: &str, distance: u64) -> String {
    if distance > NEARBY_BYTES {
        return unnamed;
    }
    let before = before.split('@').next().unwrap_or(before);
    format!("{unnamed} after {before}")
}

/// Further on, it is likely another source file.
const NEARBY_BYTES: u64 = 16 << 10;

fn function_start(starts: &[u64], address: u64) -> Option<u64> {
    starts.partition_point(|start| *start <= address).checked_sub(1).map(|index| starts[index])
}

/// As it was written in the source, without the version that libraries put after it.
fn for_people(mut name: String, entry: u64) -> String {
    if entry != 0 && name == unnamed(entry) {
        return "_start".to_owned();
    }
    if let Some(at) = name.find('@').filter(|at| *at > 0) {
        name.truncate(at);
    }
    demangled(&name).unwrap_or(name)
}

/// Only what looks like it: a plain name may mean something as a mangled one too.
fn demangled(name: &str) -> Option<String> {
    if !name.starts_with("_Z") && !name.starts_with("_R") {
        return None;
    }
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return Some(format!("{rust:#}"));
    }
    cpp_demangle::Symbol::new(name).ok()?.demangle().ok()
}

fn unnamed(address: u64) -> String {
    format!("0x{address:x}")
}

/// It has a handful of functions, all of them exported.
fn vdso_name(modules: &Modules, module: Module, address: u64, starts: &[u64]) -> String {
    let start = function_start(starts, address).unwrap_or(address);
    let exported = modules.elf(module).and_then(|elf| elf.exported_at(address));
    exported.unwrap_or_else(|| unnamed(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_function_begins() {
        let starts = [10, 20, 30];
        assert_eq!(function_start(&starts, 9), None);
        assert_eq!(function_start(&starts, 10), Some(10));
        assert_eq!(function_start(&starts, 29), Some(20));
        assert_eq!(function_start(&starts, 99), Some(30));
    }

    #[test]
    fn names_are_as_in_the_source() {
        let shown = |name: &str| for_people(name.to_owned(), 0x1040);
        for plain in ["f", "main", "i", "@", "_start", "0x2000"] {
            assert_eq!(shown(plain), plain);
        }
        assert_eq!(shown("memcpy@@GLIBC_2.14"), "memcpy");
        assert_eq!(shown("_ZN3foo3barEi"), "foo::bar(int)");
        assert_eq!(shown("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
        assert_eq!(shown("0x1040"), "_start");
    }

    #[test]
    fn our_own_functions_have_their_names() {
        let mut modules = Modules::default();
        let program = modules.find(Kind::File(std::env::current_exe().unwrap()));
        let elf = modules.elf(program).unwrap();
        let places: Vec<Place> = elf
            .function_starts()
            .iter()
            .map(|address| Place { module: program, address: *address })
            .collect();
        let frames = Names::default().resolve(&places, &modules);
        let has = |part: &str| frames.iter().any(|frame| frame.name.contains(part));
        assert!(has("whyslow::machine::local::probe::perf::names::named"));
        let unnamed = frames.iter().filter(|frame| frame.name.starts_with("0x")).count();
        assert!(unnamed * 20 < frames.len(), "{unnamed} of {}", frames.len());
    }
}
