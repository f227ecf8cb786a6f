//! Reading the memory of a stopped task: the strings and structures that its system calls point to. Never writes there.

use super::super::ptrace;

/// Longer paths are refused by the kernel.
const PATH_LIMIT: usize = libc::PATH_MAX as usize;

/// The smallest pages that there are: a read that ends at one never fails for what comes after it.
const PAGE: usize = 4096;

/// The bytes up to the NUL; `None` where there is no such memory, as in calls that fail with EFAULT.
pub fn string(task: libc::pid_t, address: u64) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut address = usize::try_from(address).ok().filter(|address| *address != 0)?;
    while text.len() < PATH_LIMIT {
        // Most paths are short, and often the page is the last one.
        let length = (PAGE - address % PAGE).min(if text.is_empty() { 256 } else { PAGE });
        let mut piece = vec![0; length];
        let read = read(task, address, &mut piece)?;
        let piece = &piece[..read];
        match piece.iter().position(|byte| *byte == 0) {
            Some(end) => {
                text.extend_from_slice(&piece[..end]);
                return Some(text);
            }
            None => text.extend_from_slice(piece),
        }
        address += read;
    }
    None
}

/// Exactly so many bytes.
pub fn bytes(task: libc::pid_t, address: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    let address = usize::try_from(address).ok()?;
    (read(task, address, &mut bytes)? == length).then_some(bytes)
}

pub fn number(task: libc::pid_t, address: u64) -> Option<u64> {
    let bytes = bytes(task, address, 8)?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}

/// How much was read, at least one byte.
fn read(task: libc::pid_t, address: usize, into: &mut [u8]) -> Option<usize> {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: into.len() };
    // SAFETY: the kernel writes no more than the buffer holds, and reads the other memory for us.
    let read = unsafe { libc::process_vm_readv(task, &local, 1, &remote, 1, 0) };
    match usize::try_from(read) {
        Ok(read) if read > 0 => Some(read),
        _ => by_words(task, address, into),
    }
}

/// Where the other way is not allowed, and for what is at the edge of the memory.
fn by_words(task: libc::pid_t, address: usize, into: &mut [u8]) -> Option<usize> {
    const WORD: usize = size_of::<usize>();
    let mut read = 0;
    while read < into.len() {
        let Some(word) = ptrace::word(task, address + read) else { break };
        let rest = (into.len() - read).min(WORD);
        into[read..read + rest].copy_from_slice(&word.to_ne_bytes()[..rest]);
        read += rest;
    }
    (read > 0).then_some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_at_their_nul_wherever_the_pages_end() {
        // SAFETY: no memory is involved.
        let own = unsafe { libc::getpid() };
        let mut text = vec![b'x'; 3 * PAGE];
        for (start, length) in [(0, 0), (1, 255), (17, 256), (100, 4095), (4000, 200)] {
            text[start + length] = 0;
            let address = text.as_ptr() as u64 + start as u64;
            assert_eq!(string(own, address).map(|string| string.len()), Some(length), "{start} {length}");
            text[start + length] = b'x';
        }
        assert_eq!(string(own, text.as_ptr() as u64), None, "longer than any path");
        assert_eq!(string(own, 0), None);
        assert_eq!(string(own, 8), None);
        let value = 0x0123_4567_89ab_cdef_u64;
        assert_eq!(number(own, &raw const value as u64), Some(value));
    }
}
