//! Profiles of CPU time and of page faults: by function, with callers, as absolute amounts.

use std::collections::BTreeMap;

use super::rows::{Order, Row, listing_with_rest, row, signed, table, time};
use super::{Pair, seen};
use crate::analysis::traces::{
    Difference, Fate, compare_modules, compare_symbols, mean_profile, own_by_module,
};
use crate::model::{Frame, KernelView, Probed, Profile, SAME_RATE, Trace};
use crate::report::compose::printable;
use crate::report::document::{Definition, Line, Part, Tone, plain, toned};
use crate::report::quantity::{count, percent};

/// Less of the total than this tells too little.
const ENOUGH: f64 = 0.8;
/// From this share on all stacks are whole, for people.
const ALL_WHOLE: f64 = 0.995;
/// What is missing by the rounding of periods.
const NEGLIGIBLE: f64 = 0.01;
const MOST_FUNCTIONS: usize = 15;
const FEWEST_FUNCTIONS: usize = 5;
/// Functions below this share of the whole are counted only.
const SMALLEST_FUNCTION: f64 = 0.01;
const MOST_PATHS: usize = 4;
const MOST_MODULES: usize = 6;
/// Frames of a path that are shown, from the innermost one outwards.
const SHOWN_FRAMES: usize = 5;
/// Frames that every program begins with.
const OUTERMOST: [&str; 6] = [
    "_start",
    "__libc_start_main",
    "__libc_start_call_main",
    "__libc_start_main_impl",
    "_dl_start_user",
    "[unknown]",
];
/// Paths below this share of the whole are not worth a line.
const SMALLEST_PATH: f64 = 0.02;

/// What weights are, and how they are written.
#[derive(Clone, Copy)]
struct Unit {
    write: fn(f64) -> String,
    what: &'static str,
}

const CPU: Unit = Unit { write: time, what: "of CPU time" };
const FAULTS: Unit = Unit { write: count, what: "page faults" };

fn of<'a>(looks: &[&'a Probed]) -> Vec<&'a Profile> {
    seen(looks, |trace| match trace {
        Trace::Cpu(seen) | Trace::Faults(seen) => Some(seen),
        _ => None,
    })
}

pub fn one_cpu(looks: &[&Probed]) -> Vec<Part> {
    one(looks, CPU)
}

pub fn one_faults(looks: &[&Probed]) -> Vec<Part> {
    one(looks, FAULTS)
}

pub fn two_cpu(pair: &Pair<'_>) -> Vec<Part> {
    two(pair, CPU)
}

pub fn two_faults(pair: &Pair<'_>) -> Vec<Part> {
    two(pair, FAULTS)
}

fn one(looks: &[&Probed], unit: Unit) -> Vec<Part> {
    let profiles = of(looks);
    if profiles.is_empty() {
        return Vec::new();
    }
    let mean = mean_profile(&profiles);
    let whole = mean.total.unwrap_or(mean.sampled).max(mean.sampled);
    let mut lines = coverage("", &mean, unit);
    if mean.stacks.is_empty() || whole <= 0.0 {
        return vec![Part::Text(lines)];
    }
    lines.push(vec![plain(by_module(&mean, whole, unit))]);
    let mut parts = vec![Part::Text(lines), functions(&mean, whole, unit)];
    parts.extend(paths(&mean, whole));
    parts
}

/// What share of all was seen, and what the rest is.
fn coverage(label: &str, profile: &Profile, unit: Unit) -> Vec<Line> {
    let label = if label.is_empty() { String::new() } else { format!("{label}: ") };
    let sampled = (unit.write)(profile.sampled);
    let mut text = match profile.total {
        Some(total) => format!(
            "{label}{sampled} of {} {} seen ({})",
            (unit.write)(total),
            unit.what,
            percent(profile.coverage().unwrap_or(0.0))
        ),
        None => format!("{label}{sampled} {} seen, of a total that is not known", unit.what),
    };
    if profile.rate_hz > 0.0 {
        text.push_str(&format!(" in {} samples", count(profile.samples as f64)));
    }
    if profile.lost > 0 {
        text.push_str(&format!(", {} lost", count(profile.lost as f64)));
    }
    if profile.rooted < ALL_WHOLE && profile.samples > 0 {
        text.push_str(&format!(", {} of the stacks whole", percent(profile.rooted)));
    }
    text.extend(kernel(profile).map(|text| format!("; {text}")));
    let mut lines = vec![vec![plain(text)]];
    let is_little =
        profile.kernel != KernelView::Missing && profile.coverage().is_some_and(|seen| seen < ENOUGH);
    if is_little || profile.samples == 0 {
        let text = format!("{label}too little to conclude from: less than {} was seen", percent(ENOUGH));
        lines.push(vec![toned(Tone::Warning, text)]);
    }
    lines
}

