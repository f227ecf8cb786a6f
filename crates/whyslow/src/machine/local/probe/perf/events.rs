//! An event on every CPU, with their rings read as one stream in the order of time. Bounded: what was read and given on
//! is forgotten.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use super::event::Event;
use super::record::{self, Layout, Record};
use super::ring::{Ring, page_bytes};

/// The kernel stamps a record before it is to be seen in the ring. What is younger than this waits for the next time,
/// as an older one may still appear in another ring.
const HELD_BACK_NS: u64 = 1_000_000;

/// For all rings together, where the system lets us.
const MOST_RINGS_BYTES: usize = 128 << 20;
const LEAST_RING_BYTES: usize = 16 << 10;

pub struct Events {
    rings: Vec<Ring>,
    /// Which CPU each ring is for.
    cpus: Vec<i32>,
    /// That write into the rings as well.
    others: Vec<OwnedFd>,
    layout: Layout,
    /// Read, but not given on yet.
    waiting: Vec<u8>,
}

impl Events {
    /// `event` is given the size of the rings, at most the one that is wanted, and says what to open.
    pub fn open(pid: libc::pid_t, wanted_bytes: usize, event: impl Fn(usize) -> Event) -> io::Result<Events> {
        let cpus = online_cpus();
        let mut ring_bytes = (MOST_RINGS_BYTES / cpus.len().max(1)).min(wanted_bytes).max(LEAST_RING_BYTES);
        ring_bytes = (1 << ring_bytes.ilog2()).max(page_bytes());
        loop {
            match open_all(pid, &cpus, &event(ring_bytes), ring_bytes) {
                // More memory than this user may lock; what is left may do.
                Err(error)
                    if is_too_large(&error) && ring_bytes / 2 >= LEAST_RING_BYTES.max(page_bytes()) =>
                {
                    ring_bytes /= 2;
                }
                Err(error) => return Err(error),
                Ok(opened) => {
                    let (cpus, rings) = opened.into_iter().unzip();
                    let layout = event(ring_bytes).layout();
                    return Ok(Events { rings, cpus, others: Vec::new(), layout, waiting: Vec::new() });
                }
            }
        }
    }

    /// One more event, whose records go into the same rings. Its samples must look like those that are there.
    pub fn add(&mut self, pid: libc::pid_t, event: &Event) -> io::Result<()> {
        for (cpu, ring) in self.cpus.iter().zip(&self.rings) {
            let other = event.open(pid, Some(*cpu))?;
            ring.take_output_of(&other)?;
            self.others.push(other);
        }
        Ok(())
    }

    /// Of each ring.
    pub fn ring_bytes(&self) -> usize {
        self.rings.first().map_or(0, Ring::bytes)
    }

    /// Readable when there is much to read. They must be drained before that is told again.
    pub fn descriptors(&self) -> Vec<RawFd> {
        self.rings.iter().map(|ring| ring.as_fd().as_raw_fd()).collect()
    }

    /// Gives on what is there, but for the youngest records.
    pub fn drain(&mut self, on_record: impl FnMut(Record<'_>)) {
        self.drain_until(now_ns().saturating_sub(HELD_BACK_NS), on_record);
    }

    /// Gives on all that is there. For the end.
    pub fn drain_all(&mut self, on_record: impl FnMut(Record<'_>)) {
        self.drain_until(u64::MAX, on_record);
    }

    /// What is in the rings, as it is.
    #[cfg(test)]
    pub fn raw(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.rings.iter_mut().for_each(|ring| ring.read_into(&mut bytes));
        bytes
    }

    /// What the event has counted, over all CPUs, threads and descendants.
    pub fn count(&self) -> io::Result<u64> {
        self.rings.iter().map(Ring::count).sum()
    }

    fn drain_until(&mut self, until_ns: u64, mut on_record: impl FnMut(Record<'_>)) {
        for ring in &mut self.rings {
            ring.read_into(&mut self.waiting);
        }
        self.waiting = give_on(&self.waiting, self.layout, until_ns, &mut on_record);
    }
}

/// In the order of time; returns what is too young.
pub fn give_on(
    bytes: &[u8],
    layout: Layout,
    until_ns: u64,
    on_record: &mut impl FnMut(Record<'_>),
) -> Vec<u8> {
    let mut kept = Vec::new();
    for entry in in_order(bytes) {
        let bytes = &bytes[entry.start..entry.end];
        if entry.time_ns > until_ns {
            kept.extend_from_slice(bytes);
        } else if let Some(record) = record::parse(bytes, layout) {
            on_record(record);
        }
    }
    kept
}

/// A record somewhere in a row of bytes.
struct Entry {
    time_ns: u64,
    start: usize,
    end: usize,
}

/// All whole records, by time. Those of one CPU keep their order.
fn in_order(bytes: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut start = 0;
    while let Some(length) = record::length(&bytes[start..]) {
        let end = start + length;
        let time_ns = record::time_ns(&bytes[start..end]).unwrap_or(0);
        entries.push(Entry { time_ns, start, end });
        start = end;
    }
    entries.sort_by_key(|entry| entry.time_ns);
    entries
}

fn open_all(
    pid: libc::pid_t,
    cpus: &[i32],
    event: &Event,
    ring_bytes: usize,
) -> io::Result<Vec<(i32, Ring)>> {
    let open = |cpu: &i32| match event.open(pid, Some(*cpu)) {
        // It went offline in the meantime.
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => None,
        opened => Some(opened.and_then(|descriptor| Ok((*cpu, Ring::map(descriptor, ring_bytes)?)))),
    };
    cpus.iter().filter_map(open).collect()
}

/// What `mmap` says where the memory may not be locked. From the opening it means that the event is refused, which no
/// smaller ring changes; but then the smaller ones end at once.
fn is_too_large(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOMEM))
}

fn online_cpus() -> Vec<i32> {
    let listed =
        std::fs::read_to_string("/sys/devices/system/cpu/online").ok().and_then(|text| numbers(&text));
    listed.unwrap_or_else(|| {
        // SAFETY: no memory is involved.
        let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
        (0..i32::try_from(count).unwrap_or(1).max(1)).collect()
    })
}

/// "0-3,8".
fn numbers(text: &str) -> Option<Vec<i32>> {
    let mut found = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        found.extend(first.parse::<i32>().ok()?..=last.parse().ok()?);
    }
    Some(found)
}

/// On the clock of the records.
pub fn now_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a structure that outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(numbers("0-2,5\n"), Some(vec![0, 1, 2, 5]));
        assert_eq!(numbers("0\n"), Some(vec![0]));
        assert_eq!(numbers(""), None);
        assert_eq!(numbers("a-b"), None);
        assert!(!online_cpus().is_empty());
    }
}
