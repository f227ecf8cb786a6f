//! The line that Perl's Benchmark.pm writes about one piece of code.

use super::judged::verdict_lines;
use super::printf::{Conversion, Kind, general};
use super::{Options, TimeStyle};
use crate::model::{DataSet, PerlTimes, Unit};

/// A line for each set, as `timethese` prints them.
pub fn timestr(sets: &[DataSet], options: &Options) -> String {
    let line = |set: &DataSet| {
        let times = perl_times(set);
        format!("{:>10}: {}\n", set.name, timestr_line(&times, options.style, options.format))
    };
    let mut text: String = sets.iter().map(line).collect();
    if !options.compat {
        text.extend(sets.iter().filter_map(|set| below_tick(set, options.style)));
        text.extend(verdict_lines(sets, options).iter().map(|line| format!("{line}\n")));
    }
    text
}

/// The times of one piece of code; nothing for the style `None`.
pub fn timestr_line(times: &PerlTimes, style: TimeStyle, format: Conversion) -> String {
    let style = resolve(times, style);
    let write = |value: f64| format.write_as_perl(value);
    let wall = Conversion::new(2, 6, Kind::General).write_as_perl(times.real_s);
    let (user, system) = (write(times.user_s), write(times.system_s));
    let (child_user, child_system) = (write(times.children_user_s), write(times.children_system_s));
    let total = write(elapsed(times, style));
    let line = match style {
        TimeStyle::None => return String::new(),
        TimeStyle::Nop => {
            format!("{wall} wallclock secs ({child_user} cusr + {child_system} csys = {total} CPU)")
        }
        TimeStyle::Noc => format!("{wall} wallclock secs ({user} usr + {system} sys = {total} CPU)"),
        TimeStyle::All | TimeStyle::Auto => format!(
            "{wall} wallclock secs ({user} usr {system} sys + {child_user} cusr {child_system} csys = {total} CPU)"
        ),
    };
    line + &rate(times, style, format)
}

/// Children's times are shown where there are any.
fn resolve(times: &PerlTimes, style: TimeStyle) -> TimeStyle {
    match style {
        TimeStyle::Auto if children(times) > 0.0 => TimeStyle::All,
        TimeStyle::Auto => TimeStyle::Noc,
        style => style,
    }
}

fn rate(times: &PerlTimes, style: TimeStyle, format: Conversion) -> String {
    let elapsed = elapsed(times, style);
    if times.iterations == 0.0 || elapsed == 0.0 {
        return String::new();
    }
    format!(" @ {}/s (n={})", format.write_as_perl(times.iterations / elapsed), count(times.iterations))
}

/// Perl keeps counts as integers as long as they fit into 64 bits.
fn count(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 9e18 { format!("{value:.0}") } else { general(value, 15) }
}

fn children(times: &PerlTimes) -> f64 {
    times.children_user_s + times.children_system_s
}

/// The CPU time that a rate divides by.
pub fn elapsed(times: &PerlTimes, style: TimeStyle) -> f64 {
    match style {
        TimeStyle::Nop => children(times),
        TimeStyle::Noc => times.user_s + times.system_s,
        _ => times.user_s + times.system_s + times.children_user_s + times.children_system_s,
    }
}

/// The times of a set as Benchmark.pm would have kept them. Values without such times are taken as one iteration
/// each, all of it spent in user code.
pub fn perl_times(set: &DataSet) -> PerlTimes {
    let sum: f64 = match set.metric.unit {
        // The sum of nothing is -0.
        Some(Unit::Seconds) | None => 0.0 + set.values.iter().sum::<f64>(),
        Some(_) => 0.0,
    };
    let of_values = || PerlTimes {
        real_s: sum,
        user_s: sum,
        iterations: set.values.len() as f64,
        ..PerlTimes::default()
    };
    set.perl_times.unwrap_or_else(of_values)
}

/// The clock of `times` ticks every 10 ms; less than that is only a bound.
const TICK_S: f64 = 0.01;

/// What is known of code that is over before the clock ticks, where the original prints a rate beyond all bounds.
pub fn below_tick(set: &DataSet, style: TimeStyle) -> Option<String> {
    let times = set.perl_times?;
    let is_below = elapsed(&times, style) < TICK_S && times.iterations > 0.0;
    let bound = general(times.iterations / TICK_S, 3);
    is_below.then(|| format!("note: {}: less CPU time than one tick (10 ms): > {bound}/s\n", set.name))
}
