//! Descendants that outlive their command. The kernel makes them children of this process, which counts them, waits
//! for them where the request says so, and sees to their end: those of a run that is ended by force end with it,
//! the others (a later command may need them) with this process.
//!
//! To find those that live it takes `/proc/thread-self/children`. Without that file they are only known to exist,
//! and those that left the group of their command are not ended.

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

pub struct Orphans {
    /// Those of earlier runs.
    earlier: [i32; REMEMBERED],
    count: usize,
}

/// How many live.
#[derive(Clone, Copy)]
struct Living {
    of_this_run: u64,
    all: u64,
}

const NOBODY: Living = Living { of_this_run: 0, all: 0 };

impl Orphans {
    pub fn new() -> Self {
        Self { earlier: [0; REMEMBERED], count: 0 }
    }

    /// Waits for the orphans of this run until `until_ns`, and adds up what those used that have ended.
    pub fn wait(&self, control: &Control, signals: i32, until_ns: u64, reply: &mut Answer) -> Wish {
        loop {
            let now_ns = kernel::now_ns();
            if self.reap(reply).of_this_run == 0 || now_ns >= until_ns {
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
        let give_up_ns = patience_ns.max(kernel::now_ns()).saturating_add(KILLING_NS);
        while self.reap(reply).of_this_run > 0 && kernel::now_ns() < give_up_ns {
            if kernel::now_ns() >= patience_ns {
                each_child(|pid| {
                    if !self.is_earlier(pid) {
                        kernel::kill(pid, SIGKILL);
                    }
                });
            }
            kernel::wait_for_either([-1, -1], Some(LOOK_NS));
        }
    }

    /// Counts those that live into the reply, and remembers them.
    pub fn take_stock(&mut self, reply: &mut Answer) {
        let living = self.reap(reply);
        reply.leftovers = living.of_this_run;
        reply.strangers = living.all;
        self.count = 0;
        if living.all > 0 {
            let Self { earlier, count } = self;
            each_child(|pid| {
                if let Some(place) = earlier.get_mut(*count) {
                    *place = pid;
                    *count += 1;
                }
            });
        }
    }

    /// The end of this process is the end of all.
    pub fn end_all(&mut self, patience_ns: u64) {
        self.count = 0;
        let mut nobodys = crate::answer(wire::ENDED);
        if self.reap(&mut nobodys).all > 0 {
            each_child(|pid| kernel::kill(pid, SIGTERM));
            self.end_this_run(kernel::now_ns().saturating_add(patience_ns), &mut nobodys);
        }
    }

    pub fn farewell(&mut self) -> ! {
        self.end_all(FAREWELL_NS);
        kernel::exit(0)
    }

    /// Takes away those that have ended.
    fn reap(&self, reply: &mut Answer) -> Living {
        loop {
            match kernel::reap_any() {
                Ok((0, _)) => return self.count(),
                Ok((pid, usage)) if !self.is_earlier(pid) => add(&usage, reply),
                Ok(_) => {}
                Err(_) => return NOBODY,
            }
        }
    }

    /// To be called when there is one at least.
    fn count(&self) -> Living {
        let mut living = NOBODY;
        each_child(|pid| {
            living.all += 1;
            living.of_this_run += u64::from(!self.is_earlier(pid));
        });
        if living.all == 0 { Living { of_this_run: 1, all: 1 } } else { living }
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
    let Ok(file) = kernel::open_to_read(b"/proc/thread-self/children\0") else { return };
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
