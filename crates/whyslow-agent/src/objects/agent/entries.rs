//! What the program calls in place of its allocator. Each function counts, calls the one behind it, and looks at what
//! became of the block.

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::Ordering;

use crate::counters::{Count, Unit};
use crate::image::{LIVE_BYTES, begin_slowly};
use crate::kernel::set_errno;
use crate::next::{Next, Owner, table};
use crate::thread;

const ENOMEM: c_int = 12;
/// A thread gives its part of the live bytes when it has so many: a smaller number makes the peak of programs with many
/// threads exacter, and their calls slower.
const PENDING_LIMIT: i64 = 16 << 10;
/// From here on musl gives each block a mapping of its own.
const MUSL_MAPPED_BYTES: usize = 131_052;

/// Where one call counts.
struct Call {
    unit: *mut Unit,
}

/// The unit of this thread, and the function behind ours, if malloc is that of glibc and everything is ready: one look at
/// the table and one at the thread tell both. glibc does not call itself by names that could be ours, so that nothing needs
/// to be said about nested calls.
#[inline(always)]
fn quick<F: Copy>(function: impl FnOnce(&Next) -> Option<F>) -> Option<(Call, F)> {
    let unit = thread::active();
    if table().owner != Owner::Glibc || unit.is_null() {
        return None;
    }
    // SAFETY: glibc has every function for which this is asked.
    Some((Call { unit }, unsafe { function(table()).unwrap_unchecked() }))
}

/// The functions behind ours, and where to count if this call is to be counted; calls within it are not, until it ends.
#[inline(never)]
fn begin() -> (&'static Next, Option<Call>) {
    let thread = thread::current();
    // SAFETY: the thread's own memory.
    if table().owner == Owner::Unknown || unsafe { (*thread).active.is_null() } {
        begin_slowly();
    }
    // SAFETY: as above.
    let unit = unsafe { core::mem::replace(&mut (*thread).active, null_mut()) };
    (table(), (!unit.is_null()).then_some(Call { unit }))
}

impl Call {
    #[inline(always)]
    fn count(&self, what: Count, more: u64) {
        // SAFETY: the unit is this thread's, and mapped for good.
        unsafe { (*self.unit).counts[what as usize] += more };
    }

    #[inline(always)]
    fn asked(&self, bytes: usize) {
        self.count(Count::AskedBytes, bytes as u64);
        // SAFETY: as above.
        unsafe { (*self.unit).sizes[(bytes | 1).ilog2() as usize] += 1 };
    }

    #[inline(always)]
    fn is_new(&self, next: &Next, block: *mut c_void) {
        if !block.is_null() {
            self.lives(usable(next, block));
        }
    }

    /// So many bytes more are live.
    #[inline(always)]
    fn lives(&self, more: usize) {
        // SAFETY: as above.
        let unit = unsafe { &mut *self.unit };
        unit.pending_bytes += more as i64;
        if unit.pending_bytes > unit.notice_bytes {
            notice(unit);
        }
    }

    /// So many bytes fewer are.
    #[inline(always)]
    fn dies(&self, fewer: usize) {
        // SAFETY: as above.
        let unit = unsafe { &mut *self.unit };
        unit.pending_bytes -= fewer as i64;
        if unit.pending_bytes < -PENDING_LIMIT {
            notice(unit);
        }
    }

    /// Calls count again.
    #[inline(always)]
    fn end(self) {
        // SAFETY: the thread's own memory.
        unsafe { (*thread::current()).active = self.unit };
    }
}

/// A new peak, or so much held back that the sum should have it.
#[cold]
#[inline(never)]
fn notice(unit: &mut Unit) {
    // SAFETY: the thread's own memory.
    let thread = unsafe { &mut *thread::current() };
    if unit.pending_bytes.unsigned_abs() >= PENDING_LIMIT as u64 {
        let pending = core::mem::take(&mut unit.pending_bytes);
        thread.live_bytes = LIVE_BYTES.fetch_add(pending, Ordering::Relaxed) + pending;
    }
    unit.peak_bytes = unit.peak_bytes.max(thread.live_bytes + unit.pending_bytes);
    unit.notice_bytes = (unit.peak_bytes - thread.live_bytes).min(PENDING_LIMIT);
}

