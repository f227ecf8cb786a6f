//! Which descendant of a run works most, by looking at all of them from time to time: a shell that only waits for a
//! program says little about it. Descendants are never stopped, so one that lives for a moment is missed.

use std::time::{Duration, Instant};

use super::super::family::Family;
use super::snapshot::Snapshot;

/// A look at all may take this part of the time.
const LARGEST_SHARE: u32 = 8;

/// How often there is one at most.
const INTERVAL: Duration = Duration::from_millis(10);

/// A process is looked at closely again when it has worked that many times as long.
const GROWTH: f64 = 1.2;

pub struct Work {
    main: i32,
    family: Family,
    next: Instant,
    pub hardest: Option<Worker>,
}

/// A descendant, when it was last looked at closely.
#[derive(Clone, Debug)]
pub struct Worker {
    pid: i32,
    /// Without that of its children.
    pub cpu_s: f64,
    pub snapshot: Snapshot,
}

impl Work {
    pub fn new(main: i32) -> Work {
        Work { main, family: Family::new(main), next: Instant::now(), hardest: None }
    }

    pub fn look(&mut self) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        let members = self.family.look();
        let descendants = members.iter().filter(|member| member.pid != self.main);
        let cpu_times = descendants.map(|member| (member.pid, member.stat.cpu_s()));
        if let Some((pid, cpu_s)) = cpu_times.max_by(|a, b| a.1.total_cmp(&b.1)) {
            self.note(pid, cpu_s);
        }
        self.next = now + INTERVAL.max(now.elapsed() * LARGEST_SHARE).mul_f64(0.9);
    }

    fn note(&mut self, pid: i32, cpu_s: f64) {
        let is_hardest = self.hardest.as_ref().is_none_or(|known| cpu_s > known.cpu_s * GROWTH);
        if cpu_s > 0.0 && is_hardest {
            let snapshot = Snapshot::take(pid);
            // It may have ended between the two looks.
            if snapshot.maps.is_some() {
                self.hardest = Some(Worker { pid, cpu_s, snapshot });
            }
        } else if let Some(known) = self.hardest.as_mut().filter(|known| known.pid == pid) {
            known.cpu_s = known.cpu_s.max(cpu_s);
        }
    }
}
