//! What the scheduler has booked for the main thread of a command, without what it had booked before exec: between its
//! birth and its exec a child may wait for a processor longer than it then lives.

use crate::kernel;
use crate::wire::NONE;

/// The accounts of the child just before its exec.
pub struct Before {
    on_cpu_ns: u64,
    wait_ns: u64,
}

impl Before {
    pub const NOTHING: Self = Self { on_cpu_ns: 0, wait_ns: 0 };

    /// To be called by the child, outside of the timed window. The file is cheap enough (less than two microseconds),
    /// but its first number is as old as the last tick; the clock is not.
    pub fn look() -> Self {
        let mut numbers = [NONE; 3];
        read(b"/proc/self/schedstat\0", &mut numbers);
        let wait_ns = if numbers[1] == NONE { 0 } else { numbers[1] };
        Self { on_cpu_ns: kernel::on_cpu_ns(), wait_ns }
    }

    pub fn take_off(&self, numbers: &mut [u64; 3]) {
        if numbers[2] != NONE {
            numbers[0] = numbers[0].saturating_sub(self.on_cpu_ns);
            numbers[1] = numbers[1].saturating_sub(self.wait_ns);
        }
    }
}

/// The accounts of the zombie's main thread: time on a processor, time waiting for one, number of
/// slices.
pub fn of_zombie(pid: i32, numbers: &mut [u64; 3]) {
    let mut path = [0; 32];
    schedstat_path(&mut path, pid as u32);
    read(&path, numbers);
}

fn read(path: &[u8], numbers: &mut [u64; 3]) {
    let mut text = [0; 96];
    let Some(length) = read_file(path, &mut text) else { return };
    let mut words = text[..length].split(|byte| !byte.is_ascii_digit()).filter(|word| !word.is_empty());
    let mut next = || words.next().map(decimal);
    if let (Some(on_cpu), Some(wait), Some(slices)) = (next(), next(), next()) {
        *numbers = [on_cpu, wait, slices];
    }
}

/// Writes `/proc/PID/schedstat` and leaves zero bytes behind it.
fn schedstat_path(path: &mut [u8; 32], pid: u32) {
    let mut digits = [0; 10];
    let first = write_decimal(&mut digits, pid);
    let mut end = 0;
    for part in [b"/proc/".as_slice(), &digits[first..], b"/schedstat"] {
        path[end..end + part.len()].copy_from_slice(part);
        end += part.len();
    }
}

fn read_file(path: &[u8], text: &mut [u8]) -> Option<usize> {
    let file = kernel::open_to_read(path).ok()?;
    let length = kernel::read(file, text).ok();
    kernel::close(file);
    length
}

/// Right-aligned; returns where the number begins.
fn write_decimal(place: &mut [u8; 10], mut number: u32) -> usize {
    let mut first = place.len();
    loop {
        first -= 1;
        place[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return first;
        }
    }
}

fn decimal(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |sum: u64, digit| sum.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')))
}
