//! The system calls, each as a small function. The only place with assembly for them.
//!
//! Layouts are those of the 64-bit kernel interface, equal on x86_64 and aarch64.

use core::arch::asm;
use core::ffi::c_void;
use core::ptr::{null, null_mut};

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub i32);

pub const EINTR: Errno = Errno(4);
pub const EBADMSG: Errno = Errno(74);

pub const SIGKILL: i32 = 9;
pub const SIGTERM: i32 = 15;
pub const SIGCHLD: i32 = 17;

#[cfg(target_arch = "x86_64")]
mod number {
    pub const READ: usize = 0;
    pub const PREAD64: usize = 17;
    pub const WRITE: usize = 1;
    pub const CLOSE: usize = 3;
    pub const MMAP: usize = 9;
    pub const MUNMAP: usize = 11;
    pub const RT_SIGACTION: usize = 13;
    pub const RT_SIGPROCMASK: usize = 14;
    pub const IOCTL: usize = 16;
    pub const SENDTO: usize = 44;
    pub const RECVMSG: usize = 47;
    pub const CLONE: usize = 56;
    pub const EXECVE: usize = 59;
    pub const WAIT4: usize = 61;
    pub const KILL: usize = 62;
    pub const FCNTL: usize = 72;
    pub const CHDIR: usize = 80;
    pub const SETPGID: usize = 109;
    pub const SETSID: usize = 112;
    pub const PRCTL: usize = 157;
    pub const SCHED_SETAFFINITY: usize = 203;
    pub const CLOCK_GETTIME: usize = 228;
    pub const EXIT_GROUP: usize = 231;
    pub const WAITID: usize = 247;
    pub const OPENAT: usize = 257;
    pub const PPOLL: usize = 271;
    pub const SIGNALFD4: usize = 289;
    pub const EVENTFD2: usize = 290;
    pub const DUP3: usize = 292;
    pub const PERF_EVENT_OPEN: usize = 298;
    pub const EXECVEAT: usize = 322;
    pub const CLOSE_RANGE: usize = 436;
}

#[cfg(target_arch = "aarch64")]
mod number {
    pub const EVENTFD2: usize = 19;
    pub const DUP3: usize = 24;
    pub const FCNTL: usize = 25;
    pub const IOCTL: usize = 29;
    pub const CHDIR: usize = 49;
    pub const OPENAT: usize = 56;
    pub const CLOSE: usize = 57;
    pub const READ: usize = 63;
    pub const PREAD64: usize = 67;
    pub const WRITE: usize = 64;
    pub const PPOLL: usize = 73;
    pub const SIGNALFD4: usize = 74;
    pub const EXIT_GROUP: usize = 94;
    pub const WAITID: usize = 95;
    pub const CLOCK_GETTIME: usize = 113;
    pub const SCHED_SETAFFINITY: usize = 122;
    pub const KILL: usize = 129;
    pub const RT_SIGACTION: usize = 134;
    pub const RT_SIGPROCMASK: usize = 135;
    pub const SETPGID: usize = 154;
    pub const SETSID: usize = 157;
    pub const PRCTL: usize = 167;
    pub const SENDTO: usize = 206;
    pub const RECVMSG: usize = 212;
    pub const MUNMAP: usize = 215;
    pub const CLONE: usize = 220;
    pub const EXECVE: usize = 221;
    pub const MMAP: usize = 222;
    pub const PERF_EVENT_OPEN: usize = 241;
    pub const WAIT4: usize = 260;
    pub const EXECVEAT: usize = 281;
    pub const CLOSE_RANGE: usize = 436;
}

