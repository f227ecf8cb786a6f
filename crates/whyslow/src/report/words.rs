//! The sentences: verdicts, concerns, ways to end. Everything a person reads about a result is worded here.

use super::document::{Line, Tone, plain, toned};
use super::quantity::{factor, factor_number, percent, percent_number, seconds};
use crate::analysis::{
    Comparison, Concern, Forecast, Mode, Outliers, Reading, TwoModes, VariantSummary, Verdict,
};
use crate::model::{Exit, Unit};

/// From here on a ratio is easier to read as a factor than as per cent.
const FACTOR_FROM: f64 = 1.095;

/// The verdict of one comparison as a sentence: `new is 1.23x slower than old [1.19, 1.27] (wall time)`, or
/// `new has 2.00x more page faults than old [1.99, 2.01]`.
pub fn headline(names: &[String], comparison: &Comparison) -> Line {
    let base = toned(Tone::Strong, names[comparison.base].as_str());
    let other = toned(Tone::Strong, names[comparison.other].as_str());
    let metric = short_metric(&comparison.metric);
    let suffix = toned(Tone::Faint, format!(" ({metric})"));
    match comparison.verdict {
        Verdict::Slower | Verdict::Faster => {
            let (size, interval) = size(comparison);
            let interval = plain(format!(" {interval}"));
            if is_time(comparison.unit) {
                vec![other, plain(" is "), size, plain(" than "), base, interval, suffix]
            } else {
                vec![other, plain(" has "), size, plain(format!(" {metric} than ")), base, interval]
            }
        }
        Verdict::Same => vec![
            other,
            plain(" and "),
            base,
            plain(": "),
            toned(Tone::Same, same(comparison)),
            plain(resolved(comparison)),
            suffix,
        ],
        Verdict::Undecided => vec![
            other,
            plain(" against "),
            base,
            plain(": "),
            toned(Tone::Undecided, "undecided"),
            plain(format!(", {}; {}", open_range(comparison), outlook(comparison))),
            suffix,
        ],
    }
}

/// The verdict on one metric in few words, for the second line and for tables.
pub fn short_verdict(comparison: &Comparison) -> Line {
    match comparison.verdict {
        Verdict::Slower | Verdict::Faster => {
            let (size, interval) = size(comparison);
            vec![size, plain(format!(" {interval}"))]
        }
        Verdict::Same => vec![toned(Tone::Same, same(comparison)), plain(resolved(comparison))],
        Verdict::Undecided => {
            vec![toned(Tone::Undecided, "undecided"), plain(format!(", {}", open_range(comparison)))]
        }
    }
}

/// The verdict in a few words, without the names: `4.1 % slower`.
pub fn briefly(comparison: &Comparison) -> String {
    match comparison.verdict {
        Verdict::Slower | Verdict::Faster => amount(comparison.ratio.point, comparison.unit).0,
        Verdict::Same => same(comparison),
        Verdict::Undecided => format!("undecided, {}", open_range(comparison)),
    }
}

fn same(comparison: &Comparison) -> String {
    let largest = comparison.largest_difference().unwrap_or(comparison.margin);
    format!("no difference larger than {}", percent(largest))
}

/// Within the margin, yet not nothing.
fn resolved(comparison: &Comparison) -> String {
    if !comparison.is_resolved() {
        return String::new();
    }
    format!(" (but {} is real)", amount(comparison.ratio.point, comparison.unit).0)
}

/// `1.23x slower` with `[1.19, 1.27]`, or `4.9 % slower` with `[4.3 %, 5.5 %]`.
fn size(comparison: &Comparison) -> (super::Span, String) {
    let tone = if comparison.verdict == Verdict::Slower { Tone::Slower } else { Tone::Faster };
    let ratio = comparison.ratio;
    let (text, is_factor) = amount(ratio.point, comparison.unit);
    let bounds = ratio
        .low
        .zip(ratio.high)
        .map(|(low, high)| if ratio.point >= 1.0 { (low, high) } else { (1.0 / high, 1.0 / low) });
    let interval = bounds.map_or(String::new(), |(low, high)| {
        if is_factor {
            format!("[{}, {}]", factor_number(low), factor_number(high))
        } else {
            format!("[{}, {}] %", percent_number(low - 1.0), percent_number(high - 1.0))
        }
    });
    (toned(tone, text), interval)
}

