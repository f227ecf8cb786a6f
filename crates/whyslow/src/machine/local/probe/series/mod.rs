//! What a run uses over time. CPU time and faults come from counters that the kernel keeps of the whole tree, where it
//! lets us; the rest, or all, from looking at the processes every few hundredths of a second.

mod counters;
mod course;

use self::counters::Counters;
use self::course::{Course, TICK};
use super::held::Held;
use super::perf::hidden::remedy;
use super::{Looker, family, spot, started, tracer, unstarted, unwatched};
use crate::model::{Missing, Probe, Probed, Series, Trace};

const PROBE: Probe = Probe::Series;

/// So much more may be booked than was counted: the command's way to its exec, and another way of counting.
const HIDDEN_SHARE: f64 = 0.05;
const HIDDEN_S: f64 = 0.01;

pub fn can() -> Result<(), Missing> {
    family::can(PROBE)
}

pub fn look(looker: &Looker<'_>) -> Result<Probed, Missing> {
    let failed = unwatched(PROBE);
    let held = Held::start(looker).map_err(unstarted(PROBE))?;
    let counters = tracer::check_program(PROBE, looker).and_then(|()| Counters::open(held.pid(), PROBE));
    let refused = counters.as_ref().err().cloned();
    let mut course = Course::new(held.pid(), counters.ok());
    let end = started(PROBE, held.wait(Some(TICK), |_| course.look()).map_err(failed)?)?;
    let faults = (end.usage.ru_minflt + end.usage.ru_majflt) as f64;
    let blind_spots = blind_spots(&course, refused).into_iter().chain(hidden(&course, end.cpu_s)).collect();
    course.end(end.wall_s, end.cpu_s, faults);
    let series = Series { tick_s: course.tick.as_secs_f64(), moments: course.moments };
    Ok(end.probed(Trace::Series(series), blind_spots))
}

/// What the kernel has booked in the end is complete, also where the counters are not.
fn hidden(course: &Course, booked_s: f64) -> Option<Missing> {
    let counted_s = course.counted()?.cpu_s;
    let is_less = counted_s < booked_s * (1.0 - HIDDEN_SHARE) - HIDDEN_S;
    is_less.then(|| {
        let why = format!(
            "{:.1} ms were counted of {:.1} ms: the kernel hides programs that run with the rights of their files or may \
             not be read",
            1e3 * counted_s,
            1e3 * booked_s
        );
        spot("CPU time and faults of some programs", why, remedy())
    })
}

fn blind_spots(course: &Course, refused: Option<Missing>) -> Vec<Missing> {
    let mut spots = Vec::new();
    if let Some(refused) = refused {
        let why =
            format!("{}: CPU time comes in hundredths of a second, and late for short children", refused.why);
        spots.push(spot("exact CPU time and faults over time", why, refused.remedy.as_deref()));
    }
    let has_switches = course.moments.iter().any(|moment| moment.switches.is_some());
    if course.has_counters() && !has_switches {
        let remedy = Some("sysctl kernel.perf_event_paranoid=1, or run as root");
        spots.push(spot("switches over time", "the kernel counts them for administrators only", remedy));
    }
    if course.is_cut() {
        let why = format!("there were more than {} processes at one time", family::MOST_PROCESSES);
        spots.push(spot("memory and I/O of some processes", why, None));
    }
    spots
}