/// How long the block really is.
#[inline(always)]
fn usable(next: &Next, block: *mut c_void) -> usize {
    if next.owner == Owner::Glibc {
        return glibc_usable(block);
    }
    match next.usable_size {
        // SAFETY: a block of this allocator.
        Some(usable_size) => unsafe { usable_size(block) },
        None => 0,
    }
}

/// One word of the chunk is for its length; a mapping of its own has one more, which makes no difference.
#[inline(always)]
fn glibc_usable(block: *mut c_void) -> usize {
    (glibc_header(block) & !7) - 8
}

/// The length of the chunk, and in its low bits what kind it is.
#[inline(always)]
fn glibc_header(block: *mut c_void) -> usize {
    // SAFETY: in glibc there is such a word before each block.
    unsafe { *block.cast::<usize>().sub(1) }
}

/// Whether the block is a mapping of its own, which mremap can move without copying.
fn is_mapped(next: &Next, block: *mut c_void) -> bool {
    if !next.is_realloc_of_owner {
        return false;
    }
    match next.owner {
        Owner::Glibc => glibc_header(block) & 2 != 0,
        Owner::Musl => usable(next, block) >= MUSL_MAPPED_BYTES,
        Owner::Other | Owner::Unknown => false,
    }
}

fn no_memory() -> *mut c_void {
    set_errno(ENOMEM);
    null_mut()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc(bytes: usize) -> *mut c_void {
    let Some((call, malloc)) = quick(|next| next.malloc) else { return malloc_slowly(bytes) };
    call.asked(bytes);
    // SAFETY: by the contract of the function.
    let block = unsafe { malloc(bytes) };
    if !block.is_null() {
        call.lives(glibc_usable(block));
    }
    block
}

#[cold]
fn malloc_slowly(bytes: usize) -> *mut c_void {
    let (next, call) = begin();
    let Some(malloc) = next.malloc else { return no_memory() };
    // SAFETY: as the caller's.
    let block = unsafe { malloc(bytes) };
    if let Some(call) = call {
        call.asked(bytes);
        call.is_new(next, block);
        call.end();
    }
    block
}

/// No allocator frees through free, so there is nothing to do afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: *mut c_void) {
    let Some((call, free)) = quick(|next| next.free) else { return free_slowly(block) };
    if !block.is_null() {
        call.count(Count::Free, 1);
        call.dies(glibc_usable(block));
    }
    // SAFETY: by the contract of the function.
    unsafe { free(block) }
}

