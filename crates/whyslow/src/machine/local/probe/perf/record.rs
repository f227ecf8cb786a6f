//! What the records of a ring say, as far as we asked for it (`event`). Foreign bytes: whatever is in them, it is a
//! record or none, and never a panic.

use super::registers::{self, ABI_64};

const HEADER_BYTES: usize = 8;
const SWITCH_OUT: u16 = 1 << 13;
const SWITCH_OUT_PREEMPT: u16 = 1 << 14;
const COMM_EXEC: u16 = 1 << 13;
/// Anything from here up in a chain says whose addresses follow.
const CONTEXT_MARKS: u64 = -4095_i64 as u64;
const CONTEXT_KERNEL: u64 = -128_i64 as u64;

#[derive(Clone, Debug, PartialEq)]
pub struct Record<'a> {
    /// On CLOCK_MONOTONIC.
    pub time_ns: u64,
    pub body: Body<'a>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Body<'a> {
    Sample(Sample<'a>),
    Traced(Traced<'a>),
    Map(Map<'a>),
    Name { process: u32, thread: u32, is_exec: bool, name: &'a [u8] },
    Fork { process: u32, parent: u32, thread: u32, parent_thread: u32 },
    Exit { process: u32, thread: u32 },
    Switch { process: u32, thread: u32, out: Option<SwitchOut> },
    Lost(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchOut {
    /// It would have gone on.
    Preempted,
    Blocked,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Sample<'a> {
    pub process: u32,
    pub thread: u32,
    /// Where the CPU was; in the kernel or in the program.
    pub instruction: u64,
    /// Addresses in the kernel, the innermost first.
    pub kernel: Words<'a>,
    /// Registers of the program; not of a program of another width.
    pub registers: Option<[u64; registers::COUNT]>,
    /// From the stack pointer upwards.
    pub stack: &'a [u8],
}

/// What the kernel notes at one of its tracepoints, in the layout that the file system of tracepoints tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traced<'a> {
    pub process: u32,
    pub data: &'a [u8],
}

/// How the samples of an event look, which they do not say themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    #[default]
    Stack,
    Traced,
}

/// A part of a file, or of no file, in the memory of a process, with the right to be executed.
#[derive(Clone, Debug, PartialEq)]
pub struct Map<'a> {
    pub process: u32,
    pub start: u64,
    pub length: u64,
    pub file_offset: u64,
    pub file: &'a [u8],
}

/// Words of 8 bytes that may not be aligned.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Words<'a>(&'a [u8]);

impl Words<'_> {
    /// The addresses of the kernel's part of a chain.
    pub fn kernel_addresses(self) -> impl Iterator<Item = u64> {
        let words = self.0.chunks_exact(8).filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?)));
        let mut is_kernel = false;
        words.filter(move |word| {
            let is_mark = *word >= CONTEXT_MARKS;
            if is_mark {
                is_kernel = *word == CONTEXT_KERNEL;
            }
            is_kernel && !is_mark
        })
    }
}

/// The length that the record at the start of `bytes` has, if a whole one is there.
pub fn length(bytes: &[u8]) -> Option<usize> {
    let size = u16::from_ne_bytes(bytes.get(6..8)?.try_into().ok()?).into();
    (size >= HEADER_BYTES && size <= bytes.len()).then_some(size)
}

/// When it was written, without reading the rest.
pub fn time_ns(record: &[u8]) -> Option<u64> {
    let kind = u32::from_ne_bytes(record.get(..4)?.try_into().ok()?);
    let is_sample = kind == perf_event_open_sys::bindings::PERF_RECORD_SAMPLE;
    let at = if is_sample { HEADER_BYTES + 16 } else { record.len().checked_sub(8)? };
    Some(u64::from_ne_bytes(record.get(at..at + 8)?.try_into().ok()?))
}

/// One whole record; `None` for those that are not wanted here, and for nonsense.
pub fn parse(record: &[u8], layout: Layout) -> Option<Record<'_>> {
    use perf_event_open_sys::bindings as kinds;
    let time_ns = time_ns(record)?;
    let mut cursor = Cursor(record);
    let kind = cursor.u32()?;
    let flags = cursor.u16()?;
    cursor.u16()?;
    let body = match kind {
        kinds::PERF_RECORD_SAMPLE => match layout {
            Layout::Stack => Body::Sample(sample(&mut cursor)?),
            Layout::Traced => Body::Traced(traced(&mut cursor)?),
        },
        kinds::PERF_RECORD_MMAP2 => Body::Map(map(&mut cursor)?),
        kinds::PERF_RECORD_COMM => name(&mut cursor, flags)?,
        kinds::PERF_RECORD_FORK => fork(&mut cursor)?,
        kinds::PERF_RECORD_EXIT => exit(&mut cursor)?,
        kinds::PERF_RECORD_SWITCH => switch(&mut cursor, flags)?,
        kinds::PERF_RECORD_LOST => lost(&mut cursor)?,
        kinds::PERF_RECORD_LOST_SAMPLES => Body::Lost(cursor.u64()?),
        _ => return None,
    };
    Some(Record { time_ns, body })
}

