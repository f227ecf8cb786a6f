//! The requests of ptrace(2) that the engine makes, each on a task that is stopped. A task may be killed at any moment,
//! so that a request on it fails: that is no error, since the wait that follows tells of its end.

use std::io;

/// All stops that tell of calls, children and programs; whatever becomes of the tracer, no traced task outlives it.
const OPTIONS: libc::c_int = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_EXITKILL;

/// Linux 5.3; not every C library has it.
const PTRACE_GET_SYSCALL_INFO: u64 = 0x420e;

/// `struct ptrace_syscall_info`: of a call that begins its number and arguments, of one that ends its result.
#[repr(C)]
#[derive(Default)]
struct RawCallInfo {
    kind: u8,
    _padding: [u8; 3],
    architecture: u32,
    _instruction_pointer: u64,
    _stack_pointer: u64,
    values: [u64; 8],
}

/// What a task that is stopped at a system call is about to do or has done.
pub enum CallStop {
    Entry { architecture: u32, number: u64, arguments: [u64; 6] },
    Exit { result: i64 },
    Neither,
}

/// Traces the task and all that it will start, without stopping it.
pub fn seize(task: libc::pid_t) -> io::Result<()> {
    let done = request(libc::PTRACE_SEIZE as u64, task, 0, OPTIONS as usize);
    if done == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Lets a stopped task go on to its next system call, handing it the signal that stopped it (or none).
pub fn go_on_to_call(task: libc::pid_t, signal: i32) {
    request(libc::PTRACE_SYSCALL as u64, task, 0, signal as usize);
}

/// The same without a stop at system calls.
pub fn go_on(task: libc::pid_t, signal: i32) {
    request(libc::PTRACE_CONT as u64, task, 0, signal as usize);
}

/// Leaves a task that a signal has stopped as it is, until somebody continues it.
pub fn stay_stopped(task: libc::pid_t) {
    request(libc::PTRACE_LISTEN as u64, task, 0, 0);
}

/// Stops a task that runs.
pub fn interrupt(task: libc::pid_t) {
    request(libc::PTRACE_INTERRUPT as u64, task, 0, 0);
}

/// The child of a fork, or the former name of a thread that has started a program.
pub fn message(task: libc::pid_t) -> Option<libc::pid_t> {
    let mut message: libc::c_ulong = 0;
    let place = &raw mut message as usize;
    (request(libc::PTRACE_GETEVENTMSG as u64, task, 0, place) != -1).then_some(message as libc::pid_t)
}

pub fn call_stop(task: libc::pid_t) -> io::Result<CallStop> {
    let mut info = RawCallInfo::default();
    let place = &raw mut info as usize;
    if request(PTRACE_GET_SYSCALL_INFO, task, size_of::<RawCallInfo>(), place) == -1 {
        return Err(io::Error::last_os_error());
    }
    let [number, a, b, c, d, e, f, _] = info.values;
    Ok(match info.kind {
        1 => CallStop::Entry { architecture: info.architecture, number, arguments: [a, b, c, d, e, f] },
        2 => CallStop::Exit { result: info.values[0] as i64 },
        _ => CallStop::Neither,
    })
}

/// One word of the memory of a stopped task.
pub fn word(task: libc::pid_t, address: usize) -> Option<usize> {
    let mut word = 0_usize;
    let place = &raw mut word as usize;
    // What the C library does for the caller: the system call itself writes the word to the place in `data`.
    // SAFETY: the word outlives the call; the address is one of the task's.
    let done =
        unsafe { libc::syscall(libc::SYS_ptrace, libc::PTRACE_PEEKDATA as usize, task, address, place) };
    (done != -1).then_some(word)
}

fn request(request: u64, task: libc::pid_t, address: usize, data: usize) -> libc::c_long {
    // SAFETY: the requests above write to the places in `data` that their callers have, or to no memory of ours.
    unsafe { libc::syscall(libc::SYS_ptrace, request, task as libc::c_long, address, data) }
}
