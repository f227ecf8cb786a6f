//! One run of a held command under a sampling event: from its start to a profile. What the samples are worth, and
//! whether the run should be repeated, is for the probes to say.

use std::io;

use super::super::held::{Held, HeldEnd};
use super::super::{Looker, failed, proc, started, tracer, unstarted};
use super::event::{Event, Kind};
use super::events::Events;
use super::fold::Folder;
use super::hidden::Hidden;
use super::processes::Processes;
use super::record::{Body, Record};
use super::refusal::refused;
use super::ring::page_bytes;
use crate::model::{KernelView, Missing, Probe, Profile};

/// Rings are emptied when they are so full.
const WATERMARK_SHARE: usize = 4;
/// Stacks that a ring must have room for: a smaller ring gets smaller copies.
const STACKS_TO_A_RING: usize = 32;
const LEAST_STACK_BYTES: usize = 4 << 10;

/// What to sample.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    pub kind: Kind,
    pub most_stack_bytes: usize,
    pub most_ring_bytes: usize,
}

/// What one run gave.
pub struct Sampled {
    /// Without its rate and its total.
    pub profile: Profile,
    pub end: HeldEnd,
    /// What the event has counted: time in nanoseconds, or faults of the program.
    pub count: u64,
    /// Processes and threads that there were.
    pub tasks: u64,
    /// Page faults of the command before its exec.
    pub faults_before: u64,
    /// Whether functions of the kernel have names, if any was seen.
    pub kernel_has_names: Option<bool>,
    /// Programs that the kernel did not show.
    pub hidden: Option<Missing>,
}

impl Sampling {
    /// Whether it works here, for a process of our own.
    pub fn can(&self, probe: Probe) -> Result<(), Missing> {
        let opened =
            with_kernel_if_allowed(|with_kernel| self.event(with_kernel, page_bytes()).open(0, None));
        opened.map(drop).map_err(|error| refused(probe, &error))
    }

    pub fn run(&self, looker: &Looker<'_>, probe: Probe) -> Result<Sampled, Missing> {
        tracer::check_program(probe, looker)?;
        let held = Held::start(looker).map_err(unstarted(probe))?;
        let faults_before = proc::stat_of(held.pid()).map_or(0, |stat| stat.minor_faults + stat.major_faults);
        let open = |with_kernel| {
            Events::open(held.pid(), self.most_ring_bytes, |ring_bytes| self.event(with_kernel, ring_bytes))
        };
        let (events, kernel) = with_kernel_if_allowed(open).map_err(|error| refused(probe, &error))?;
        let mut sampler = Sampler::new(events);
        let end = held
            .wait_watching(&sampler.events.descriptors(), None, |_, _| sampler.drain())
            .map_err(|error| failed(probe, "the command cannot be waited for", &error))?;
        Ok(sampler.finish(self.weight(), kernel, started(probe, end)?, faults_before))
    }

    fn event(&self, with_kernel: bool, ring_bytes: usize) -> Event {
        let room = (ring_bytes / STACKS_TO_A_RING).max(LEAST_STACK_BYTES);
        Event {
            kind: self.kind,
            with_kernel,
            stack_bytes: self.most_stack_bytes.min(room) as u32,
            watermark_bytes: (ring_bytes / WATERMARK_SHARE) as u32,
        }
    }

    /// What a sample stands for, in seconds or faults.
    fn weight(&self) -> f64 {
        match self.kind {
            Kind::CpuClock { period_ns } => period_ns as f64 * 1e-9,
            Kind::PageFaults { period } => period as f64,
            Kind::Tracepoint { .. } => 1.0,
            Kind::Switches => 0.0,
        }
    }
}

fn with_kernel_if_allowed<T>(open: impl Fn(bool) -> io::Result<T>) -> io::Result<(T, KernelView)> {
    match open(true) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM)) => {
            Ok((open(false)?, KernelView::Missing))
        }
        opened => Ok((opened?, KernelView::Seen)),
    }
}

/// Takes what comes, as it comes.
struct Sampler {
    events: Events,
    processes: Processes,
    folder: Folder,
    hidden: Hidden,
    lost: u64,
}

impl Sampler {
    fn new(events: Events) -> Sampler {
        Sampler {
            events,
            processes: Processes::default(),
            folder: Folder::default(),
            hidden: Hidden::default(),
            lost: 0,
        }
    }

    fn drain(&mut self) {
        let Sampler { events, processes, folder, hidden, lost } = self;
        events.drain(|record| {
            hidden.take(&record.body);
            take(&record, processes, folder, lost);
        });
    }

    fn finish(mut self, weight: f64, kernel: KernelView, end: HeldEnd, faults_before: u64) -> Sampled {
        let Sampler { events, processes, folder, hidden, lost } = &mut self;
        events.drain_all(|record| {
            hidden.take(&record.body);
            take(&record, processes, folder, lost);
        });
        let count = self.events.count().unwrap_or(0);
        let (samples, rooted) = (self.folder.samples, self.folder.rooted);
        let folded = self.folder.finish(&self.processes, weight);
        let profile = Profile {
            samples,
            lost: self.lost,
            sampled: samples as f64 * weight,
            kernel,
            rooted: if samples > 0 { rooted as f64 / samples as f64 } else { 0.0 },
            frames: folded.frames,
            stacks: folded.stacks,
            ..Profile::default()
        };
        let (tasks, kernel_has_names) = (self.processes.task_count, folded.kernel_has_names);
        let hidden = self.hidden.spot();
        Sampled { profile, end, count, tasks, faults_before, kernel_has_names, hidden }
    }
}

fn take(record: &Record<'_>, processes: &mut Processes, folder: &mut Folder, lost: &mut u64) {
    match &record.body {
        Body::Sample(sample) => folder.take(sample, processes),
        Body::Lost(count) => *lost = lost.saturating_add(*count),
        other => processes.take(other),
    }
}
