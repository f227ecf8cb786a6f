//! What each thread has of its own: where it counts. In static thread-local storage, which stable Rust has no words for.

use crate::counters::Unit;

#[repr(C)]
pub struct Thread {
    /// Where to count; null before the first call, and within a call, so that nested ones are not counted.
    pub active: *mut Unit,
    /// The same, but for within a call.
    pub own: *mut Unit,
    /// The sum of live bytes when this thread last gave its part.
    pub live_bytes: i64,
}

/// In place of the unit of a thread for which there was none.
pub const LOST: *mut Unit = core::ptr::without_provenance_mut(1);

impl Thread {
    /// What this thread holds back of the live bytes.
    pub fn pending_bytes(&self) -> i64 {
        if self.own.is_null() || self.own == LOST {
            return 0;
        }
        // SAFETY: a unit stays mapped for good.
        unsafe { (*self.own).pending_bytes }
    }

    pub fn take(&mut self, unit: *mut Unit, live_bytes: i64) {
        *self = Thread { active: unit, own: if unit.is_null() { LOST } else { unit }, live_bytes };
        // SAFETY: null, or a unit that is this thread's from now on. The sum may be another than that of its last owner.
        if let Some(unit) = unsafe { unit.as_mut() } {
            unit.notice_bytes = unit.pending_bytes;
        }
    }
}

const _: () = assert!(size_of::<Thread>() <= 64);

core::arch::global_asm!(
    ".section .tbss.whyslow_thread,\"awT\",@nobits",
    ".globl whyslow_thread",
    ".hidden whyslow_thread",
    ".type whyslow_thread,@object",
    ".size whyslow_thread,64",
    ".p2align 6",
    "whyslow_thread:",
    ".zero 64",
    ".text",
);

/// Of the calling thread, all zero at first.
#[inline(always)]
pub fn current() -> *mut Thread {
    let thread: *mut Thread;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the first word of the thread's block is its own address; the offset is a constant that the loader filled in.
    unsafe {
        core::arch::asm!(
            "mov {thread}, qword ptr fs:[0]",
            "add {thread}, qword ptr [rip + whyslow_thread@gottpoff]",
            thread = out(reg) thread,
            options(pure, nomem, nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "mrs {thread}, tpidr_el0",
            "adrp {offset}, :gottprel:whyslow_thread",
            "ldr {offset}, [{offset}, :gottprel_lo12:whyslow_thread]",
            "add {thread}, {thread}, {offset}",
            thread = out(reg) thread,
            offset = out(reg) _,
            options(pure, nomem, nostack),
        );
    }
    thread
}

/// The first word of it, in one load less.
#[inline(always)]
pub fn active() -> *mut Unit {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a word of the thread's own memory.
    unsafe {
        let unit: *mut Unit;
        core::arch::asm!(
            "mov {unit}, qword ptr [rip + whyslow_thread@gottpoff]",
            "mov {unit}, qword ptr fs:[{unit}]",
            unit = out(reg) unit,
            options(pure, readonly, nostack, preserves_flags),
        );
        unit
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: as above.
    unsafe {
        (*current()).active
    }
}
