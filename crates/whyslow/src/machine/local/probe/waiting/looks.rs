//! Looks at all threads of a run from time to time: those that are blocked are asked what for. Where switches cannot be
//! recorded, it also adds up what the scheduler books for each thread.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::super::family::{Family, Member};
use super::super::proc;
use super::place;
use super::sockets::Sockets;
use crate::model::{ThreadTime, WaitKind, WaitPlace};

/// Threads that are asked at one look; of more, others each time.
const MOST_ASKED: usize = 512;

/// Different places that are told apart.
const MOST_PLACES: usize = 300;

/// Threads whose times are kept.
const MOST_THREADS: usize = 20_000;

/// A look may take this part of the time between two.
const LARGEST_SHARE: u32 = 3;

type Place = (WaitKind, String);

pub struct Looks {
    family: Family,
    sockets: Sockets,
    places: HashMap<Place, f64>,
    /// What the last look has seen, and how many threads there stand for.
    latest: HashMap<Place, usize>,
    times: Option<HashMap<(i32, i32), Times>>,
    last: Instant,
    next: Instant,
    pub tick: Duration,
    /// Blocked threads that were asked.
    pub looks: u64,
    pub rounds: u64,
    pub waited: Duration,
    pub is_thinned: bool,
}

/// What the scheduler has booked for a thread, as far as it was seen.
struct Times {
    name: String,
    began: Instant,
    seen: Instant,
    on_cpu_ns: u64,
    delay_ns: u64,
    slices: u64,
}

impl Looks {
    /// `with_times` says whether times are wanted too.
    pub fn new(main: i32, tick: Duration, with_times: bool) -> Looks {
        let now = Instant::now();
        Looks {
            family: Family::new(main),
            sockets: Sockets::default(),
            places: HashMap::new(),
            latest: HashMap::new(),
            times: with_times.then(HashMap::new),
            last: now,
            next: now,
            tick,
            looks: 0,
            rounds: 0,
            waited: Duration::ZERO,
            is_thinned: false,
        }
    }

    /// To be called at every tick.
    pub fn look(&mut self) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        let passed = self.pass(now);
        self.rounds += 1;
        self.sockets.begin_look();
        let members = self.family.look();
        let threads: usize = members.iter().map(|member| member.threads.len()).sum();
        // Each that is asked stands for the others; where they begin is different every time.
        let step = threads.div_ceil(MOST_ASKED).max(1);
        self.is_thinned |= step > 1 || self.family.is_cut;
        let mut place = self.rounds as usize % step;
        for member in &members {
            for thread in &member.threads {
                if place == 0 {
                    self.ask(member, *thread, step, now);
                }
                place = (place + 1) % step;
            }
        }
        self.book(passed / 2.0);
        let took = now.elapsed();
        self.next = now + self.tick.max(took * LARGEST_SHARE).mul_f64(0.9);
    }

    /// The time since the last look is half that one's and half the next one's.
    fn pass(&mut self, now: Instant) -> f64 {
        let passed = now - self.last;
        self.last = now;
        self.waited += passed;
        self.book(passed.as_secs_f64() / 2.0);
        self.latest.clear();
        passed.as_secs_f64()
    }

    fn book(&mut self, seconds: f64) {
        for (place, threads) in &self.latest {
            let is_full = self.places.len() >= MOST_PLACES && !self.places.contains_key(place);
            let place = if is_full { (place.0, "other places".to_owned()) } else { place.clone() };
            *self.places.entry(place).or_default() += seconds * *threads as f64;
        }
    }

    /// The command has ended.
    pub fn end(&mut self) {
        self.pass(Instant::now());
    }

    fn ask(&mut self, member: &Member, thread: i32, stands_for: usize, now: Instant) {
        let own = proc::read(member.pid, &format!("task/{thread}/stat"));
        let Some(stat) = own.as_deref().and_then(proc::stat) else { return };
        if let Some(times) = &mut self.times {
            note_times(times, member.pid, thread, &stat.name, now);
        }
        if !matches!(stat.state, 'S' | 'D' | 'T' | 't' | 'I') {
            return;
        }
        let place = place::place(member.pid, thread, stat.state, &mut self.sockets);
        self.looks += 1;
        *self.latest.entry(place).or_default() += stands_for;
    }

    /// Longest first.
    pub fn places(&self) -> Vec<WaitPlace> {
        let place = |((kind, what), seconds): (&Place, &f64)| WaitPlace {
            kind: *kind,
            what: what.clone(),
            seconds: *seconds,
        };
        let mut places: Vec<WaitPlace> = self.places.iter().map(place).collect();
        places.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then_with(|| a.what.cmp(&b.what)));
        places
    }

    /// By the books of the scheduler; what a thread did after the last look is not in there. One that was seen only once
    /// is left out: how long it lived is not known, and it may have been the command before it was its program.
    pub fn threads(&self) -> Option<Vec<ThreadTime>> {
        let of = |((process, thread), times): (&(i32, i32), &Times)| {
            let lived_s = (times.seen - times.began).as_secs_f64();
            let (on_cpu_s, preempted_s) = (times.on_cpu_ns as f64 / 1e9, times.delay_ns as f64 / 1e9);
            ThreadTime {
                name: times.name.clone(),
                process: *process as u32,
                thread: *thread as u32,
                on_cpu_s,
                preempted_s,
                blocked_s: (lived_s - on_cpu_s - preempted_s).max(0.0),
                switches: times.slices,
            }
        };
        let was_seen_again = |(_, times): &(&(i32, i32), &Times)| times.seen > times.began;
        let mut threads: Vec<ThreadTime> =
            self.times.as_ref()?.iter().filter(was_seen_again).map(of).collect();
        threads.sort_by(ThreadTime::longest_first);
        Some(threads)
    }
}

fn note_times(times: &mut HashMap<(i32, i32), Times>, pid: i32, thread: i32, name: &str, now: Instant) {
    let text = proc::read(pid, &format!("task/{thread}/schedstat")).unwrap_or_default();
    let Some([on_cpu_ns, delay_ns, slices]) = proc::schedstat(&text) else { return };
    if times.len() >= MOST_THREADS && !times.contains_key(&(pid, thread)) {
        return;
    }
    let new = || Times { name: name.to_owned(), began: now, seen: now, on_cpu_ns, delay_ns, slices };
    let known = times.entry((pid, thread)).or_insert_with(new);
    (known.on_cpu_ns, known.delay_ns, known.slices, known.seen) = (on_cpu_ns, delay_ns, slices, now);
    if known.name != name {
        known.name = name.to_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_was_seen_once_has_no_times() {
        let mut looks = Looks::new(1, Duration::from_millis(10), true);
        let began = Instant::now();
        let times = |seen| Times { name: "x".to_owned(), began, seen, on_cpu_ns: 7, delay_ns: 0, slices: 1 };
        let known = looks.times.as_mut().unwrap();
        known.insert((1, 1), times(began));
        known.insert((2, 2), times(began + Duration::from_millis(10)));
        let threads: Vec<u32> = looks.threads().unwrap().iter().map(|thread| thread.thread).collect();
        assert_eq!(threads, [2]);
    }
}
