//! What the scheduler has booked for the main thread of a command, without what it had booked before exec: between its
//! birth and its exec a child may wait for a processor longer than it then lives.

use crate::kernel;
use crate::wire::NONE;

/// The accounts of the child, open, and as they were just before its exec.
pub struct Accounts {
    file: Option<i32>,
    on_cpu_ns: u64,
    wait_ns: u64,
}

impl Accounts {
    pub const NONE: Self = Self { file: None, on_cpu_ns: 0, wait_ns: 0 };

    /// To be called by the child, which shares its table of descriptors with the launcher until exec, outside of the timed
    /// window. The file is cheap enough (less than two microseconds), but its first number is as old as the last tick; the
    /// clock is not.
    pub fn open() -> Self {
        let file = kernel::open_to_read(b"/proc/self/schedstat\0").ok();
        let wait_ns = file.and_then(numbers).map_or(0, |[_, wait_ns, _]| wait_ns);
        Self { file, on_cpu_ns: kernel::on_cpu_ns(), wait_ns }
    }

    /// To be called while the child is a zombie: time on a processor and time waiting for one since its exec, and the
    /// number of slices of its life.
    pub fn read(&self) -> [u64; 3] {
        self.file.and_then(numbers).map_or([NONE; 3], |[on_cpu_ns, wait_ns, slices]| {
            [on_cpu_ns.saturating_sub(self.on_cpu_ns), wait_ns.saturating_sub(self.wait_ns), slices]
        })
    }

    pub fn close(&self) {
        self.file.into_iter().for_each(kernel::close);
    }
}

fn numbers(file: i32) -> Option<[u64; 3]> {
    let mut text = [0; 96];
    let length = kernel::read_from_start(file, &mut text).ok()?;
    let mut words = text[..length].split(|byte| !byte.is_ascii_digit()).filter(|word| !word.is_empty());
    let mut next = || words.next().map(decimal);
    Some([next()?, next()?, next()?])
}

fn decimal(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |sum: u64, digit| sum.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')))
}
