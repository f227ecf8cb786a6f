//! Which registers of the program a sample holds, and where they are in it. One list for each architecture that can be
//! unwound.

/// Bits of those that are wanted, in the numbering of the kernel (`asm/perf_regs.h`).
#[cfg(target_arch = "x86_64")]
pub const MASK: u64 = 0xff_01ff;
#[cfg(target_arch = "aarch64")]
pub const MASK: u64 = (1 << 29) | (1 << 30) | (1 << 31) | (1 << 32);

/// How many values that makes.
pub const COUNT: usize = MASK.count_ones() as usize;

/// A program of half the width of this machine has other registers, and is not unwound.
pub const ABI_64: u64 = 2;

/// Where the program was, and where its stack begins.
pub struct Place {
    pub instruction: u64,
    pub stack: u64,
}

#[cfg(target_arch = "x86_64")]
pub type Unwinding = framehop::x86_64::UnwindRegsX86_64;

/// `values` in the order of the bits of [`MASK`].
#[cfg(target_arch = "x86_64")]
pub fn unpack(values: &[u64; COUNT]) -> (Place, Unwinding) {
    use framehop::x86_64::Reg::{
        R8, R9, R10, R11, R12, R13, R14, R15, RAX, RBP, RBX, RCX, RDI, RDX, RSI, RSP,
    };
    // The kernel: ax bx cx dx si di bp sp ip, then r8 to r15.
    let place = Place { instruction: values[8], stack: values[7] };
    let mut registers = Unwinding::new(values[8], values[7], values[6]);
    let before_ip = [RAX, RBX, RCX, RDX, RSI, RDI, RBP, RSP];
    let after_ip = [R8, R9, R10, R11, R12, R13, R14, R15];
    for (register, value) in before_ip.into_iter().zip(values).chain(after_ip.into_iter().zip(&values[9..])) {
        registers.set(register, *value);
    }
    (place, registers)
}

#[cfg(target_arch = "aarch64")]
pub type Unwinding = framehop::aarch64::UnwindRegsAarch64;

#[cfg(target_arch = "aarch64")]
pub fn unpack(values: &[u64; COUNT]) -> (Place, Unwinding) {
    let [frame, link, stack, instruction] = *values;
    // User addresses have at most 48 bits; what is above may be a signature.
    let mask = framehop::aarch64::PtrAuthMask::new_24_40();
    (Place { instruction, stack }, Unwinding::new_with_ptr_auth_mask(mask, link, stack, frame))
}
