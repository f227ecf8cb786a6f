//! From a row of the tables to worlds, and from a world to a diagnosis.

use whyslow::explain::{Diagnosis, Finding, Status, diagnose, is_culprit};
use whyslow::machine::simulated::{Cause, Condition, Cost, Effect, Noise, Program, Rights, Simulated, World};
use whyslow::model::{ByteText, Edit, Experiment, HookKind, Level, Recording};
use whyslow::plan::compose;
use whyslow::session::{Inquiry, explain};

use super::signs::Signs;
use crate::common::{Nobody, WHITE, ask, stamp};

/// Seconds on a CPU of a run without any cause.
const BASE_S: f64 = 0.1;
/// A variable that no suspect knows.
pub const CULPRIT: &str = "CULPRIT";

/// What the best answer to a guilty world says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Confirmed,
    /// The first that is located.
    Located,
    /// Among the first three.
    AmongThree,
}

/// One suspect, two launches, and what makes the slow one slow.
#[derive(Clone)]
pub struct Row {
    pub suspect: &'static str,
    pub answer: Answer,
    fast: Vec<Edit>,
    slow: Vec<Edit>,
    pub when: Condition,
    pub cure: Option<Condition>,
    extra: Cost,
    growth: Option<(f64, f64)>,
    pub both: Signs,
    pub signs: Signs,
    /// Of runs that are not slow.
    fast_signs: Signs,
    wrappers: Vec<&'static str>,
    /// Programs besides the first one of the fast side.
    others: Vec<&'static str>,
    program: &'static str,
    /// That share the CPU time.
    threads: usize,
}

fn words(line: &str) -> Vec<ByteText> {
    line.split(' ').map(ByteText::from).collect()
}

impl Row {
    /// Two command lines, split at spaces; the first word of the fast one is the program.
    pub fn new(suspect: &'static str, fast: &'static str, slow: &'static str) -> Row {
        let program = fast.split(' ').next().unwrap();
        let both = Signs::default().cpu(&[("main", BASE_S)]).tree(1, 0, 1).allocations(|seen| {
            seen.processes = 1;
            seen.allocators = vec!["/lib/x86_64-linux-gnu/libc.so.6".to_owned()];
        });
        Row {
            suspect,
            answer: Answer::Located,
            fast: vec![Edit::Argv(words(fast))],
            slow: vec![Edit::Argv(words(slow))],
            when: condition(fast, slow),
            cure: None,
            extra: Cost::default(),
            growth: None,
            both,
            signs: Signs::default(),
            fast_signs: Signs::default(),
            wrappers: Vec::new(),
            others: Vec::new(),
            program,
            threads: 1,
        }
    }

    /// The same command line on both sides and a variable that makes the slow side slow.
    pub fn set(suspect: &'static str, line: &'static str, name: &str, value: &str) -> Row {
        let mut row = Row::new(suspect, line, line).confirmed();
        row.slow.push(Edit::SetEnv(name.into(), value.into()));
        Row { when: Condition::env_is(name, value), ..row }
    }

    /// The same command line on both sides and a variable that makes the fast side fast.
    pub fn unset(suspect: &'static str, line: &'static str, name: &str, value: &str) -> Row {
        let mut row = Row::new(suspect, line, line).confirmed();
        row.fast.push(Edit::SetEnv(name.into(), value.into()));
        Row { when: Condition::env_is(name, value).negated(), ..row }
    }

    pub fn confirmed(self) -> Row {
        Row { answer: Answer::Confirmed, ..self }
    }

    pub fn among_three(self) -> Row {
        Row { answer: Answer::AmongThree, ..self }
    }

    pub fn when(self, when: Condition) -> Row {
        Row { when, ..self }
    }

    /// An experiment takes the cause away, although both sides differ in something else.
    pub fn cured_by(self, cure: Condition) -> Row {
        Row { cure: Some(cure), ..self.confirmed() }
    }

    pub fn env(mut self, name: &str, value: &str) -> Row {
        for edits in [&mut self.fast, &mut self.slow] {
            edits.push(Edit::SetEnv(name.into(), value.into()));
        }
        self
    }

    pub fn slow_edit(mut self, edit: Edit) -> Row {
        self.slow.push(edit);
        self
    }

    pub fn fast_edit(mut self, edit: Edit) -> Row {
        self.fast.push(edit);
        self
    }

    pub fn prepared(self, hook: &'static str) -> Row {
        let when = Condition::Prepared(hook.into());
        self.slow_edit(Edit::Hook(HookKind::Prepare, vec![hook.into()])).other(hook).other("sh").when(when)
    }

