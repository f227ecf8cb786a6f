//! What happens when there is no memory left: one error, and the end. The standard library would abort, with a report that
//! needs memory itself.

use std::alloc::{GlobalAlloc, Layout, System};

/// The allocator of the system, which ends this program where it has nothing to give. What is on disk for a run is removed
/// by the next start, and the launcher ends its commands when we are gone.
pub struct OrEnd;

const MESSAGE: &str =
    "error: there is no memory left\nhint: is there a limit (ulimit -v)? whyslow itself takes up to 100 MB\n";

// SAFETY: every call is handed on unchanged.
unsafe impl GlobalAlloc for OrEnd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        or_end(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        or_end(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_bytes: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        or_end(unsafe { System.realloc(block, layout, new_bytes) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}

fn or_end(block: *mut u8) -> *mut u8 {
    if block.is_null() {
        // SAFETY: bytes of that length; no memory is needed, and nothing runs after it.
        unsafe {
            libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
            libc::_exit(2);
        }
    }
    block
}