/// How much slower or faster, or more or less, and whether it is given as a factor.
fn amount(ratio: f64, unit: Unit) -> (String, bool) {
    let direction = match (is_time(unit), ratio >= 1.0) {
        (true, true) => "slower",
        (true, false) => "faster",
        (false, true) => "more",
        (false, false) => "less",
    };
    let size = ratio.max(1.0 / ratio);
    if size >= FACTOR_FROM {
        (format!("{} {direction}", factor(size)), true)
    } else {
        (format!("{} {direction}", percent(size - 1.0)), false)
    }
}

fn is_time(unit: Unit) -> bool {
    unit == Unit::Seconds
}

fn open_range(comparison: &Comparison) -> String {
    match comparison.ratio.low.zip(comparison.ratio.high) {
        None => "too few runs for any interval".to_owned(),
        Some((low, high)) => between(low, high, comparison.unit),
    }
}

/// `between 1.2 % faster and 1.23x slower`.
pub fn between(low: f64, high: f64, unit: Unit) -> String {
    format!("between {} and {}", amount(low, unit).0, amount(high, unit).0)
}

fn outlook(comparison: &Comparison) -> String {
    match comparison.forecast {
        Some(Forecast::MoreBlocks(1)) => "about 1 more block would decide".to_owned(),
        Some(Forecast::MoreBlocks(blocks)) => format!("about {blocks} more blocks would decide"),
        Some(Forecast::OutOfReach) | None => {
            "not reachable here as it is: try a quieter machine, a larger --margin, or judge by CPU time"
                .to_owned()
        }
    }
}

/// How a run ended, after "it": `exited with status 22`.
pub fn exit(exit: &Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exited with status {code}"),
        Exit::Signal(signal) => format!("was killed by signal {signal}{}", signal_name(*signal)),
        Exit::Stopped(signal) => {
            format!("was stopped by signal {signal}{} and did not go on", signal_name(*signal))
        }
        Exit::TimedOut => "did not end in time and was killed".to_owned(),
        Exit::NotStarted { errno: 2, step } if step == "exec" => "was not found".to_owned(),
        Exit::NotStarted { errno, step } => {
            let reason = std::io::Error::from_raw_os_error(*errno).to_string();
            let reason = reason.split(" (os error").next().unwrap_or_default().to_lowercase();
            format!("could not be started ({}: {reason})", super::printable(step))
        }
        Exit::Interrupted => "was interrupted".to_owned(),
    }
}

/// How often runs failed, and how: `3 of 20 failed (2 exited with status 1, 1 did not end in time and was killed)`.
pub fn failures(variant: &VariantSummary) -> String {
    let kinds: Vec<String> =
        variant.failures.iter().map(|(kind, count)| format!("{count} {}", failure_kind(kind))).collect();
    format!("{} of {} runs failed ({})", variant.failed, variant.runs + variant.failed, kinds.join(", "))
}

/// What several runs that failed have in common.
pub fn failure_kind(exit: &Exit) -> String {
    match exit {
        Exit::Code(code) => format!("with status {code}"),
        Exit::Signal(signal) => format!("by signal {signal}{}", signal_name(*signal)),
        Exit::Stopped(signal) => format!("stopped by signal {signal}{}", signal_name(*signal)),
        Exit::TimedOut => "out of time".to_owned(),
        Exit::NotStarted { .. } => "not started".to_owned(),
        Exit::Interrupted => "interrupted".to_owned(),
    }
}

