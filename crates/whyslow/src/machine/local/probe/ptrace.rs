//! The requests of ptrace(2) that probes make, each on a task that is stopped. A task may be killed at any moment, so
//! that a request on it fails: that is no error, since the wait that follows tells of its end.

use std::io;

/// `PTRACE_EVENT_STOP`, for C libraries that do not have it.
pub const EVENT_STOP: i32 = 128;

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

/// Traces the task without stopping it; the options say what it stops for. Whatever becomes of the tracer, no traced task
/// outlives it.
pub fn seize(task: libc::pid_t, options: libc::c_int) -> io::Result<()> {
    let options = options | libc::PTRACE_O_EXITKILL;
    let done = request(libc::PTRACE_SEIZE as u64, task, 0, options as usize);
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
    peek(libc::PTRACE_PEEKDATA as u64, task, address)
}

/// The register at this place of `struct user`.
pub fn register(task: libc::pid_t, place: usize) -> Option<u64> {
    peek(libc::PTRACE_PEEKUSER as u64, task, place).map(|word| word as u64)
}

pub fn set_register(task: libc::pid_t, place: usize, value: u64) {
    request(libc::PTRACE_POKEUSER as u64, task, place, value as usize);
}

/// The signal that has stopped a whole process, if that is what the wait for a task says.
pub fn halting_signal(status: i32) -> Option<i32> {
    let signal = libc::WSTOPSIG(status);
    let is_halt = matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU);
    (is_halt && status >> 16 == EVENT_STOP).then_some(signal)
}

/// What the C library does for the caller: the system call itself writes the word to the place in `data`.
fn peek(kind: u64, task: libc::pid_t, address: usize) -> Option<usize> {
    let mut word = 0_usize;
    let place = &raw mut word as usize;
    (request(kind, task, address, place) != -1).then_some(word)
}

fn request(request: u64, task: libc::pid_t, address: usize, data: usize) -> libc::c_long {
    // SAFETY: the requests above write to the places in `data` that their callers have, or to no memory of ours.
    unsafe { libc::syscall(libc::SYS_ptrace, request, task as libc::c_long, address, data) }
}