    pub fn wrapper(mut self, name: &'static str) -> Row {
        self.wrappers.push(name);
        self
    }

    pub fn other(mut self, program: &'static str) -> Row {
        self.others.push(program);
        self
    }

    pub fn user(mut self, seconds: f64) -> Row {
        self.extra.user_s = seconds;
        self
    }

    pub fn system(mut self, seconds: f64) -> Row {
        self.extra.system_s = seconds;
        self
    }

    pub fn blocked(mut self, seconds: f64) -> Row {
        self.extra.blocked_s = seconds;
        self
    }

    pub fn counts(mut self, change: impl FnOnce(&mut Cost)) -> Row {
        change(&mut self.extra);
        self
    }

    pub fn growing(self, size: f64, exponent: f64) -> Row {
        Row { growth: Some((size, exponent)), ..self }
    }

    pub fn sharing(self, threads: usize) -> Row {
        Row { threads, ..self }
    }

    pub fn both(mut self, add: impl FnOnce(Signs) -> Signs) -> Row {
        self.both = add(self.both);
        self
    }

    pub fn signs(mut self, add: impl FnOnce(Signs) -> Signs) -> Row {
        self.signs = add(self.signs);
        self
    }

    pub fn fast_signs(mut self, add: impl FnOnce(Signs) -> Signs) -> Row {
        self.fast_signs = add(self.fast_signs);
        self
    }

    fn times(&self) -> Cost {
        let Cost { user_s, system_s, blocked_s, .. } = self.extra;
        Cost { user_s, system_s, blocked_s, ..Cost::default() }
    }

    fn effect(&self, extra: Cost) -> Effect {
        let effect = Effect::adding(extra);
        self.growth.map_or(effect, |(size, exponent)| effect.growing(size, exponent))
    }

    fn active(&self) -> Condition {
        match &self.cure {
            Some(cure) => Condition::All(vec![self.when.clone(), cure.clone().negated()]),
            None => self.when.clone(),
        }
    }

    fn world(&self, causes: Vec<Cause>) -> World {
        let mut program = Program::new(self.program, Cost::of_cpu(BASE_S));
        program.traces = self.both.traces.clone();
        program.causes = causes;
        program.threads = self.threads;
        let mut fast = Cause::new("fast", self.when.clone().negated(), Effect::default());
        fast.traces = self.fast_signs.traces.clone();
        program.causes.push(fast);
        let helpers = self.others.iter().map(|name| Program::new(name, Cost::of_cpu(0.001)));
        let world = helpers.fold(World::default(), World::with_program);
        // A second name for the same program: what it is called by is a condition.
        let twin = words_of(&self.slow).into_iter().next().filter(|name| {
            let is_known =
                name.0 == self.program.as_bytes() || self.wrappers.iter().any(|w| name.0 == w.as_bytes());
            !is_known && *name != "env".into()
        });
        let twin = twin.map(|name| Program { name, ..program.clone() });
        let world = twin.into_iter().fold(world.with_program(program), World::with_program);
        self.wrappers
            .iter()
            .fold(world, |world, name| world.with_wrapper(name))
            .with_noise(WHITE)
            .with_seed(7)
    }

    /// It is the cause of the whole gap.
    pub fn guilty(&self) -> Scene {
        let mut cause = Cause::new(self.suspect, self.active(), self.effect(self.extra));
        cause.traces = self.signs.traces.clone();
        self.scene(vec![cause], false)
    }

    /// All of its signs are there and cost nothing.
    fn loud(&self) -> Cause {
        let counts = Cost { user_s: 0.0, system_s: 0.0, blocked_s: 0.0, ..self.extra };
        let mut cause = Cause::new(self.suspect, self.active(), Effect::adding(counts));
        cause.traces = self.signs.traces.clone();
        cause
    }

    /// It is loud, and a variable that nobody knows is the cause.
    pub fn decoy(&self) -> Scene {
        let mut real = Cause::new(CULPRIT, Condition::env_is_set(CULPRIT), Effect::adding(self.times()));
        let seconds = self.extra.user_s + self.extra.system_s;
        real.traces = Signs::default().cpu(&[("main;culprit_work", seconds.max(0.001))]).traces;
        self.scene(vec![self.loud(), real], true)
    }

    /// It is loud, and there is no gap.
    pub fn idle(&self) -> Scene {
        self.scene(vec![self.loud()], false)
    }

    /// It is loud, and its experiment takes nothing away: whatever else differs is the cause.
    pub fn hollow(&self) -> Scene {
        let real = Cause::new("else", self.when.clone(), self.effect(self.times()));
        self.scene(vec![self.loud(), real], false)
    }

