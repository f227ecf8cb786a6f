//! A fast and a slow variant, and everything that the recording knows about them. Suspects read it and nothing else.

use std::collections::BTreeMap;

use benchmath::quantiles;

use super::budget::Budget;
use super::classes::{Class, classify};
use super::differences::{Difference, differences};
use super::growth::{Growths, growths};
use super::layouts::{Layouts, layouts};
use super::prices::Prices;
use crate::analysis::{Samples, is_mostly_work};
use crate::model::{
    Allocations, Environment, Exit, Files, Frame, Host, Instructions, KernelView, Launch, Loading, Missing,
    Probe, Probed, Profile, Recording, Seen, Stack, Syscalls, Trace, TraceEntry, Variant, Waiting,
};

/// One side of a case.
pub struct Side<'a> {
    pub variant: Variant,
    /// Medians of the undisturbed runs, by metric.
    medians: BTreeMap<&'a str, f64>,
    entries: Vec<&'a TraceEntry>,
    is_slow: bool,
    /// Both sides have samples enough to tell user from system time. Samples and the kernel's books disagree where runs are
    /// short, so one of each makes a difference of its own.
    are_split_by_samples: bool,
}

/// How large the gap is, in the metric that shows it best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// `cpu_s` where most of it is work on a CPU, else `wall_s`.
    pub metric: &'static str,
    /// Median of the slow side minus median of the fast side.
    pub seconds: f64,
    /// Slow over fast.
    pub ratio: f64,
    pub budget: Budget,
    pub class: Class,
}

pub struct Case<'a> {
    pub fast: Side<'a>,
    pub slow: Side<'a>,
    pub gap: Gap,
    /// What is typed, set or put around differently.
    pub differences: Vec<Difference>,
    pub prices: Prices,
    /// How both sides grow with the size of the work, where that was measured.
    pub growth: Option<Growths>,
    /// How the gap fares in other layouts of memory, where that was measured.
    pub layouts: Option<Layouts>,
    pub host: &'a Host,
}

