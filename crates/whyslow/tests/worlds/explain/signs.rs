//! What probes see, in few words: the traces of a program or of a cause.

use whyslow::model::{
    Allocations, ElfFacts, Environment, FileUse, Files, Frame, KernelView, LoadedProgram, Loading, Profile,
    Stack, StartedProgram, Syscalls, Trace, WaitKind, WaitPlace, Waiting,
};

#[derive(Clone, Default)]
pub struct Signs {
    pub traces: Vec<Trace>,
}

impl Signs {
    fn with(mut self, trace: Trace) -> Signs {
        self.traces.push(trace);
        self
    }

    pub fn calls(self, calls: &[(&str, u64)]) -> Signs {
        self.syscalls(|seen| {
            for (name, count) in calls {
                seen.calls.entry((*name).to_owned()).or_default().calls += count;
            }
        })
    }

    /// Calls that all fail with this error.
    pub fn errors(self, name: &str, error: &str, count: u64) -> Signs {
        self.syscalls(|seen| {
            let known = seen.calls.entry(name.to_owned()).or_default();
            (known.calls, known.errors) = (count, count);
            known.by_error.insert(error.to_owned(), count);
        })
    }

    pub fn transfer(self, name: &str, count: u64, bytes: u64) -> Signs {
        self.syscalls(|seen| {
            let known = seen.calls.entry(name.to_owned()).or_default();
            (known.calls, known.bytes) = (count, bytes);
        })
    }

    /// Processes, threads and starts beside the first of each.
    pub fn tree(self, processes: u64, threads: u64, starts: u64) -> Signs {
        self.syscalls(|seen| (seen.processes, seen.threads, seen.starts) = (processes, threads, starts))
    }

    pub fn started(self, paths: &[&str]) -> Signs {
        self.syscalls(|seen| {
            seen.programs =
                paths.iter().map(|path| StartedProgram { path: (*path).to_owned(), starts: 1 }).collect();
        })
    }

    pub fn syscalls(self, fill: impl FnOnce(&mut Syscalls)) -> Signs {
        let mut seen = Syscalls::default();
        fill(&mut seen);
        self.with(Trace::Syscalls(seen))
    }

    pub fn allocations(self, fill: impl FnOnce(&mut Allocations)) -> Signs {
        let mut seen = Allocations::default();
        fill(&mut seen);
        self.with(Trace::Allocations(seen))
    }

    pub fn loading(self, fill: impl FnOnce(&mut Loading)) -> Signs {
        let mut seen = Loading::default();
        fill(&mut seen);
        self.with(Trace::Loading(seen))
    }

    /// A program with so many libraries; none: it is static.
    pub fn loads(self, path: &str, starts: u64, libraries: u64, more: impl FnOnce(&mut Loading)) -> Signs {
        self.loading(|seen| {
            seen.loads = Some(if libraries > 0 { starts } else { 0 });
            seen.programs.push(LoadedProgram {
                path: path.to_owned(),
                starts: Some(starts),
                libraries: (0..libraries).map(|number| format!("lib{number}.so")).collect(),
                elf: Some(ElfFacts { is_static: libraries == 0, ..ElfFacts::default() }),
                ..LoadedProgram::default()
            });
            more(seen);
        })
    }

    pub fn file(self, path: &str, fill: impl FnOnce(&mut FileUse)) -> Signs {
        let mut used = FileUse { path: path.to_owned(), ..FileUse::default() };
        fill(&mut used);
        self.with(Trace::Files(Files { files: vec![used], ..Files::default() }))
    }

    pub fn waits(self, kind: WaitKind, what: &str, seconds: f64) -> Signs {
        let place = WaitPlace { kind, what: what.to_owned(), seconds };
        self.with(Trace::Waiting(Waiting { places: vec![place], ..Waiting::default() }))
    }

    pub fn fact(self, name: &str, value: &str) -> Signs {
        let facts = [(name.to_owned(), value.to_owned())].into();
        self.with(Trace::Environment(Environment { facts }))
    }

    /// Folded stacks with the outermost function first, and the seconds of each: `main;libc.so.6!strcoll_l`.
    pub fn cpu(self, stacks: &[(&str, f64)]) -> Signs {
        let mut profile = Profile { rate_hz: 1000.0, kernel: KernelView::Unknown, ..Profile::default() };
        for (folded, seconds) in stacks {
            let frames = folded.rsplit(';').map(|text| profile.place(&frame(text))).collect();
            profile.stacks.push(Stack { frames, weight: *seconds, thread: "main".to_owned() });
            profile.samples += (seconds * 1000.0) as u64;
            profile.sampled += seconds;
        }
        profile.total = Some(profile.sampled);
        self.with(Trace::Cpu(profile))
    }
}

/// A frame that is written `module!function`, or `function` for one of the program itself.
fn frame(text: &str) -> Frame {
    let (module, name) = text.split_once('!').unwrap_or(("program", text));
    Frame { name: name.to_owned(), module: module.to_owned() }
}
