//! A preloaded library under which at most 1024 files may be open: programs that walk through all descriptors they could
//! have do so quickly. The limit is lowered when a program starts; a program may raise it again.

#![no_std]

#[path = "kernel.rs"]
mod kernel;
#[path = "runtime.rs"]
mod runtime;

use kernel::{call, number};

const RLIMIT_NOFILE: usize = 7;
const FEW: u64 = 1024;

/// What the loader calls before the program begins.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = lower_the_limit;

extern "C" fn lower_the_limit() {
    let own_process = 0;
    // Soft, hard.
    let mut limit = [0u64; 2];
    // SAFETY: the kernel writes two words there.
    let known =
        unsafe { call(number::PRLIMIT64, [own_process, RLIMIT_NOFILE, 0, (&raw mut limit) as usize, 0, 0]) };
    if known == 0 && limit[0] > FEW {
        limit[0] = FEW;
        // SAFETY: the kernel reads two words there.
        unsafe {
            call(number::PRLIMIT64, [own_process, RLIMIT_NOFILE, (&raw const limit) as usize, 0, 0, 0])
        };
    }
}
