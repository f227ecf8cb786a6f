//! Libraries that are preloaded into the programs that whyslow looks at, as bytes.
//!
//! A preloaded library must be a file of its own that the loader of another program opens. These are compiled by
//! `build.rs` and embedded, so that an installed `whyslow` needs nothing beside it. They belong to three kinds: shims, each of which changes
//! one thing that a program does, and an allocator, both for experiments; and an agent that counts what a program asks
//! its allocator for.
//!
//! Nothing here runs a program or writes a file.
//!
//! # Limits
//!
//! * Linux on x86_64 and aarch64; elsewhere [`Object::bytes`] is `None`.
//! * No preloaded library gets into a static program, one that runs with other rights than its caller (setuid), or one whose
//!   `LD_PRELOAD` somebody has taken away.
//! * A shim sees calls that go through the libc. What the libc does within itself (malloc that maps memory), and what
//!   programs ask of the kernel directly, it does not see.

mod counters;
mod tally;

pub use tally::{COUNTERS_FILE, Tally, counters_file_bytes, counters_header};

/// A library of our own that can be preloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    /// Counts allocations, in a file called [`COUNTERS_FILE`] beside its own.
    Agent,
    /// The allocator of Microsoft Research, version 3.
    Mimalloc,
    /// Makes data safe on disk only when the kernel likes to: fsync and its kin do nothing.
    NoSync,
    /// Private memory from mmap is there at once.
    Populate,
    /// TCP sends small packets at once.
    NoDelay,
    /// At most 1024 files may be open, unless the program raises its limit.
    FewFiles,
}

impl Object {
    pub const ALL: [Object; 6] = [
        Object::Agent,
        Object::Mimalloc,
        Object::NoSync,
        Object::Populate,
        Object::NoDelay,
        Object::FewFiles,
    ];

    /// What its file should be called, for people who look into a process.
    pub fn file_name(self) -> &'static str {
        match self {
            Object::Agent => "whyslow-agent.so",
            Object::Mimalloc => "whyslow-mimalloc.so",
            Object::NoSync => "whyslow-no-sync.so",
            Object::Populate => "whyslow-populate.so",
            Object::NoDelay => "whyslow-no-delay.so",
            Object::FewFiles => "whyslow-few-files.so",
        }
    }

    /// The file; `None` where it was not built: on other architectures, or without the feature `bundled-mimalloc`.
    pub fn bytes(self) -> Option<&'static [u8]> {
        let bytes: &'static [u8] = match self {
            Object::Agent => include_bytes!(concat!(env!("OUT_DIR"), "/agent")),
            Object::Mimalloc => include_bytes!(concat!(env!("OUT_DIR"), "/mimalloc")),
            Object::NoSync => include_bytes!(concat!(env!("OUT_DIR"), "/no_sync")),
            Object::Populate => include_bytes!(concat!(env!("OUT_DIR"), "/populate")),
            Object::NoDelay => include_bytes!(concat!(env!("OUT_DIR"), "/no_delay")),
            Object::FewFiles => include_bytes!(concat!(env!("OUT_DIR"), "/few_files")),
        };
        (!bytes.is_empty()).then_some(bytes)
    }
}

// The libraries are compiled by `build.rs`; they are named here only so that `cargo fmt` finds their files.
#[cfg(any())]
mod objects {
    mod agent;
    mod few_files;
    mod no_delay;
    mod no_sync;
    mod populate;
}