/// Samples that are missing because they were in the kernel are the share of the kernel.
fn kernel(profile: &Profile) -> Option<String> {
    let total = profile.total.filter(|total| *total > 0.0);
    match profile.kernel {
        KernelView::Seen => {
            let inside = profile.own_where(|frame| frame.module == "[kernel]");
            (profile.sampled > 0.0).then(|| format!("in the kernel {}", percent(inside / profile.sampled)))
        }
        KernelView::Missing => {
            let missing = total.map(|total| ((total - profile.sampled) / total).max(0.0))?;
            let text = format!("in the kernel {} (what is missing of the samples)", percent(missing));
            (missing >= NEGLIGIBLE).then_some(text)
        }
        KernelView::Unknown => None,
    }
}

fn by_module(profile: &Profile, whole: f64, unit: Unit) -> String {
    let modules = own_by_module(&[profile]).into_iter();
    let mut modules: Vec<(&str, f64)> = modules.filter(|(_, own)| *own > 0.0).collect();
    modules.sort_by(|one, other| other.1.total_cmp(&one.1));
    let shown = modules.iter().take(MOST_MODULES);
    let shown = shown.map(|(name, own)| format!("{name} {} ({})", percent(own / whole), (unit.write)(*own)));
    printable(&format!("by file: {}", shown.collect::<Vec<_>>().join(", ")))
}

fn functions(profile: &Profile, whole: f64, unit: Unit) -> Part {
    let (own, inclusive) = by_function(profile);
    let mut all: Vec<(&Frame, f64)> = own.into_iter().filter(|(_, own)| *own > 0.0).collect();
    all.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.name.cmp(&other.0.name)));
    let worth = all.iter().filter(|(_, own)| *own >= SMALLEST_FUNCTION * whole).count();
    let shown = worth.clamp(FEWEST_FUNCTIONS, MOST_FUNCTIONS).min(all.len());
    let rows = all.iter().take(shown).map(|(frame, own)| {
        let inclusive = inclusive.get(frame).copied().unwrap_or(0.0);
        let numbers = vec![
            (unit.write)(*own),
            percent(own / whole),
            (unit.write)(inclusive),
            percent(inclusive / whole),
        ];
        row(numbers, &frame.name, &frame.module)
    });
    let left: f64 = all.iter().skip(shown).map(|(_, own)| own).sum();
    let more = all.len() - shown;
    let rest = (more > 0).then(|| format!("and {} in {more} others", (unit.write)(left)));
    listing_with_rest(&["own", "", "with callees", ""], "function", rows.collect(), rest)
}

type ByFunction<'a> = BTreeMap<&'a Frame, f64>;

/// A function may be in the list of frames several times.
fn by_function(profile: &Profile) -> (ByFunction<'_>, ByFunction<'_>) {
    let sum = |weights: Vec<f64>| {
        let mut sums = ByFunction::new();
        for (frame, weight) in profile.frames.iter().zip(weights) {
            *sums.entry(frame).or_insert(0.0) += weight;
        }
        sums
    };
    (sum(profile.own()), sum(profile.inclusive()))
}

