//! Counters of the whole tree that the kernel keeps for us: exact, with all threads and all that has ended. They only
//! count; nothing is recorded.

use std::fs::File;
use std::io::{self, Read};

use perf_event_open_sys::bindings;

use super::super::perf::{event, refusal};
use crate::model::{Missing, Probe};

/// Of a held command, from its exec.
pub struct Counters {
    clock: File,
    faults: File,
    /// Only where the kernel may be counted: it switches, and the program alone would have none.
    switches: Option<File>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    pub cpu_s: f64,
    pub faults: f64,
    pub switches: Option<f64>,
}

impl Counters {
    pub fn open(pid: libc::pid_t, probe: Probe) -> Result<Counters, Missing> {
        let all = |with_kernel| -> io::Result<Counters> {
            let counter = |config| open(pid, config, with_kernel);
            Ok(Counters {
                clock: counter(bindings::PERF_COUNT_SW_TASK_CLOCK)?,
                faults: counter(bindings::PERF_COUNT_SW_PAGE_FAULTS)?,
                switches: counter(bindings::PERF_COUNT_SW_CONTEXT_SWITCHES).ok().filter(|_| with_kernel),
            })
        };
        all(true).or_else(|_| all(false)).map_err(|error| refusal::refused(probe, &error))
    }

    pub fn read(&self) -> Option<Counted> {
        Some(Counted {
            cpu_s: value(&self.clock)? as f64 / 1e9,
            faults: value(&self.faults)? as f64,
            switches: self.switches.as_ref().and_then(value).map(|count| count as f64),
        })
    }
}

fn value(mut counter: &File) -> Option<u64> {
    let mut bytes = [0; 8];
    counter.read_exact(&mut bytes).ok()?;
    Some(u64::from_ne_bytes(bytes))
}

fn open(pid: libc::pid_t, config: u32, with_kernel: bool) -> io::Result<File> {
    let mut attributes = event::of_tree(bindings::PERF_TYPE_SOFTWARE, with_kernel);
    attributes.config = config.into();
    event::open(attributes, pid, None).map(File::from)
}
