//! What a program without standard library and libc must bring itself: the entry point, the memory
//! functions that the compiler calls, and the end on a panic.

use core::panic::PanicInfo;

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "mov rdi, rsp",
    "and rsp, -16",
    "call {start}",
    "ud2",
    start = sym crate::start,
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "mov x29, xzr",
    "mov x30, xzr",
    "mov x0, sp",
    "bl {start}",
    "brk #1",
    start = sym crate::start,
);

/// A panic is a mistake in this program. The library sees the socket close and says so.
#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    crate::kernel::exit(101)
}

/// Named by the unwind tables of the core library, never called: panics abort.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// # Safety
/// As memcpy of C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    for index in 0..count {
        // SAFETY: both ranges hold `count` bytes, by the contract of the function.
        unsafe { *to.add(index) = *from.add(index) };
    }
    to
}

/// # Safety
/// As memmove of C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    if (to as usize) <= from as usize {
        // SAFETY: same contract; upwards is right when the target lies below.
        return unsafe { memcpy(to, from, count) };
    }
    for index in (0..count).rev() {
        // SAFETY: both ranges hold `count` bytes, by the contract of the function.
        unsafe { *to.add(index) = *from.add(index) };
    }
    to
}

/// # Safety
/// As memset of C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, byte: i32, count: usize) -> *mut u8 {
    for index in 0..count {
        // SAFETY: the range holds `count` bytes, by the contract of the function.
        unsafe { *to.add(index) = byte as u8 };
    }
    to
}

/// # Safety
/// As memcmp of C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, count: usize) -> i32 {
    for index in 0..count {
        // SAFETY: both ranges hold `count` bytes, by the contract of the function.
        let (one, other) = unsafe { (*left.add(index), *right.add(index)) };
        if one != other {
            return i32::from(one) - i32::from(other);
        }
    }
    0
}

/// Whether the string at `text` is `wanted`.
///
/// # Safety
/// `text` must point to a string that ends with a zero byte.
pub unsafe fn is_string(text: *const u8, wanted: &[u8]) -> bool {
    for (index, byte) in wanted.iter().enumerate() {
        // SAFETY: all bytes before were equal and not zero, so this one is still inside the string.
        if unsafe { *text.add(index) } != *byte {
            return false;
        }
    }
    // SAFETY: as above.
    unsafe { *text.add(wanted.len()) == 0 }
}