/// Where no run of a variant succeeded there is no ratio, but a time that is too short is a bound.
pub fn without_runs(names: &[String], index: usize, variant: &VariantSummary) -> String {
    match variant.timed_out_after_s {
        Some(limit_s) => {
            format!(
                "{}: more than {} ({} of {} runs timed out), so no ratio",
                names[index],
                seconds(limit_s),
                variant.failed,
                variant.failed
            )
        }
        None => format!("{}: no run succeeded, so no ratio", names[index]),
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        1 => " (SIGHUP)",
        2 => " (SIGINT)",
        3 => " (SIGQUIT)",
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        14 => " (SIGALRM)",
        15 => " (SIGTERM)",
        19 => " (SIGSTOP)",
        20 => " (SIGTSTP)",
        21 => " (SIGTTIN)",
        22 => " (SIGTTOU)",
        24 => " (SIGXCPU)",
        25 => " (SIGXFSZ)",
        31 => " (SIGSYS)",
        _ => "",
    }
}

/// A concern as a sentence that says what was seen and what to do about it.
pub fn concern(names: &[String], concern: &Concern) -> String {
    if names.len() == 1 { super::alone::concern(concern) } else { concern_of_several(names, concern) }
}

pub(super) fn concern_of_several(names: &[String], concern: &Concern) -> String {
    let name = |variant: usize| names[variant].as_str();
    match concern {
        Concern::Busy { wait_share } => format!(
            "the machine was busy: {} of the time was spent waiting for a CPU; CPU time suffers less than wall time",
            percent(*wait_share)
        ),
        Concern::Pressure { share } => format!(
            "some task was waiting for a CPU {} of the time, one of other programs or of the commands themselves; CPU time suffers less than wall time",
            percent(*share)
        ),
        Concern::Steal { share } => format!(
            "the hypervisor took {} of the time away for other guests",
            percent(*share)
        ),
        Concern::Frequency { change } => format!(
            "the CPU frequency went {} by {} during the measurement; the blocks cancel it, single times do not",
            up_or_down(*change),
            percent(change.abs())
        ),
        Concern::Suspended { runs, seconds: asleep_s } => format!(
            "the computer was suspended during {runs} {}, for {} in all: the wall time leaves that out, but what follows a sleep is not as before",
            if *runs == 1 { "run" } else { "runs" },
            seconds(*asleep_s)
        ),
        Concern::Drift { change } => format!(
            "all times went {} by {} during the measurement; the verdict stands, because every block holds every variant",
            up_or_down(*change),
            percent(change.abs())
        ),
        Concern::Order { other, second_over_first } => format!(
            "the second run of a pair is {} than the first ({}): caches or clocks carry over; random order cancels it, more --warmup may remove it",
            amount(*second_over_first, Unit::Seconds).0,
            name(*other)
        ),
        Concern::FirstRun { ratio, is_warmup } => format!(
            "{} took {} the median of all, as where caches are cold or something has to be made first; {}",
            if *is_warmup { "the first warm-up run, which is not counted," } else { "the first run" },
            factor(*ratio),
            match is_warmup {
                true => "--prepare can make every run such a one",
                false => "more --warmup leaves such runs out",
            }
        ),
        Concern::AlikeNeighbours => {
            "neighbouring runs resemble each other: the machine had faster and slower times; the interval is widened for that"
                .to_owned()
        }
        Concern::Correlated { other, metrics } => format!(
            "{}: the difference in {} came and went during the measurement; the interval is widened for that",
            name(*other),
            metrics.iter().map(|metric| short_metric(metric)).collect::<Vec<_>>().join(" and ")
        ),
        Concern::Outliers { variants } => {
            let each: Vec<String> = variants.iter().map(|outliers| outlier_words(name(outliers.variant), outliers)).collect();
            format!("some runs stand out, and none is dropped: {}", each.join("; "))
        }
        Concern::TwoModes { variants, together } => {
            let each: Vec<String> = variants.iter().map(|modes| mode_words(name(modes.variant), modes)).collect();
            let cause = match together {
                true => "all at the same time: the machine has two speeds, not the programs",
                false => "look for what alternates (which CPU, memory layout, a cache)",
            };
            format!("runs fall into two groups, {cause}: {}", each.join("; "))
        }
        Concern::Short { variant, median_s, floor_s } => format!(
            "{}: of {}, about {} is the start of any program at all here; more work per run tells more",
            name(*variant),
            seconds(*median_s),
            seconds(*floor_s)
        ),
        Concern::NoSplit { variants } => {
            let whose = match variants.len() == names.len() {
                true => String::new(),
                false => format!(" of {}", variants.iter().map(|&v| name(v)).collect::<Vec<_>>().join(", ")),
            };
            format!("user and system time{whose}: unknown, the timer tick misbooks runs this short; their sum is right")
        }
        Concern::Failures { rates_differ: true, .. } => {
            "the variants do not fail equally often: only runs that succeeded are compared, which may be the easy ones".to_owned()
        }
        Concern::Failures { .. } => "failed runs are counted and left out; only runs that succeeded are compared".to_owned(),
        Concern::Leftovers { variant, runs } => format!(
            "{}: in {runs} runs descendants were still alive when the command had ended; what they did afterwards is not in the numbers (--wait-descendants TIME waits for them)",
            name(*variant)
        ),
        Concern::OutputDiffers { others } => format!(
            "the output differs: {} wrote something else than the base, so this may not be the same work",
            others.iter().map(|&other| name(other)).collect::<Vec<_>>().join(", ")
        ),
        Concern::OutputVaries { variant } => format!("{}: the output is not the same in every run", name(*variant)),
        Concern::LeadingUnknown { metric } => {
            format!("{} was to decide, but has no values above 0 to compare", short_metric(metric))
        }
        Concern::Medians { other, ratio } => format!(
            "{}: the medians in the table differ by {}, the blocks by less or more: times fall into groups, and only runs close in time are compared",
            name(*other),
            factor(ratio.max(1.0 / ratio))
        ),
        Concern::Reading { other, reading } => reading_words(name(*other), *reading),
        Concern::CpuStandsForWall { other } => format!(
            "{}: nothing but CPU work, so the CPU verdict is what an idle machine would show in wall time",
            name(*other)
        ),
        Concern::TooFewBlocks { blocks, needed } => format!(
            "{blocks} {} cannot decide anything at this confidence; {needed} is the least",
            if *blocks == 1 { "block" } else { "blocks" }
        ),
    }
}

