//! The agent: a preloaded library that counts what a program asks its allocator for, and hands every call on to the
//! allocator that the program would have had without it.
//!
//! It interprets nothing, allocates nothing, keeps no descriptor open, starts no thread, and needs nothing of the libc but
//! the place of `errno` and the list of loaded objects. Counters are in a file beside its own (see `counters.rs`).
//!
//! Nested calls (an allocator whose calloc calls malloc) count once: for what the program asked.

#![no_std]
// Loops over strings would otherwise become calls to functions of the libc.
#![no_builtins]
#![allow(clippy::missing_safety_doc)] // Every function has the contract of the libc function of its name.

#[path = "../counters.rs"]
mod counters;
#[path = "agent/elf.rs"]
mod elf;
#[path = "agent/entries.rs"]
mod entries;
#[path = "agent/image.rs"]
mod image;
#[path = "kernel.rs"]
mod kernel;
#[path = "agent/next.rs"]
mod next;
#[path = "runtime.rs"]
mod runtime;
#[path = "agent/shared.rs"]
mod shared;
#[path = "agent/thread.rs"]
mod thread;

/// What the loader calls before the program begins: a program that never allocates is seen as well.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = at_start;

extern "C" fn at_start() {
    image::begin_slowly();
}
