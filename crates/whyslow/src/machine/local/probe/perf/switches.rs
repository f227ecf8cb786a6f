//! How long every thread of a held command had a CPU, was ready for one and was blocked, from the records that the
//! kernel writes when threads come and go. It does not know what they were blocked on.
//!
//! How it is used, also beside something else that looks at the command from time to time:
//!
//! ```text
//! let held = Held::start(looker)?;
//! let mut switches = Switches::record(held.pid(), Probe::Waiting)?;   // Err is a Missing, with its remedy
//! let end = held.wait_watching(&switches.descriptors(), tick, |woken, pid| {
//!     switches.drain();                                               // at every call, or memory grows
//!     if woken == Woken::Tick { /* look at /proc */ }
//! })?;
//! let times = switches.finish();                                      // threads, sums, lost
//! ```
//!
//! A thread that was woken and waits for a CPU counts as blocked until it runs: the kernel does not record the waking.

use std::collections::HashMap;
use std::os::fd::RawFd;

use super::event::{Event, Kind};
use super::events::{Events, now_ns};
use super::hidden::Hidden;
use super::record::{Body, Record, SwitchOut};
use super::refusal::refused;
use crate::model::{Missing, Probe, ThreadTime};

const RING_BYTES: usize = 1 << 20;
/// Somebody is woken when the ring is so full.
const WATERMARK_SHARE: usize = 4;
/// Ended threads that are kept one by one, those with the most time.
const KEPT_THREADS: usize = 400;

/// A recording of switches, for the command and all its descendants, from its exec.
pub struct Switches {
    events: Events,
    course: Course,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SwitchTimes {
    /// Longest first. Of very many, only some hundred; the sums have all.
    pub threads: Vec<ThreadTime>,
    pub on_cpu_s: f64,
    /// Ready to run, but another task had the CPU.
    pub preempted_s: f64,
    pub blocked_s: f64,
    /// All threads that there were.
    pub thread_count: u64,
    /// Records that the kernel had no room for: with any, the times are too rough to be used.
    pub lost: u64,
    /// Programs that the kernel did not show.
    pub hidden: Option<Missing>,
}

impl Switches {
    /// Begins when the process goes on to its exec. The probe is who it is for, in the words of a refusal.
    pub fn record(pid: libc::pid_t, probe: Probe) -> Result<Switches, Missing> {
        let events = Events::open(pid, RING_BYTES, event).map_err(|error| refused(probe, &error))?;
        Ok(Switches { events, course: Course::default() })
    }

    /// To be watched while the command runs.
    pub fn descriptors(&self) -> Vec<RawFd> {
        self.events.descriptors()
    }

    pub fn drain(&mut self) {
        let Switches { events, course } = self;
        events.drain(|record| course.take(&record));
    }

