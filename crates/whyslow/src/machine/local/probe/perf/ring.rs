//! The memory that the kernel and we share for one event on one CPU. The kernel writes records into it in a circle, and
//! we copy out what is new. It does not know what a record means.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use perf_event_open_sys as sys;
use sys::bindings::perf_event_mmap_page;

/// An event with its ring. Both end with it.
pub struct Ring {
    event: OwnedFd,
    head_page: NonNull<perf_event_mmap_page>,
    mapped_bytes: usize,
    data_offset: usize,
    data_bytes: usize,
}

impl Ring {
    /// `data_bytes` must be a power of two and a multiple of the size of a page.
    pub fn map(event: OwnedFd, data_bytes: usize) -> io::Result<Ring> {
        let page = page_bytes();
        let mapped_bytes = page + data_bytes;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping, at a place that the kernel chooses.
        let address = unsafe {
            libc::mmap(std::ptr::null_mut(), mapped_bytes, protection, libc::MAP_SHARED, event.as_raw_fd(), 0)
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let head_page = NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Ring { event, head_page, mapped_bytes, data_offset: page, data_bytes })
    }

    pub fn bytes(&self) -> usize {
        self.data_bytes
    }

    /// Appends all that is new, and gives the place back to the kernel.
    pub fn read_into(&mut self, bytes: &mut Vec<u8>) {
        // SAFETY: both are aligned words of the mapped page; only we write the tail, and only the kernel the head.
        let (head, tail) = unsafe {
            let page = self.head_page.as_ptr();
            (AtomicU64::from_ptr(&raw mut (*page).data_head), AtomicU64::from_ptr(&raw mut (*page).data_tail))
        };
        let end = head.load(Ordering::Acquire);
        let start = tail.load(Ordering::Relaxed);
        // SAFETY: inside the mapping, which lives as long as `self`. Between tail and head the kernel writes nothing
        // until the tail has moved; the rest is not looked at.
        let data = unsafe {
            let begin = self.head_page.as_ptr().cast::<u8>().add(self.data_offset);
            std::slice::from_raw_parts(begin, self.data_bytes)
        };
        copy_between(data, start, end, bytes);
        tail.store(end, Ordering::Release);
    }

    /// From now on the records of the other event, which is for the same CPU, go into this ring.
    pub fn take_output_of(&self, other: &OwnedFd) -> io::Result<()> {
        // SAFETY: two descriptors of events.
        let done = unsafe { sys::ioctls::SET_OUTPUT(other.as_raw_fd(), self.event.as_raw_fd()) };
        if done == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// How much was counted, over all that inherited the event.
    pub fn count(&self) -> io::Result<u64> {
        let mut count = 0_u64;
        // SAFETY: a word that outlives the call.
        let read = unsafe { libc::read(self.event.as_raw_fd(), (&raw mut count).cast(), size_of::<u64>()) };
        if read == size_of::<u64>() as isize { Ok(count) } else { Err(io::Error::last_os_error()) }
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: our own mapping, of which nobody has a reference.
        unsafe { libc::munmap(self.head_page.as_ptr().cast(), self.mapped_bytes) };
    }
}

/// From a place in the endless stream to another, out of the circle that holds the last part of it.
fn copy_between(circle: &[u8], start: u64, end: u64, bytes: &mut Vec<u8>) {
    let size = circle.len() as u64;
    if size == 0 {
        return;
    }
    // More than the circle holds cannot be there; what is left is the youngest of it.
    let length = end.wrapping_sub(start).min(size);
    let begin = (end.wrapping_sub(length) % size) as usize;
    let first = (length as usize).min(circle.len() - begin);
    bytes.extend_from_slice(&circle[begin..begin + first]);
    bytes.extend_from_slice(&circle[..length as usize - first]);
}

pub fn page_bytes() -> usize {
    // SAFETY: no memory is involved.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(circle: &[u8], start: u64, end: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        copy_between(circle, start, end, &mut bytes);
        bytes
    }

    #[test]
    fn what_is_new_is_copied_in_order_also_over_the_end_of_the_circle() {
        let circle = b"abcdefgh";
        assert_eq!(copied(circle, 0, 0), b"");
        assert_eq!(copied(circle, 0, 3), b"abc");
        assert_eq!(copied(circle, 6, 11), b"ghabc");
        assert_eq!(copied(circle, 8, 16), b"abcdefgh");
        assert_eq!(copied(circle, u64::MAX - 1, 1), b"gha");
    }

    #[test]
    fn nonsense_from_the_kernel_is_no_panic() {
        assert_eq!(copied(b"abcdefgh", 0, 100).len(), 8);
        assert_eq!(copied(b"abcdefgh", 100, 0).len(), 8);
        assert_eq!(copied(b"", 3, 7), b"");
    }
}
