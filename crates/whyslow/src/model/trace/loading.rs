//! What it took to start the programs of a run, and what their files say about how they were built.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Loading {
    /// Starts of dynamically linked programs that the loader reported; `None` where it could not be asked, and then the
    /// sums say nothing.
    pub loads: Option<u64>,
    /// Sums over all of them, until each program began.
    pub relocations: u64,
    pub relocations_from_cache: u64,
    pub relative_relocations: u64,
    /// Time-stamp counts, of the loader in all, of relocating and of loading objects; `None` where it gave none.
    pub startup_cycles: Option<u64>,
    pub relocation_cycles: Option<u64>,
    pub load_cycles: Option<u64>,
    /// The same in seconds, where the frequency of that counter is known.
    pub startup_s: Option<f64>,
    /// The programs that were started, most often first; at most a few dozen.
    pub programs: Vec<LoadedProgram>,
}

/// One program file.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct LoadedProgram {
    pub path: String,
    /// How often it was started; `None` where that was not counted.
    pub starts: Option<u64>,
    /// Libraries in the order in which they were loaded.
    pub libraries: Vec<String>,
    /// Places that were searched for libraries in vain, in one start.
    pub search_misses: u64,
    pub elf: Option<ElfFacts>,
    /// First line of a script, and the interpreter that it names.
    pub script: Option<String>,
}

/// What an ELF file says about itself.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct ElfFacts {
    pub is_static: bool,
    pub is_pie: bool,
    pub is_bind_now: bool,
    pub is_stripped: bool,
    pub has_debug_info: bool,
    pub interpreter: Option<String>,
    pub needed: Vec<String>,
    /// `gnu`, `sysv` or `both`.
    pub hash_style: Option<String>,
    pub build_id: Option<String>,
    /// `asan`, `ubsan`, `tsan`, `msan`, `gprof`, `gcov`, `libstdc++ debug mode`, `stack protector`, `fortify`.
    pub instrumentation: Vec<String>,
    /// Compilers and their flags as DW_AT_producer or .comment tell, without repetition.
    pub producers: Vec<String>,
    /// It has a malloc of its own that a preloaded one does not replace.
    pub own_malloc: bool,
    pub text_bytes: u64,
    /// Undefined dynamic symbols.
    pub imports: u64,
}