/// The heaviest ways from the start of a thread to where it is.
fn paths(profile: &Profile, whole: f64) -> Vec<Part> {
    let mut paths: BTreeMap<Vec<&str>, f64> = BTreeMap::new();
    for stack in &profile.stacks {
        let frames = stack.frames.iter().filter_map(|&frame| profile.frames.get(frame as usize));
        let mut names: Vec<&str> = frames.map(|frame| frame.name.as_str()).collect();
        // Recursion is told once.
        names.dedup();
        *paths.entry(names).or_insert(0.0) += stack.weight;
    }
    let mut paths: Vec<(Vec<&str>, f64)> = paths.into_iter().collect();
    paths.sort_by(|one, other| other.1.total_cmp(&one.1));
    let shown = paths.iter().take(MOST_PATHS).filter(|(_, weight)| *weight >= SMALLEST_PATH * whole);
    let definitions: Vec<Definition> = shown
        .map(|(names, weight)| Definition {
            head: vec![plain(format!("{:>5}", percent(weight / whole)))],
            body: vec![vec![plain(printable(&path(names)))]],
        })
        .collect();
    if definitions.is_empty() {
        return Vec::new();
    }
    let heading = vec![toned(Tone::Faint, "most frequent stacks, from the inside to the outside")];
    vec![Part::Text(vec![heading]), Part::Definitions(definitions)]
}

/// The innermost frames, and the outermost one that says something.
fn path(names: &[&str]) -> String {
    let start = names.iter().rposition(|name| !OUTERMOST.contains(name)).map_or(0, |place| place + 1);
    let names = &names[..start.max(1).min(names.len())];
    let mut shown: Vec<&str> = names.iter().take(SHOWN_FRAMES).copied().collect();
    if names.len() > SHOWN_FRAMES + 1 {
        shown.push("..");
    }
    shown.extend(names.last().filter(|_| names.len() > SHOWN_FRAMES));
    shown.join(" < ")
}

fn two(pair: &Pair<'_>, unit: Unit) -> Vec<Part> {
    let (base, other) = (of(&pair.base), of(&pair.other));
    if base.is_empty() || other.is_empty() {
        return Vec::new();
    }
    let mut lines = coverage(pair.labels[0], &mean_profile(&base), unit);
    lines.extend(coverage(pair.labels[1], &mean_profile(&other), unit));
    lines.extend(sums(&base, &other, pair, unit));
    lines.extend(rates(&base, &other));
    let mut parts = vec![Part::Text(lines)];
    let programs = (pair.programs[0].as_str(), pair.programs[1].as_str());
    let modules = compare_modules(&base, &other, programs).into_iter().map(|module| Row {
        text: module.name,
        remark: String::new(),
        difference: module.own,
        write: unit.write,
    });
    parts.extend(table(modules.collect(), pair, Order::Largest, ["file", "files"]));
    let symbols = compare_symbols(&base, &other, programs);
    let rows = symbols.into_iter().map(|symbol| {
        let mut remark = symbol.module;
        match &symbol.fate {
            Fate::InBoth => {}
            Fate::New => remark.push_str(&format!(", only {}", pair.labels[1])),
            Fate::Gone => remark.push_str(&format!(", only {}", pair.labels[0])),
            Fate::Renamed(_) => remark.push_str(", another version"),
        }
        Row { text: symbol.name, remark, difference: symbol.own, write: unit.write }
    });
    parts.extend(table(rows.collect(), pair, Order::Largest, ["function", "functions"]));
    parts
}

/// What samples cost is in the CPU time, and more of it on the side that was sampled more often.
fn rates(base: &[&Profile], other: &[&Profile]) -> Option<Line> {
    let rate = |profiles: &[&Profile]| {
        profiles.iter().map(|profile| profile.rate_hz).sum::<f64>() / profiles.len().max(1) as f64
    };
    let (base, other) = (rate(base), rate(other));
    let is_different = base.max(other) > SAME_RATE * base.min(other);
    let text = format!(
        "sampled at different rates, {} and {} a second: what samples cost is in these times, so small \
         differences mean nothing",
        count(base),
        count(other)
    );
    is_different.then(|| vec![toned(Tone::Warning, text)])
}

/// The difference of the totals, and of what the kernel has of it.
fn sums(base: &[&Profile], other: &[&Profile], pair: &Pair<'_>, unit: Unit) -> Option<Line> {
    let totals =
        |profiles: &[&Profile]| profiles.iter().map(|profile| profile.total).collect::<Option<Vec<_>>>();
    let difference = Difference::of(&totals(base)?, &totals(other)?, 0.0)?;
    let text = format!(
        "{} has {} {} against {} of {}: {}",
        pair.labels[1],
        (unit.write)(difference.other),
        unit.what,
        (unit.write)(difference.base),
        pair.labels[0],
        signed(difference.amount(), unit.write)
    );
    Some(vec![toned(Tone::Strong, text)])
}
