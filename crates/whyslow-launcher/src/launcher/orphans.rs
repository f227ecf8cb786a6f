//! Descendants that outlive their command. The kernel makes them children of this process, which counts them, waits
//! for them where the request says so, and sees to their end: those of a run that is ended by force end with it,
//! the others (a later command may need them) with this process.
//!
//! To find those that live it takes `/proc/thread-self/children`. Without that file a run's process group tells whether
//! somebody of it lives, and can be ended; those that left the group are not seen, and their number is unknown.

use crate::kernel::{self, SIGKILL, SIGTERM};
use crate::orders::Control;
use crate::watch;
use crate::wire::{self, Answer};

/// How many are remembered by number. Any more would be taken for those of the present run.
const REMEMBERED: usize = 512;

/// How long descendants may take to obey SIGTERM when this process ends.
const FAREWELL_NS: u64 = 300_000_000;

/// How long to go on killing. Each round reaches the children of those that died in the round before.
const KILLING_NS: u64 = 1_000_000_000;

/// Between two looks at who is left.
const LOOK_NS: u64 = 2_000_000;

const CHILDREN: &[u8] = b"/proc/thread-self/children\0";

pub struct Orphans {
    /// /proc tells who lives.
    sees: bool,
    /// The process group of the present run; 0 between runs.
    group: i32,
    /// Those of earlier runs: processes, or, where those are not seen, process groups.
    earlier: [i32; REMEMBERED],
    count: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    OfThisRun,
    All,
}

impl Orphans {
    pub fn new() -> Self {
        let file = kernel::open_to_read(CHILDREN);
        let sees = file.map(kernel::close).is_ok();
        Self { sees, group: 0, earlier: [0; REMEMBERED], count: 0 }
    }

    /// To be called for every run, when its command has ended.
    pub fn begin(&mut self, group: i32) {
        self.group = group;
    }

    /// Waits for the orphans of this run until `until_ns`, and adds up what those used that have ended.
    pub fn wait(&self, control: &Control, signals: i32, until_ns: u64, reply: &mut Answer) -> Wish {
        loop {
            let now_ns = kernel::now_ns();
            if !self.lives(Whose::OfThisRun, reply) || now_ns >= until_ns {
                return Wish::GoOn;
            }
            let watched = [signals, control.socket()];
            let [_, spoken_to] = kernel::wait_for_either(watched, Some(until_ns - now_ns));
            watch::clear(signals);
            if spoken_to {
                return if control.next_cancellation().is_some() { Wish::Cancel } else { Wish::Leave };
            }
        }
    }

    /// Lets the orphans of this run end until `patience_ns`, a time of the clock, then kills them.
    pub fn end_this_run(&self, patience_ns: u64, reply: &mut Answer) {
        self.end(Whose::OfThisRun, patience_ns, reply);
    }

    fn end(&self, whose: Whose, patience_ns: u64, reply: &mut Answer) {
        let give_up_ns = patience_ns.max(kernel::now_ns()).saturating_add(KILLING_NS);
        while self.lives(whose, reply) && kernel::now_ns() < give_up_ns {
            if kernel::now_ns() >= patience_ns {
                self.each(whose, |orphan| kernel::kill(orphan, SIGKILL));
            }
            kernel::wait_for_either([-1, -1], Some(LOOK_NS));
        }
    }

    /// Counts those that live into the reply, and remembers them.
    pub fn take_stock(&mut self, reply: &mut Answer) {
        [reply.leftovers, reply.strangers] = if !self.reap(reply) {
            [0, 0]
        } else if self.sees {
            [self.number(Whose::OfThisRun), self.number(Whose::All)]
        } else {
            [wire::NONE; 2]
        };
        self.remember(reply.strangers > 0);
        self.group = 0;
    }

    fn remember(&mut self, anybody: bool) {
        if !anybody {
            self.count = 0;
            return;
        }
        let mut living = [0; REMEMBERED];
        let mut count = 0;
        self.each(Whose::All, |orphan| {
            if let Some(place) = living.get_mut(count) {
                *place = orphan.abs();
                count += 1;
            }
        });
        (self.earlier, self.count) = (living, count);
    }

    /// The end of this process is the end of all.
    pub fn end_all(&self, patience_ns: u64) {
        let mut nobodys = crate::answer(wire::ENDED);
        if self.lives(Whose::All, &mut nobodys) {
            self.each(Whose::All, |orphan| kernel::kill(orphan, SIGTERM));
            self.end(Whose::All, kernel::now_ns().saturating_add(patience_ns), &mut nobodys);
        }
    }

    pub fn farewell(&self) -> ! {
        self.end_all(FAREWELL_NS);
        kernel::exit(0)
    }

    /// Whether somebody does, after those are taken away that do not.
    fn lives(&self, whose: Whose, reply: &mut Answer) -> bool {
        self.reap(reply) && self.number(whose) > 0
    }

    /// Takes away those that have ended, and says whether anybody is left.
    fn reap(&self, reply: &mut Answer) -> bool {
        if !self.sees && self.group > 0 {
            // Only these are known to be of this run.
            while let Ok((1.., usage)) = kernel::reap_member(self.group) {
                add(&usage, reply);
            }
        }
        loop {
            match kernel::reap_any() {
                Ok((0, _)) => return true,
                Ok((pid, usage)) if self.sees && !self.is_earlier(pid) => add(&usage, reply),
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }

    fn number(&self, whose: Whose) -> u64 {
        let mut number = 0;
        self.each(whose, |_| number += 1);
        number
    }

    /// In the form in which a signal is sent to them: processes, or negative numbers of groups.
    fn each(&self, whose: Whose, mut each: impl FnMut(i32)) {
        if self.sees {
            each_child(|pid| {
                if whose == Whose::All || !self.is_earlier(pid) {
                    each(pid);
                }
            });
            return;
        }
        let earlier = if whose == Whose::All { &self.earlier[..self.count] } else { &[] };
        let groups = earlier.iter().copied().chain([self.group]).filter(|group| *group > 0);
        groups.filter(|group| kernel::is_group(*group)).for_each(|group| each(-group));
    }

    fn is_earlier(&self, pid: i32) -> bool {
        self.earlier[..self.count].contains(&pid)
    }
}

/// What is to be done after waiting.
pub enum Wish {
    GoOn,
    Cancel,
    /// Nobody waits for the answer.
    Leave,
}

fn add(usage: &[u64; 18], reply: &mut Answer) {
    reply.leftover_user_us += usage[0] * 1_000_000 + usage[1];
    reply.leftover_system_us += usage[2] * 1_000_000 + usage[3];
}

fn each_child(mut each: impl FnMut(i32)) {
    let Ok(file) = kernel::open_to_read(CHILDREN) else { return };
    let mut text = [0; 4096];
    let mut number = 0;
    while let Ok(length @ 1..) = kernel::read(file, &mut text) {
        for byte in &text[..length] {
            match byte {
                b'0'..=b'9' => number = number * 10 + i32::from(byte - b'0'),
                _ => {
                    if number > 0 {
                        each(number);
                    }
                    number = 0;
                }
            }
        }
    }
    kernel::close(file);
}