/// # Safety
/// The arguments must be valid for the system call; pointers must live as long as the kernel uses
/// them.
#[inline(never)]
unsafe fn call(number: usize, arguments: [usize; 6]) -> Result<usize, Errno> {
    let [a, b, c, d, e, f] = arguments;
    let result: isize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the calling convention of Linux; rcx and r11 are overwritten by the instruction.
    unsafe {
        asm!("syscall", inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the calling convention of Linux.
    unsafe {
        asm!("svc #0", in("x8") number, inlateout("x0") a as isize => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f, options(nostack));
    }
    if (-4095..0).contains(&result) { Err(Errno(-result as i32)) } else { Ok(result as usize) }
}

/// A system call whose arguments are plain numbers, so that nothing can go wrong in this process's
/// memory.
fn plain(number: usize, arguments: [usize; 4]) -> Result<usize, Errno> {
    let [a, b, c, d] = arguments;
    // SAFETY: callers in this file use it only for calls without pointers (or with null for them).
    unsafe { call(number, [a, b, c, d, 0, 0]) }
}

/// Starts a child that shares this memory and table of descriptors and runs `entry(argument)` on
/// `stack_end`; this process sleeps until the child has executed a program or ended, as with vfork.
///
/// # Safety
/// `stack_end` must be the 16-byte aligned end of memory that nobody else uses, `argument` must be
/// what `entry` expects, and `entry` must only touch what may change under this process's feet.
pub unsafe fn spawn_sharing_memory(
    stack_end: *mut u8,
    entry: unsafe extern "C" fn(*mut c_void) -> !,
    argument: *mut c_void,
) -> Result<i32, Errno> {
    const CLONE_VM: usize = 0x100;
    const CLONE_FILES: usize = 0x400;
    const CLONE_VFORK: usize = 0x4000;
    let flags = CLONE_VM | CLONE_FILES | CLONE_VFORK | SIGCHLD as usize;
    let result: isize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the child leaves the block only into `entry`, which does not return; the parent
    // passes through it as through any system call. r9 and r12 are not arguments of clone and are
    // kept in the child.
    unsafe {
        asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r9",
            "call r12",
            "ud2",
            "2:",
            inlateout("rax") number::CLONE as isize => result,
            in("rdi") flags, in("rsi") stack_end, in("rdx") 0, in("r10") 0, in("r8") 0, in("r9") argument, in("r12") entry,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above; x9 and x10 are not arguments of clone and are kept in the child.
    unsafe {
        asm!(
            "svc #0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x0, x9",
            "blr x10",
            "brk #1",
            "2:",
            in("x8") number::CLONE, inlateout("x0") flags as isize => result,
            in("x1") stack_end, in("x2") 0, in("x3") 0, in("x4") 0, in("x9") argument, in("x10") entry,
            lateout("x30") _,
        );
    }
    if result < 0 { Err(Errno(-result as i32)) } else { Ok(result as i32) }
}

pub fn exit(code: i32) -> ! {
    loop {
        let _ = plain(number::EXIT_GROUP, [code as usize, 0, 0, 0]);
    }
}

/// CLOCK_MONOTONIC. By system call and not by the faster vDSO: finding that takes more code than it
/// saves, and both ends of a run are read the same way.
pub fn now_ns() -> u64 {
    const MONOTONIC: usize = 1;
    clock_ns(MONOTONIC)
}

/// Time of this thread on a processor, up to now.
pub fn on_cpu_ns() -> u64 {
    const THREAD_CPU_TIME: usize = 3;
    clock_ns(THREAD_CPU_TIME)
}

fn clock_ns(clock: usize) -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: the kernel writes a timespec of two words there. It cannot fail for these clocks.
    let _ = unsafe { call(number::CLOCK_GETTIME, [clock, time.as_mut_ptr() as usize, 0, 0, 0, 0]) };
    time[0] * 1_000_000_000 + time[1]
}

pub fn read(descriptor: i32, buffer: &mut [u8]) -> Result<usize, Errno> {
    let arguments = [descriptor as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0];
    // SAFETY: the kernel writes at most `buffer.len()` bytes there.
    unsafe { call(number::READ, arguments) }
}

/// The beginning of a file, also where it was read before.
pub fn read_from_start(descriptor: i32, buffer: &mut [u8]) -> Result<usize, Errno> {
    let arguments = [descriptor as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0];
    // SAFETY: the kernel writes at most `buffer.len()` bytes there.
    unsafe { call(number::PREAD64, arguments) }
}

pub fn write(descriptor: i32, bytes: &[u8]) -> Result<usize, Errno> {
    // SAFETY: the kernel only reads `bytes`.
    unsafe { call(number::WRITE, [descriptor as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0]) }
}

pub fn send(socket: i32, bytes: &[u8]) -> Result<usize, Errno> {
    const MSG_NOSIGNAL: usize = 0x4000;
    let arguments = [socket as usize, bytes.as_ptr() as usize, bytes.len(), MSG_NOSIGNAL, 0, 0];
    // SAFETY: the kernel only reads `bytes`.
    unsafe { call(number::SENDTO, arguments) }
}

/// Receives bytes, and descriptors if some came along: their number is returned second.
pub fn receive(socket: i32, buffer: &mut [u8], descriptors: &mut [i32; 4]) -> Result<(usize, usize), Errno> {
    const MSG_CMSG_CLOEXEC: usize = 0x4000_0000;
    const MSG_CTRUNC: u32 = 8;
    let mut vector = [buffer.as_mut_ptr() as usize, buffer.len()];
    // Length, level and type, then the descriptors.
    let mut ancillary = [0u64; 4];
    let mut header: [usize; 7] =
        [0, 0, vector.as_mut_ptr() as usize, 1, ancillary.as_mut_ptr() as usize, size_of_val(&ancillary), 0];
    let arguments = [socket as usize, header.as_mut_ptr() as usize, MSG_CMSG_CLOEXEC, 0, 0, 0];
    // SAFETY: `header` is a msghdr that points to live buffers of the stated lengths.
    let count = unsafe { call(number::RECVMSG, arguments) }?;
    if header[6] as u32 & MSG_CTRUNC != 0 {
        return Err(EBADMSG);
    }
    // SCM_RIGHTS is the only kind that can arrive, no other was asked for.
    let received = if header[5] == 0 { 0 } else { (ancillary[0] as usize - 16) / 4 };
    for (index, descriptor) in descriptors.iter_mut().enumerate().take(received) {
        *descriptor = (ancillary[2 + index / 2] >> (32 * index_from_low_end(index))) as i32;
    }
    Ok((count, received))
}

/// Which half of a 64-bit word holds the 32-bit number with this index.
fn index_from_low_end(index: usize) -> usize {
    if cfg!(target_endian = "little") { index % 2 } else { 1 - index % 2 }
}

pub fn open_to_read(path: &[u8]) -> Result<i32, Errno> {
    open(path, 0)
}

pub fn open_to_write(path: &[u8]) -> Result<i32, Errno> {
    open(path, 1)
}

fn open(path: &[u8], access: usize) -> Result<i32, Errno> {
    const AT_FDCWD: isize = -100;
    const O_CLOEXEC: usize = 0o2_000_000;
    debug_assert!(path.last() == Some(&0));
    let arguments = [AT_FDCWD as usize, path.as_ptr() as usize, access | O_CLOEXEC, 0, 0, 0];
    // SAFETY: callers end the path with a zero byte.
    unsafe { call(number::OPENAT, arguments) }.map(|descriptor| descriptor as i32)
}

pub fn close(descriptor: i32) {
    let _ = plain(number::CLOSE, [descriptor as usize, 0, 0, 0]);
}

/// Closes all descriptors from `first` up; before Linux 5.9 the first thousand.
pub fn close_from(first: i32) {
    if plain(number::CLOSE_RANGE, [first as usize, u32::MAX as usize, 0, 0]).is_err() {
        (first..1024).for_each(close);
    }
}

/// Makes `to` another name of `from`; `close_on_exec` is for the new name.
pub fn duplicate(from: i32, to: i32, close_on_exec: bool) -> Result<(), Errno> {
    let flags = if close_on_exec { 0o2_000_000 } else { 0 };
    plain(number::DUP3, [from as usize, to as usize, flags, 0]).map(drop)
}

pub fn close_on_exec(descriptor: i32) -> Result<(), Errno> {
    const F_SETFD: usize = 2;
    plain(number::FCNTL, [descriptor as usize, F_SETFD, 1, 0]).map(drop)
}

/// A descriptor that reads and writes nothing of interest.
pub fn placeholder() -> Result<i32, Errno> {
    const O_CLOEXEC: usize = 0o2_000_000;
    plain(number::EVENTFD2, [0, O_CLOEXEC, 0, 0]).map(|descriptor| descriptor as i32)
}

/// New memory, zeroed when first touched.
pub fn map(bytes: usize) -> Result<*mut u8, Errno> {
    const READ_WRITE: usize = 3;
    const PRIVATE_ANONYMOUS: usize = 0x22;
    let nowhere = usize::MAX;
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
    let address = unsafe { call(number::MMAP, [0, bytes, READ_WRITE, PRIVATE_ANONYMOUS, nowhere, 0]) }?;
    Ok(address as *mut u8)
}

/// # Safety
/// The memory must come from `map` with the same length and not be used any more.
pub unsafe fn unmap(address: *mut u8, bytes: usize) {
    // SAFETY: by the contract of the function.
    let _ = unsafe { call(number::MUNMAP, [address as usize, bytes, 0, 0, 0, 0]) };
}

pub fn default_disposition(signal: i32) {
    // Handler 0 is the default; then flags, restorer, mask. Fails for SIGKILL and SIGSTOP, which
    // have no other.
    let action = [0u64; 4];
    // SAFETY: the kernel reads a sigaction, with a set of 8 bytes.
    let _ = unsafe { call(number::RT_SIGACTION, [signal as usize, action.as_ptr() as usize, 0, 8, 0, 0]) };
}

/// Blocks exactly the signals in `set` (bit n - 1 is signal n).
pub fn block_signals(set: u64) {
    const SIG_SETMASK: usize = 2;
    let pointer = &raw const set as usize;
    // SAFETY: the kernel reads a set of 8 bytes.
    let _ = unsafe { call(number::RT_SIGPROCMASK, [SIG_SETMASK, pointer, 0, 8, 0, 0]) };
}

/// A descriptor that is readable while one of the (blocked) signals in `set` is pending.
pub fn signal_descriptor(set: u64) -> Result<i32, Errno> {
    const NONBLOCK_CLOEXEC: usize = 0o2_004_000;
    let pointer = &raw const set as usize;
    let new = usize::MAX;
    // SAFETY: the kernel reads a set of 8 bytes.
    let result = unsafe { call(number::SIGNALFD4, [new, pointer, 8, NONBLOCK_CLOEXEC, 0, 0]) };
    result.map(|descriptor| descriptor as i32)
}

/// Process `pid`, or with a negative number the process group.
pub fn kill(pid: i32, signal: i32) {
    let _ = plain(number::KILL, [pid as usize, signal as usize, 0, 0]);
}

/// Whether the process group has a member, if only one of another user.
pub fn is_group(group: i32) -> bool {
    const ESRCH: Errno = Errno(3);
    plain(number::KILL, [(-group) as usize, 0, 0, 0]) != Err(ESRCH)
}

pub fn own_group() -> Result<(), Errno> {
    plain(number::SETPGID, [0; 4]).map(drop)
}

pub fn own_session() -> Result<(), Errno> {
    plain(number::SETSID, [0; 4]).map(drop)
}

/// For the leader of a session without terminal: the terminal at `descriptor` is to be its controlling one.
pub fn control_by_terminal(descriptor: i32) -> Result<(), Errno> {
    const TIOCSCTTY: usize = 0x540e;
    plain(number::IOCTL, [descriptor as usize, TIOCSCTTY, 0, 0]).map(drop)
}

/// Orphans below this process become its children.
pub fn adopt_orphans() {
    const PR_SET_CHILD_SUBREAPER: usize = 36;
    let _ = plain(number::PRCTL, [PR_SET_CHILD_SUBREAPER, 1, 0, 0]);
}

/// The calling process gets `signal` when its parent dies.
pub fn signal_on_parents_death(signal: i32) {
    const PR_SET_PDEATHSIG: usize = 1;
    let _ = plain(number::PRCTL, [PR_SET_PDEATHSIG, signal as usize, 0, 0]);
}

/// At most 15 bytes of `name` are kept; it must end with a zero byte.
pub fn name_process(name: &[u8]) {
    const PR_SET_NAME: usize = 15;
    // SAFETY: the kernel reads up to 16 bytes or the zero byte.
    let _ = unsafe { call(number::PRCTL, [PR_SET_NAME, name.as_ptr() as usize, 0, 0, 0, 0]) };
}

/// # Safety
/// `path` must be a string that ends with a zero byte.
pub unsafe fn change_directory(path: *const u8) -> Result<(), Errno> {
    // SAFETY: by the contract of the function.
    unsafe { call(number::CHDIR, [path as usize, 0, 0, 0, 0, 0]) }.map(drop)
}

/// # Safety
/// `mask` must point to `words` words.
pub unsafe fn set_affinity(mask: *const u64, words: usize) -> Result<(), Errno> {
    // SAFETY: by the contract of the function.
    unsafe { call(number::SCHED_SETAFFINITY, [0, words * 8, mask as usize, 0, 0, 0]) }.map(drop)
}

/// Returns only on failure.
///
/// # Safety
/// The path must be a string, both lists must end with a null pointer and hold strings.
pub unsafe fn execute_path(path: *const u8, arguments: *const u64, environment: *const u64) -> Errno {
    let arguments = [path as usize, arguments as usize, environment as usize, 0, 0, 0];
    // SAFETY: by the contract of the function.
    unsafe { call(number::EXECVE, arguments) }.err().unwrap_or(EBADMSG)
}

/// Returns only on failure.
///
/// # Safety
/// Both lists must end with a null pointer and hold strings.
pub unsafe fn execute_descriptor(descriptor: i32, arguments: *const u64, environment: *const u64) -> Errno {
    const AT_EMPTY_PATH: usize = 0x1000;
    let empty = c"".as_ptr() as usize;
    let arguments = [descriptor as usize, empty, arguments as usize, environment as usize, AT_EMPTY_PATH, 0];
    // SAFETY: by the contract of the function.
    unsafe { call(number::EXECVEAT, arguments) }.err().unwrap_or(EBADMSG)
}

/// Waits until one of the two descriptors is readable or hung up, or the time is over. A negative
/// descriptor is not watched.
pub fn wait_for_either(descriptors: [i32; 2], timeout_ns: Option<u64>) -> [bool; 2] {
    const POLLIN: i16 = 1;
    let mut polled = descriptors.map(|descriptor| Polled { descriptor, events: POLLIN, result: 0 });
    let time = timeout_ns.map(|total| [total / 1_000_000_000, total % 1_000_000_000]);
    let pointer = time.as_ref().map_or(null(), |time| time.as_ptr());
    let arguments = [polled.as_mut_ptr() as usize, 2, pointer as usize, 0, 8, 0];
    // SAFETY: two pollfd, and a timespec or null.
    match unsafe { call(number::PPOLL, arguments) } {
        Ok(_) => polled.map(|polled| polled.result != 0),
        Err(_) => [false; 2],
    }
}

/// struct pollfd.
#[repr(C)]
struct Polled {
    descriptor: i32,
    events: i16,
    result: i16,
}

/// What became of the child; it stays a zombie, or stopped.
pub fn state(pid: i32) -> State {
    const P_PID: usize = 1;
    const WSTOPPED: usize = 2;
    const WNOWAIT: usize = 0x0100_0000;
    const CLD_STOPPED: i32 = 5;
    match wait_id(P_PID, pid, WSTOPPED | WNOWAIT, null_mut()) {
        // After number and user comes the status: here the signal.
        Ok(information) if information[4] == pid && information[2] == CLD_STOPPED => {
            State::Stopped(information[6])
        }
        Ok(information) if information[4] == pid => State::Ended,
        _ => State::Running,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum State {
    Running,
    /// By this signal.
    Stopped(i32),
    Ended,
}

/// Reaps one child that has ended: its number, and the 18 words of struct rusage. With 0 as number there are
/// children, but all live. An error: there are none.
pub fn reap_any() -> Result<(i32, [u64; 18]), Errno> {
    const P_ALL: usize = 0;
    reap_one(P_ALL, 0)
}

/// The same among the members of a process group.
pub fn reap_member(group: i32) -> Result<(i32, [u64; 18]), Errno> {
    const P_PGID: usize = 2;
    reap_one(P_PGID, group)
}

fn reap_one(kind: usize, number: i32) -> Result<(i32, [u64; 18]), Errno> {
    const WALL: usize = 0x4000_0000;
    let mut usage = [0u64; 18];
    let information = wait_id(kind, number, WALL, &mut usage)?;
    Ok((information[4], usage))
}

/// struct siginfo, whose process number is the fifth 32-bit word.
fn wait_id(kind: usize, pid: i32, more: usize, usage: *mut [u64; 18]) -> Result<[i32; 32], Errno> {
    const WNOHANG_WEXITED: usize = 1 | 4;
    let mut information = [0i32; 32];
    let pointer = information.as_mut_ptr() as usize;
    let arguments = [kind, pid as usize, pointer, WNOHANG_WEXITED | more, usage as usize, 0];
    // SAFETY: the kernel writes a siginfo there, and a rusage where the pointer is not null.
    unsafe { call(number::WAITID, arguments) }?;
    // With WNOHANG and nobody to report the structure is left zero.
    Ok(information)
}

/// Reaps the child, waiting for it if need be: wait status and the 18 words of struct rusage.
pub fn reap(pid: i32) -> Result<(u32, [u64; 18]), Errno> {
    let mut status = 0u32;
    let mut usage = [0u64; 18];
    let pointers = [&raw mut status as usize, usage.as_mut_ptr() as usize];
    // SAFETY: the kernel writes a status word and a rusage there.
    unsafe { call(number::WAIT4, [pid as usize, pointers[0], 0, pointers[1], 0, 0]) }?;
    Ok((status, usage))
}

/// Opens a counter on this process, on whatever processor it runs.
pub fn open_counter(attributes: &[u64; 8]) -> Result<i32, Errno> {
    const CLOSE_ON_EXEC: usize = 8;
    let any_processor = usize::MAX;
    let no_group = usize::MAX;
    let arguments = [attributes.as_ptr() as usize, 0, any_processor, no_group, CLOSE_ON_EXEC, 0];
    // SAFETY: the kernel reads a perf_event_attr, which states its own length.
    unsafe { call(number::PERF_EVENT_OPEN, arguments) }.map(|descriptor| descriptor as i32)
}