    pub fn finish(mut self) -> SwitchTimes {
        let now_ns = now_ns();
        let Switches { events, course } = &mut self;
        events.drain_all(|record| course.take(&record));
        self.course.finish(now_ns)
    }
}

/// Switches are recorded for the program alone too: no right to see the kernel is needed.
fn event(ring_bytes: usize) -> Event {
    let watermark_bytes = (ring_bytes / WATERMARK_SHARE) as u32;
    Event { kind: Kind::Switches, with_kernel: false, stack_bytes: 0, watermark_bytes }
}

/// What became of the threads so far.
#[derive(Default)]
pub(super) struct Course {
    alive: HashMap<u32, Thread>,
    ended: SwitchTimes,
    /// Names of threads that were given before they were seen.
    names: HashMap<u32, String>,
    hidden: Hidden,
}

struct Thread {
    time: ThreadTime,
    state: State,
    since_ns: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    OnCpu,
    Ready,
    Blocked,
}

impl Course {
    pub(super) fn take(&mut self, record: &Record<'_>) {
        let now_ns = record.time_ns;
        self.hidden.take(&record.body);
        match &record.body {
            Body::Name { process, thread, is_exec, name } => {
                let name = String::from_utf8_lossy(name).into_owned();
                // An exec ends the other threads of the process, and the one that called it has the CPU.
                if *is_exec {
                    self.thread(*process, *thread, State::OnCpu, now_ns);
                }
                match self.alive.get_mut(thread) {
                    Some(known) => known.time.name = name,
                    None => drop(self.names.insert(*thread, name)),
                }
            }
            Body::Fork { process, thread, parent_thread, .. } => {
                let name = self.alive.get(parent_thread).map(|parent| parent.time.name.clone());
                self.thread(*process, *thread, State::Ready, now_ns).time.name = name.unwrap_or_default();
            }
            Body::Exit { thread, .. } => self.end(*thread, now_ns),
            Body::Switch { process, thread, out } => {
                // Whoever is seen for the first time was in the other state just now.
                let before = if out.is_some() { State::OnCpu } else { State::Ready };
                let next = match out {
                    None => State::OnCpu,
                    Some(SwitchOut::Preempted) => State::Ready,
                    Some(SwitchOut::Blocked) => State::Blocked,
                };
                self.thread(*process, *thread, before, now_ns).go_on(next, now_ns);
            }
            Body::Lost(count) => self.ended.lost = self.ended.lost.saturating_add(*count),
            Body::Sample(_) | Body::Traced(_) | Body::Map(_) => {}
        }
    }

    fn thread(&mut self, process: u32, thread: u32, state: State, now_ns: u64) -> &mut Thread {
        self.alive.entry(thread).or_insert_with(|| {
            let name = self.names.remove(&thread).unwrap_or_default();
            Thread {
                time: ThreadTime { name, process, thread, ..ThreadTime::default() },
                state,
                since_ns: now_ns,
            }
        })
    }

    fn end(&mut self, thread: u32, now_ns: u64) {
        let Some(mut thread) = self.alive.remove(&thread) else { return };
        thread.go_on(thread.state, now_ns);
        let (sums, time) = (&mut self.ended, thread.time);
        sums.on_cpu_s += time.on_cpu_s;
        sums.preempted_s += time.preempted_s;
        sums.blocked_s += time.blocked_s;
        sums.thread_count += 1;
        sums.threads.push(time);
        if sums.threads.len() >= 2 * KEPT_THREADS {
            keep_longest(&mut sums.threads);
        }
    }

    pub(super) fn finish(mut self, now_ns: u64) -> SwitchTimes {
        let alive: Vec<u32> = self.alive.keys().copied().collect();
        for thread in alive {
            self.end(thread, now_ns);
        }
        keep_longest(&mut self.ended.threads);
        self.ended.hidden = self.hidden.spot();
        self.ended
    }
}

impl Thread {
    fn go_on(&mut self, next: State, now_ns: u64) {
        let passed_s = now_ns.saturating_sub(self.since_ns) as f64 * 1e-9;
        match self.state {
            State::OnCpu => self.time.on_cpu_s += passed_s,
            State::Ready => self.time.preempted_s += passed_s,
            State::Blocked => self.time.blocked_s += passed_s,
        }
        if self.state == State::OnCpu && next != State::OnCpu {
            self.time.switches += 1;
        }
        self.state = next;
        self.since_ns = now_ns;
    }
}

fn keep_longest(threads: &mut Vec<ThreadTime>) {
    threads.sort_by(ThreadTime::longest_first);
    threads.truncate(KEPT_THREADS);
}

#[cfg(test)]
mod tests {
    use super::super::super::super::environment::{Prepared, inherited};
    use super::super::super::super::interrupt::Interrupt;
    use super::super::super::super::settings::Settings;
    use super::super::super::Looker;
    use super::super::super::held::Held;
    use super::*;
    use crate::model::Launch;

