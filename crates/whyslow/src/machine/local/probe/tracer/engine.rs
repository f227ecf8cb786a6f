//! Follows a tree of tasks from stop to stop and tells an observer what they do. The programs notice nothing: each
//! signal is handed on once, a task that a signal has stopped stays stopped until somebody continues it, and results are
//! never touched.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::super::proc;
use super::super::ptrace::{self, CallStop};
use super::calls::{Call, Table};
use super::stops::{Happened, Stops, What};
use super::tracing::{self, Tracers};
use super::tree::{Task, Tree};
use super::{Blindness, memory, rights};
use crate::model::Exit;

/// What is done with what the tasks do. A task is stopped while it is told about, so its memory can be read.
pub trait Observer {
    /// A task was started; by whom is not always known. `shares_files` only says something about a new process.
    fn began(&mut self, _task: Task, _parent: Option<libc::pid_t>, _shares_files: bool) {}

    /// A call begins. Not every call ends.
    fn entered(&mut self, task: Task, call: &Call);

    /// A call has ended, with its result or an error number.
    fn left(&mut self, task: Task, call: &Call, result: Result<u64, i32>);

    /// The process runs another program now.
    fn executed(&mut self, _task: Task) {}

    /// Whether calls are to be told about: a tree runs much faster without.
    fn wants_calls(&self) -> bool {
        true
    }

    /// Whether the command is to be told about once more when it has ended and still has its number.
    fn wants_last_look(&self) -> bool {
        false
    }

    /// The command has ended; what the kernel says about it can still be read.
    fn about_to_end(&mut self) {}

    /// A signal is about to be delivered. Whether it was meant for the observer, so that the task never sees it.
    fn intercepted(&mut self, _task: Task, _signal: i32) -> bool {
        false
    }

    /// A task is gone; with the first one of a process that is the process.
    fn ended(&mut self, _task: Task) {}
}

/// A command that is stopped for so long will not go on: nobody is there to continue it.
const HALT_LIMIT: Duration = Duration::from_secs(1);

/// Since when a signal has the command itself stopped; asked from another thread.
#[derive(Default)]
pub struct Halt(Mutex<Option<(Instant, i32)>>);

impl Halt {
    pub fn set(&self, signal: Option<i32>) {
        let since = signal.map(|signal| (Instant::now(), signal));
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = since;
    }

    /// How it must end, if it has been stopped for too long.
    pub fn is_too_long(&self) -> Option<Exit> {
        let halted = *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        halted.filter(|(since, _)| since.elapsed() >= HALT_LIMIT).map(|(_, signal)| Exit::Stopped(signal))
    }
}

/// What a call does to the tree itself.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Plain,
    Exec,
    ExecAt,
    Clone,
    Clone3,
    Ptrace,
}

impl Kind {
    fn of(name: &str) -> Kind {
        match name {
            "execve" => Kind::Exec,
            "execveat" => Kind::ExecAt,
            "clone" => Kind::Clone,
            "clone3" => Kind::Clone3,
            "ptrace" => Kind::Ptrace,
            _ => Kind::Plain,
        }
    }
}

pub struct Engine<'a, O> {
    /// The command itself.
    main: libc::pid_t,
    /// The program that it becomes.
    program: &'a Path,
    pub observer: O,
    pub tree: Tree,
    pub blindness: Blindness,
    pub(super) stops: Stops,
    kinds: Table<Kind>,
    /// Whether it has become its program: what it does before that is ours.
    pub has_begun: bool,
    /// Whether calls are still looked at.
    pub(super) is_looking: bool,
    /// Tasks that were seen before their parents told of them.
    unannounced: HashSet<libc::pid_t>,
    tracers: Tracers,
    halt: &'a Halt,
    halted: HashSet<libc::pid_t>,
    /// How the command ended, as wait(2) tells it.
    pub end: Option<(i32, libc::rusage)>,
}

