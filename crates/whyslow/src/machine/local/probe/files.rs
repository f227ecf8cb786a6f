//! The probe of files: which files a tree of processes opens, misses, reads, writes and syncs, by the tracer. It sees
//! system calls, so it does not see what is read through a mapping, and it reads no file itself.

mod calls;
mod descriptors;
mod ledger;
mod names;
mod watcher;

use std::path::Path;

use self::watcher::Watcher;
use super::Looker;
use super::tracer::{self, Traced};
use crate::model::{Files, Missing, Probe, Probed, Trace};

pub fn can() -> Result<(), Missing> {
    tracer::can(Probe::Files)
}

pub fn look(looker: &Looker<'_>) -> Result<Probed, Missing> {
    let traced = tracer::trace(looker, Probe::Files, Watcher::new())?;
    let mut blind_spots = traced.blindness.spots();
    blind_spots.extend(traced.observer.blind_spots());
    let end = traced.end.clone();
    Ok(end.probed(Trace::Files(files(traced)), blind_spots))
}

fn files(traced: Traced<Watcher>) -> Files {
    /// The unit of the kernel's account, whatever the disk has.
    const BLOCK_BYTES: u64 = 512;
    let usage = traced.end.usage;
    // wait4 says 0 also on a kernel that does not count; this file is there exactly if it counts.
    let is_counted = Path::new("/proc/self/io").exists();
    let bytes = |blocks: libc::c_long| is_counted.then(|| u64::try_from(blocks).unwrap_or(0) * BLOCK_BYTES);
    let ledger = traced.observer.into_ledger();
    Files {
        total: ledger.total(),
        paths: ledger.paths(),
        files: ledger.into_busiest(),
        disk_read_bytes: bytes(usage.ru_inblock),
        disk_written_bytes: bytes(usage.ru_oublock),
    }
}
