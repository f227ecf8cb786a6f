//! Where the time on the CPU goes: samples of the whole tree by a clock of every task, with whole stacks. A task is
//! sampled only when it has had the CPU for a whole period, so that short ones are hardly seen; how much of the time the
//! samples stand for is always told, and where it is too little the run is repeated with a shorter period.

use super::perf::event::Kind;
use super::perf::refusal::paranoid;
use super::perf::sampling::{Sampled, Sampling};
use super::{Looker, missing, spot};
use crate::model::{KernelView, Missing, Probe, Probed, Profile, Trace};

/// How a run is sampled.
#[derive(Clone, Copy)]
struct Step {
    rate_hz: f64,
    /// How much of the stack is copied.
    stack_bytes: usize,
}

/// The second and third for runs of which the one before saw too little; the more often, the less can be copied. No
/// multiples of anything that a program may do regularly.
const STEPS: [Step; 3] = [
    Step { rate_hz: 997.0, stack_bytes: 32 << 10 },
    Step { rate_hz: 4999.0, stack_bytes: 16 << 10 },
    Step { rate_hz: 19997.0, stack_bytes: 8 << 10 },
];
/// For a machine so busy that samples are lost before they can be read: eight times as many have room.
const SMALL: Step = Step { rate_hz: 997.0, stack_bytes: 4 << 10 };
/// For half a second in which nobody reads, on a busy machine.
const RING_BYTES: usize = 16 << 20;
/// With less than this share of the time seen, nothing is to be concluded.
const ENOUGH: f64 = 0.8;
/// Fewer say little, and the run is so short that a higher rate costs nothing.
const ENOUGH_SAMPLES: u64 = 100;

pub fn can() -> Result<(), Missing> {
    STEPS[0].sampling().can(Probe::Cpu)
}

pub fn look(looker: &Looker<'_>) -> Result<Probed, Missing> {
    let steps = steps(looker.least_hz);
    let mut best = steps[0].run(looker)?;
    for step in &steps[1..] {
        let is_lost = lost(&best.profile).is_some();
        if (is_enough(&best) && !is_lost) || !best.end.exit.is_success() {
            break;
        }
        let next = if is_lost { SMALL } else { *step }.run(looker)?;
        // The command may have done all its work the first time.
        if next.end.exit != best.end.exit || !(0.5..2.0).contains(&(total_s(&next) / total_s(&best))) {
            break;
        }
        best = better(best, next);
        // More samples would not help where not even these can be read.
        if is_lost {
            break;
        }
    }
    Ok(probed(best))
}

/// From the first one that is often enough, or the last.
fn steps(least_hz: Option<f64>) -> &'static [Step] {
    let is_enough = |step: &Step| least_hz.is_none_or(|least_hz| step.allowed_hz() >= least_hz);
    let first = STEPS.iter().position(is_enough).unwrap_or(STEPS.len() - 1);
    &STEPS[first..]
}

impl Step {
    fn run(self, looker: &Looker<'_>) -> Result<Sampled, Missing> {
        let mut sampled = self.sampling().run(looker, Probe::Cpu)?;
        sampled.profile.rate_hz = self.allowed_hz();
        sampled.profile.total = Some(total_s(&sampled)).filter(|total| *total > 0.0);
        Ok(sampled)
    }

    fn sampling(self) -> Sampling {
        let period_ns = (1e9 / self.allowed_hz()).round() as u64;
        Sampling {
            kind: Kind::CpuClock { period_ns },
            most_stack_bytes: self.stack_bytes,
            most_ring_bytes: RING_BYTES,
        }
    }

    /// What is more than the kernel allows is dropped by it.
    fn allowed_hz(self) -> f64 {
        let limit = std::fs::read_to_string("/proc/sys/kernel/perf_event_max_sample_rate").ok();
        let limit = limit.and_then(|text| text.trim().parse::<f64>().ok()).filter(|limit| *limit >= 1.0);
        limit.map_or(self.rate_hz, |limit| self.rate_hz.min(limit))
    }
}

