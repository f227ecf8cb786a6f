//! Time off the CPU: how much of each thread, from records of switches, and what the threads were blocked on, by looking
//! at them from time to time. The command runs as fast as ever meanwhile, but for the records.

mod looks;
pub mod place;
pub mod sockets;

use std::time::Duration;

use self::looks::Looks;
use super::held::{Held, Woken};
use super::perf::switches::{SwitchTimes, Switches};
use super::{Looker, family, spot, started, tracer, unstarted, unwatched};
use crate::model::{Missing, Probe, Probed, ThreadTime, Trace, Waiting};

const PROBE: Probe = Probe::Waiting;

/// A hundred looks in a second.
const TICK: Duration = Duration::from_millis(10);

const MOST_THREADS: usize = 400;

pub fn can() -> Result<(), Missing> {
    family::can(PROBE)
}

pub fn look(looker: &Looker<'_>) -> Result<Probed, Missing> {
    tracer::check_program(PROBE, looker)?;
    let failed = unwatched(PROBE);
    let held = Held::start(looker).map_err(unstarted(PROBE))?;
    let mut switches = Switches::record(held.pid(), PROBE);
    let mut looks = Looks::new(held.pid(), TICK, switches.is_err());
    let descriptors = switches.as_ref().map(Switches::descriptors).unwrap_or_default();
    let end = held.wait_watching(&descriptors, Some(TICK), |woken, _| {
        if let Ok(switches) = &mut switches {
            switches.drain();
        }
        if woken == Woken::Tick {
            looks.look();
        }
    });
    let end = started(PROBE, end.map_err(failed)?)?;
    looks.end();
    let mut blind_spots = blind_spots(&looks);
    let waiting = match switches.map(Switches::finish) {
        Ok(mut times) if times.lost == 0 => {
            blind_spots.extend(times.hidden.take());
            by_switches(times)
        }
        Ok(times) => {
            let why = format!("the kernel had no room for {} records of switches", times.lost);
            blind_spots.push(spot("times of threads", why, Some("raise kernel.perf_event_mlock_kb")));
            Waiting::default()
        }
        Err(refused) => {
            blind_spots.push(spot(
                "exact times of threads",
                format!(
                    "{}: they are sampled, and threads that live for a few milliseconds are missed",
                    refused.why
                ),
                refused.remedy.as_deref(),
            ));
            by_looks(looks.threads().unwrap_or_default())
        }
    };
    let waiting = Waiting {
        places: looks.places(),
        looks: looks.looks,
        look_s: looks.waited.as_secs_f64() / looks.rounds.max(1) as f64,
        ..waiting
    };
    Ok(end.probed(Trace::Waiting(waiting), blind_spots))
}

fn by_switches(times: SwitchTimes) -> Waiting {
    Waiting {
        on_cpu_s: Some(times.on_cpu_s),
        preempted_s: Some(times.preempted_s),
        blocked_s: Some(times.blocked_s),
        threads: times.threads,
        ..Waiting::default()
    }
}

fn by_looks(mut threads: Vec<ThreadTime>) -> Waiting {
    let sum =
        |part: fn(&ThreadTime) -> f64| Some(threads.iter().map(part).sum()).filter(|_| !threads.is_empty());
    let waiting = Waiting {
        on_cpu_s: sum(|thread| thread.on_cpu_s),
        preempted_s: sum(|thread| thread.preempted_s),
        blocked_s: sum(|thread| thread.blocked_s),
        ..Waiting::default()
    };
    threads.truncate(MOST_THREADS);
    Waiting { threads, ..waiting }
}

fn blind_spots(looks: &Looks) -> Vec<Missing> {
    let mut spots = Vec::new();
    if looks.is_thinned {
        let why = "there were more threads than can be asked each time: some stand for all";
        spots.push(spot("what every thread was blocked on", why, None));
    }
    if looks.rounds < 3 {
        let why = "the run was too short for more than one or two looks";
        spots.push(spot("what it was blocked on", why, Some("look at a longer run")));
    }
    spots
}
