//! System calls without a libc, for libraries that stand in front of it. The only place with assembly for them.
//!
//! Layouts and numbers are those of the 64-bit kernel interface.

use core::arch::asm;

/// Some libraries use a few of these only.
#[allow(dead_code)]
#[cfg(target_arch = "x86_64")]
pub mod number {
    pub const CLOSE: usize = 3;
    pub const MMAP: usize = 9;
    pub const MUNMAP: usize = 11;
    pub const MSYNC: usize = 26;
    pub const MADVISE: usize = 28;
    pub const GETPID: usize = 39;
    pub const SOCKET: usize = 41;
    pub const SETSOCKOPT: usize = 54;
    pub const FCNTL: usize = 72;
    pub const GETTID: usize = 186;
    pub const TGKILL: usize = 234;
    pub const OPENAT: usize = 257;
    pub const PRLIMIT64: usize = 302;
    pub const PWRITEV2: usize = 328;
}

#[allow(dead_code)]
#[cfg(target_arch = "aarch64")]
pub mod number {
    pub const FCNTL: usize = 25;
    pub const OPENAT: usize = 56;
    pub const CLOSE: usize = 57;
    pub const TGKILL: usize = 131;
    pub const GETPID: usize = 172;
    pub const GETTID: usize = 178;
    pub const SOCKET: usize = 198;
    pub const SETSOCKOPT: usize = 208;
    pub const MUNMAP: usize = 215;
    pub const MMAP: usize = 222;
    pub const MSYNC: usize = 227;
    pub const MADVISE: usize = 233;
    pub const PRLIMIT64: usize = 261;
    pub const PWRITEV2: usize = 287;
}

/// The result, or minus the error number.
///
/// # Safety
/// The arguments must be valid for the system call; pointers must live as long as the kernel uses them.
pub unsafe fn call(number: usize, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let result: isize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the calling convention of Linux; rcx and r11 are overwritten by the instruction.
    unsafe {
        asm!("syscall", inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the calling convention of Linux.
    unsafe {
        asm!("svc #0", in("x8") number, inlateout("x0") a as isize => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f, options(nostack));
    }
    result
}

unsafe extern "C" {
    /// Both glibc and musl have it under this name.
    fn __errno_location() -> *mut i32;
}

/// As the functions of a libc end: -1 and `errno`, or the result.
///
/// # Safety
/// As [`call`].
#[allow(dead_code)]
pub unsafe fn as_libc(number: usize, arguments: [usize; 6]) -> isize {
    // SAFETY: by the contract of the function.
    let result = unsafe { call(number, arguments) };
    if result >= 0 || result < -4095 {
        return result;
    }
    set_errno(-result as i32);
    -1
}

#[allow(dead_code)]
pub fn set_errno(errno: i32) {
    // SAFETY: the place belongs to the calling thread.
    unsafe { *__errno_location() = errno };
}