impl<'a> Case<'a> {
    /// Two variants of the recording, each with the looks at it.
    pub fn new(
        recording: &'a Recording,
        variants: &[Variant],
        (fast, fast_looks): (usize, Vec<&'a TraceEntry>),
        (slow, slow_looks): (usize, Vec<&'a TraceEntry>),
    ) -> Case<'a> {
        let samples = Samples::collect(recording, variants.len());
        let fast = Side::new(recording, &samples, &variants[fast], fast, fast_looks);
        let slow = Side::new(recording, &samples, &variants[slow], slow, slow_looks);
        let are_split_by_samples = [&fast, &slow].iter().all(|side| side.sampled_kernel_share().is_some());
        let fast = Side { are_split_by_samples, ..fast };
        let slow = Side { is_slow: true, are_split_by_samples, ..slow };
        let budget = Budget::of(&slow).minus(Budget::of(&fast));
        let metric = gap_metric(&fast, &slow, budget);
        let values = |side: &Side<'_>| side.median(metric).unwrap_or(0.0);
        let mut case = Case {
            differences: differences(&fast.variant, &slow.variant),
            gap: Gap {
                metric,
                seconds: values(&slow) - values(&fast),
                ratio: if values(&fast) > 0.0 { values(&slow) / values(&fast) } else { f64::INFINITY },
                budget,
                class: Class::User,
            },
            prices: Prices::default(),
            growth: None,
            layouts: None,
            host: &recording.header.host,
            fast,
            slow,
        };
        case.prices = Prices::of(&case, recording.header.floor);
        case.gap.class = classify(&case);
        case.growth = recording.stages.iter().find_map(|stage| growths(recording, stage, case.gap.metric));
        case.layouts = recording.stages.iter().find_map(|stage| layouts(recording, stage, case.gap.metric));
        case
    }

    /// Seconds as a share of the gap.
    pub fn share(&self, seconds: f64) -> f64 {
        if self.gap.seconds > 0.0 { seconds / self.gap.seconds } else { 0.0 }
    }

    /// Count of the slow side minus count of the fast side, of something that both traces have.
    pub fn more(&self, count: impl Fn(&Side<'_>) -> Option<f64>) -> Option<f64> {
        Some(count(&self.slow)? - count(&self.fast)?)
    }

    /// The difference in an environment variable, if there is one.
    pub fn variable(&self, name: &str) -> Option<(usize, &Difference)> {
        self.differences.iter().enumerate().find(|(_, difference)| difference.is_variable(name))
    }

    /// A fact of the environment that differs: both values, fast first.
    pub fn fact_difference(&self, name: &str) -> Option<(Option<&str>, Option<&str>)> {
        let (fast, slow) = (self.fast.environment()?.get(name), self.slow.environment()?.get(name));
        (fast != slow).then_some((fast, slow))
    }

    /// Whether both sides run the same program file with the same words, so that only what is around them differs.
    pub fn same_command(&self) -> bool {
        self.fast.variant.launch.argv == self.slow.variant.launch.argv
    }
}

/// CPU time where the gap is mostly work, or where wall time shows nothing. What decides about single variants is not
/// enough for a gap: on a loaded machine most of the additional wall time is a wait that nothing but the additional work
/// has brought about, and not all of it is known to be one; then CPU time has grown as much as wall time has.
fn gap_metric(fast: &Side<'_>, slow: &Side<'_>, budget: Budget) -> &'static str {
    let cpu = fast.median("cpu_s").zip(slow.median("cpu_s"));
    let Some((fast_cpu, slow_cpu)) = cpu else { return "wall_s" };
    let cpu_ratio = slow_cpu / fast_cpu.max(f64::MIN_POSITIVE);
    let wall = fast.median("wall_s").zip(slow.median("wall_s"));
    let wall_ratio = wall.map_or(1.0, |(fast, slow)| slow / fast.max(f64::MIN_POSITIVE));
    // A load lengthens both sides alike; where the wait has grown by far more than the work, it is what is to be explained.
    let is_wait_of_its_own = cpu_ratio.ln() < 0.2 * wall_ratio.ln();
    let is_most =
        !is_wait_of_its_own && is_mostly_work(budget.cpu_s(), budget.wall_s, Some(budget.cpu_wait_s));
    // Who waits for children waits for a CPU with them, and nobody counts that.
    let is_alone = slow.processes().is_none_or(|processes| processes <= 1);
    let is_blocked = is_alone && budget.blocked_s > 0.5 * budget.wall_s;
    let grows_alike =
        !is_blocked && budget.cpu_s() > 0.2 * budget.wall_s && cpu_ratio.ln() > 0.5 * wall_ratio.ln();
    let is_work = cpu_ratio > 1.01 && (is_most || grows_alike);
    if is_work { "cpu_s" } else { "wall_s" }
}

impl<'a> Side<'a> {
    fn new(
        recording: &'a Recording,
        samples: &Samples<'_>,
        variant: &Variant,
        index: usize,
        entries: Vec<&'a TraceEntry>,
    ) -> Side<'a> {
        let metrics = recording.header.experiment.metrics.iter().map(|metric| metric.name.as_str());
        let medians = metrics
            .filter_map(|name| Some((name, quantiles::median(&samples.values(index, name))?)))
            .collect();
        Side { variant: variant.clone(), medians, entries, is_slow: false, are_split_by_samples: false }
    }

    pub fn launch(&self) -> &Launch {
        &self.variant.launch
    }

    pub fn entries(&self) -> &[&'a TraceEntry] {
        &self.entries
    }

    /// Median of a metric over the undisturbed runs.
    pub fn median(&self, metric: &str) -> Option<f64> {
        self.medians.get(metric).copied()
    }

    /// Whether a probe was used on this side, with or without success.
    pub fn was_probed(&self, probe: Probe) -> bool {
        self.entries.iter().any(|entry| entry.probe == probe)
    }

    pub fn missing(&self) -> impl Iterator<Item = &'a Missing> + '_ {
        self.entries.iter().copied().filter_map(|entry| match &entry.seen {
            Seen::Missing(missing) => Some(missing),
            Seen::Probed(_) => None,
        })
    }

