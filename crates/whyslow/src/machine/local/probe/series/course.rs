//! What a run has used so far, again and again, in a list that never grows too long: when it is full, every second moment
//! is given up and the time between two is doubled.

use std::time::{Duration, Instant};

use super::super::family::{Family, Member};
use super::super::perf::page_bytes;
use super::super::proc;
use super::counters::{Counted, Counters};
use crate::model::Moment;

pub const TICK: Duration = Duration::from_millis(20);

/// Even, so that the last one is kept when every second is given up.
const MOST_MOMENTS: usize = 2000;

/// Looking at the processes may take this part of the time.
const LARGEST_SHARE: u32 = 4;

pub struct Course {
    family: Family,
    counters: Option<Counters>,
    began: Instant,
    next: Instant,
    pub tick: Duration,
    pub moments: Vec<Moment>,
    page_bytes: f64,
    tick_s: f64,
    /// What the process had from us before it became the command.
    faults_before: f64,
}

impl Course {
    pub fn new(main: i32, counters: Option<Counters>) -> Course {
        let now = Instant::now();
        Course {
            family: Family::new(main),
            counters,
            began: now,
            next: now,
            tick: TICK,
            moments: Vec::new(),
            page_bytes: page_bytes() as f64,
            tick_s: 1.0 / proc::ticks_per_s(),
            faults_before: 0.0,
        }
    }

    /// To be called at every tick; the first one is the start of the run.
    pub fn look(&mut self) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        let members = self.family.look();
        if self.moments.is_empty() {
            self.began = now;
            self.faults_before = members.iter().map(faults).sum();
        }
        self.push(self.seen(&members, now));
        let took = now.elapsed();
        self.next = now + self.tick.max(took * LARGEST_SHARE).mul_f64(0.9);
    }

    fn push(&mut self, mut moment: Moment) {
        if let Some(last) = self.moments.last() {
            // What ended without having been waited for is still a part of the sum.
            let grow = |now: &mut Option<f64>, before: Option<f64>| {
                *now = now.map(|now| now.max(before.unwrap_or(now)))
            };
            grow(&mut moment.cpu_s, last.cpu_s);
            grow(&mut moment.faults, last.faults);
            grow(&mut moment.read_bytes, last.read_bytes);
            grow(&mut moment.written_bytes, last.written_bytes);
        }
        self.moments.push(moment);
        if self.moments.len() >= MOST_MOMENTS {
            let mut place = 0;
            self.moments.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.tick *= 2;
        }
    }

    fn seen(&self, members: &[Member], now: Instant) -> Moment {
        let sum = |part: fn(&Member) -> f64| members.iter().map(part).sum::<f64>();
        let counted = self.counted();
        let moved = io(members);
        Moment {
            at_s: (now - self.began).as_secs_f64(),
            cpu_s: Some(counted.map_or_else(|| sum(ticks) * self.tick_s, |counted| counted.cpu_s)),
            faults: Some(counted.map_or_else(|| sum(faults) - self.faults_before, |counted| counted.faults)),
            switches: counted.and_then(|counted| counted.switches),
            rss_bytes: Some(sum(|member| member.stat.rss_pages as f64) * self.page_bytes),
            read_bytes: moved.map(|(read, _)| read),
            written_bytes: moved.map(|(_, written)| written),
            processes: Some(members.len() as f64),
        }
    }

    /// The command has ended, and this is what it has used in all.
    pub fn end(&mut self, wall_s: f64, cpu_s: f64, faults: f64) {
        let counted = self.counted();
        let last = self.moments.last().copied().unwrap_or_default();
        let by_rusage = Counted { cpu_s, faults: faults - self.faults_before, switches: None };
        let Counted { cpu_s, faults, switches } = counted.unwrap_or(by_rusage);
        self.push(Moment {
            at_s: wall_s.max(last.at_s),
            cpu_s: Some(cpu_s),
            faults: Some(faults),
            switches,
            rss_bytes: Some(0.0),
            processes: Some(0.0),
            ..last
        });
    }

    /// By the counters, so far.
    pub fn counted(&self) -> Option<Counted> {
        self.counters.as_ref().and_then(Counters::read)
    }

    pub fn has_counters(&self) -> bool {
        self.counters.is_some()
    }

    pub fn is_cut(&self) -> bool {
        self.family.is_cut
    }
}

fn ticks(member: &Member) -> f64 {
    let stat = &member.stat;
    stat.user_ticks as f64 + stat.system_ticks as f64 + stat.children_ticks as f64
}

fn faults(member: &Member) -> f64 {
    let stat = &member.stat;
    stat.minor_faults as f64 + stat.major_faults as f64 + stat.children_faults as f64
}

/// Bytes read and written by system calls, with those of children that have ended; not everybody may know.
fn io(members: &[Member]) -> Option<(f64, f64)> {
    let mut sums = None;
    for member in members {
        let Some(text) = proc::read(member.pid, "io") else { continue };
        let number = |name| proc::field(&text, name).and_then(|number| number.parse::<f64>().ok());
        let (read, written) = sums.unwrap_or((0.0, 0.0));
        sums = Some((read + number("rchar")?, written + number("wchar")?));
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_list_is_thinned_and_sums_never_fall() {
        let mut course = Course::new(std::process::id() as i32, None);
        for step in 0..5 * MOST_MOMENTS {
            let at_s = step as f64;
            let cpu_s = if step % 7 == 6 { 0.0 } else { at_s };
            course.push(Moment { at_s, cpu_s: Some(cpu_s), ..Moment::default() });
        }
        assert!(course.moments.len() < MOST_MOMENTS && course.moments.len() >= MOST_MOMENTS / 2);
        assert_eq!(course.moments[0].at_s, 0.0);
        assert!(course.tick >= TICK * 8);
        assert!(
            course
                .moments
                .windows(2)
                .all(|pair| pair[0].cpu_s <= pair[1].cpu_s && pair[0].at_s < pair[1].at_s)
        );
    }
}
