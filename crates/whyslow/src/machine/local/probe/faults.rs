//! The code that touches memory for the first time: a sample with its stack for every page fault of the tree. Where
//! there are more than can be read, the run is repeated and only every so many are taken.

use super::Looker;
use super::cpu::{kernel_missing, lost};
use super::perf::event::Kind;
use super::perf::sampling::{Sampled, Sampling};
use crate::model::{KernelView, Missing, Probe, Probed, Trace};

const STACK_BYTES: usize = 8 << 10;
/// They may come every microsecond.
const RING_BYTES: usize = 16 << 20;
/// As many samples as are wanted where not all can be had, and where not even these can.
const SAMPLES: [u64; 2] = [10_000, 2_000];
/// With less than this share of the faults seen, the run is repeated.
const ENOUGH: f64 = 0.99;

pub fn can() -> Result<(), Missing> {
    sampling(1).can(Probe::Faults)
}

pub fn look(looker: &Looker<'_>) -> Result<Probed, Missing> {
    let mut best = sampling(1).run(looker, Probe::Faults)?;
    for samples in SAMPLES {
        if best.profile.sampled >= ENOUGH * best.count as f64 || !best.end.exit.is_success() {
            break;
        }
        let next = sampling((best.count / samples).max(2) | 1).run(looker, Probe::Faults)?;
        // The command may have done all its work the first time.
        let is_same =
            next.end.exit == best.end.exit && (best.count / 2..best.count * 2).contains(&next.count);
        if !is_same || next.profile.sampled <= best.profile.sampled {
            break;
        }
        best = next;
    }
    Ok(probed(best))
}

fn sampling(period: u64) -> Sampling {
    Sampling { kind: Kind::PageFaults { period }, most_stack_bytes: STACK_BYTES, most_ring_bytes: RING_BYTES }
}

fn probed(mut sampled: Sampled) -> Probed {
    let is_seen = sampled.profile.kernel == KernelView::Seen;
    sampled.profile.total = Some(if is_seen { sampled.count } else { all_faults(&sampled) } as f64);
    let no_kernel = (!is_seen).then(|| kernel_missing("page faults of the kernel"));
    let blind_spots = [no_kernel, lost(&sampled.profile), sampled.hidden].into_iter().flatten().collect();
    sampled.end.probed(Trace::Faults(sampled.profile), blind_spots)
}

/// With those in the kernel, which the event does not count where it may not: what it reads from the program and writes
/// to it, too, touches memory. From the exec on.
fn all_faults(sampled: &Sampled) -> u64 {
    let usage = &sampled.end.usage;
    let all = u64::try_from(usage.ru_minflt + usage.ru_majflt).unwrap_or(0);
    all.saturating_sub(sampled.faults_before).max(sampled.count)
}