    fn scene(&self, causes: Vec<Cause>, has_culprit: bool) -> Scene {
        let mut slow = self.slow.clone();
        slow.extend(has_culprit.then(|| Edit::SetEnv(CULPRIT.into(), "1".into())));
        Scene { world: self.world(causes), fast: self.fast.clone(), slow }
    }
}

fn words_of(edits: &[Edit]) -> Vec<ByteText> {
    let argv = edits.iter().rev().find_map(|edit| match edit {
        Edit::Argv(argv) => Some(argv.clone()),
        _ => None,
    });
    argv.unwrap_or_default()
}

/// The word that only the slow command line has: an argument, a wrapper or another program.
fn condition(fast: &str, slow: &str) -> Condition {
    let known: Vec<&str> = fast.split(' ').collect();
    match slow.split(' ').find(|word| !known.contains(word)) {
        None => Condition::Always,
        Some(word) => Condition::WordContains(word.into()),
    }
}

/// A world and two launches in it.
#[derive(Clone)]
pub struct Scene {
    pub world: World,
    pub fast: Vec<Edit>,
    pub slow: Vec<Edit>,
}

/// What was found out.
pub struct Found {
    pub recording: Recording,
    pub diagnosis: Diagnosis,
}

impl Scene {
    /// The same command line on both sides, which has these causes, and variables that only the slow side has.
    pub fn of_variables(causes: Vec<Cause>, slow: &[(&str, &str)]) -> Scene {
        let mut program = Program::new("work", Cost::of_cpu(BASE_S));
        program.causes = causes;
        let argv = Edit::Argv(words("work hard"));
        let set = |(name, value): &(&str, &str)| Edit::SetEnv((*name).into(), (*value).into());
        let slow = std::iter::once(argv.clone()).chain(slow.iter().map(set)).collect();
        Scene { world: World::default().with_program(program).with_noise(WHITE), fast: vec![argv], slow }
    }

    pub fn with_rights(mut self, rights: Rights) -> Scene {
        self.world.rights = rights;
        self
    }

    pub fn with_noise(mut self, noise: Noise) -> Scene {
        self.world.noise = noise;
        self
    }

    pub fn with_seed(mut self, seed: u64) -> Scene {
        self.world.seed = seed;
        self
    }

    pub fn experiment(&self) -> Experiment {
        let mut experiment = compose(&ask(&["x", "y"])).unwrap();
        let level = |name: &str, edits: &[Edit]| Level { name: name.to_owned(), edits: edits.to_vec() };
        experiment.factors[0].levels = vec![level("fast", &self.fast), level("slow", &self.slow)];
        experiment.design.seed = self.world.seed;
        experiment
    }

    pub fn explained(&self) -> Found {
        let mut machine = Simulated::new(self.world.clone());
        let measured = explain(self.experiment(), Inquiry::default(), &mut machine, &mut Nobody, stamp());
        assert!(measured.trouble.is_none(), "{:?}", measured.trouble);
        let diagnosis = diagnose(&measured.recording).expect("two variants");
        Found { recording: measured.recording, diagnosis }
    }
}

impl Found {
    pub fn finding(&self, suspect: &str) -> Option<&Finding> {
        self.diagnosis.findings.iter().find(|finding| finding.suspect == suspect)
    }

    pub fn status(&self, suspect: &str) -> Option<Status> {
        self.finding(suspect).map(|finding| finding.status)
    }

    pub fn confirmed(&self) -> Vec<&str> {
        let confirmed = self.diagnosis.findings.iter().filter(|finding| finding.status == Status::Confirmed);
        confirmed.map(|finding| finding.suspect.as_str()).collect()
    }

    pub fn culprits(&self) -> Vec<&str> {
        let culprits = self.diagnosis.findings.iter().filter(|finding| is_culprit(finding));
        culprits.map(|finding| finding.suspect.as_str()).collect()
    }

    /// Names in the order in which they are told.
    pub fn names(&self) -> Vec<&str> {
        self.diagnosis.findings.iter().map(|finding| finding.suspect.as_str()).collect()
    }

    /// For messages.
    pub fn text(&self) -> String {
        let d = &self.diagnosis;
        let line = |f: &Finding| {
            format!(
                "  {:?} {} {:?} added {:?} ({})\n",
                f.status,
                f.suspect,
                f.share.map(|s| s.point),
                f.added.map(|s| s.point),
                f.experiment
            )
        };
        let lines: String = d.findings.iter().map(line).collect();
        format!("{} {:.2} {:?} real {}\n{lines}", d.metric, d.ratio.point, d.class, d.is_real)
    }
}
