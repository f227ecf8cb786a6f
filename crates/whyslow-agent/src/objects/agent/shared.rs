//! The file of counters, mapped piece by piece. No descriptor stays open: it would be one that the program did not open.

use core::ffi::c_char;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::counters::{FILE_NAME, Header, MAGIC, REGION_BYTES, UNIT_BYTES, Unit};
use crate::elf;
use crate::kernel::{call, number};

const PROT_READ_WRITE: usize = 3;
const MAP_SHARED: usize = 1;

/// Longer than any path that this library is put at.
const PATH_LIMIT: usize = 512;

static HEADER: AtomicPtr<Header> = AtomicPtr::new(null_mut());
static mut PATH: [u8; PATH_LIMIT] = [0; PATH_LIMIT];

/// Finds the file beside this library. Once, before anything else here.
///
/// # Safety
/// `own` must be a string, and nobody else may be in this module.
pub unsafe fn open(own: *const c_char) -> bool {
    // SAFETY: by the contract.
    let own = unsafe { elf::bytes(own) };
    let directory = own.iter().rposition(|byte| *byte == b'/').map_or(0, |place| place + 1);
    if directory == 0 || directory + FILE_NAME.len() >= PATH_LIMIT {
        return false;
    }
    let path = (&raw mut PATH).cast::<u8>();
    // SAFETY: there is room for both, and a zero behind them.
    unsafe {
        core::ptr::copy_nonoverlapping(own.as_ptr(), path, directory);
        core::ptr::copy_nonoverlapping(FILE_NAME.as_ptr(), path.add(directory), FILE_NAME.len());
    }
    let header = map(0).cast::<Header>();
    // SAFETY: a mapping of a region, which the file has at least.
    if header.is_null() || unsafe { (*header).magic } != MAGIC {
        return false;
    }
    HEADER.store(header, Ordering::Release);
    true
}

/// A unit that nobody has had, and its number. `None` if there is none, which is then counted.
pub fn claim() -> Option<(*mut Unit, u64)> {
    // SAFETY: null, or the mapping of `open`.
    let header = unsafe { HEADER.load(Ordering::Acquire).as_ref() }?;
    let number = header.next_unit.fetch_add(1, Ordering::Relaxed);
    let unit = if number < header.units { unit(header, number) } else { null_mut() };
    if unit.is_null() {
        header.lost.fetch_add(1, Ordering::Relaxed);
        return None;
    }
    Some((unit, number))
}

fn unit(header: &Header, number: u64) -> *mut Unit {
    let offset = number as usize * UNIT_BYTES;
    let region = offset / REGION_BYTES;
    let base = if region == 0 { (&raw const *header).cast_mut().cast() } else { map(region) };
    if base.is_null() { null_mut() } else { base.wrapping_add(offset % REGION_BYTES).cast() }
}

/// Null if that cannot be.
fn map(region: usize) -> *mut u8 {
    const AT_FDCWD: isize = -100;
    const O_RDWR_CLOEXEC: usize = 0o2_000_002;
    let path = (&raw const PATH) as usize;
    // SAFETY: a string that was written by `open`, and a new mapping at an address of the kernel's choice.
    unsafe {
        let file = call(number::OPENAT, [AT_FDCWD as usize, path, O_RDWR_CLOEXEC, 0, 0, 0]);
        if file < 0 {
            return null_mut();
        }
        let offset = region * REGION_BYTES;
        let mapping = [0, REGION_BYTES, PROT_READ_WRITE, MAP_SHARED, file as usize, offset];
        let address = call(number::MMAP, mapping);
        call(number::CLOSE, [file as usize, 0, 0, 0, 0, 0]);
        if (-4095..0).contains(&address) { null_mut() } else { address as *mut u8 }
    }
}