    /// Of probed runs that ended as they should. What was counted until the time of a probe was up is less than there is,
    /// which on the slow side makes the difference smaller and not larger.
    fn probed(&self, probe: Probe) -> impl Iterator<Item = &'a Probed> + '_ {
        let of_probe = self.entries.iter().copied().filter(move |entry| entry.probe == probe);
        let is_whole = |probed: &&Probed| {
            let is_counted = match &probed.trace {
                Trace::Syscalls(seen) => !seen.is_cut_short(),
                _ => true,
            };
            let is_over = matches!(probed.exit, Exit::Code(_));
            (is_over && is_counted) || (self.is_slow && (is_over || probed.exit == Exit::TimedOut))
        };
        of_probe.filter_map(|entry| entry.seen.probed()).filter(is_whole)
    }

    fn trace(&self, probe: Probe) -> Option<&'a Trace> {
        self.probed(probe).next().map(|probed| &probed.trace)
    }

    pub fn environment(&self) -> Option<&'a Environment> {
        match self.trace(Probe::Environment)? {
            Trace::Environment(seen) => Some(seen),
            _ => None,
        }
    }

    pub fn loading(&self) -> Option<&'a Loading> {
        match self.trace(Probe::Loading)? {
            Trace::Loading(seen) => Some(seen),
            _ => None,
        }
    }

    pub fn syscalls(&self) -> Option<&'a Syscalls> {
        match self.trace(Probe::Syscalls)? {
            Trace::Syscalls(seen) => Some(seen),
            _ => None,
        }
    }

    pub fn files(&self) -> Option<&'a Files> {
        match self.trace(Probe::Files)? {
            Trace::Files(seen) => Some(seen),
            _ => None,
        }
    }

    pub fn allocations(&self) -> Option<&'a Allocations> {
        match self.trace(Probe::Allocations)? {
            Trace::Allocations(seen) => Some(seen),
            _ => None,
        }
    }

    /// The CPU profile, however much of the run it saw.
    pub fn cpu(&self) -> Option<&'a Profile> {
        match self.trace(Probe::Cpu)? {
            Trace::Cpu(seen) => Some(seen),
            _ => None,
        }
    }

    pub fn waiting(&self) -> Option<&'a Waiting> {
        match self.trace(Probe::Waiting)? {
            Trace::Waiting(seen) => Some(seen),
            _ => None,
        }
    }

    pub fn instructions(&self) -> Option<&'a Instructions> {
        match self.trace(Probe::Instructions)? {
            Trace::Instructions(seen) => Some(seen),
            _ => None,
        }
    }

    /// Seconds of one undisturbed run in which a function that is wanted is anywhere on the stack: the share of the
    /// samples, times the CPU time.
    pub fn cpu_in(&self, is_wanted: impl Fn(&str) -> bool) -> Option<f64> {
        self.cpu_where(|frame| is_wanted(&frame.name))
    }

    /// The same for frames, by function or by file.
    pub fn cpu_where(&self, is_wanted: impl Fn(&Frame) -> bool) -> Option<f64> {
        self.cpu_of(|profile| profile.inclusive_where(&is_wanted))
    }

    /// The same for the innermost function only.
    pub fn cpu_own_in(&self, is_wanted: impl Fn(&str) -> bool) -> Option<f64> {
        self.cpu_own_where(|frame| is_wanted(&frame.name))
    }

    /// The same for frames, by function or by file.
    pub fn cpu_own_where(&self, is_wanted: impl Fn(&Frame) -> bool) -> Option<f64> {
        self.cpu_of(|profile| profile.own_where(&is_wanted))
    }

    /// The same for whole stacks: by the name of the thread and those of its functions, the innermost first.
    pub fn cpu_in_stacks(&self, is_wanted: impl Fn(&str, &[&str]) -> bool) -> Option<f64> {
        self.cpu_of(|profile| {
            let has = |stack: &&Stack| is_wanted(&stack.thread, &profile.names(stack));
            profile.stacks.iter().filter(has).map(|stack| stack.weight).sum()
        })
    }

    /// Seconds of one undisturbed run that a weight of its samples stands for.
    fn cpu_of(&self, weight: impl Fn(&Profile) -> f64) -> Option<f64> {
        let profile = self.cpu()?;
        let sampled: f64 = profile.stacks.iter().map(|stack| stack.weight).sum();
        let share = weight(profile) / sampled.max(f64::MIN_POSITIVE);
        Some(share * self.user_part(profile) * self.median("cpu_s")?)
    }

    /// Seconds of one undisturbed run that one sample stands for.
    pub fn sample_s(&self) -> Option<f64> {
        let profile = self.cpu().filter(|profile| profile.samples > 0)?;
        Some(self.user_part(profile) * self.median("cpu_s")? / profile.samples as f64)
    }

    /// The part of the CPU time that the samples of the profile are of.
    pub fn sampled_part(&self) -> f64 {
        self.cpu().map_or(1.0, |profile| self.user_part(profile))
    }

    /// The part of the CPU time that the samples are of.
    fn user_part(&self, profile: &Profile) -> f64 {
        match profile.kernel {
            KernelView::Missing => profile.coverage().unwrap_or(1.0).min(1.0),
            _ => 1.0,
        }
    }

    /// The part of the CPU time that was spent in the kernel: by the samples where they are enough on both sides, else by
    /// the kernel's books.
    pub fn kernel_share(&self) -> f64 {
        let (sampled, booked) = (self.sampled_kernel_share(), self.booked_kernel_share());
        let share = if self.are_split_by_samples { sampled } else { booked.or(sampled) };
        share.unwrap_or(0.0).clamp(0.0, 1.0)
    }

    fn sampled_kernel_share(&self) -> Option<f64> {
        let profile = self.cpu().filter(|profile| profile.samples >= 30)?;
        let coverage = profile.coverage()?;
        match profile.kernel {
            KernelView::Seen if coverage >= 0.8 => {
                let kernel = profile.own_where(|frame| frame.module == "[kernel]");
                Some(kernel / profile.sampled.max(f64::MIN_POSITIVE))
            }
            _ => None,
        }
    }

    fn booked_kernel_share(&self) -> Option<f64> {
        let (user, system) = (self.median("user_s")?, self.median("system_s")?);
        (user + system > 0.0).then(|| system / (user + system))
    }

    /// Threads besides the first of each process, and processes; 1 process and none where that was not counted.
    pub fn threads(&self) -> u64 {
        self.syscalls().map_or(0, |syscalls| syscalls.threads)
    }

    /// Where no calls could be seen, by what the loader told.
    pub fn starts(&self) -> Option<u64> {
        self.syscalls().map(|syscalls| syscalls.starts).or_else(|| self.loading()?.loads)
    }

    /// A look that was cut off has not seen all of them; the starts that the loader told of are as many at least.
    pub fn processes(&self) -> Option<u64> {
        let seen = self.syscalls()?.processes;
        let loads =
            self.loading().filter(|_| self.was_cut_off(Probe::Syscalls)).and_then(|loading| loading.loads);
        Some(seen.max(loads.unwrap_or(0)))
    }

    /// Whether the look with a probe ended before the program did.
    pub fn was_cut_off(&self, probe: Probe) -> bool {
        let is_cut_off = |probed: &Probed| match &probed.trace {
            Trace::Syscalls(seen) => probed.exit == Exit::TimedOut || seen.is_cut_short(),
            _ => probed.exit == Exit::TimedOut,
        };
        self.probed(probe).next().is_some_and(is_cut_off)
    }

    /// The last change of a variable in the launch; `None`: not changed by the launch.
    pub fn variable(&self, name: &str) -> Option<Option<String>> {
        let changed = self.launch().env.iter().rev().find(|(known, _)| known.0 == name.as_bytes());
        changed.map(|(_, value)| value.as_ref().map(|value| value.lossy().into_owned()))
    }

    /// The value that the program has: by the probe, else by what the launch sets.
    pub fn env(&self, name: &str) -> Option<String> {
        match (self.variable(name), self.environment()) {
            (Some(value), _) => value,
            (None, Some(environment)) => environment.get(&format!("env.{name}")).map(str::to_owned),
            (None, None) => None,
        }
    }
}
