//! The two software counters that cost next to nothing and need no hardware: time on a processor
//! and page faults, of the command and all its descendants, from its exec on.
//!
//! Each command opens its own, on itself, just before exec. The usual way, one counter on the
//! launcher that every child inherits, does not work together with vfork: when the processor goes
//! straight from parent to child the kernel may swap their (equal) sets of counters, the one we
//! hold is then enabled and used up by the child's exec, and every later run reads 0. Besides, a
//! counter of its own keeps the work of a descendant that outlives its run out of the next run's
//! number.

use crate::kernel::{self, Errno};
use crate::wire::{self, Answer};

/// What to open. Copied into the plan of every child.
#[derive(Clone, Copy)]
pub struct Counters {
    task_clock: Option<Attributes>,
    page_faults: Option<Attributes>,
}

/// struct perf_event_attr, version 0.
type Attributes = [u64; 8];

const TASK_CLOCK: u64 = 1;
const PAGE_FAULTS: u64 = 2;

impl Counters {
    /// Finds out what can be opened, and writes how it went into `hello`.
    pub fn find(hello: &mut Answer) -> Self {
        Self {
            task_clock: find(TASK_CLOCK, &mut hello.task_clock),
            page_faults: find(PAGE_FAULTS, &mut hello.page_faults),
        }
    }

    /// To be called by the child, which shares its table of descriptors with the launcher until
    /// exec.
    pub fn open(&self) -> Opened {
        let open = |attributes: Option<Attributes>| kernel::open_counter(&attributes?).ok();
        Opened { task_clock: open(self.task_clock), page_faults: open(self.page_faults) }
    }
}

/// The counters of one command.
pub struct Opened {
    task_clock: Option<i32>,
    page_faults: Option<i32>,
}

impl Opened {
    pub const NONE: Self = Self { task_clock: None, page_faults: None };

    /// To be called when the command has been reaped, so that its last moments are in.
    pub fn read(&self, answer: &mut Answer) {
        answer.task_clock = value(self.task_clock).unwrap_or(wire::NONE);
        answer.page_faults = value(self.page_faults).unwrap_or(wire::NONE);
    }

    pub fn close(&self) {
        self.task_clock.into_iter().chain(self.page_faults).for_each(kernel::close);
    }
}

/// First with the kernel's share, then without, which is all that most systems allow to ordinary
/// users.
///
/// The counter opened for the trial stays open, disabled, for the life of this process: the first
/// user of a kind of counter, and the last one to leave, make the kernel patch its own code, which
/// no run should pay.
fn find(event: u64, state: &mut u64) -> Option<Attributes> {
    let with_kernel = attributes(event, 0);
    let Err(denied) = hold(&with_kernel) else {
        *state = 0;
        return Some(with_kernel);
    };
    let user_only = attributes(event, EXCLUDE_KERNEL);
    if hold(&user_only).is_ok() {
        *state = wire::USER_ONLY;
        return Some(user_only);
    }
    *state = (-i64::from(denied.0)) as u64;
    None
}

fn hold(attributes: &Attributes) -> Result<(), Errno> {
    let mut held = *attributes;
    // Not inherited: the children shall have their own only.
    held[FLAGS] &= !(INHERIT | ENABLE_ON_EXEC);
    kernel::open_counter(&held).map(drop)
}

const FLAGS: usize = 5;
const DISABLED: u64 = 1 << 0;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5 | 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;

/// `exclusion` is 0 or `EXCLUDE_KERNEL`, which is the kernel and the hypervisor.
fn attributes(event: u64, exclusion: u64) -> Attributes {
    const SOFTWARE: u64 = 1;
    const SIZE: u64 = size_of::<Attributes>() as u64;
    let mut attributes = [0; 8];
    // Two 32-bit numbers.
    attributes[0] =
        if cfg!(target_endian = "little") { SOFTWARE | SIZE << 32 } else { SOFTWARE << 32 | SIZE };
    attributes[1] = event;
    attributes[FLAGS] = DISABLED | INHERIT | ENABLE_ON_EXEC | exclusion;
    attributes
}

fn value(counter: Option<i32>) -> Option<u64> {
    let mut bytes = [0; 8];
    let count = kernel::read(counter?, &mut bytes).ok()?;
    (count == bytes.len()).then(|| u64::from_ne_bytes(bytes))
}
