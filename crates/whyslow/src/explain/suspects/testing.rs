//! Cases made by hand, for the tests of suspects: a real recording with undisturbed runs of two variants and with what
//! probes saw of each. Never used outside of tests.
//!
//! ```ignore
//! let test = TestCase::new("perl times.pl", "perl times.pl")
//!     .fast_env("TZ", ":/etc/localtime")
//!     .seconds(0.060, 0.390)
//!     .system(0.004, 0.290)
//!     .syscalls(|fast, slow| slow.call("newfstatat", 200_000));
//! let suspicion = test.look(&SUSPECT).unwrap();
//! ```

use std::collections::BTreeMap;

use super::{Suspect, Suspicion};
use crate::explain::{Case, Claim};
use crate::model::{
    Allocations, ByteText, Design, Edit, Environment, Exit, Experiment, Factor, FileUse, Files, Frame,
    Header, Host, KernelView, Launch, Level, Loading, Metric, Probe, Probed, Profile, Recording, Role, Run,
    RunCount, Seen, Stack, SyscallCount, Syscalls, Trace, TraceEntry, Variant, Waiting, Workload,
};
use crate::plan;

const BLOCKS: usize = 3;
/// Of a side on which nothing else is said.
const USUAL_S: f64 = 0.1;

/// A recording in the making. Variant 0 is the fast one.
#[derive(Clone)]
pub struct TestCase {
    sides: [TestSide; 2],
}

#[derive(Clone, Default)]
struct TestSide {
    edits: Vec<Edit>,
    medians: BTreeMap<String, f64>,
    traces: Vec<Trace>,
}

impl TestCase {
    /// Two command lines, split at spaces: the fast one and the slow one.
    pub fn new(fast: &str, slow: &str) -> TestCase {
        let argv = |line: &str| Edit::Argv(line.split_whitespace().map(ByteText::from).collect());
        let side = |line| TestSide { edits: vec![argv(line)], ..TestSide::default() };
        TestCase { sides: [side(fast), side(slow)] }.seconds(USUAL_S, USUAL_S * 2.0)
    }

    /// `sh -c SCRIPT` on both sides.
    pub fn scripts(fast: &str, slow: &str) -> TestCase {
        let argv = |script: &str| Edit::Argv(vec!["sh".into(), "-c".into(), script.into()]);
        let mut case = TestCase::new("sh", "sh");
        case.sides[0].edits = vec![argv(fast)];
        case.sides[1].edits = vec![argv(slow)];
        case
    }

    pub fn fast_env(self, name: &str, value: &str) -> TestCase {
        self.fast_edit(Edit::SetEnv(name.into(), value.into()))
    }

    pub fn slow_env(self, name: &str, value: &str) -> TestCase {
        self.slow_edit(Edit::SetEnv(name.into(), value.into()))
    }

    pub fn env(self, name: &str, value: &str) -> TestCase {
        self.fast_env(name, value).slow_env(name, value)
    }

    pub fn fast_edit(mut self, edit: Edit) -> TestCase {
        self.sides[0].edits.push(edit);
        self
    }

    pub fn slow_edit(mut self, edit: Edit) -> TestCase {
        self.sides[1].edits.push(edit);
        self
    }

    /// CPU time and wall time; all of it user time so far.
    pub fn seconds(self, fast: f64, slow: f64) -> TestCase {
        let case = self.median("wall_s", fast, slow).median("cpu_s", fast, slow);
        case.median("user_s", fast, slow).median("system_s", 0.0, 0.0)
    }

    /// The part of the CPU time that is system time.
    pub fn system(mut self, fast: f64, slow: f64) -> TestCase {
        for (side, system) in self.sides.iter_mut().zip([fast, slow]) {
            side.medians.insert("user_s".to_owned(), side.medians["cpu_s"] - system);
            side.medians.insert("system_s".to_owned(), system);
        }
        self
    }

    /// Wall time alone: the rest of it is spent waiting.
    pub fn wall(self, fast: f64, slow: f64) -> TestCase {
        self.median("wall_s", fast, slow)
    }

    pub fn faults(self, fast: f64, slow: f64) -> TestCase {
        self.median("page_faults", fast, slow)
    }

    /// Any known metric.
    pub fn median(mut self, metric: &str, fast: f64, slow: f64) -> TestCase {
        for (side, value) in self.sides.iter_mut().zip([fast, slow]) {
            side.medians.insert(metric.to_owned(), value);
        }
        self
    }

