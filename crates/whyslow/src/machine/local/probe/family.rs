//! The processes of a run, found again and again by asking the kernel for the children of those that are known. One that
//! lives shorter than the time between two looks is missed; one that lost its parent stays known. Bounded.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;

use super::missing;
use super::proc::{self, Stat};
use crate::model::{Missing, Probe};

/// Of more processes at one time, no more than these are looked at.
pub const MOST_PROCESSES: usize = 4096;

#[derive(Default)]
pub struct Family {
    /// With the times of their starts, as numbers of processes are used again.
    known: HashMap<i32, u64>,
    /// There were more than could be looked at.
    pub is_cut: bool,
}

/// A process as it was found.
pub struct Member {
    pub pid: i32,
    pub stat: Stat,
    /// Its threads, where there are several or they were needed to find its children.
    pub threads: Vec<i32>,
}

impl Family {
    pub fn new(main: i32) -> Family {
        let start = proc::stat_of(main).map_or(0, |stat| stat.start_ticks);
        Family { known: HashMap::from([(main, start)]), is_cut: false }
    }

    /// All that live now, but for zombies.
    pub fn look(&mut self) -> Vec<Member> {
        let mut members = Vec::with_capacity(self.known.len());
        let mut to_ask: Vec<i32> = self.known.keys().copied().collect();
        let mut alive = HashMap::with_capacity(self.known.len());
        while let Some(pid) = to_ask.pop() {
            let Some(stat) = proc::stat_of(pid).filter(|stat| stat.state != 'Z') else { continue };
            if self.known.get(&pid).is_some_and(|start| *start != stat.start_ticks) {
                continue;
            }
            match alive.entry(pid) {
                Entry::Occupied(_) => continue,
                Entry::Vacant(new) => new.insert(stat.start_ticks),
            };
            let threads = threads(pid, &stat);
            for child in threads.iter().flat_map(|thread| children(pid, *thread)) {
                if !self.known.contains_key(&child) && !alive.contains_key(&child) {
                    to_ask.push(child);
                }
            }
            members.push(Member { pid, stat, threads });
            if members.len() >= MOST_PROCESSES {
                self.is_cut = true;
                break;
            }
        }
        self.known = alive;
        members
    }
}

fn threads(pid: i32, stat: &Stat) -> Vec<i32> {
    if stat.threads <= 1 {
        return vec![pid];
    }
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    tasks.into_iter().flatten().flatten().filter_map(|task| task.file_name().to_str()?.parse().ok()).collect()
}

fn children(pid: i32, thread: i32) -> Vec<i32> {
    let listed = fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")).unwrap_or_default();
    listed.split_whitespace().filter_map(|child| child.parse().ok()).collect()
}

/// Whether the kernel lists children: not every one is built to.
pub fn can(probe: Probe) -> Result<(), Missing> {
    let own = std::process::id();
    if fs::exists(format!("/proc/{own}/task/{own}/children")).unwrap_or(false) {
        return Ok(());
    }
    let why =
        "the kernel does not list the children of a process (CONFIG_PROC_CHILDREN), or /proc is not there";
    Err(missing(probe, why, Some("mount -t proc proc /proc")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_found_and_forgotten() {
        if can(Probe::Series).is_err() {
            return;
        }
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let pid = child.id() as i32;
        let mut family = Family::new(pid);
        assert_eq!(family.look().iter().map(|member| member.pid).collect::<Vec<_>>(), [pid]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(family.look().is_empty());
    }
}
