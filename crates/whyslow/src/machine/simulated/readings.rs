//! What is read of a run that has ended: one value for each metric, and the conditions. Whole counts are rounded
//! here and nowhere else. A value that the world does not give is `None` and never 0.

use super::bookkeeping::Booked;
use super::course::Course;
use super::rights::Rights;
use super::weather::Weather;
use super::world::{CPUS, FREQUENCY_HZ};
use crate::model::{Conditions, Metric};

/// A run with everything about it that chance still had to decide.
#[derive(Clone, Debug)]
pub struct Readings<'a> {
    pub course: &'a Course,
    pub booked: Booked,
    /// Pages more than the program needed, by where things happened to lie.
    pub stray_pages: u64,
}

const PAGE_BYTES: f64 = 4096.0;
/// How long a running task keeps its CPU while others want it.
const TIME_SLICE_S: f64 = 0.003;

impl Readings<'_> {
    pub fn value(&self, metric: &Metric, rights: &Rights) -> Option<f64> {
        rights.check(metric).ok()?;
        let cost = &self.course.cost;
        let stray = self.stray_pages as f64;
        match metric.name.as_str() {
            "wall_s" => Some(self.course.wall_s()),
            "cpu_s" | "task_clock_s" => Some(cost.cpu_s()),
            "user_s" => Some(self.booked.user_s),
            "system_s" => Some(self.booked.system_s),
            "main_cpu_s" => Some(self.course.main_cpu_s()),
            "run_queue_wait_s" => Some(self.course.waiting_s),
            "peak_rss_bytes" => Some(whole_pages(cost.peak_rss_bytes) + stray * PAGE_BYTES),
            "page_faults" => Some(cost.page_faults.round() + stray),
            "major_faults" => Some(cost.major_faults.round()),
            "voluntary_switches" => Some(cost.voluntary_switches.round()),
            "involuntary_switches" => Some((self.course.waiting_s / TIME_SLICE_S).round()),
            "blocks_read" => Some(cost.blocks_read.round()),
            "blocks_written" => Some(cost.blocks_written.round()),
            "output_bytes" => Some(cost.output_bytes.round()),
            _ => None,
        }
    }

    /// The state of the machine during the run. The load is that of this very run, not of the last minute.
    pub fn conditions(&self, weather: &Weather, rights: &Rights) -> Conditions {
        let waiting = weather.competition.waiting;
        let tasks = if waiting > 0.0 { CPUS as f64 * (1.0 + waiting) } else { 1.0 };
        Conditions {
            cpu_pressure: rights.pressure.then(|| self.pressure() as f32),
            load: Some(tasks as f32),
            steal_s: Some(self.course.steal_s as f32),
            frequency_hz: Some((FREQUENCY_HZ / weather.clock) as f32),
            suspended_s: None,
        }
    }

    fn pressure(&self) -> f64 {
        let wall_s = self.course.wall_s();
        if wall_s > 0.0 { self.course.waiting_s / wall_s } else { 0.0 }
    }
}

fn whole_pages(bytes: f64) -> f64 {
    (bytes / PAGE_BYTES).ceil() * PAGE_BYTES
}

#[cfg(test)]
mod tests {
    use super::super::load::Competition;
    use super::super::program::Cost;
    use super::*;

    fn busy() -> Weather {
        let competition = Competition { waiting: 1.0, slowdown: 0.0 };
        Weather { pace: 1.0, clock: 1.25, competition, steal: 0.5 }
    }

    fn course() -> Course {
        Course::of(Cost { major_faults: 2.4, ..Cost::of_cpu(0.8) }, 1, &busy())
    }

    fn readings(course: &Course) -> Readings<'_> {
        let booked = Booked { user_s: course.cost.user_s, system_s: course.cost.system_s };
        Readings { course, booked, stray_pages: 1 }
    }

    fn value(name: &str, rights: Rights) -> Option<f64> {
        let metric = Metric::all_known().into_iter().find(|metric| metric.name == name).unwrap();
        readings(&course()).value(&metric, &rights)
    }

    #[test]
    fn every_known_metric_has_a_value() {
        let course = course();
        let readings = readings(&course);
        for metric in Metric::all_known() {
            assert!(readings.value(&metric, &Rights::default()).is_some(), "{}", metric.name);
        }
    }

    #[test]
    fn values_come_from_the_course() {
        let all = Rights::default();
        let seconds = |name| value(name, all).map(|value| (value * 1e9).round() / 1e9);
        assert_eq!(seconds("cpu_s"), Some(1.0));
        assert_eq!(seconds("wall_s"), Some(2.5));
        assert_eq!(seconds("run_queue_wait_s"), Some(1.0));
        assert_eq!(value("page_faults", all), Some(501.0));
        assert_eq!(value("major_faults", all), Some(2.0));
        assert_eq!(value("peak_rss_bytes", all), Some(978.0 * 4096.0));
    }

    #[test]
    fn what_is_denied_is_unknown() {
        assert_eq!(value("task_clock_s", Rights::none()), None);
        assert_eq!(value("run_queue_wait_s", Rights::none()), None);
        assert_eq!(value("page_faults", Rights::none()), Some(501.0));
    }

    #[test]
    fn conditions_tell_load_steal_and_clock() {
        let course = course();
        let conditions = readings(&course).conditions(&busy(), &Rights::default());
        assert_eq!(conditions.cpu_pressure, Some(0.4));
        assert_eq!(conditions.load, Some(4.0));
        assert_eq!(conditions.steal_s, Some(0.5));
        assert_eq!(conditions.frequency_hz, Some((FREQUENCY_HZ / 1.25) as f32));
        assert_eq!(readings(&course).conditions(&busy(), &Rights::none()).cpu_pressure, None);
    }
}
