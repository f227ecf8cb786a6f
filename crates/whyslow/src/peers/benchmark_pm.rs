//! Lines that Perl's Benchmark.pm prints: a name, a colon and a `timestr`, in all of its styles. Lines of the same name
//! are one sample of CPU seconds per iteration (of the code and, where the style shows them, its children). Wall
//! time is a second sample where it has fractions; whole seconds would only mislead. Any number may be negative:
//! the empty loop is subtracted, and clocks tick. The line does not say the iterations where the CPU time is zero, and
//! then the time per iteration is zero as well. Charts and other words are skipped.

use crate::model::{DataSet, PerlTimes};

use super::error::{Fault, excerpt};
use super::gather::Gathering;
use super::glimpse::Glimpse;
use super::source::{Source, time};
use super::{Format, number};

pub(super) const FORMAT: Format =
    Format { name: "benchmark-pm", title: "output of Perl's Benchmark.pm", detect, read };

/// Between the wall time and the rest.
const MARK: &str = " wallclock secs (";

/// Comes on a line of its own after the line it is about.
const WARNING: &str = "(warning: too few iterations for a reliable count)";

fn detect(glimpse: &Glimpse<'_>) -> bool {
    glimpse.lines().any(|line| line.contains(MARK))
}

fn read(source: &Source<'_>) -> Result<Vec<DataSet>, Fault> {
    let timings = timings(source)?;
    let hires = timings.iter().any(|timing| timing.times.real_s.fract() != 0.0);
    let mut samples = Gathering::default();
    for timing in &timings {
        samples.turn(&timing.name);
        add_cpu(source, &mut samples, timing);
        if hires {
            add_wall(source, &mut samples, timing);
        }
    }
    Ok(samples.finish())
}

/// One printed line.
struct Timing {
    line: usize,
    name: String,
    times: PerlTimes,
    /// The total as printed.
    cpu_s: f64,
    rate: Option<f64>,
    warnings: usize,
}

impl Timing {
    fn per_iteration(&self, total_s: f64) -> f64 {
        if self.times.iterations == 0.0 { total_s } else { total_s / self.times.iterations }
    }
}

fn timings(source: &Source<'_>) -> Result<Vec<Timing>, Fault> {
    let mut timings: Vec<Timing> = Vec::new();
    for (number, line) in source.lines() {
        if line.contains(WARNING) {
            timings.last_mut().into_iter().for_each(|timing| timing.warnings += 1);
        } else if let Some((before, after)) = line.split_once(MARK) {
            timings.push(timing(source.file, number, before, after)?);
        }
    }
    Ok(timings)
}

fn timing(file: &str, line: usize, before: &str, after: &str) -> Result<Timing, Fault> {
    let start = before.rfind(|c: char| c.is_whitespace() || c == ':').map_or(0, |end| end + 1);
    let start = if before.is_char_boundary(start) { start } else { 0 };
    let name = before[..start].trim();
    let name = name.strip_suffix(':').unwrap_or(name).trim_end();
    let (inside, rest) = after.split_once(')').ok_or_else(|| Fault::at(line, "the line ends too early"))?;
    let parts = Parts::parse(line, inside)?;
    let iterations = iterations(line, rest)?;
    let times = parts.times(number_at(line, &before[start..])?, iterations.unwrap_or(0.0));
    let name = if name.is_empty() { file } else { name };
    Ok(Timing {
        line,
        name: name.to_owned(),
        times,
        cpu_s: parts.total(),
        rate: rate(line, rest)?,
        warnings: 0,
    })
}

/// `3.59 usr 0.00 sys + 1.00 cusr 0.50 csys = 5.09 CPU` as numbers and what they are.
struct Parts<'a>(Vec<(&'a str, f64)>);

