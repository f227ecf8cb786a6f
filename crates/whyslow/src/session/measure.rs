//! Measuring one experiment: blocks in random order, looks, and the reasons to stop.

use super::block_times::BlockTimes;
use super::bound::{Bound, limited};
use super::{Event, Forecast, Measured, SessionError, Watcher};
use crate::analysis::{self, is_fixed_for_time, look_times, settle};
use crate::machine::{Machine, Outcome};
use crate::model::{
    Design, End, Exit, Experiment, Header, HookFailure, HookKind, Missing, Recording, Run, RunCount, Stop,
    Variant,
};
use crate::plan;

/// After so many blocks, a variant that never succeeded never will.
const FAILURES_ENOUGH: usize = 10;
/// How many bytes at the end of the standard error of a failed run are kept.
const KEPT_STDERR: usize = 2_000;

/// What the caller knows and the pure parts must not look up.
#[derive(Clone, Debug)]
pub struct Stamp {
    pub tool: String,
    pub started: String,
}

/// Measures the experiment on the machine until it is decided, done, out of budget, failed or interrupted.
pub fn measure(
    experiment: Experiment,
    machine: &mut dyn Machine,
    watcher: &mut dyn Watcher,
    stamp: Stamp,
) -> Measured {
    measure_within(Bound::Open, experiment, machine, watcher, stamp)
}

/// The same, given up at a bound even in the middle of a run.
pub(super) fn measure_within(
    bound: Bound,
    experiment: Experiment,
    machine: &mut dyn Machine,
    watcher: &mut dyn Watcher,
    stamp: Stamp,
) -> Measured {
    let header = header(experiment, machine, stamp);
    measure_as(header, bound, machine, watcher)
}

/// The same for an experiment whose surroundings are known already.
pub(super) fn measure_as(
    header: Header,
    bound: Bound,
    machine: &mut dyn Machine,
    watcher: &mut dyn Watcher,
) -> Measured {
    let mut session = Session::new(Recording::new(header), machine, watcher);
    session.bound = bound;
    session.measure()
}

/// Goes on with a recording that ended before its time, from the block after its last one. A block that was broken off
/// stays as it is: its runs would be too far apart in time.
pub fn resume(mut recording: Recording, machine: &mut dyn Machine, watcher: &mut dyn Watcher) -> Measured {
    recording.end = None;
    recording.hook_failure = None;
    let mut session = Session::new(recording, machine, watcher);
    session.is_resumed = true;
    session.remember();
    session.measure()
}

fn header(experiment: Experiment, machine: &mut dyn Machine, stamp: Stamp) -> Header {
    let mut missing: Vec<Missing> =
        experiment.metrics.iter().filter_map(|metric| machine.can_measure(metric).err()).collect();
    missing.extend(machine.blind_spots());
    Header {
        tool: stamp.tool,
        started: stamp.started,
        host: machine.host(),
        floor: machine.floor(),
        missing,
        settings: machine.settings(),
        experiment,
    }
}

