//! The file in which the agent counts: its layout, which both sides use.
//!
//! The file begins with a [`Header`], in a place as long as a unit; then come units. A unit belongs to one thread of one
//! program image (what exec started, or fork), so counting needs no atomic instruction, and what was counted is in the file
//! however the program ends. Everything is zero until somebody needs it: the file is sparse.

use core::sync::atomic::AtomicU64;

pub const MAGIC: u64 = 0x7768_7973_6c6f_7731;

/// The agent finds it beside its own file.
pub const FILE_NAME: &str = "counters";

pub const UNIT_BYTES: usize = size_of::<Unit>();

/// What is mapped at once: a multiple of every size of page.
pub const REGION_BYTES: usize = 1 << 16;

/// Powers of two.
pub const SIZE_CLASSES: usize = 64;

/// Of the owner of malloc; the end of it where it is longer.
pub const PATH_BYTES: usize = 256;

#[repr(C)]
pub struct Header {
    pub magic: u64,
    /// How many units there are, this one included.
    pub units: u64,
    /// The next unit that nobody has.
    pub next_unit: AtomicU64,
    /// Threads and forked processes that could get none.
    pub lost: AtomicU64,
}

#[repr(C)]
pub struct Unit {
    /// Number of the first unit of its image: of itself, if it is that; 0 while it is not used.
    pub image: u64,
    /// The thread.
    pub owner: AtomicU64,
    /// In the first unit of an image: those below.
    pub flags: u64,
    /// Highest sum of live bytes of the image that this thread saw.
    pub peak_bytes: i64,
    /// Live bytes that the sum does not have yet.
    pub pending_bytes: i64,
    /// With more pending bytes than that there is something to do: a new peak, or bytes to give.
    pub notice_bytes: i64,
    pub counts: [u64; 26],
    /// Calls by the power of two that they asked for: all but those of free.
    pub sizes: [u64; SIZE_CLASSES],
    /// The file that owns malloc, in the first unit of an image.
    pub path: [u8; PATH_BYTES],
}

/// The program exports a malloc of its own, so that nothing was counted.
pub const OWN_MALLOC: u64 = 1;
/// Operator new of C++ belongs to the allocator, and does not go through malloc.
pub const OWN_NEW: u64 = 2;
/// Python's allocator is in the program: it takes whole arenas and hands out small blocks itself.
pub const PYTHON: u64 = 4;
/// The same for a perl that was built with its own malloc.
pub const PERL_MALLOC: u64 = 8;

/// Places in [`Unit::counts`]. Calls of malloc are what is in the sizes and in no other count.
#[derive(Clone, Copy)]
#[repr(usize)]
pub enum Count {
    // In one cache line with what is before them: no call of malloc or free needs another but for its size.
    Free,
    AskedBytes,
    Calloc,
    Realloc,
    Aligned,
    /// realloc of a null pointer.
    ReallocNew,
    /// realloc to nothing.
    ReallocFreed,
    ReallocInPlace,
    ReallocMoved,
    ReallocMovedBytes,
    ReallocRemapped,
    ReallocRemappedBytes,
    Sbrk,
}