    /// Both sides run one process and start one program, unless something else is said.
    pub fn syscalls(self, fill: impl FnOnce(&mut Syscalls, &mut Syscalls)) -> TestCase {
        let start = Syscalls { processes: 1, starts: 1, ..Syscalls::default() };
        self.both(start, fill, Trace::Syscalls)
    }

    pub fn files(self, fill: impl FnOnce(&mut Files, &mut Files)) -> TestCase {
        self.both(Files::default(), fill, Trace::Files)
    }

    pub fn allocations(self, fill: impl FnOnce(&mut Allocations, &mut Allocations)) -> TestCase {
        let glibc = vec!["/lib/x86_64-linux-gnu/libc.so.6".to_owned()];
        let start = Allocations { processes: 1, allocators: glibc, ..Allocations::default() };
        self.both(start, fill, Trace::Allocations)
    }

    pub fn loading(self, fill: impl FnOnce(&mut Loading, &mut Loading)) -> TestCase {
        self.both(Loading::default(), fill, Trace::Loading)
    }

    pub fn waiting(self, fill: impl FnOnce(&mut Waiting, &mut Waiting)) -> TestCase {
        self.both(Waiting::default(), fill, Trace::Waiting)
    }

    /// Facts of the environment probe.
    pub fn facts(self, fast: &[(&str, &str)], slow: &[(&str, &str)]) -> TestCase {
        let facts = |given: &[(&str, &str)]| {
            given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let (fast, slow) = (Environment { facts: facts(fast) }, Environment { facts: facts(slow) });
        self.traces(Trace::Environment(fast), Trace::Environment(slow))
    }

    /// CPU profiles: folded stacks with the outermost function first, and the share or time of each:
    /// `("main;sort;libc.so.6!strcoll_l", 0.3)`. A stack with a frame of `[kernel]!` shows the kernel.
    pub fn cpu(self, fast: &[(&str, f64)], slow: &[(&str, f64)]) -> TestCase {
        self.traces(Trace::Cpu(profile(fast)), Trace::Cpu(profile(slow)))
    }

    fn both<T: Clone>(
        self,
        start: T,
        fill: impl FnOnce(&mut T, &mut T),
        trace: impl Fn(T) -> Trace,
    ) -> TestCase {
        let (mut fast, mut slow) = (start.clone(), start);
        fill(&mut fast, &mut slow);
        self.traces(trace(fast), trace(slow))
    }

    fn traces(mut self, fast: Trace, slow: Trace) -> TestCase {
        for (side, trace) in self.sides.iter_mut().zip([fast, slow]) {
            side.traces.push(trace);
        }
        self
    }

    pub fn build(&self) -> Built {
        let experiment = experiment(&self.sides);
        let variants = plan::variants(&experiment);
        let mut recording = Recording::new(header(experiment));
        recording.runs = (0..BLOCKS * 2).map(|number| self.run(&recording, number)).collect();
        recording.traces = (0..2).flat_map(|variant| entries(variant, &self.sides[variant].traces)).collect();
        Built { recording, variants }
    }

    fn run(&self, recording: &Recording, number: usize) -> Run {
        let (block, variant) = (number / 2, number % 2);
        let metrics = &recording.header.experiment.metrics;
        let medians = &self.sides[variant].medians;
        Run {
            variant,
            block,
            position: variant,
            start_s: number as f64,
            exit: Exit::Code(0),
            values: metrics.iter().map(|metric| medians.get(&metric.name).copied()).collect(),
            conditions: crate::model::Conditions::default(),
            stderr_tail: String::new(),
            leftovers: 0,
            output_digest: None,
        }
    }

    /// What a suspect says of it.
    pub fn look(&self, suspect: &Suspect) -> Option<Suspicion> {
        (suspect.look)(&self.build().case())
    }

    /// The weight of the signs, 0 where the suspect says nothing.
    pub fn weight(&self, suspect: &Suspect) -> f64 {
        self.look(suspect).map_or(0.0, |suspicion| suspicion.weight)
    }

    /// The claim of a suspect on the difference of this variable.
    pub fn claim_on(&self, suspect: &Suspect, variable: &str) -> Option<Claim> {
        let built = self.build();
        let case = built.case();
        let (index, _) = case.variable(variable)?;
        let suspicion = (suspect.look)(&case)?;
        suspicion.claims.into_iter().find(|claim| claim.difference == index)
    }

    /// Names of all suspects that speak of it, strongest first.
    pub fn suspected(&self) -> Vec<&'static str> {
        let built = self.build();
        super::suspicions(&built.case()).into_iter().map(|(suspect, _)| suspect.name).collect()
    }