#[cold]
fn free_slowly(block: *mut c_void) {
    let (next, call) = begin();
    if let Some(call) = call {
        if !block.is_null() {
            call.count(Count::Free, 1);
            call.dies(usable(next, block));
        }
        call.end();
    }
    if let Some(free) = next.free {
        // SAFETY: as the caller's.
        unsafe { free(block) };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn calloc(count: usize, bytes: usize) -> *mut c_void {
    let (next, call) = begin();
    let Some(calloc) = next.calloc else { return no_memory() };
    // SAFETY: by the contract of the function.
    let block = unsafe { calloc(count, bytes) };
    if let Some(call) = call {
        call.count(Count::Calloc, 1);
        call.asked(count.saturating_mul(bytes));
        call.is_new(next, block);
        call.end();
    }
    block
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut c_void, bytes: usize) -> *mut c_void {
    let (next, call) = begin();
    let Some(realloc) = next.realloc else { return no_memory() };
    let Some(call) = call else {
        // SAFETY: by the contract of the function.
        return unsafe { realloc(block, bytes) };
    };
    call.count(Count::Realloc, 1);
    call.asked(bytes);
    let (had, was_mapped) =
        if block.is_null() { (0, false) } else { (usable(next, block), is_mapped(next, block)) };
    // SAFETY: by the contract of the function.
    let now = unsafe { realloc(block, bytes) };
    if block.is_null() {
        call.count(Count::ReallocNew, 1);
        call.is_new(next, now);
    } else if !now.is_null() {
        call.dies(had);
        call.lives(usable(next, now));
        if now == block {
            call.count(Count::ReallocInPlace, 1);
        } else if was_mapped && is_mapped(next, now) {
            call.count(Count::ReallocRemapped, 1);
            call.count(Count::ReallocRemappedBytes, had.min(bytes) as u64);
        } else {
            call.count(Count::ReallocMoved, 1);
            call.count(Count::ReallocMovedBytes, had.min(bytes) as u64);
        }
    } else if bytes == 0 {
        call.count(Count::ReallocFreed, 1);
        call.dies(had);
    }
    call.end();
    now
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn reallocarray(block: *mut c_void, count: usize, bytes: usize) -> *mut c_void {
    match count.checked_mul(bytes) {
        // SAFETY: by the contract of the function.
        Some(bytes) => unsafe { realloc(block, bytes) },
        None => no_memory(),
    }
}

/// The allocators with an alignment, or with one of their own.
#[inline(always)]
fn aligned(bytes: usize, allocate: impl FnOnce(&Next) -> *mut c_void) -> *mut c_void {
    let (next, call) = begin();
    let block = allocate(next);
    if let Some(call) = call {
        call.count(Count::Aligned, 1);
        call.asked(bytes);
        call.is_new(next, block);
        call.end();
    }
    block
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(place: *mut *mut c_void, alignment: usize, bytes: usize) -> c_int {
    let mut result = ENOMEM;
    aligned(bytes, |next| {
        let Some(posix_memalign) = next.posix_memalign else { return null_mut() };
        // SAFETY: by the contract of the function. The place is only written by a success.
        unsafe {
            result = posix_memalign(place, alignment, bytes);
            if result == 0 { *place } else { null_mut() }
        }
    });
    result
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn aligned_alloc(alignment: usize, bytes: usize) -> *mut c_void {
    // SAFETY: by the contract of the function.
    aligned(bytes, |next| next.aligned_alloc.map_or_else(no_memory, |next| unsafe { next(alignment, bytes) }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn memalign(alignment: usize, bytes: usize) -> *mut c_void {
    // SAFETY: by the contract of the function.
    aligned(bytes, |next| next.memalign.map_or_else(no_memory, |next| unsafe { next(alignment, bytes) }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn valloc(bytes: usize) -> *mut c_void {
    // SAFETY: by the contract of the function.
    aligned(bytes, |next| next.valloc.map_or_else(no_memory, |next| unsafe { next(bytes) }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvalloc(bytes: usize) -> *mut c_void {
    // SAFETY: by the contract of the function.
    aligned(bytes, |next| next.pvalloc.map_or_else(no_memory, |next| unsafe { next(bytes) }))
}

#[inline(always)]
fn moved_the_break<T>(of: impl FnOnce(&Next) -> T) -> T {
    let (next, call) = begin();
    let result = of(next);
    if let Some(call) = call {
        call.count(Count::Sbrk, 1);
        call.end();
    }
    result
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sbrk(more: isize) -> *mut c_void {
    let failed = || no_memory().wrapping_byte_sub(1);
    // SAFETY: by the contract of the function.
    moved_the_break(|next| next.sbrk.map_or_else(failed, |sbrk| unsafe { sbrk(more) }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn brk(end: *mut c_void) -> c_int {
    let failed = || {
        set_errno(ENOMEM);
        -1
    };
    // SAFETY: by the contract of the function.
    moved_the_break(|next| next.brk.map_or_else(failed, |brk| unsafe { brk(end) }))
}