impl<'a, O: Observer> Engine<'a, O> {
    /// For a command that is traced already, and held before its program.
    pub fn new(main: libc::pid_t, program: &'a Path, observer: O, halt: &'a Halt) -> Engine<'a, O> {
        let mut engine = Engine {
            main,
            program,
            observer,
            tree: Tree::default(),
            blindness: Blindness::default(),
            stops: Stops::default(),
            kinds: Table::by_name(Kind::of),
            has_begun: false,
            is_looking: true,
            unannounced: HashSet::new(),
            tracers: Tracers::default(),
            halt,
            halted: HashSet::new(),
            end: None,
        };
        engine.add(Task { thread: main, process: main }, None, false);
        engine
    }

    /// Follows the tree until the command itself has ended, or until nobody is left.
    pub fn run(&mut self) {
        while self.end.is_none() {
            let is_crowd = self.tree.tracees.len() > 1;
            if self.observer.wants_last_look() && self.stops.is_next_the_end_of(self.main) {
                self.observer.about_to_end();
            }
            let Some(happened) = self.stops.next(is_crowd) else { return };
            self.handle(&happened);
        }
    }

    pub(super) fn handle(&mut self, happened: &Happened) {
        let task = happened.task;
        if happened.what == What::Ended {
            return self.task_ended(happened);
        }
        if !self.tree.tracees.contains_key(&task) {
            self.meet(task);
        }
        self.note_halt(task, happened.what);
        let mut signal = 0;
        match happened.what {
            What::Halted(_) => return ptrace::stay_stopped(task),
            What::Call => self.call(task),
            What::Child { is_clone } => self.child(task, is_clone),
            What::Exec => self.exec(task),
            What::Signal(number) => signal = self.signal(task, number),
            What::Trap | What::Ended => {}
        }
        if self.has_begun && self.is_looking && self.wants_calls(task) {
            ptrace::go_on_to_call(task, signal);
        } else {
            ptrace::go_on(task, signal);
        }
    }

    fn wants_calls(&self, task: libc::pid_t) -> bool {
        self.observer.wants_calls() || self.tree.tracees.get(&task).is_some_and(|tracee| tracee.may_trace)
    }

    /// What the task gets of it.
    fn signal(&mut self, thread: libc::pid_t, signal: i32) -> i32 {
        let task = self.tree.task(thread);
        let is_ours = task.is_some_and(|task| self.observer.intercepted(task, signal));
        if is_ours { 0 } else { signal }
    }

    fn note_halt(&mut self, task: libc::pid_t, what: What) {
        if let What::Halted(signal) = what {
            self.halted.insert(task);
            if task == self.main {
                self.halt.set(Some(signal));
            }
        } else if self.halted.remove(&task) && task == self.main {
            self.halt.set(None);
        }
    }

    fn add(&mut self, task: Task, parent: Option<libc::pid_t>, shares_files: bool) {
        let may_trace =
            parent.and_then(|parent| self.tree.tracees.get(&parent)).is_some_and(|one| one.may_trace);
        self.add_counted(task, parent, shares_files);
        if let Some(tracee) = self.tree.tracees.get_mut(&task.thread) {
            tracee.may_trace = may_trace;
        }
    }

    fn add_counted(&mut self, task: Task, parent: Option<libc::pid_t>, shares_files: bool) {
        if !self.is_looking {
            // Still followed to its end, but not counted any more.
            let counted = (self.tree.processes, self.tree.threads);
            self.tree.add(task);
            (self.tree.processes, self.tree.threads) = counted;
            return;
        }
        self.tree.add(task);
        self.observer.began(task, parent, shares_files);
    }

    /// A task that stops before its parent's stop has told of it.
    fn meet(&mut self, thread: libc::pid_t) {
        let status = proc::read(thread, "status").unwrap_or_default();
        let field = |name| proc::field(&status, name)?.parse::<libc::pid_t>().ok();
        let process = field("Tgid").unwrap_or(thread);
        let parent = if process == thread { field("PPid") } else { Some(process) };
        self.unannounced.insert(thread);
        self.add(Task { thread, process }, parent, false);
    }

    /// The task has started another one.
    fn child(&mut self, parent: libc::pid_t, is_clone: bool) {
        let (Some(child), Some(by)) = (ptrace::message(parent), self.tree.task(parent)) else { return };
        let shares_files = is_clone && self.clone_flags(parent) & libc::CLONE_FILES as u64 != 0;
        let is_known = self.unannounced.remove(&child);
        let is_thread = is_clone && !is_first_thread(child);
        let task = Task { thread: child, process: if is_thread { by.process } else { child } };
        if !is_known {
            self.add(task, Some(by.process), shares_files);
        } else if shares_files && !is_thread && self.is_looking {
            self.observer.began(task, Some(by.process), shares_files);
        }
    }

    fn clone_flags(&mut self, task: libc::pid_t) -> u64 {
        let Some(call) = self.tree.tracees.get(&task).and_then(|tracee| tracee.call) else { return 0 };
        match self.kinds.of(&call) {
            Kind::Clone => call.arguments[0],
            Kind::Clone3 => memory::number(task, call.arguments[0]).unwrap_or(0),
            _ => 0,
        }
    }

    /// The task runs another program now, and is the only one of its process.
    fn exec(&mut self, task: libc::pid_t) {
        if let Some(former) = ptrace::message(task).filter(|former| *former != task) {
            // A thread has taken the place of the first one, which ends without a word.
            if let Some(thread) = self.tree.tracees.remove(&former)
                && let Some(first) = self.tree.tracees.get_mut(&task)
            {
                (first.call, first.program) = (thread.call, thread.program);
            }
        }
        let program = self.tree.tracees.get_mut(&task).and_then(|tracee| tracee.program.take());
        if !self.is_looking {
            return;
        }
        let path = match program {
            _ if !self.has_begun => self.program.to_owned(),
            Some(named) => absolute(task, &named),
            None => running(task),
        };
        if self.tree.started(path.as_os_str().as_bytes()) && rights::has_lost_rights(task) {
            self.blindness.lost_rights(&path);
        }
        let may_trace = self.tracers.has(&running(task));
        if let Some(tracee) = self.tree.tracees.get_mut(&task) {
            tracee.may_trace = may_trace;
        }
        if let Some(known) = self.tree.task(task) {
            self.observer.executed(known);
            if !self.has_begun {
                self.first_exec(known);
            }
        }
    }

    /// The call that has started the command itself is one of its own, as other tracers have it.
    fn first_exec(&mut self, main: Task) {
        self.has_begun = true;
        let call = Call::execve();
        self.observer.entered(main, &call);
        self.observer.left(main, &call, Ok(0));
    }

    fn call(&mut self, thread: libc::pid_t) {
        if !self.has_begun || !self.is_looking {
            return;
        }
        let (Ok(stop), Some(tracee)) = (ptrace::call_stop(thread), self.tree.tracees.get_mut(&thread)) else {
            return;
        };
        let task = Task { thread, process: tracee.process };
        match stop {
            CallStop::Entry { architecture, number, arguments } => {
                let call = Call::new(architecture, number, arguments);
                tracee.call = Some(call);
                let kind = self.kinds.of(&call);
                if kind != Kind::Plain {
                    self.about_to(task, &call, kind);
                }
                self.observer.entered(task, &call);
            }
            CallStop::Exit { result } => {
                if let Some(call) = tracee.call.take() {
                    tracee.program = None;
                    let result = result_of(result);
                    self.blindness.has_tracer |= result == Err(libc::EPERM)
                        && self.kinds.of(&call) == Kind::Ptrace
                        && tracing::attaches(&call);
                    self.observer.left(task, &call, result);
                }
            }
            CallStop::Neither => {}
        }
    }

    /// What must be read before the call does it.
    fn about_to(&mut self, task: Task, call: &Call, kind: Kind) {
        match kind {
            Kind::Exec | Kind::ExecAt => {
                let place = usize::from(kind == Kind::ExecAt);
                // An empty name stands for the descriptor before it.
                let program =
                    memory::string(task.thread, call.arguments[place]).filter(|name| !name.is_empty());
                if let Some(tracee) = self.tree.tracees.get_mut(&task.thread) {
                    tracee.program = program;
                }
            }
            Kind::Clone | Kind::Clone3 => {
                let flags = self.clone_flags(task.thread);
                self.blindness.has_untraced |= flags & libc::CLONE_UNTRACED as u64 != 0;
            }
            Kind::Ptrace | Kind::Plain => {}
        }
    }

    fn task_ended(&mut self, happened: &Happened) {
        // One that is still unannounced stays so: its parent has yet to tell of it.
        self.halted.remove(&happened.task);
        let Some(tracee) = self.tree.tracees.remove(&happened.task) else { return };
        self.observer.ended(Task { thread: happened.task, process: tracee.process });
        if happened.task == self.main {
            self.end = Some((happened.status, happened.usage));
        }
    }
}

fn result_of(result: i64) -> Result<u64, i32> {
    if (-4095..0).contains(&result) { Err(-result as i32) } else { Ok(result as u64) }
}

/// Whether the task is a process and not one more thread of one.
fn is_first_thread(task: libc::pid_t) -> bool {
    // SAFETY: signal 0 only asks whether there is such a thread in such a process.
    let found = unsafe { libc::syscall(libc::SYS_tgkill, task, task, 0) };
    found == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}

fn absolute(task: libc::pid_t, named: &[u8]) -> PathBuf {
    let named = Path::new(std::ffi::OsStr::from_bytes(named));
    if named.is_absolute() {
        return named.to_owned();
    }
    let cwd = proc::link(task, "cwd").unwrap_or_default();
    let named = named.strip_prefix("./").unwrap_or(named);
    cwd.join(named)
}

/// The program itself, which of a script is its interpreter.
fn running(task: libc::pid_t) -> PathBuf {
    proc::link(task, "exe").unwrap_or_default()
}