    /// A look at a real program; `None` where the system does not allow it.
    fn look(argv: &[&str]) -> Option<(SwitchTimes, f64)> {
        let launch = Launch { argv: argv.iter().map(|word| (*word).into()).collect(), ..Launch::default() };
        let prepared = Prepared::new(&launch, &inherited()).unwrap();
        let (interrupt, settings) = (&Interrupt::new().unwrap(), &Settings::default());
        let looker = Looker { launch: &launch, prepared: &prepared, interrupt, settings, least_hz: None };
        let held = Held::start(&looker).unwrap();
        let mut switches = Switches::record(held.pid(), Probe::Waiting).ok()?;
        let end = held.wait_watching(&switches.descriptors(), None, |_, _| switches.drain()).unwrap();
        Some((switches.finish(), end.wall_s))
    }

    #[test]
    fn a_real_sleep_is_blocked_time_of_its_own_process() {
        let Some((times, wall_s)) = look(&["sh", "-c", "sleep 0.3; sleep 0.2; true"]) else { return };
        assert_eq!(times.lost, 0);
        assert_eq!(times.thread_count, 3, "{times:?}");
        let slept = times.threads.iter().filter(|time| time.name == "sleep").map(|time| time.blocked_s);
        assert!((0.45..wall_s + 0.2).contains(&slept.sum::<f64>()), "{times:?}");
        let shell = times.threads.iter().find(|time| time.name == "sh").unwrap();
        let lived_s = shell.on_cpu_s + shell.preempted_s + shell.blocked_s;
        assert!(lived_s > 0.5 && lived_s < wall_s + 0.2, "{shell:?} {wall_s}");
        assert!(shell.blocked_s > 0.45, "{shell:?}");
    }

    const SECOND: u64 = 1_000_000_000;

    fn course(records: Vec<(u64, Body<'static>)>) -> SwitchTimes {
        let mut course = Course::default();
        for (second, body) in records {
            course.take(&Record { time_ns: second * SECOND, body });
        }
        course.finish(100 * SECOND)
    }

    fn switch(thread: u32, out: Option<SwitchOut>) -> Body<'static> {
        Body::Switch { process: 1, thread, out }
    }

    #[test]
    fn time_goes_to_the_state_that_a_thread_was_in() {
        let times = course(vec![
            (10, Body::Name { process: 1, thread: 1, is_exec: true, name: b"sleeper" }),
            (12, switch(1, Some(SwitchOut::Blocked))),
            (15, switch(1, None)),
            (16, switch(1, Some(SwitchOut::Preempted))),
            (20, switch(1, None)),
            (21, Body::Exit { process: 1, thread: 1 }),
        ]);
        let expected = ThreadTime {
            name: "sleeper".to_owned(),
            process: 1,
            thread: 1,
            on_cpu_s: 4.0,
            preempted_s: 4.0,
            blocked_s: 3.0,
            switches: 2,
        };
        assert_eq!(times.threads, [expected]);
        assert_eq!((times.on_cpu_s, times.preempted_s, times.blocked_s), (4.0, 4.0, 3.0));
    }

    #[test]
    fn a_new_thread_waits_for_a_cpu_and_has_the_name_of_who_made_it() {
        let times = course(vec![
            (0, Body::Name { process: 1, thread: 1, is_exec: true, name: b"main" }),
            (1, Body::Fork { process: 1, parent: 1, thread: 2, parent_thread: 1 }),
            (3, switch(2, None)),
            (90, Body::Exit { process: 1, thread: 2 }),
        ]);
        let new = times.threads.iter().find(|time| time.thread == 2).unwrap();
        assert_eq!((new.name.as_str(), new.preempted_s, new.on_cpu_s), ("main", 2.0, 87.0));
        assert_eq!(times.thread_count, 2);
    }

    #[test]
    fn of_very_many_threads_only_the_longest_are_kept_but_the_sums_have_all() {
        let lives = (0..5000).flat_map(|thread| {
            let exec = Body::Name { process: thread, thread, is_exec: true, name: b"short" };
            [(0, exec), (1 + u64::from(thread == 77), Body::Exit { process: thread, thread })]
        });
        let times = course(lives.collect());
        assert_eq!(times.threads.len(), KEPT_THREADS);
        assert_eq!(times.threads[0].thread, 77);
        assert_eq!(times.on_cpu_s, 5001.0);
    }
}