fn sample<'a>(cursor: &mut Cursor<'a>) -> Option<Sample<'a>> {
    let instruction = cursor.u64()?;
    let (process, thread) = (cursor.u32()?, cursor.u32()?);
    let _time = cursor.u64()?;
    let links = usize::try_from(cursor.u64()?).ok()?;
    let kernel = Words(cursor.take(links.checked_mul(8)?)?);
    let registers = user_registers(cursor)?;
    Some(Sample { process, thread, instruction, kernel, registers, stack: stack(cursor)? })
}

fn traced<'a>(cursor: &mut Cursor<'a>) -> Option<Traced<'a>> {
    let _instruction = cursor.u64()?;
    let (process, _thread) = (cursor.u32()?, cursor.u32()?);
    let _time = cursor.u64()?;
    let length = usize::try_from(cursor.u32()?).ok()?;
    Some(Traced { process, data: cursor.take(length)? })
}

fn user_registers(cursor: &mut Cursor<'_>) -> Option<Option<[u64; registers::COUNT]>> {
    let abi = cursor.u64()?;
    if abi == 0 {
        return Some(None);
    }
    let mut values = [0; registers::COUNT];
    for value in &mut values {
        *value = cursor.u64()?;
    }
    Some((abi == ABI_64).then_some(values))
}

/// The place for the copy has a fixed length; how much of it was filled is said after it.
fn stack<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let room = usize::try_from(cursor.u64()?).ok()?;
    if room == 0 {
        return Some(&[]);
    }
    let copy = cursor.take(room)?;
    let filled = usize::try_from(cursor.u64()?).ok()?;
    Some(&copy[..filled.min(room)])
}

fn map<'a>(cursor: &mut Cursor<'a>) -> Option<Map<'a>> {
    let (process, _thread) = (cursor.u32()?, cursor.u32()?);
    let (start, length, file_offset) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
    // Device, inode and its generation, or a build id; then protection and flags.
    cursor.take(24 + 8)?;
    Some(Map { process, start, length, file_offset, file: cursor.text() })
}

fn name<'a>(cursor: &mut Cursor<'a>, flags: u16) -> Option<Body<'a>> {
    let (process, thread) = (cursor.u32()?, cursor.u32()?);
    Some(Body::Name { process, thread, is_exec: flags & COMM_EXEC != 0, name: cursor.text() })
}

fn fork<'a>(cursor: &mut Cursor<'a>) -> Option<Body<'a>> {
    let (process, parent) = (cursor.u32()?, cursor.u32()?);
    Some(Body::Fork { process, parent, thread: cursor.u32()?, parent_thread: cursor.u32()? })
}

fn exit<'a>(cursor: &mut Cursor<'a>) -> Option<Body<'a>> {
    let (process, _parent) = (cursor.u32()?, cursor.u32()?);
    Some(Body::Exit { process, thread: cursor.u32()? })
}

/// It has no body but the trailer that every record has.
fn switch<'a>(cursor: &mut Cursor<'a>, flags: u16) -> Option<Body<'a>> {
    let (process, thread) = (cursor.u32()?, cursor.u32()?);
    let preempted = flags & SWITCH_OUT_PREEMPT != 0;
    let how = if preempted { SwitchOut::Preempted } else { SwitchOut::Blocked };
    Some(Body::Switch { process, thread, out: (flags & SWITCH_OUT != 0).then_some(how) })
}

fn lost<'a>(cursor: &mut Cursor<'a>) -> Option<Body<'a>> {
    let _event = cursor.u64()?;
    Some(Body::Lost(cursor.u64()?))
}

/// What is left to be read.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_ne_bytes(self.take(2)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_ne_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_ne_bytes(self.take(8)?.try_into().ok()?))
    }

    /// Up to its NUL.
    fn text(&self) -> &'a [u8] {
        self.0.split(|byte| *byte == 0).next().unwrap_or_default()
    }
}
