//! A preloaded library under which private memory from mmap is there at once (MAP_POPULATE), so that touching it for the
//! first time costs nothing.
//!
//! It sees the mmap of programs. The mmap within malloc is a matter of the libc alone: to have that filled too, the
//! allocator must be told (`glibc.malloc.top_pad`, `glibc.malloc.mmap_threshold`) or replaced.

#![no_std]
#![allow(clippy::missing_safety_doc)] // Every function has the contract of the libc function of its name.

#[path = "kernel.rs"]
mod kernel;
#[path = "runtime.rs"]
mod runtime;

use core::ffi::{c_int, c_void};
use kernel::{as_libc, number};

const PROT_WRITE: c_int = 2;
const MAP_PRIVATE: c_int = 0x02;
const MAP_ANONYMOUS: c_int = 0x20;
const MAP_GROWSDOWN: c_int = 0x100;
const MAP_NORESERVE: c_int = 0x4000;
const MAP_POPULATE: c_int = 0x8000;

/// What is larger was reserved and not meant to be used: filling it could take all memory there is.
const MOST_BYTES: usize = 1 << 30;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    let flags = filled(length, protection, flags);
    let arguments =
        [address as usize, length, protection as usize, flags as usize, file as usize, offset as usize];
    // SAFETY: by the contract of the function.
    unsafe { as_libc(number::MMAP, arguments) as *mut c_void }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap64(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: by the contract of the function.
    unsafe { mmap(address, length, protection, flags, file, offset) }
}

fn filled(length: usize, protection: c_int, flags: c_int) -> c_int {
    let is_memory = flags & (MAP_PRIVATE | MAP_ANONYMOUS) == MAP_PRIVATE | MAP_ANONYMOUS;
    let is_reserved = flags & (MAP_NORESERVE | MAP_GROWSDOWN) != 0 || length > MOST_BYTES;
    if is_memory && !is_reserved && protection & PROT_WRITE != 0 { flags | MAP_POPULATE } else { flags }
}
