//! Profiles of CPU time and page faults as files that viewers of profiles open. Samples that are missing of the total
//! are a frame of their own, so that shares are those of the whole.
//!
//! To add a form: one file with one function, and one row in [`PROFILE_EXPORTS`].

mod folded;
mod pprof;
mod protobuf;
mod speedscope;

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::model::{Frame, Probe, Probed, Profile, Recording, Trace};
use crate::plan;

/// One row of the table of forms.
pub struct ProfileExport {
    /// What is typed before the `=` of `--export FORM=FILE`.
    pub name: &'static str,
    /// Usual end of the name of such a file, without the dot.
    pub extension: &'static str,
    pub about: &'static str,
    pub write: fn(&Recording, &mut dyn Write) -> io::Result<()>,
}

pub const PROFILE_EXPORTS: &[ProfileExport] = &[
    row("folded", "txt", "a line for each stack, for flamegraph.pl and inferno", folded::folded),
    row("speedscope", "json", "for https://www.speedscope.app", speedscope::speedscope),
    row("pprof", "pb", "for `go tool pprof` and other readers of its protocol buffer", pprof::pprof),
];

const fn row(
    name: &'static str,
    extension: &'static str,
    about: &'static str,
    write: fn(&Recording, &mut dyn Write) -> io::Result<()>,
) -> ProfileExport {
    ProfileExport { name, extension, about, write }
}

/// The form of that name.
pub fn profile_export(name: &str) -> Option<&'static ProfileExport> {
    PROFILE_EXPORTS.iter().find(|export| export.name == name)
}

/// Whether there is anything to write.
pub fn has_profile(recording: &Recording) -> bool {
    !gather(recording).is_empty()
}

/// What a sample that was not taken is called.
const NOT_SAMPLED: &str = "[not sampled]";
/// Less than this share of the total is the rounding of periods.
const NEGLIGIBLE: f64 = 0.01;

/// Everything that one probe saw of one variant: the mean of its looks.
struct Gathered {
    variant: String,
    probe: Probe,
    /// By thread, then by frames from the outermost one.
    stacks: BTreeMap<(String, Vec<Site>), f64>,
}

/// A frame with what it is called in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Site {
    name: String,
    module: String,
}

/// CPU time before page faults, in the order of the variants.
fn gather(recording: &Recording) -> Vec<Gathered> {
    let variants = plan::variants(&recording.header.experiment);
    let mut all = Vec::new();
    for probe in [Probe::Cpu, Probe::Faults] {
        for (index, variant) in variants.iter().enumerate() {
            let profiles = profiles(recording, index, probe);
            if !profiles.is_empty() {
                let stacks = mean(&profiles);
                all.push(Gathered { variant: variant.name.clone(), probe, stacks });
            }
        }
    }
    all
}

fn profiles<'a>(recording: &'a Recording, variant: usize, probe: Probe) -> Vec<&'a Profile> {
    let profile = |probed: &'a Probed| match &probed.trace {
        Trace::Cpu(profile) | Trace::Faults(profile) => Some(profile),
        _ => None,
    };
    recording.seen(variant, probe).filter_map(profile).collect()
}

fn mean(profiles: &[&Profile]) -> BTreeMap<(String, Vec<Site>), f64> {
    let mut stacks = BTreeMap::new();
    let share = 1.0 / profiles.len() as f64;
    for profile in profiles {
        for stack in &profile.stacks {
            let frames = stack.frames.iter().rev().filter_map(|&frame| profile.frames.get(frame as usize));
            let sites = frames.map(site).collect();
            *stacks.entry((stack.thread.clone(), sites)).or_insert(0.0) += stack.weight * share;
        }
        let left = profile.total.map_or(0.0, |total| total - profile.sampled);
        if left > NEGLIGIBLE * profile.total.unwrap_or(0.0) {
            let site = Site { name: NOT_SAMPLED.to_owned(), module: String::new() };
            *stacks.entry((String::new(), vec![site])).or_insert(0.0) += left * share;
        }
    }
    stacks
}

/// Those of the kernel are marked as viewers of folded stacks know them; an address says of which file.
fn site(frame: &Frame) -> Site {
    let name = match frame.module.as_str() {
        "[kernel]" => format!("{}_[k]", frame.name),
        module if frame.name.starts_with("0x") => format!("{} [{module}]", frame.name),
        _ => frame.name.clone(),
    };
    Site { name, module: frame.module.clone() }
}

impl Gathered {
    /// Threads are the outermost frames where the form has no other place for them.
    fn with_threads(&self) -> impl Iterator<Item = (Vec<Site>, f64)> {
        self.stacks.iter().map(|((thread, sites), &weight)| {
            let thread = Site { name: thread.clone(), module: String::new() };
            let threads = (!thread.name.is_empty()).then_some(thread);
            (threads.into_iter().chain(sites.iter().cloned()).collect(), weight)
        })
    }
}
