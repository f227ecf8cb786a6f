//! What a shared object without standard library must bring itself. All of it stays hidden: a library that exported
//! its own memcpy or personality would put it into the whole program.

use core::panic::PanicInfo;

/// A panic is a mistake in this library, and there is nobody to tell. No code here is meant to have one.
#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    loop {}
}

// Named by the core library, or called by the compiler. In assembly, so that rustc does not put them into the list of
// exported symbols.
#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".globl rust_eh_personality",
    ".hidden rust_eh_personality",
    "rust_eh_personality:",
    "ud2",
    ".globl memcpy",
    ".hidden memcpy",
    "memcpy:",
    "mov rax, rdi",
    "mov rcx, rdx",
    "rep movsb",
    "ret",
    ".globl memset",
    ".hidden memset",
    "memset:",
    "mov r8, rdi",
    "mov eax, esi",
    "mov rcx, rdx",
    "rep stosb",
    "mov rax, r8",
    "ret",
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".globl rust_eh_personality",
    ".hidden rust_eh_personality",
    "rust_eh_personality:",
    "brk #1",
    ".globl memcpy",
    ".hidden memcpy",
    "memcpy:",
    "mov x3, xzr",
    "1:",
    "cmp x3, x2",
    "b.eq 2f",
    "ldrb w4, [x1, x3]",
    "strb w4, [x0, x3]",
    "add x3, x3, #1",
    "b 1b",
    "2:",
    "ret",
    ".globl memset",
    ".hidden memset",
    "memset:",
    "mov x3, xzr",
    "1:",
    "cmp x3, x2",
    "b.eq 2f",
    "strb w1, [x0, x3]",
    "add x3, x3, #1",
    "b 1b",
    "2:",
    "ret",
);
