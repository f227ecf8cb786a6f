//! A preloaded library under which nothing waits for the disk: fsync, fdatasync, sync_file_range, msync, sync and syncfs
//! do nothing, and files are opened without O_SYNC and O_DSYNC. For an experiment only: data may be lost in a crash.
//!
//! Bad descriptors are still told. Asynchronous requests (io_uring, aio) are not seen.

#![no_std]
#![allow(clippy::missing_safety_doc)] // Every function has the contract of the libc function of its name.

#[path = "kernel.rs"]
mod kernel;
#[path = "runtime.rs"]
mod runtime;

use core::ffi::{c_char, c_int, c_uint, c_void};
use kernel::{as_libc, number};

const AT_FDCWD: c_int = -100;
/// O_SYNC, which holds O_DSYNC.
const SYNCHRONOUS: c_int = 0o4_010_000;
const MS_ASYNC: c_int = 1;
const MS_SYNC: c_int = 4;
/// Of pwritev2.
const RWF_DSYNC: c_int = 2;
const RWF_SYNC: c_int = 4;

/// 0 for a descriptor that is open.
fn nothing(descriptor: c_int) -> c_int {
    const F_GETFD: usize = 1;
    // SAFETY: no memory is involved.
    let result = unsafe { as_libc(number::FCNTL, [descriptor as usize, F_GETFD, 0, 0, 0, 0]) };
    if result < 0 { -1 } else { 0 }
}

#[unsafe(no_mangle)]
pub extern "C" fn fsync(descriptor: c_int) -> c_int {
    nothing(descriptor)
}

#[unsafe(no_mangle)]
pub extern "C" fn fdatasync(descriptor: c_int) -> c_int {
    nothing(descriptor)
}

#[unsafe(no_mangle)]
pub extern "C" fn syncfs(descriptor: c_int) -> c_int {
    nothing(descriptor)
}

#[unsafe(no_mangle)]
pub extern "C" fn sync_file_range(descriptor: c_int, _: i64, _: i64, _: c_uint) -> c_int {
    nothing(descriptor)
}

#[unsafe(no_mangle)]
pub extern "C" fn sync() {}

/// MS_ASYNC does nothing in Linux but look at the addresses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn msync(address: *mut c_void, length: usize, flags: c_int) -> c_int {
    let flags = if flags & MS_SYNC != 0 { flags & !MS_SYNC | MS_ASYNC } else { flags };
    // SAFETY: the kernel checks the addresses.
    unsafe { as_libc(number::MSYNC, [address as usize, length, flags as usize, 0, 0, 0]) as c_int }
}

/// The mode is there only for flags that create a file; what is in its register otherwise nobody reads.
unsafe fn open_at(directory: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    let flags = flags & !SYNCHRONOUS;
    let arguments = [directory as usize, path as usize, flags as usize, mode as usize, 0, 0];
    // SAFETY: the caller's string.
    unsafe { as_libc(number::OPENAT, arguments) as c_int }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: by the contract of the function.
    unsafe { open_at(AT_FDCWD, path, flags, mode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: by the contract of the function.
    unsafe { open_at(AT_FDCWD, path, flags, mode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn openat(at: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: by the contract of the function.
    unsafe { open_at(at, path, flags, mode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn openat64(at: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: by the contract of the function.
    unsafe { open_at(at, path, flags, mode) }
}

/// What programs call that were compiled with `_FORTIFY_SOURCE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __open_2(path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: by the contract of the function.
    unsafe { open_at(AT_FDCWD, path, flags, 0) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __open64_2(path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: by the contract of the function.
    unsafe { open_at(AT_FDCWD, path, flags, 0) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __openat_2(at: c_int, path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: by the contract of the function.
    unsafe { open_at(at, path, flags, 0) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __openat64_2(at: c_int, path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: by the contract of the function.
    unsafe { open_at(at, path, flags, 0) }
}

unsafe fn write_parts(file: c_int, parts: *const c_void, count: c_int, offset: i64, flags: c_int) -> isize {
    let flags = flags & !(RWF_DSYNC | RWF_SYNC);
    // The kernel takes the offset in two halves, of which the second is unused in 64 bits.
    let arguments = [file as usize, parts as usize, count as usize, offset as usize, 0, flags as usize];
    // SAFETY: the caller's list.
    unsafe { as_libc(number::PWRITEV2, arguments) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwritev2(
    file: c_int,
    parts: *const c_void,
    count: c_int,
    offset: i64,
    flags: c_int,
) -> isize {
    // SAFETY: by the contract of the function.
    unsafe { write_parts(file, parts, count, offset, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwritev64v2(
    file: c_int,
    parts: *const c_void,
    count: c_int,
    offset: i64,
    flags: c_int,
) -> isize {
    // SAFETY: by the contract of the function.
    unsafe { write_parts(file, parts, count, offset, flags) }
}
