//! A tracer of our own: runs a launch under ptrace(2), follows every task that it starts, and tells an observer of every
//! system call. It changes nothing that a program can see, but for what the kernel changes for every traced program: no
//! other tracer can follow it, and a file that gives its user more rights gives none.

mod calls;
mod ending;
mod engine;
mod memory;
mod rights;
mod stops;
mod tracing;
mod tree;

use std::collections::BTreeSet;
use std::io;
use std::os::fd::AsRawFd;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use self::engine::Engine;
use super::held::{Held, HeldEnd};
use super::survivors::Survivors;
use super::{Looker, failed, missing, ptrace, spot, started, unstarted};
use crate::model::{Exit, Missing, Probe};

pub use self::calls::{Abi, Call, Table, error_name, name};
pub use self::engine::{Halt, Observer};
pub use self::rights::{can, check_program, gains_rights, has_lost_rights, is_root, lost, program_path};
pub use self::tracing::uses_ptrace;
pub use self::tree::{Task, Tree};
pub use self::{memory::bytes, memory::number, memory::string};

/// All stops that tell of calls, children and programs.
const STOPS: libc::c_int = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC;

/// A launch that was traced to its end.
pub struct Traced<O> {
    pub end: HeldEnd,
    pub observer: O,
    pub tree: Tree,
    pub blindness: Blindness,
}

/// What any tracer misses, or does to the tree.
#[derive(Default)]
pub struct Blindness {
    /// A task asked to be left alone by tracers.
    has_untraced: bool,
    /// A task could not trace another, or be traced by it.
    has_tracer: bool,
    /// Programs that ran without the rights that they have otherwise; a few of them.
    without_rights: BTreeSet<String>,
}

/// So many are named.
const NAMED_LIMIT: usize = 5;

impl Blindness {
    fn lost_rights(&mut self, path: &Path) {
        if self.without_rights.len() < NAMED_LIMIT {
            self.without_rights.insert(path.display().to_string());
        }
    }

    pub fn spots(&self) -> Vec<Missing> {
        let mut spots = Vec::new();
        if self.has_untraced {
            spots.push(spot("processes hidden from tracers", "started with CLONE_UNTRACED", None));
        }
        spots.extend(rights::lost(&self.without_rights));
        spots
    }
}

/// Runs the launch to its end. In a thread of its own, since a tracer is a thread: what it waits for is then nothing but
/// the command and its descendants.
pub fn trace<O: Observer + Send>(
    looker: &Looker<'_>,
    probe: Probe,
    observer: O,
) -> Result<Traced<O>, Missing> {
    thread::scope(|scope| {
        let tracer = thread::Builder::new().name("tracer".to_owned());
        match tracer.spawn_scoped(scope, || in_this_thread(looker, probe, observer)) {
            Ok(tracer) => tracer.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(error) => Err(no_thread(probe, &error)),
        }
    })
}

fn in_this_thread<O: Observer>(looker: &Looker<'_>, probe: Probe, observer: O) -> Result<Traced<O>, Missing> {
    rights::check_program(probe, looker)?;
    let mut held = Held::start(looker).map_err(unstarted(probe))?;
    ptrace::seize(held.pid(), STOPS).map_err(|error| rights::refused(probe, held.pid(), &error))?;
    held.release();
    let program = rights::program_path(looker);
    let halt = Halt::default();
    let engine = Engine::new(held.pid(), &program, observer, &halt);
    let wait_s = looker.launch.wait_for_descendants_s.unwrap_or(0.0);
    let Course { engine, survivors, broken_off } =
        watched(&held, engine, &halt, wait_s).map_err(|error| no_thread(probe, &error))?;
    let Some((status, usage)) = engine.end else {
        return Err(missing(probe, "the command was reaped by somebody else", None));
    };
    let mut end = started(probe, held.ended(status, usage))?;
    if engine.blindness.has_tracer {
        return Err(tracing::failed(probe));
    }
    end.survivors = survivors;
    end.exit = broken_off.unwrap_or(end.exit);
    Ok(Traced { end, observer: engine.observer, tree: engine.tree, blindness: engine.blindness })
}

/// What came of following a tree.
struct Course<'a, O> {
    engine: Engine<'a, O>,
    survivors: Survivors,
    /// Why it was ended, if it was.
    broken_off: Option<Exit>,
}

/// Follows the tree while another thread reads its output and looks at the clock.
fn watched<'a, O: Observer>(
    held: &Held,
    mut engine: Engine<'a, O>,
    halt: &Halt,
    wait_s: f64,
) -> io::Result<Course<'a, O>> {
    let (done, finish) = io::pipe()?;
    let is_broken_off = AtomicBool::new(false);
    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let watch = || watch(held, done.as_raw_fd(), halt, &is_broken_off, &has_ended);
        let watcher = thread::Builder::new().name("tracer output".to_owned()).spawn_scoped(scope, watch)?;
        engine.run();
        has_ended.store(true, Ordering::SeqCst);
        let survivors = ending::end_all(&mut engine, wait_s, || is_broken_off.load(Ordering::SeqCst));
        drop(finish);
        let broken_off = watcher.join().unwrap_or_else(|panic| resume_unwind(panic));
        Ok(Course { engine, survivors, broken_off })
    })
}

/// Reads the output until `done`; kills the command if it must end. One that had ended by itself has done so.
fn watch(
    held: &Held,
    done: i32,
    halt: &Halt,
    is_broken_off: &AtomicBool,
    has_ended: &AtomicBool,
) -> Option<Exit> {
    // Nothing but a command that is ended can come of output that cannot be read.
    let exit = held.watch(done, || halt.is_too_long()).unwrap_or(Some(Exit::Interrupted))?;
    is_broken_off.store(true, Ordering::SeqCst);
    if has_ended.load(Ordering::SeqCst) {
        return None;
    }
    held.kill();
    Some(exit)
}

fn no_thread(probe: Probe, error: &io::Error) -> Missing {
    failed(probe, "no thread can be started", error)
}