/// An experiment that goes on: what is done between setup and cleanup is up to whoever begins it.
pub(super) struct Session<'a> {
    pub(super) recording: Recording,
    pub(super) variants: Vec<Variant>,
    pub(super) machine: &'a mut dyn Machine,
    pub(super) watcher: &'a mut dyn Watcher,
    began_s: f64,
    bound: Bound,
    /// Warm-up included.
    shortest_block_s: Option<f64>,
    /// Time of each measured block.
    block_times: BlockTimes,
    /// Measured blocks without a failed run.
    complete_blocks: usize,
    /// Failed runs, warm-up included.
    failed_runs: usize,
    /// Whether any run of the variant succeeded.
    succeeded: Vec<bool>,
    warmup_block_s: Option<f64>,
    /// Variants whose setup was begun, in that order.
    set_up: Vec<usize>,
    /// Where measuring begins: after what a resumed recording holds already.
    first_block: usize,
    /// The header is written already, even if there is no run yet.
    is_resumed: bool,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        recording: Recording,
        machine: &'a mut dyn Machine,
        watcher: &'a mut dyn Watcher,
    ) -> Self {
        let variants = plan::variants(&recording.header.experiment);
        Session {
            succeeded: vec![false; variants.len()],
            variants,
            recording,
            began_s: machine.now_s(),
            bound: Bound::Open,
            shortest_block_s: None,
            machine,
            watcher,
            block_times: BlockTimes::default(),
            complete_blocks: 0,
            failed_runs: 0,
            warmup_block_s: None,
            set_up: Vec::new(),
            first_block: 0,
            is_resumed: false,
        }
    }

    fn measure(self) -> Measured {
        self.surround(Session::run_blocks)
    }

    /// The work with the setups before it, and the cleanups and the end after it.
    pub(super) fn surround(mut self, work: impl FnOnce(&mut Self) -> Result<Stop, SessionError>) -> Measured {
        let trouble = self.run(work).err();
        Measured { recording: self.recording, trouble }
    }

    /// Takes up where the recording stopped: its blocks, their times, and its clock.
    fn remember(&mut self) {
        let design = &self.recording.header.experiment.design;
        let runs = &self.recording.runs;
        let Some(last) = runs.last() else { return };
        self.first_block = last.block + 1;
        self.began_s -= last.start_s;
        let blocks: Vec<&[Run]> = runs.chunk_by(|one, next| one.block == next.block).collect();
        for (place, block) in blocks.iter().enumerate() {
            if block[0].block < design.warmup || !is_whole(block, design, self.variants.len()) {
                continue;
            }
            let end_s = blocks.get(place + 1).map_or_else(|| end_of_last(block), |next| next[0].start_s);
            self.block_times.push((end_s - block[0].start_s).max(0.0));
            self.complete_blocks += usize::from(block.iter().all(|run| design.counts(&run.exit)));
        }
    }

    fn run(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<Stop, SessionError>,
    ) -> Result<(), SessionError> {
        if !self.is_resumed {
            self.watcher.notice(Event::Began(&self.recording.header))?;
        }
        let worked = self.set_up().and_then(|stop| match stop {
            Some(stop) => Ok(stop),
            None => work(self),
        });
        // Whatever happened, what was set up is cleaned up.
        let cleaned = self.clean_up();
        let stop = cleaned?.unwrap_or(worked?);
        let end = End { stop, elapsed_s: self.elapsed_s() };
        self.watcher.notice(Event::Ended(&end))?;
        self.recording.end = Some(end);
        Ok(())
    }

    /// `Some` if it came to a stop by then.
    fn set_up(&mut self) -> Result<Option<Stop>, SessionError> {
        for variant in 0..self.variants.len() {
            if self.machine.interrupted() {
                return Ok(Some(Stop::Interrupted));
            }
            self.set_up.push(variant);
            if let Some(stop) = self.hook(HookKind::Setup, variant, None)? {
                return Ok(Some(stop));
            }
        }
        Ok(None)
    }

    /// In the opposite order of the setups; one that fails does not keep the others from running.
    fn clean_up(&mut self) -> Result<Option<Stop>, SessionError> {
        let mut failed = None;
        while let Some(variant) = self.set_up.pop() {
            failed = failed.or(self.hook(HookKind::Cleanup, variant, None)?);
        }
        Ok(failed)
    }

    /// Runs a hook if the variant has it; `Some` if it failed or was not let to its end.
    fn hook(
        &mut self,
        kind: HookKind,
        variant: usize,
        block: Option<usize>,
    ) -> Result<Option<Stop>, SessionError> {
        let Some(launch) = self.variants[variant].hooks.get(&kind) else { return Ok(None) };
        let outcome = self.machine.run_hook(launch, kind)?;
        if outcome.exit.is_success() {
            return Ok(None);
        }
        if outcome.exit == Exit::Interrupted {
            // Not its fault.
            return Ok(Some(Stop::Interrupted));
        }
        let stderr_tail = end_of(&outcome.stderr_tail);
        let failure = HookFailure { kind, variant, block, exit: outcome.exit, stderr_tail };
        self.watcher.notice(Event::HookFailed(&failure))?;
        // The first failure is the one to tell about; a cleanup after it may fail for the same reason.
        self.recording.hook_failure.get_or_insert(failure);
        Ok(Some(Stop::HookFailed))
    }

    fn run_blocks(&mut self) -> Result<Stop, SessionError> {
        let warmup = self.recording.header.experiment.design.warmup;
        // What ended a resumed recording may have come between its last run and the look at it.
        if self.block_times.len() > 0
            && let Some(stop) = self.look(true)?
        {
            return Ok(stop);
        }
        for block in self.first_block.. {
            let before_s = self.machine.now_s();
            let failed_before = self.failed_runs;
            if let Some(stop) = self.run_block(block)? {
                return Ok(stop);
            }
            let took_s = self.machine.now_s() - before_s;
            self.shortest_block_s = Some(self.shortest_block_s.map_or(took_s, |known| known.min(took_s)));
            let is_warmup = block < warmup;
            if is_warmup {
                self.warmup_block_s = Some(took_s);
            } else {
                self.block_times.push(took_s);
                let is_complete = self.failed_runs == failed_before;
                self.complete_blocks += usize::from(is_complete);
                if let Some(stop) = self.look(is_complete)? {
                    return Ok(stop);
                }
            }
            self.tell(is_warmup)?;
        }
        unreachable!("the loop ends by a look")
    }

    /// One run of every variant, in the order drawn for this block. `Some` ends the experiment.
    fn run_block(&mut self, block: usize) -> Result<Option<Stop>, SessionError> {
        self.machine.wait_until_quiet();
        let seed = self.recording.header.experiment.design.seed;
        for (position, variant) in plan::block_order(seed, block, self.variants.len()).into_iter().enumerate()
        {
            if let Some(stop) = self.run_with_hooks(variant, block, position)? {
                return Ok(Some(stop));
            }
        }
        Ok(None)
    }

    /// Conclude follows every prepare that was begun, whatever came of it and of the run.
    fn run_with_hooks(
        &mut self,
        variant: usize,
        block: usize,
        position: usize,
    ) -> Result<Option<Stop>, SessionError> {
        self.machine.pause(self.recording.header.experiment.design.gap_s);
        if self.machine.interrupted() {
            return Ok(Some(Stop::Interrupted));
        }
        let prepared = self.hook(HookKind::Prepare, variant, Some(block));
        let ran = match prepared {
            Ok(None) => self.run_once(variant, block, position),
            failed => failed,
        };
        let concluded = self.hook(HookKind::Conclude, variant, Some(block));
        Ok(ran?.or(concluded?))
    }

    fn run_once(
        &mut self,
        variant: usize,
        block: usize,
        position: usize,
    ) -> Result<Option<Stop>, SessionError> {
        let start_s = self.elapsed_s();
        let Some((mut outcome, is_cut)) = self.run_within_bound(variant)? else {
            return Ok(Some(Stop::BudgetSpent));
        };
        // Ended by us before its time: it neither failed nor is it a value.
        outcome.exit = if is_cut { Exit::Interrupted } else { outcome.exit };
        let design = &self.recording.header.experiment.design;
        let (counts, goes_on) = (design.counts(&outcome.exit), design.goes_on(&outcome.exit));
        let is_interrupted = outcome.exit == Exit::Interrupted;
        self.failed_runs += usize::from(!counts);
        self.succeeded[variant] |= counts;
        // Kept before anybody is told: a recorder that fails must not cost the run.
        self.recording.runs.push(as_run(outcome, counts, variant, block, position, start_s));
        self.watcher.notice(Event::Ran(&self.recording.runs[self.recording.runs.len() - 1]))?;
        Ok(match (is_interrupted, goes_on) {
            _ if is_cut => Some(Stop::BudgetSpent),
            (true, _) => Some(Stop::Interrupted),
            (false, true) => None,
            (false, false) => Some(Stop::Failed),
        })
    }

    /// What came of a run, and whether the bound has ended it; `None` where the bound comes before it.
    fn run_within_bound(&mut self, variant: usize) -> Result<Option<(Outcome, bool)>, SessionError> {
        let left_s = self.bound.end_s(self.shortest_block_s) - self.machine.now_s();
        let (launch, metrics) = (&self.variants[variant].launch, &self.recording.header.experiment.metrics);
        if left_s <= 0.0 {
            return Ok(None);
        }
        if left_s.is_infinite() {
            return Ok(Some((self.machine.run(launch, metrics)?, false)));
        }
        let (launch, is_shorter) = limited(launch, left_s);
        let outcome = self.machine.run(&launch, metrics)?;
        let is_cut = is_shorter && outcome.exit == Exit::TimedOut;
        Ok(Some((outcome, is_cut)))
    }

    /// Looks at the data if it is time to.
    fn look(&mut self, is_complete: bool) -> Result<Option<Stop>, SessionError> {
        let (blocks, complete) = (self.block_times.len(), self.complete_blocks);
        let times = self.look_times();
        // Blocks that become longer can move the first look to a number that is already passed.
        let is_late = self.recording.looks.is_none() && complete >= times[0];
        if is_late || (is_complete && times.contains(&complete)) {
            self.settle()?;
            if self.is_decided()? {
                return Ok(Some(Stop::Decided));
            }
        }
        let elapsed_s = self.elapsed_s();
        Ok(self.reason_to_stop(blocks, &times, elapsed_s))
    }

    /// Fixes the looks, once, before the first of them.
    fn settle(&mut self) -> Result<(), SessionError> {
        if self.recording.looks.is_none() {
            let design = &self.recording.header.experiment.design;
            let looks = settle(design, self.variants.len() - 1, self.typical_block_s());
            self.watcher.notice(Event::Settled(&looks))?;
            self.recording.looks = Some(looks);
        }
        Ok(())
    }

    /// Whether the question is answered and may end the measurement.
    fn is_decided(&mut self) -> Result<bool, SessionError> {
        let Some(looks) = &self.recording.looks else { return Ok(false) };
        let progress = analysis::progress(&self.recording, self.variants.len(), looks);
        self.watcher.notice(Event::Looked(&progress))?;
        let may_stop = !matches!(self.recording.header.experiment.design.runs, RunCount::Exactly(_));
        Ok(progress.is_decided && may_stop)
    }

    /// A variant of which no run succeeds will not be compared however long it is run.
    fn has_never_succeeded(&self) -> bool {
        let is_open = matches!(self.recording.header.experiment.design.runs, RunCount::UntilDecided { .. });
        is_open && self.block_times.len() >= FAILURES_ENOUGH && self.succeeded.contains(&false)
    }

    /// All looks are made, or the next block would not fit into the budget.
    fn reason_to_stop(&self, blocks: usize, times: &[usize], elapsed_s: f64) -> Option<Stop> {
        if self.has_never_succeeded() {
            return Some(Stop::NeverSucceeded);
        }
        let design = &self.recording.header.experiment.design;
        let last = *times.last().unwrap_or(&blocks);
        if blocks >= last {
            let asked_for = match design.runs {
                RunCount::Exactly(_) => true,
                RunCount::UntilDecided { max, .. } => max.is_some_and(|max| blocks >= max),
            };
            return Some(if asked_for { Stop::RunsDone } else { Stop::BudgetSpent });
        }
        // A design of one look was chosen for its number of blocks, not for its time.
        let may_run_out = times.len() > 1 && blocks >= times[0];
        (may_run_out && elapsed_s + self.typical_block_s() > design.budget_s).then_some(Stop::BudgetSpent)
    }

    /// The fixed looks, or, before the first, those that the blocks so far suggest.
    fn look_times(&self) -> Vec<usize> {
        let design = &self.recording.header.experiment.design;
        let suggested = || look_times(design, self.variants.len() - 1, self.typical_block_s());
        self.recording.looks.as_ref().map_or_else(suggested, |looks| looks.at.clone())
    }

    /// The median keeps one slow start from deciding the design; before the first measured block, the warm-up is
    /// all there is to go by.
    fn typical_block_s(&self) -> f64 {
        self.block_times.typical_s().or(self.warmup_block_s).unwrap_or(0.0)
    }

    fn tell(&mut self, is_warmup: bool) -> Result<(), SessionError> {
        let elapsed_s = self.elapsed_s();
        let design = &self.recording.header.experiment.design;
        let (blocks, block_s) = (self.block_times.len(), self.typical_block_s());
        let last_look = *self.look_times().last().unwrap_or(&blocks);
        let is_fixed = matches!(design.runs, RunCount::Exactly(_)) || is_fixed_for_time(design, block_s);
        let by_blocks = (last_look.saturating_sub(blocks)) as f64 * block_s;
        let by_budget = if is_fixed { f64::INFINITY } else { (design.budget_s - elapsed_s).max(0.0) };
        let by_bound = self.bound.end_s(self.shortest_block_s) - self.machine.now_s();
        let most_left_s = by_blocks.min(by_budget).min(by_bound.max(0.0));
        let explained_in_s = self.explained_in_s();
        let forecast = Forecast {
            blocks,
            is_warmup,
            elapsed_s,
            block_s,
            most_left_s,
            last_look,
            is_fixed,
            explained_in_s,
        };
        Ok(self.watcher.notice(Event::BlockDone(&forecast))?)
    }

    /// Rounds of an explanation are within its time already.
    fn explained_in_s(&mut self) -> Option<f64> {
        let end_s = self.bound.explained_by_s(self.shortest_block_s);
        (end_s.is_finite()).then(|| (end_s - self.machine.now_s()).max(0.0))
    }

    fn elapsed_s(&mut self) -> f64 {
        self.machine.now_s() - self.began_s
    }
}