    /// Suspects that claim a difference in program or arguments, strongest claim first: what a located finding shows.
    pub fn candidates(&self) -> Vec<&'static str> {
        let built = self.build();
        let mut claims: Vec<(f64, &str)> = super::suspicions(&built.case())
            .into_iter()
            .filter_map(|(suspect, suspicion)| {
                let weights = suspicion.claims.iter().map(|claim| claim.weight);
                Some((weights.max_by(f64::total_cmp)?, suspect.name))
            })
            .collect();
        claims.sort_by(|one, other| other.0.total_cmp(&one.0));
        claims.into_iter().map(|(_, name)| name).collect()
    }
}

/// Owns what a case borrows.
pub struct Built {
    pub recording: Recording,
    pub variants: Vec<Variant>,
}

impl Built {
    pub fn case(&self) -> Case<'_> {
        let looks = |variant| crate::explain::diagnosis::looks_at(&self.recording, None, variant);
        Case::new(&self.recording, &self.variants, (0, looks(0)), (1, looks(1)))
    }
}

fn experiment(sides: &[TestSide; 2]) -> Experiment {
    let names = ["fast", "slow"];
    let levels = names.iter().zip(sides);
    let levels = levels.map(|(name, side)| Level { name: (*name).to_owned(), edits: side.edits.clone() });
    Experiment {
        name: "test".to_owned(),
        workload: Workload::Command(Launch::default()),
        factors: vec![Factor { name: "command".to_owned(), levels: levels.collect(), role: Role::Asked }],
        metrics: Metric::all_known(),
        design: Design { runs: RunCount::Exactly(BLOCKS), warmup: 0, ..Design::default() },
        asks_why: false,
        is_joined: false,
    }
}

fn header(experiment: Experiment) -> Header {
    Header {
        tool: "whyslow test".to_owned(),
        started: "2026-11-30T12:00:00+00:00".to_owned(),
        experiment,
        host: Host { architecture: "x86_64".to_owned(), cpus: 2, ..Host::default() },
        floor: None,
        missing: Vec::new(),
        settings: Vec::new(),
    }
}

fn entries(variant: usize, traces: &[Trace]) -> Vec<TraceEntry> {
    let entry = |trace: &Trace| {
        let probe: Probe = trace.probe();
        let probed = Probed {
            trace: trace.clone(),
            exit: Exit::Code(0),
            wall_s: 1.0,
            cpu_s: None,
            blind_spots: Vec::new(),
        };
        TraceEntry { stage: None, variant, probe, seen: Seen::Probed(Box::new(probed)) }
    };
    traces.iter().map(entry).collect()
}

fn profile(stacks: &[(&str, f64)]) -> Profile {
    let sampled: f64 = stacks.iter().map(|(_, weight)| weight).sum();
    let mut profile = Profile {
        rate_hz: 1000.0,
        samples: 1000,
        sampled,
        total: Some(sampled),
        rooted: 1.0,
        ..Profile::default()
    };
    for (folded, weight) in stacks {
        let frames = folded.rsplit(';').map(|text| profile.place(&frame(text))).collect();
        profile.stacks.push(Stack { frames, weight: *weight, thread: "main".to_owned() });
    }
    if profile.frames.iter().any(|frame| frame.module == "[kernel]") {
        profile.kernel = KernelView::Seen;
    }
    profile
}

/// A frame that is written `module!function`, or `function` for one of the program itself.
fn frame(text: &str) -> Frame {
    let (module, name) = text.split_once('!').unwrap_or(("program", text));
    Frame { name: name.to_owned(), module: module.to_owned() }
}

impl Syscalls {
    /// So many more calls of a name.
    pub fn call(&mut self, name: &str, calls: u64) {
        self.calls.entry(name.to_owned()).or_default().calls += calls;
    }

    /// So many more calls, all of which fail with this error.
    pub fn fail(&mut self, name: &str, error: &str, calls: u64) {
        let count: &mut SyscallCount = self.calls.entry(name.to_owned()).or_default();
        count.calls += calls;
        count.errors += calls;
        *count.by_error.entry(error.to_owned()).or_default() += calls;
    }

    /// So many more calls that move so many bytes in all.
    pub fn transfer(&mut self, name: &str, calls: u64, bytes: u64) {
        let count = self.calls.entry(name.to_owned()).or_default();
        count.calls += calls;
        count.bytes += bytes;
    }
}

impl Files {
    /// One more path.
    pub fn file(&mut self, used: FileUse) {
        self.paths += 1;
        self.total.add(&used);
        self.files.push(used);
    }
}