impl<'a> Parts<'a> {
    fn parse(line: usize, inside: &'a str) -> Result<Self, Fault> {
        let words: Vec<&str> = inside.split_whitespace().filter(|word| !matches!(*word, "+" | "=")).collect();
        let parts = words.chunks(2).map(|pair| match *pair {
            [value, label] => Ok((label, number_at(line, value)?)),
            _ => Err(Fault::at(line, format!("{:?} is out of place", excerpt(pair[0].as_bytes())))),
        });
        let parts = Parts(parts.collect::<Result<_, _>>()?);
        match parts.get("CPU") {
            Some(_) => Ok(parts),
            None => Err(Fault::at(line, "the total of CPU seconds is missing")),
        }
    }

    fn get(&self, label: &str) -> Option<f64> {
        self.0.iter().find(|(name, _)| *name == label).map(|(_, value)| *value)
    }

    fn total(&self) -> f64 {
        self.get("CPU").unwrap_or(f64::NAN)
    }

    /// Styles leave out what they do not show; it counts as zero.
    fn times(&self, real_s: f64, iterations: f64) -> PerlTimes {
        PerlTimes {
            real_s,
            user_s: self.get("usr").unwrap_or(0.0),
            system_s: self.get("sys").unwrap_or(0.0),
            children_user_s: self.get("cusr").unwrap_or(0.0),
            children_system_s: self.get("csys").unwrap_or(0.0),
            iterations,
        }
    }
}

/// The N of `@ 69637.88/s (n=N)`.
fn iterations(line: usize, rest: &str) -> Result<Option<f64>, Fault> {
    let Some((_, after)) = rest.split_once("(n=") else { return Ok(None) };
    let (count, _) = after.split_once(')').ok_or_else(|| Fault::at(line, "the line ends too early"))?;
    number_at(line, count).map(Some)
}

fn rate(line: usize, rest: &str) -> Result<Option<f64>, Fault> {
    let Some((_, after)) = rest.split_once('@') else { return Ok(None) };
    let (rate, _) = after.split_once("/s").ok_or_else(|| Fault::at(line, "the line ends too early"))?;
    number_at(line, rate).map(Some)
}

fn number_at(line: usize, text: &str) -> Result<f64, Fault> {
    let text = text.trim();
    number::parse(text.as_bytes())
        .ok_or_else(|| Fault::at(line, format!("{:?} is not a number", excerpt(text.as_bytes()))))
}

fn add_cpu(source: &Source<'_>, samples: &mut Gathering, timing: &Timing) {
    let set = entry(source, samples, timing, "CPU");
    set.values.push(timing.per_iteration(timing.cpu_s));
    set.printed.extend(timing.rate.map(|rate| ("rate [/s]".to_owned(), rate)));
    if timing.warnings > 0 {
        set.printed.push(("warning: too few iterations".to_owned(), timing.warnings as f64));
    }
    set.perl_times = Some(sum(set.perl_times.unwrap_or_default(), &timing.times));
}

fn add_wall(source: &Source<'_>, samples: &mut Gathering, timing: &Timing) {
    entry(source, samples, timing, "wallclock").values.push(timing.per_iteration(timing.times.real_s));
}

fn entry<'a>(
    source: &Source<'_>,
    samples: &'a mut Gathering,
    timing: &Timing,
    metric: &str,
) -> &'a mut DataSet {
    samples.entry(format!("{}\n{metric}", timing.name), || {
        let mut set = source.data_set(timing.name.as_str(), time(metric));
        set.origin.line = timing.line;
        set
    })
}

/// As Benchmark.pm's `timesum`.
fn sum(first: PerlTimes, second: &PerlTimes) -> PerlTimes {
    PerlTimes {
        real_s: first.real_s + second.real_s,
        user_s: first.user_s + second.user_s,
        system_s: first.system_s + second.system_s,
        children_user_s: first.children_user_s + second.children_user_s,
        children_system_s: first.children_system_s + second.children_system_s,
        iterations: first.iterations + second.iterations,
    }
}
