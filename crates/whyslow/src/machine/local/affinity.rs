//! Sets of CPUs in the form in which the kernel takes them.

use std::io;

/// Room for 65,536 CPUs, more than any kernel is built for.
const MOST_CPUS: usize = 1 << 16;

/// One bit for each CPU; `None` for a set that no kernel could take.
pub fn mask(cpus: &[usize]) -> Option<Vec<u64>> {
    let highest = cpus.iter().copied().max().filter(|cpu| *cpu < MOST_CPUS)?;
    let mut words = vec![0; highest / 64 + 1];
    cpus.iter().for_each(|cpu| words[cpu / 64] |= 1 << (cpu % 64));
    Some(words)
}

pub fn set(process: u32, cpus: &[usize]) -> io::Result<()> {
    let words = mask(cpus).ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
    let bytes = size_of_val(words.as_slice());
    // SAFETY: the kernel reads that many bytes.
    let result = unsafe { libc::sched_setaffinity(process as libc::pid_t, bytes, words.as_ptr().cast()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits() {
        assert_eq!(mask(&[0, 2]), Some(vec![0b101]));
        assert_eq!(mask(&[65]), Some(vec![0, 2]));
        assert_eq!(mask(&[]), None);
        assert_eq!(mask(&[1 << 20]), None);
    }
}
