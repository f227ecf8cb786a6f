//! Counts by the kernel's own records: every return from a system call is written into a ring, and read from there while
//! the program runs. Nobody stops the program, which keeps its rights and may trace others. Only for those who may see
//! the whole kernel.

use std::io;

use super::super::held::{Held, HeldEnd};
use super::super::perf::event::{Event, Kind};
use super::super::perf::events::Events;
use super::super::tracer::program_path;
use super::super::{Looker, failed, spot, started, unstarted};
use super::course::{Course, has_other_width};
use super::tracepoints::Tracepoints;
use crate::model::{Exit, Missing, Partial, Probe, Probed, Syscalls, Trace};

/// Half a million calls on each CPU, so that we may be late for a while.
const RING_BYTES: usize = 32 << 20;
/// A smaller one would run over all the time.
const LEAST_RING_BYTES: usize = 1 << 20;
/// Rings are emptied when they are so full.
const WATERMARK_SHARE: usize = 8;
/// What the tracer takes for a call, at most.
const TRACED_CALL_S: f64 = 40e-6;
/// How long it may take to look once more where nobody has set a limit.
const PATIENCE_S: f64 = 60.0;

pub enum Recorded {
    Whole(Box<Probed>),
    /// Good for want of anything better.
    Part(Box<Probed>),
    Nothing,
}

/// Whether the kernel records calls for us, asked for a process of our own.
pub fn can() -> bool {
    let open = |points: Tracepoints| event(points.returned, true, 0).open(0, None).ok();
    Tracepoints::find().and_then(open).is_some()
}

pub fn look(looker: &Looker<'_>) -> Result<Recorded, Missing> {
    let waits = looker.launch.wait_for_descendants_s.is_some_and(|wait_s| wait_s > 0.0);
    let path = program_path(looker);
    let Some(points) =
        Tracepoints::find().filter(|_| !looker.settings.only_traces && !waits && !has_other_width(&path))
    else {
        return Ok(Recorded::Nothing);
    };
    let held = Held::start(looker).map_err(unstarted(Probe::Syscalls))?;
    let Ok(events) = open(points, held.pid()) else { return Ok(Recorded::Nothing) };
    let cwd = looker.launch.cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    let course = Course::new(points, held.pid(), path, cwd);
    let (course, end, counted) = record(held, events, course)
        .map_err(|error| failed(Probe::Syscalls, "the command cannot be waited for", &error))?;
    Ok(judged(course, started(Probe::Syscalls, end)?, counted, looker.launch.timeout_s))
}

fn event(id: u64, tells_of_tasks: bool, ring_bytes: usize) -> Event {
    Event {
        kind: Kind::Tracepoint { id, tells_of_tasks },
        with_kernel: true,
        stack_bytes: 0,
        watermark_bytes: (ring_bytes / WATERMARK_SHARE) as u32,
    }
}

fn open(points: Tracepoints, pid: libc::pid_t) -> io::Result<Events> {
    let returned = |ring_bytes| event(points.returned, true, ring_bytes);
    let mut events = Events::open(pid, RING_BYTES, returned)?;
    if events.ring_bytes() < LEAST_RING_BYTES {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    for id in [points.exit, points.exit_group, points.program] {
        events.add(pid, &event(id, false, events.ring_bytes()))?;
    }
    Ok(events)
}

/// To the end of the command; also how many calls have returned.
fn record(held: Held, mut events: Events, mut course: Course) -> io::Result<(Course, HeldEnd, u64)> {
    let descriptors = events.descriptors();
    let end = held.wait_watching(&descriptors, None, |_, _| events.drain(|record| course.take(&record)))?;
    events.drain_all(|record| course.take(&record));
    let counted = events.count()?;
    Ok((course, end, counted))
}

fn judged(course: Course, end: HeldEnd, counted: u64, limit_s: Option<f64>) -> Recorded {
    let lost = counted.saturating_sub(course.returned);
    let is_short = counted as f64 * TRACED_CALL_S < limit_s.unwrap_or(PATIENCE_S);
    let is_cut = matches!(end.exit, Exit::TimedOut | Exit::Interrupted);
    let is_wrong = course.has_other_width || course.hidden > 0 || course.returned == 0;
    let probed = Box::new(probed(&course, end, lost, counted));
    match (is_wrong, lost) {
        (_, _) if is_cut => Recorded::Whole(probed),
        (true, _) => Recorded::Nothing,
        (false, 0) => Recorded::Whole(probed),
        (false, _) if is_short => Recorded::Part(probed),
        (false, _) => Recorded::Whole(probed),
    }
}

fn probed(course: &Course, end: HeldEnd, lost: u64, counted: u64) -> Probed {
    let is_cut = end.exit == Exit::TimedOut;
    let share = (lost > 0 && !is_cut).then(|| course.returned as f64 / counted as f64);
    let partial = (lost > 0 || is_cut).then_some(Partial { watched_s: end.wall_s, share });
    let seen = Syscalls {
        calls: course.counting.counts(lost),
        processes: course.tree.processes,
        threads: course.tree.threads,
        programs: course.tree.programs(),
        starts: course.tree.starts,
        partial,
    };
    let mut blind_spots: Vec<Missing> = course.counting.blind_spot().into_iter().collect();
    if lost > 0 {
        let why = format!("{lost} of {counted} came too fast to be read");
        blind_spots.push(spot("some system calls", why, None));
    }
    if course.has_unread_messages {
        let why = "the kernel does not record the lengths of several messages that are moved at once";
        blind_spots.push(spot("bytes in calls of several messages", why, None));
    }
    end.probed(Trace::Syscalls(seen), blind_spots)
}