/// Whether the block ran to its end, so that it counts as one; its runs may have failed.
fn is_whole(block: &[Run], design: &Design, variants: usize) -> bool {
    block.len() == variants && block.iter().all(|run| design.goes_on(&run.exit))
}

/// A recording tells when runs began; the last one is taken to have been as long as the longest of its block.
fn end_of_last(block: &[Run]) -> f64 {
    let starts = block.iter().map(|run| run.start_s);
    let last_s = block.last().map_or(0.0, |run| run.start_s);
    let longest_s = starts.clone().zip(starts.skip(1)).map(|(one, next)| next - one).fold(0.0, f64::max);
    last_s + longest_s
}

fn as_run(
    outcome: Outcome,
    counts: bool,
    variant: usize,
    block: usize,
    position: usize,
    start_s: f64,
) -> Run {
    let stderr_tail = if counts { String::new() } else { end_of(&outcome.stderr_tail) };
    Run {
        variant,
        block,
        position,
        start_s,
        exit: outcome.exit,
        values: outcome.values.into(),
        conditions: outcome.conditions,
        stderr_tail,
        leftovers: outcome.leftovers,
        output_digest: outcome.output_digest,
    }
}

fn end_of(bytes: &[u8]) -> String {
    let from = bytes.len().saturating_sub(KEPT_STDERR);
    String::from_utf8_lossy(&bytes[from..]).trim_end().to_owned()
}
