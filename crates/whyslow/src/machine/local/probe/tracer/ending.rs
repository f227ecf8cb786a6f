//! What is left of the tree when the command itself has ended: waited for as long as the launch wants it, then asked to
//! end, then killed. Nothing of it is left behind.

use std::time::{Duration, Instant};

use super::super::survivors::Survivors;
use super::engine::{Engine, Observer};

/// How long a task has to end after it was asked to.
const GRACE: Duration = Duration::from_millis(300);

/// After that long nothing can be done about a task that does not die; it dies with this process at the latest.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often tasks that do not end are killed once more, since they may have started others.
const KILL_INTERVAL: Duration = Duration::from_millis(5);

/// Ends everything, and says what there was to be ended. For `wait_s` seconds descendants may go on and are looked at,
/// unless `is_broken_off` says otherwise.
pub fn end_all<O: Observer>(
    engine: &mut Engine<'_, O>,
    wait_s: f64,
    is_broken_off: impl Fn() -> bool,
) -> Survivors {
    let wait = Duration::try_from_secs_f64(wait_s).unwrap_or(Duration::ZERO);
    follow(engine, wait, &is_broken_off);
    engine.is_looking = false;
    let survivors = Survivors::of(engine.tree.living());
    if !is_broken_off() {
        signal_all(engine, libc::SIGTERM);
        // One that is stopped hears it when it goes on.
        signal_all(engine, libc::SIGCONT);
        follow(engine, GRACE, is_broken_off);
    }
    let until = Instant::now() + PATIENCE;
    while !engine.tree.tracees.is_empty() && Instant::now() < until {
        signal_all(engine, libc::SIGKILL);
        follow(engine, KILL_INTERVAL, || false);
    }
    survivors
}

/// Until nobody is left, at most that long.
fn follow<O: Observer>(engine: &mut Engine<'_, O>, limit: Duration, is_over: impl Fn() -> bool) {
    let until = Instant::now().checked_add(limit);
    let is_time_up = || until.is_some_and(|until| Instant::now() >= until);
    while !engine.tree.tracees.is_empty() {
        match engine.stops.next_now() {
            Some(happened) => engine.handle(&happened),
            None if engine.stops.is_alone => return engine.tree.tracees.clear(),
            None => std::thread::sleep(Duration::from_micros(100)),
        }
        if is_time_up() || is_over() {
            return;
        }
    }
}

fn signal_all<O: Observer>(engine: &Engine<'_, O>, signal: i32) {
    for process in engine.tree.living() {
        // SAFETY: no memory is involved; a process that we trace keeps its number until we have reaped it.
        unsafe { libc::kill(process, signal) };
    }
}
