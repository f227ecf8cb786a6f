//! One perf event: what it counts and records, and how it is opened. It reads nothing: that is for `ring`.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use perf_event_open_sys as sys;
use sys::bindings::{self, perf_event_attr};

use super::record::Layout;
use super::registers;

/// What is counted, and what a sample stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    CpuClock {
        period_ns: u64,
    },
    PageFaults {
        period: u64,
    },
    /// No samples: only when threads come and go.
    Switches,
    /// Every time that the kernel passes this place, with what it notes there and without a stack. Only one of several
    /// events needs to tell of tasks.
    Tracepoint {
        id: u64,
        tells_of_tasks: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub kind: Kind,
    /// With what happens in the kernel. Not everybody may.
    pub with_kernel: bool,
    /// How much of the user stack is copied into a sample.
    pub stack_bytes: u32,
    /// How full a ring must be before somebody is woken.
    pub watermark_bytes: u32,
}

impl Event {
    /// For a process, its threads and its descendants, on one CPU or on any; it begins at the exec of the process.
    pub fn open(&self, pid: libc::pid_t, cpu: Option<i32>) -> io::Result<OwnedFd> {
        open(self.attributes(), pid, cpu)
    }

    fn attributes(&self) -> perf_event_attr {
        let mut attributes = of_tree(bindings::PERF_TYPE_SOFTWARE, self.with_kernel);
        // Also of the records that are no samples: who and when.
        attributes.sample_type = (bindings::PERF_SAMPLE_TID | bindings::PERF_SAMPLE_TIME).into();
        // One clock for all CPUs, which we can read too.
        attributes.clockid = libc::CLOCK_MONOTONIC;
        attributes.set_use_clockid(1);
        attributes.set_sample_id_all(1);
        attributes.set_comm(1);
        attributes.set_comm_exec(1);
        attributes.set_task(1);
        attributes.set_watermark(1);
        attributes.wakeup_watermark = self.watermark_bytes;
        match self.kind {
            Kind::CpuClock { period_ns } => {
                self.sample(&mut attributes, bindings::PERF_COUNT_SW_CPU_CLOCK, period_ns);
            }
            Kind::PageFaults { period } => {
                self.sample(&mut attributes, bindings::PERF_COUNT_SW_PAGE_FAULTS, period);
            }
            Kind::Switches => {
                attributes.config = bindings::PERF_COUNT_SW_DUMMY.into();
                attributes.set_context_switch(1);
                // Tells which programs are hidden.
                attributes.set_mmap(1);
                attributes.set_mmap2(1);
            }
            Kind::Tracepoint { id, tells_of_tasks } => trace(&mut attributes, id, tells_of_tasks.into()),
        }
        attributes
    }

    /// How samples of this event look.
    pub fn layout(&self) -> Layout {
        if matches!(self.kind, Kind::Tracepoint { .. }) { Layout::Traced } else { Layout::Stack }
    }

    /// With the chain in the kernel, and what it takes to unwind the stack of the program ourselves.
    fn sample(&self, attributes: &mut perf_event_attr, what: u32, period: u64) {
        attributes.config = what.into();
        attributes.sample_period = period;
        attributes.sample_type |= u64::from(bindings::PERF_SAMPLE_IP | bindings::PERF_SAMPLE_CALLCHAIN);
        attributes.set_exclude_callchain_user(1);
        attributes.set_exclude_callchain_kernel((!self.with_kernel).into());
        attributes.set_mmap(1);
        attributes.set_mmap2(1);
        attributes.sample_type |=
            u64::from(bindings::PERF_SAMPLE_REGS_USER | bindings::PERF_SAMPLE_STACK_USER);
        attributes.sample_regs_user = registers::MASK;
        attributes.sample_stack_user = self.stack_bytes;
    }
}

/// What counts for a process, its threads and its descendants, from its next exec.
pub fn of_tree(kind: u32, with_kernel: bool) -> perf_event_attr {
    let mut attributes = perf_event_attr::default();
    attributes.type_ = kind;
    attributes.size = size_of::<perf_event_attr>() as u32;
    attributes.set_disabled(1);
    attributes.set_enable_on_exec(1);
    attributes.set_inherit(1);
    attributes.set_exclude_kernel((!with_kernel).into());
    attributes.set_exclude_hv(1);
    attributes
}

/// 0 is this process.
pub fn open(mut attributes: perf_event_attr, pid: libc::pid_t, cpu: Option<i32>) -> io::Result<OwnedFd> {
    let flags = libc::c_ulong::from(bindings::PERF_FLAG_FD_CLOEXEC);
    // SAFETY: the structure states its own length and outlives the call.
    match unsafe { sys::perf_event_open(&mut attributes, pid, cpu.unwrap_or(-1), -1, flags) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: it is new and ours.
        descriptor => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
    }
}

/// Every one is a sample; the address is asked for so that the time is where it is in samples with stacks.
fn trace(attributes: &mut perf_event_attr, id: u64, tells_of_tasks: u64) {
    attributes.type_ = bindings::PERF_TYPE_TRACEPOINT;
    attributes.config = id;
    attributes.sample_period = 1;
    attributes.sample_type |= u64::from(bindings::PERF_SAMPLE_IP | bindings::PERF_SAMPLE_RAW);
    attributes.set_comm(tells_of_tasks);
    attributes.set_comm_exec(tells_of_tasks);
    attributes.set_task(tells_of_tasks);
    attributes.set_mmap(tells_of_tasks);
    attributes.set_mmap2(tells_of_tasks);
}
