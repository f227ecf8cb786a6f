//! What probes saw, for people: of one command what each of them saw, of several what is different from the first. A view
//! begins with what the look took and what share it saw, and ends with what it could not see.
//!
//! To add the view of a probe: one file with `one` and `two`, and one row in [`view`].

mod allocations;
mod environment;
mod files;
mod instructions;
mod json;
mod loading;
mod notes;
mod profile;
mod rows;
mod series;
mod syscalls;
mod waiting;

pub use json::traces_json;

use super::compose::{hook_failure, or_letters, printable};
use super::document::{Document, Line, Part, Tone, plain, toned};
use super::quantity::seconds;
use super::words::exit;
use crate::model::{Exit, KNOWN_PROBES, KnownProbe, Probe, Probed, Recording, Stop, Trace, Variant};
use crate::plan;

/// Names up to this length stand in the heads of columns; longer ones get a letter.
const LONGEST_LABEL: usize = 10;

/// How the looks of a probe are shown.
struct View {
    /// The looks at one variant.
    one: fn(&[&Probed]) -> Vec<Part>,
    /// What is different between two.
    two: fn(&Pair<'_>) -> Vec<Part>,
}

fn view(probe: Probe) -> View {
    match probe {
        Probe::Environment => View { one: environment::one, two: environment::two },
        Probe::Loading => View { one: loading::one, two: loading::two },
        Probe::Syscalls => View { one: syscalls::one, two: syscalls::two },
        Probe::Files => View { one: files::one, two: files::two },
        Probe::Allocations => View { one: allocations::one, two: allocations::two },
        Probe::Cpu => View { one: profile::one_cpu, two: profile::two_cpu },
        Probe::Faults => View { one: profile::one_faults, two: profile::two_faults },
        Probe::Waiting => View { one: waiting::one, two: waiting::two },
        Probe::Series => View { one: series::one, two: series::two },
        Probe::Instructions => View { one: instructions::one, two: instructions::two },
    }
}

/// Looks of one probe at two variants.
struct Pair<'a> {
    base: Vec<&'a Probed>,
    other: Vec<&'a Probed>,
    labels: [&'a str; 2],
    /// File names of the programs that the commands start.
    programs: [String; 2],
}

/// Everything that was seen, by command and probe.
pub fn compose_traces(recording: &Recording) -> Document {
    let variants = plan::variants(&recording.header.experiment);
    let names = variants.iter().map(|variant| printable(&variant.name)).collect();
    let labels = or_letters(names, LONGEST_LABEL);
    let mut parts: Vec<Part> = trouble(recording, &variants).into_iter().collect();
    if let [variant] = variants.as_slice() {
        parts.push(Part::Text(vec![vec![toned(Tone::Strong, printable(&variant.name))]]));
        parts.extend(KNOWN_PROBES.iter().flat_map(|known| section_of_one(recording, known)));
    } else {
        let base = recording.header.experiment.design.base;
        parts.extend(legend(&variants, &labels));
        for other in (0..variants.len()).filter(|&other| other != base) {
            let title = format!("{} compared with {}", labels[other], labels[base]);
            let sections: Vec<Part> = KNOWN_PROBES
                .iter()
                .flat_map(|known| section_of_two(recording, &variants, &labels, other, known))
                .collect();
            if variants.len() > 2 && !sections.is_empty() {
                parts.push(Part::Text(vec![vec![toned(Tone::Strong, title)]]));
            }
            parts.extend(sections);
        }
    }
    parts.extend(notes::not_checked(recording, &labels));
    Document { parts }
}

fn trouble(recording: &Recording, variants: &[Variant]) -> Option<Part> {
    let text = match (&recording.hook_failure, recording.end.as_ref().map(|end| end.stop)) {
        (Some(failure), _) => {
            let names: Vec<String> = variants.iter().map(|variant| printable(&variant.name)).collect();
            hook_failure(&names, failure)
        }
        (None, Some(Stop::Interrupted)) => "interrupted: this is what was seen until then".to_owned(),
        (None, None) => "unfinished: this is what was seen until then".to_owned(),
        _ => return None,
    };
    Some(Part::Text(vec![vec![toned(Tone::Warning, text)]]))
}

fn legend(variants: &[Variant], labels: &[String]) -> Option<Part> {
    let names = variants.iter().map(|variant| printable(&variant.name));
    let lines: Vec<Line> = names
        .zip(labels)
        .filter(|(name, label)| name != *label)
        .map(|(name, label)| vec![plain(format!("{label}  ")), toned(Tone::Strong, name)])
        .collect();
    (!lines.is_empty()).then_some(Part::Text(lines))
}

fn section_of_one(recording: &Recording, known: &KnownProbe) -> Vec<Part> {
    let looks: Vec<&Probed> = recording.seen(0, known.probe).collect();
    if looks.is_empty() {
        return Vec::new();
    }
    let mut heading = vec![title(known), toned(Tone::Faint, cost(&looks))];
    heading.extend(how_it_ended("", &looks));
    let is_only_environment = recording.traces.iter().all(|entry| entry.probe == Probe::Environment);
    let view = if is_only_environment { environment::whole } else { view(known.probe).one };
    let mut parts = under(heading, view(&looks));
    parts.extend(notes::blind_spots(&looks, ""));
    parts
}

fn section_of_two(
    recording: &Recording,
    variants: &[Variant],
    labels: &[String],
    other: usize,
    known: &KnownProbe,
) -> Vec<Part> {
    let base = recording.header.experiment.design.base;
    let pair = Pair {
        base: recording.seen(base, known.probe).collect(),
        other: recording.seen(other, known.probe).collect(),
        labels: [&labels[base], &labels[other]],
        programs: [program(&variants[base]), program(&variants[other])],
    };
    if pair.base.is_empty() || pair.other.is_empty() {
        return Vec::new();
    }
    let [base_label, other_label] = pair.labels;
    let costs = costs(pair.labels, [&pair.base, &pair.other]);
    let mut heading = vec![title(known), toned(Tone::Faint, costs)];
    heading.extend(how_it_ended(base_label, &pair.base));
    heading.extend(how_it_ended(other_label, &pair.other));
    let mut parts = under(heading, (view(known.probe).two)(&pair));
    let spots = |looks: &[&Probed], label: &str| notes::blind_spots(looks, label);
    let (of_base, of_other) = (notes::spots(&pair.base), notes::spots(&pair.other));
    if of_base == of_other {
        parts.extend(spots(&pair.base, ""));
    } else {
        parts.extend(spots(&pair.base, base_label));
        parts.extend(spots(&pair.other, other_label));
    }
    parts
}

/// A view that begins with text stands right below its heading.
fn under(heading: Line, mut parts: Vec<Part>) -> Vec<Part> {
    match parts.first_mut() {
        Some(Part::Text(lines)) => lines.insert(0, heading),
        _ => parts.insert(0, Part::Text(vec![heading])),
    }
    parts
}

fn title(known: &KnownProbe) -> super::document::Span {
    toned(Tone::Strong, format!("{}  ", known.title))
}

/// What looking took; it is no measurement of the command.
fn cost(looks: &[&Probed]) -> String {
    let mean_s = looks.iter().map(|look| look.wall_s).sum::<f64>() / looks.len() as f64;
    match looks.len() {
        1 => format!("the probed run took {}", seconds(mean_s)),
        looks => format!("{looks} probed runs took {} each", seconds(mean_s)),
    }
}

/// Of both sides; short where it can be, so that it stays one line.
fn costs([base, other]: [&str; 2], [of_base, of_other]: [&[&Probed]; 2]) -> String {
    match of_other {
        [only] if of_base.len() == 1 => {
            format!("{base}: {}; {other}: {}", cost(of_base), seconds(only.wall_s))
        }
        _ => format!("{base}: {}; {other}: {}", cost(of_base), cost(of_other)),
    }
}

/// Whatever is not a success is told: it may be what the command always does, or the end of it is not in the trace.
fn how_it_ended(label: &str, looks: &[&Probed]) -> Option<super::document::Span> {
    let look = looks.iter().find(|look| !look.exit.is_success())?;
    let who = if label.is_empty() { "it" } else { label };
    let part = match look.exit {
        Exit::Code(_) => "",
        _ => ": this is a part of the run",
    };
    Some(toned(Tone::Warning, format!("; {who} {}{part}", exit(&look.exit))))
}

/// The file name of the program that a command starts.
fn program(variant: &Variant) -> String {
    let first = variant.launch.argv.first().map(|word| word.lossy().into_owned()).unwrap_or_default();
    file_name(&first).to_owned()
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What the looks saw, of the kind that the view is about.
fn seen<'a, T>(looks: &[&'a Probed], kind: impl Fn(&'a Trace) -> Option<&'a T>) -> Vec<&'a T> {
    looks.iter().filter_map(|look| kind(&look.trace)).collect()
}

/// A line of text.
fn sentence(text: impl Into<String>) -> Part {
    Part::Text(vec![vec![plain(text)]])
}