fn outlier_words(name: &str, outliers: &Outliers) -> String {
    format!(
        "{}{} of {}, up to {} the median{}",
        lead(name),
        outliers.count,
        outliers.runs,
        factor(outliers.slowest_ratio),
        if outliers.waited { ", mostly by waiting for a CPU" } else { "" }
    )
}

fn reading_words(name: &str, reading: Reading) -> String {
    match reading {
        Reading::Waiting => format!(
            "{name}: the wall time differs and the CPU time does not: the difference is waiting (disk, lock, network, another process)"
        ),
        Reading::HiddenByLoad => {
            format!("{name}: the CPU time differs, and the noise of the machine hides it in the wall time")
        }
        Reading::ParallelSlack => format!(
            "{name}: the CPU time differs and the wall time does not: the work is done beside something else"
        ),
        Reading::Parallelism => format!(
            "{name}: wall and CPU time differ in opposite directions: the work is spread over CPUs differently"
        ),
    }
}

fn mode_words(name: &str, modes: &TwoModes) -> String {
    let [fast, slow] = &modes.modes;
    format!("{}{}, {} and {}", lead(name), short_metric(&modes.metric), mode(fast), mode(slow))
}

/// A name before what is said of it; the only command has none.
fn lead(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("{name} ") }
}

fn mode(mode: &Mode) -> String {
    format!("{} near {}", percent(mode.share), seconds(mode.median))
}

pub(super) fn up_or_down(change: f64) -> &'static str {
    if change >= 0.0 { "up" } else { "down" }
}

/// `wall time` for `wall_s`.
pub fn short_metric(metric: &str) -> &str {
    crate::model::known_metric(metric).map_or(metric, |row| row.title)
}
