//! The messages between the library and the launcher program, shared by both as source.
//!
//! Both ends run on one machine and are built together, so a message is a fixed row of native
//! 64-bit words; there is no versioning beyond `MAGIC`, which guards against a foreign speaker on
//! the socket. This file must compile without the standard library and never do any input or
//! output.

/// First word of every message.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"whyslow1");

/// "There is none", for times and counts that may be absent.
pub const NONE: u64 = u64::MAX;

/// Most bytes of a request's body. Linux refuses more than about 6 MB of arguments and environment
/// anyway, so a larger length is a mistake.
pub const BODY_LIMIT_BYTES: u64 = 64 << 20;

/// `argv[1]` that makes the program serve; with any other arguments it is the null program.
pub const SERVE: &[u8] = b"serve";

/// The descriptor at which the program finds its control socket.
pub const CONTROL_DESCRIPTOR: i32 = 3;

/// Kinds of `Order`.
pub const RUN: u64 = 1;
pub const CANCEL: u64 = 2;

/// Kinds of `Answer`.
pub const HELLO: u64 = 1;
pub const ENDED: u64 = 2;
pub const NOT_STARTED: u64 = 3;
pub const REFUSED: u64 = 4;

/// Why the launcher ended the command itself (`Answer::stopped_by`).
pub const BY_NOBODY: u64 = 0;
pub const BY_TIMEOUT: u64 = 1;
pub const BY_CANCEL: u64 = 2;
/// The command had been stopped by a signal and did not go on.
pub const BY_STOP: u64 = 3;

/// Bits of `Order::flags`. Standard output is a terminal, and becomes the controlling one of a session of its own.
pub const TERMINAL: u64 = 1;
/// The scheduler's group of that session gets the highest weight.
pub const AUTOGROUP: u64 = 2;

/// The steps of a start that can fail (`Answer::step`), most of them in the order in which they happen.
pub const STEPS: [&str; 13] = [
    "none",
    "setup",
    "request",
    "spawn",
    "group",
    "stdin",
    "stdout",
    "stderr",
    "chdir",
    "affinity",
    "exec",
    "terminal",
    "autogroup",
];
pub const STEP_SETUP: u64 = 1;
pub const STEP_REQUEST: u64 = 2;
pub const STEP_SPAWN: u64 = 3;
pub const STEP_GROUP: u64 = 4;
/// Standard output and error are the two steps that follow.
pub const STEP_STDIN: u64 = 5;
pub const STEP_CHDIR: u64 = 8;
pub const STEP_AFFINITY: u64 = 9;
pub const STEP_EXEC: u64 = 10;
/// These two come after standard error, where they are needed.
pub const STEP_TERMINAL: u64 = 11;
pub const STEP_AUTOGROUP: u64 = 12;

/// From the library to the program. A `RUN` carries 3 descriptors (standard input, output, error),
/// or 4 when the program to execute is a descriptor too, and is followed by `body_bytes` of body:
///
/// ```text
/// argument offsets, 0, environment offsets, 0, affinity words, strings each ended by a zero byte
/// ```
///
/// An offset is a 64-bit word counted from the start of the body; the first string is never at 0,
/// so 0 means "absent" everywhere.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Order {
    pub magic: u64,
    pub kind: u64,
    pub body_bytes: u64,
    pub argument_count: u64,
    pub environment_count: u64,
    pub affinity_words: u64,
    /// Offset of the path to execute; 0: the fourth descriptor is executed.
    pub program: u64,
    /// Offset of the directory to change to; 0: stay.
    pub directory: u64,
    /// Counted from the start of the command; `NONE`: no limit.
    pub timeout_ns: u64,
    /// How long to wait for descendants after the end of the command.
    pub descendants_ns: u64,
    pub flags: u64,
    /// For `CANCEL`: how long the group may take to obey SIGTERM before SIGKILL.
    pub grace_ns: u64,
}

/// From the program to the library: `HELLO` once after the start, then one answer per `RUN`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Answer {
    pub magic: u64,
    pub kind: u64,
    pub errno: u64,
    pub step: u64,
    /// As `wait4` gave it.
    pub wait_status: u64,
    pub stopped_by: u64,
    /// The signal of `BY_STOP`.
    pub stop_signal: u64,
    pub request_ns: u64,
    pub exec_ns: u64,
    pub end_ns: u64,
    pub user_us: u64,
    pub system_us: u64,
    pub maxrss_kib: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
    pub blocks_in: u64,
    pub blocks_out: u64,
    /// The three numbers of `/proc/PID/schedstat`, without what was there before exec, or `NONE`.
    pub schedstat: [u64; 3],
    /// In a `HELLO`: 0 counts the kernel too, `USER_ONLY`, or the negated errno. Otherwise the
    /// difference over the run, or `NONE`.
    pub task_clock: u64,
    pub page_faults: u64,
    /// Used by descendants that outlived their parents and ended before the answer.
    pub leftover_user_us: u64,
    pub leftover_system_us: u64,
    /// Descendants of this run that live, or `NONE`.
    pub leftovers: u64,
    /// The same, with those of earlier runs.
    pub strangers: u64,
}

/// State of a counter that may not look at the kernel.
pub const USER_ONLY: u64 = 1;

/// Types that are rows of 64-bit words and nothing else.
///
/// # Safety
/// The type must be `repr(C)`, hold only `u64` (so no padding, and every bit pattern is valid).
pub unsafe trait Words: Copy {
    fn zero() -> Self {
        // SAFETY: every bit pattern is valid, by the contract of the trait.
        unsafe { core::mem::zeroed() }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: no padding, so all bytes are initialised; the length is that of the value.
        unsafe { core::slice::from_raw_parts((self as *const Self).cast(), size_of::<Self>()) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and every bit pattern that is written is valid.
        unsafe { core::slice::from_raw_parts_mut((self as *mut Self).cast(), size_of::<Self>()) }
    }
}

// SAFETY: both are `repr(C)` rows of `u64`.
unsafe impl Words for Order {}
unsafe impl Words for Answer {}
