//! The start of a command: a child that shares this process's memory and table of descriptors until
//! it executes the program.

use crate::counters::{Counters, Opened};
use crate::kernel::{self, Errno, SIGKILL};
use crate::schedule::Accounts;
use crate::wire;
use core::cell::UnsafeCell;
use core::ffi::c_void;

/// What the child is to do, and how far it came. Strings and lists are pointers into the request's
/// memory.
pub struct Plan {
    /// A path, or null: then `program_descriptor` is executed.
    pub program: *const u8,
    pub program_descriptor: i32,
    /// Both lists end with a null pointer.
    pub arguments: *const u64,
    pub environment: *const u64,
    /// Null: stay.
    pub directory: *const u8,
    pub standard: [i32; 3],
    pub affinity: *const u64,
    /// 0: unchanged.
    pub affinity_words: usize,
    pub timeout_ns: u64,
    pub descendants_ns: u64,
    pub flags: u64,
    pub counters: Counters,
    /// Written by the child: the counters on itself.
    pub opened: Opened,
    /// Written by the child: what the scheduler had booked for it by then.
    pub accounts: Accounts,
    /// Written by the child: the clock just before it executes the program.
    pub exec_ns: u64,
    /// Written by the child when it could not execute the program: why, and at which step.
    pub failed: Option<(Errno, u64)>,
}

/// The process number of the child. It has either executed the program or left `failed` when this
/// returns.
pub fn spawn(plan: &mut Plan) -> Result<i32, Errno> {
    let end = STACK.0.get().wrapping_add(1).cast();
    let plan: *mut Plan = plan;
    // SAFETY: one child at a time runs on the stack, and this process sleeps meanwhile; `plan` is
    // what `become_command` expects.
    unsafe { kernel::spawn_sharing_memory(end, become_command, plan.cast()) }
}

/// The child's own stack: on the parent's it would overwrite the frames that the parent returns to.
#[repr(C, align(16))]
struct Stack(UnsafeCell<[u8; 16384]>);

// SAFETY: this program has one thread, and one child at a time uses the stack.
unsafe impl Sync for Stack {}

static STACK: Stack = Stack(UnsafeCell::new([0; 16384]));

/// # Safety
/// `plan` must point to a `Plan` whose pointers are valid.
unsafe extern "C" fn become_command(plan: *mut c_void) -> ! {
    // SAFETY: by the contract of the function; the parent does not look until the child is gone.
    let plan: &mut Plan = unsafe { &mut *plan.cast() };
    // SAFETY: the pointers of the plan are valid, by its contract.
    plan.failed = Some(unsafe { prepare_and_execute(plan) });
    kernel::exit(127)
}

/// Returns only on failure.
///
/// # Safety
/// The pointers in `plan` must be valid.
unsafe fn prepare_and_execute(plan: &mut Plan) -> (Errno, u64) {
    // SAFETY: as promised by the caller.
    if let Err(failure) = unsafe { prepare(plan) } {
        return failure;
    }
    plan.opened = plan.counters.open();
    plan.accounts = Accounts::open();
    plan.exec_ns = kernel::now_ns();
    // SAFETY: as promised by the caller.
    let errno = unsafe {
        if plan.program.is_null() {
            kernel::execute_descriptor(plan.program_descriptor, plan.arguments, plan.environment)
        } else {
            kernel::execute_path(plan.program, plan.arguments, plan.environment)
        }
    };
    (errno, wire::STEP_EXEC)
}

/// # Safety
/// The pointers in `plan` must be valid.
unsafe fn prepare(plan: &Plan) -> Result<(), (Errno, u64)> {
    // Should this launcher be killed, nobody could end the command any more.
    kernel::signal_on_parents_death(SIGKILL);
    let has_terminal = plan.flags & wire::TERMINAL != 0;
    // Only who leads a session can have a controlling terminal; a session is a group, too.
    let alone = if has_terminal { kernel::own_session() } else { kernel::own_group() };
    alone.map_err(|errno| (errno, wire::STEP_GROUP))?;
    for (number, from) in plan.standard.iter().enumerate() {
        let step = wire::STEP_STDIN + number as u64;
        kernel::duplicate(*from, number as i32, false).map_err(|errno| (errno, step))?;
    }
    if has_terminal {
        kernel::control_by_terminal(1).map_err(|errno| (errno, wire::STEP_TERMINAL))?;
    }
    if plan.flags & wire::AUTOGROUP != 0 {
        raise_autogroup().map_err(|errno| (errno, wire::STEP_AUTOGROUP))?;
    }
    if !plan.directory.is_null() {
        // SAFETY: a string, by the contract of the function.
        unsafe { kernel::change_directory(plan.directory) }.map_err(|errno| (errno, wire::STEP_CHDIR))?;
    }
    if plan.affinity_words > 0 {
        // SAFETY: that many words, by the contract of the function.
        unsafe { kernel::set_affinity(plan.affinity, plan.affinity_words) }
            .map_err(|errno| (errno, wire::STEP_AFFINITY))?;
    }
    kernel::block_signals(0);
    Ok(())
}

/// A session of its own is a group of the scheduler of its own.
fn raise_autogroup() -> Result<(), Errno> {
    let file = kernel::open_to_write(b"/proc/self/autogroup\0")?;
    let written = kernel::write(file, b"-20");
    kernel::close(file);
    written.map(drop)
}
