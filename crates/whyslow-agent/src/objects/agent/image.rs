//! The beginnings: of a program image, of a thread, and of a process that was forked. All of it is off the way of an
//! ordinary call, which finds everything ready.

use core::ffi::c_char;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::counters::{PATH_BYTES, Unit};
use crate::elf;
use crate::kernel::{call, number};
use crate::next::{self, EMPTY, Found, Next, Owner};
use crate::shared;
use crate::thread;

const UNTOUCHED: u32 = 0;
const BEGINNING: u32 = 1;
const COUNTING: u32 = 2;
/// Without the file, or on a kernel that cannot tell a forked process: calls are handed on, and that is all.
const SILENT: u32 = 3;

static STATE: AtomicU32 = AtomicU32::new(UNTOUCHED);

/// As they were found: what fork does not empty.
static mut SAVED: Next = EMPTY;
static mut OWNER: *const c_char = core::ptr::null();
static FLAGS: AtomicU64 = AtomicU64::new(0);

/// Number of the first unit of this image.
static IMAGE: AtomicU64 = AtomicU64::new(0);
static PROCESS: AtomicUsize = AtomicUsize::new(0);

/// Live bytes of this process, but for what threads have not given yet. In private memory: a forked process goes on
/// from what it had.
pub static LIVE_BYTES: AtomicI64 = AtomicI64::new(0);

/// Units of this image, so that a new thread can have that of a thread that has ended.
static UNITS: [AtomicPtr<Unit>; 1024] = [const { AtomicPtr::new(null_mut()) }; 1024];
static UNITS_USED: AtomicUsize = AtomicUsize::new(0);
/// Where to look next.
static HAND: AtomicUsize = AtomicUsize::new(0);
/// How many to look at: a system call each.
const LOOKS: usize = 8;

/// What a call does that found something not ready. Afterwards the table is filled, and the thread has its unit unless it
/// cannot have one, or has it in use.
#[cold]
#[inline(never)]
pub fn begin_slowly() {
    begin_image();
    let is_counting = STATE.load(Ordering::Acquire) == COUNTING;
    if next::table().owner == Owner::Unknown {
        if is_counting {
            begin_forked();
        }
        // SAFETY: what it was before the fork, whose only thread this is.
        unsafe { next::place().write(SAVED) };
    }
    if !is_counting {
        return;
    }
    // SAFETY: the thread's own memory.
    let thread = unsafe { &mut *thread::current() };
    if thread.own.is_null() {
        thread.take(reused().unwrap_or_else(fresh), LIVE_BYTES.load(Ordering::Relaxed));
    }
}

/// Once in each image; whoever comes at the same time waits.
fn begin_image() {
    match STATE.compare_exchange(UNTOUCHED, BEGINNING, Ordering::Acquire, Ordering::Acquire) {
        Ok(_) => {}
        Err(BEGINNING) => {
            while STATE.load(Ordering::Acquire) == BEGINNING {
                core::hint::spin_loop();
            }
            return;
        }
        Err(_) => return,
    }
    let found = next::find();
    // SAFETY: everybody else waits for the state.
    unsafe {
        SAVED = found.next;
        OWNER = found.owner;
    }
    FLAGS.store(found.flags, Ordering::Relaxed);
    let state = if prepare_to_count(&found) { COUNTING } else { SILENT };
    STATE.store(state, Ordering::Release);
}

fn prepare_to_count(found: &Found) -> bool {
    // SAFETY: the name of this library, and nobody else is here.
    let can = is_emptied_by_fork() && unsafe { shared::open(found.own) };
    if can {
        begin_process();
    }
    // SAFETY: everybody else waits for the state.
    unsafe { next::place().write(found.next) };
    can
}

/// The table is empty since a fork: what is counted from here on belongs to another image.
fn begin_forked() {
    // SAFETY: the thread's own memory. Its unit is that of the parent.
    let pending_bytes = unsafe { (*thread::current()).pending_bytes() };
    LIVE_BYTES.fetch_add(pending_bytes, Ordering::Relaxed);
    UNITS.iter().for_each(|place| place.store(null_mut(), Ordering::Relaxed));
    UNITS_USED.store(0, Ordering::Relaxed);
    begin_process();
}

/// The first unit of an image tells what is known of all of it.
fn begin_process() {
    // SAFETY: no memory is involved.
    let process = unsafe { call(number::GETPID, [0; 6]) };
    PROCESS.store(process as usize, Ordering::Relaxed);
    IMAGE.store(0, Ordering::Relaxed);
    let unit = fresh();
    // SAFETY: the thread's own memory, and a unit that nobody else has.
    unsafe {
        (*thread::current()).take(unit, LIVE_BYTES.load(Ordering::Relaxed));
        if let Some(unit) = unit.as_mut() {
            unit.flags = FLAGS.load(Ordering::Relaxed);
            let owner = elf::bytes(OWNER);
            let owner = &owner[owner.len().saturating_sub(PATH_BYTES)..];
            core::ptr::copy_nonoverlapping(owner.as_ptr(), unit.path.as_mut_ptr(), owner.len());
        }
    }
}

/// A unit for this thread; null if there is none left.
fn fresh() -> *mut Unit {
    let Some((unit, number)) = shared::claim() else { return null_mut() };
    let _ = IMAGE.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
    // SAFETY: nobody else has it.
    unsafe {
        (*unit).image = IMAGE.load(Ordering::Relaxed);
        (*unit).owner.store(thread_number() as u64, Ordering::Relaxed);
    }
    let place = UNITS_USED.fetch_add(1, Ordering::Relaxed);
    if let Some(place) = UNITS.get(place) {
        place.store(unit, Ordering::Release);
    }
    unit
}

/// The unit of a thread that has ended. What it counted stays, and what its last owner did not give is given by the next.
fn reused() -> Option<*mut Unit> {
    let used = UNITS_USED.load(Ordering::Relaxed).min(UNITS.len());
    for _ in 0..used.min(LOOKS) {
        let place = HAND.fetch_add(1, Ordering::Relaxed) % used;
        let unit = UNITS[place].load(Ordering::Acquire);
        // SAFETY: null, or a unit of this image, which stays mapped.
        let Some(owner) = (unsafe { unit.as_ref() }).map(|unit| &unit.owner) else { continue };
        let known = owner.load(Ordering::Relaxed);
        let own = thread_number() as u64;
        if (known == own || has_ended(known))
            && owner.compare_exchange(known, own, Ordering::Acquire, Ordering::Relaxed).is_ok()
        {
            return Some(unit);
        }
    }
    None
}

fn has_ended(thread: u64) -> bool {
    const ESRCH: isize = -3;
    let process = PROCESS.load(Ordering::Relaxed);
    // SAFETY: no memory is involved, and signal 0 is none.
    unsafe { call(number::TGKILL, [process, thread as usize, 0, 0, 0, 0]) == ESRCH }
}

fn thread_number() -> isize {
    // SAFETY: no memory is involved.
    unsafe { call(number::GETTID, [0; 6]) }
}

/// Whether a forked process will find the table empty, however it was forked. Not on kernels before 4.14.
fn is_emptied_by_fork() -> bool {
    const MADV_WIPEONFORK: usize = 18;
    let advice = [next::place() as usize, next::TABLE_BYTES, MADV_WIPEONFORK, 0, 0, 0];
    // SAFETY: whole pages of memory of our own; nothing changes in this process.
    unsafe { call(number::MADVISE, advice) == 0 }
}