/// The event itself counts the time of the whole tree, in the kernel and out of it, whatever may be sampled.
fn total_s(sampled: &Sampled) -> f64 {
    if sampled.count > 0 { sampled.count as f64 * 1e-9 } else { sampled.end.cpu_s }
}

fn is_enough(sampled: &Sampled) -> bool {
    blind_share(sampled) <= 1.0 - ENOUGH
        && total_s(sampled) * sampled.profile.rate_hz >= ENOUGH_SAMPLES as f64
}

fn better(one: Sampled, other: Sampled) -> Sampled {
    let more_samples = !is_enough(&one) && other.profile.samples > one.profile.samples;
    let (before, after) = (blind_share(&one), blind_share(&other));
    // A little more of the time is not worth the cost of the higher rate; many more samples are.
    let is_better = after < before - 0.02 || (more_samples && after < before + 0.05);
    if is_better { other } else { one }
}

/// The share of the time that no sample stands for. Without samples in the kernel that is not known: every task loses
/// half a period on average, at most its whole life.
fn blind_share(sampled: &Sampled) -> f64 {
    let total_s = total_s(sampled);
    let profile = &sampled.profile;
    match profile.kernel {
        KernelView::Seen => 1.0 - profile.coverage().unwrap_or(0.0),
        _ if total_s > 0.0 => {
            let unseen_s = (0.5 * sampled.tasks.max(1) as f64 + profile.lost as f64) / profile.rate_hz;
            (unseen_s / total_s).min(1.0)
        }
        _ => 1.0,
    }
}

fn probed(sampled: Sampled) -> Probed {
    let (cpu_s, blind_spots) = (total_s(&sampled), blind_spots(&sampled));
    Probed { cpu_s: Some(cpu_s), ..sampled.end.probed(Trace::Cpu(sampled.profile), blind_spots) }
}

fn blind_spots(sampled: &Sampled) -> Vec<Missing> {
    let spots = [no_kernel(sampled), too_short(sampled), lost(&sampled.profile), no_kernel_names(sampled)];
    spots.into_iter().flatten().chain(sampled.hidden.clone()).collect()
}

fn no_kernel(sampled: &Sampled) -> Option<Missing> {
    (sampled.profile.kernel == KernelView::Missing).then(|| kernel_missing("functions of the kernel"))
}

/// Shared with the probe of page faults, which may see as little of the kernel.
pub fn kernel_missing(what: &str) -> Missing {
    let setting =
        paranoid().map_or(String::new(), |level| format!(" (kernel.perf_event_paranoid = {level})"));
    let why = format!("this user may sample programs only, not the kernel{setting}");
    spot(what, why, Some("sysctl kernel.perf_event_paranoid=1, or run as root"))
}

fn too_short(sampled: &Sampled) -> Option<Missing> {
    let blind = blind_share(sampled);
    let is_lost = lost(&sampled.profile).is_some();
    (blind > 1.0 - ENOUGH && !is_lost).then(|| {
        let why = format!(
            "{:.0} % of the CPU time is in no sample: {:.1} ms in {} processes or threads is too short for {} samples a second",
            100.0 * blind,
            1e3 * total_s(sampled),
            sampled.tasks.max(1),
            sampled.profile.rate_hz
        );
        missing(Probe::Cpu, why, None)
    })
}

pub fn lost(profile: &Profile) -> Option<Missing> {
    let share = profile.lost as f64 / (profile.lost + profile.samples).max(1) as f64;
    (share > 0.01).then(|| {
        let why = format!("{:.0} % were lost, as they came faster than they could be read", 100.0 * share);
        spot("samples", why, Some("ulimit -l unlimited, for larger buffers"))
    })
}

fn no_kernel_names(sampled: &Sampled) -> Option<Missing> {
    (sampled.kernel_has_names == Some(false)).then(|| {
        let remedy = "sysctl kernel.kptr_restrict=0 and kernel.perf_event_paranoid=1, or run as root";
        let why = "/proc/kallsyms tells this user no addresses";
        spot("names of functions of the kernel", why, Some(remedy))
    })
}
