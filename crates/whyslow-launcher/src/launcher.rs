//! The launcher program: starts one measured command at a time and reaps it.
//!
//! It is compiled on its own by `build.rs` (no standard library, no libc, static) so that it stays
//! under a few hundred kilobytes: Linux lets the peak memory of a new process start at the memory
//! of whoever started it, and a start costs the more the larger the starter is.
//!
//! It never prints, never opens a file for the command and never interprets what it launches:
//! orders come in by the control socket, answers go out by it, and when the socket closes the
//! running command is killed. Without the argument `serve` it is the *null program*, which ends
//! after a few instructions.

#![no_std]
#![no_main]
// The memory functions below are loops that the compiler would otherwise recognise and replace by
// calls to themselves.
#![no_builtins]

#[path = "launcher/child.rs"]
mod child;
#[path = "launcher/counters.rs"]
mod counters;
#[path = "launcher/kernel.rs"]
mod kernel;
#[path = "launcher/orders.rs"]
mod orders;
#[path = "launcher/orphans.rs"]
mod orphans;
#[path = "launcher/runtime.rs"]
mod runtime;
#[path = "launcher/schedule.rs"]
mod schedule;
#[path = "launcher/setup.rs"]
mod setup;
#[path = "launcher/watch.rs"]
mod watch;
#[allow(dead_code)]
#[path = "wire.rs"]
mod wire;

use child::Plan;
use counters::Counters;
use kernel::{Errno, exit};
use orders::{Control, Room, Run};
use orphans::{Orphans, Wish};
use setup::Own;
use wire::{Answer, Words};

/// Called by the entry point of `runtime` with the stack as the kernel made it: count, then
/// arguments.
///
/// # Safety
/// `stack` must be the initial stack pointer of the process.
unsafe extern "C" fn start(stack: *const usize) -> ! {
    // SAFETY: the kernel puts the argument count and the pointers to the arguments there.
    let (count, second) = unsafe { (*stack, *stack.add(2) as *const u8) };
    // SAFETY: with two arguments the second pointer is a string that ends with a zero byte.
    if count == 2 && unsafe { runtime::is_string(second, wire::SERVE) } {
        serve();
    }
    exit(0)
}

fn serve() -> ! {
    let control = Control::new(wire::CONTROL_DESCRIPTOR);
    let mut hello = answer(wire::HELLO);
    let own = match setup::become_launcher(wire::CONTROL_DESCRIPTOR) {
        Ok(own) => own,
        Err(errno) => {
            control.send(&refuse(hello, errno, wire::STEP_SETUP));
            exit(1)
        }
    };
    let counters = Counters::find(&mut hello);
    if !control.send(&hello) {
        // Whoever waits for it learns from the end of the socket that there is nobody.
        exit(1);
    }
    let mut room = Room::new();
    let mut orphans = Orphans::new();
    while let Some(order) = control.next_run(&mut room, counters) {
        let reply = match order {
            Ok(mut run) => execute(&control, &own, &mut run, &mut orphans),
            Err(errno) => refuse(answer(wire::REFUSED), errno, wire::STEP_REQUEST),
        };
        room.shrink();
        if !control.send(&reply) {
            break;
        }
    }
    orphans.farewell()
}

/// One command from start to reply.
fn execute(control: &Control, own: &Own, run: &mut Run, orphans: &mut Orphans) -> Answer {
    let mut reply = answer(wire::ENDED);
    reply.request_ns = kernel::now_ns();
    let spawned = child::spawn(&mut run.plan);
    // At once, so that the readers of the command's pipes see their end as soon as the command has
    // ended.
    setup::occupy_standard_descriptors(own.placeholder);
    run.close_descriptors();
    match spawned {
        Ok(pid) => follow(control, own, &run.plan, pid, &mut reply, orphans),
        Err(errno) => reply = refuse(reply, errno, wire::STEP_SPAWN),
    }
    run.plan.opened.close();
    run.plan.accounts.close();
    reply
}

/// From exec, or from the failure to get there, to the end.
fn follow(control: &Control, own: &Own, plan: &Plan, pid: i32, reply: &mut Answer, orphans: &mut Orphans) {
    reply.exec_ns = plan.exec_ns;
    if let Some((errno, step)) = plan.failed {
        watch::reap(pid, reply);
        *reply = refuse(*reply, errno, step);
        return;
    }
    let end = watch::until_end(control, own.signals, pid, deadline(plan));
    reply.end_ns = end.end_ns;
    reply.stopped_by = end.stopped_by;
    reply.stop_signal = end.stop_signal;
    reply.schedstat = plan.accounts.read();
    watch::reap(pid, reply);
    orphans.begin(pid);
    if end.hung_up {
        orphans.end_all(0);
        exit(0);
    }
    part_with_orphans(control, own, plan, end.grace_until_ns, reply, orphans);
    // After that, so that their work is in too.
    plan.opened.read(reply);
    orphans.take_stock(reply);
}

/// What a run leaves when it ends by itself may stay; what it leaves when it is ended by force may not.
fn part_with_orphans(
    control: &Control,
    own: &Own,
    plan: &Plan,
    grace_until_ns: u64,
    reply: &mut Answer,
    orphans: &Orphans,
) {
    let until_ns = reply.end_ns.saturating_add(plan.descendants_ns);
    if reply.stopped_by == wire::BY_NOBODY && plan.descendants_ns > 0 {
        match orphans.wait(control, own.signals, until_ns, reply) {
            Wish::GoOn => {}
            Wish::Cancel => reply.stopped_by = wire::BY_CANCEL,
            Wish::Leave => orphans.farewell(),
        }
    }
    if reply.stopped_by != wire::BY_NOBODY {
        orphans.end_this_run(grace_until_ns, reply);
    }
}

fn deadline(plan: &Plan) -> u64 {
    plan.exec_ns.saturating_add(plan.timeout_ns)
}

fn answer(kind: u64) -> Answer {
    let mut answer = Answer::zero();
    answer.magic = wire::MAGIC;
    answer.kind = kind;
    answer.schedstat = [wire::NONE; 3];
    answer.task_clock = wire::NONE;
    answer.page_faults = wire::NONE;
    answer
}

fn refuse(mut answer: Answer, errno: Errno, step: u64) -> Answer {
    if answer.kind == wire::ENDED {
        answer.kind = wire::NOT_STARTED;
    }
    answer.errno = errno.0 as u64;
    answer.step = step;
    answer
}
