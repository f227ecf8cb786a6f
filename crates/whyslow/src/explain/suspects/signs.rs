//! How to read evidence: small questions that several suspects ask of a case. Every one gives `None` where the probes saw
//! nothing, which is not the same as 0.

use super::starting;
use crate::explain::{Case, Side};
use crate::model::{ByteText, FileUse, Frame};

/// The file name of the program that a side starts, behind `env A=1 B=2` and the like.
pub fn program(side: &Side<'_>) -> String {
    base_name(&program_path(side)).to_owned()
}

/// The program as it is named in the command line, behind `env A=1 B=2` and the like.
pub fn program_path(side: &Side<'_>) -> String {
    let argv = &side.launch().argv;
    argv.get(program_place(argv)).map(|word| word.lossy().into_owned()).unwrap_or_default()
}

/// Words behind the program.
pub fn arguments(side: &Side<'_>) -> Vec<String> {
    let argv = &side.launch().argv;
    argv.iter().skip(program_place(argv) + 1).map(|word| word.lossy().into_owned()).collect()
}

/// Where the program stands: the first word, or the first behind `env` that is no assignment.
fn program_place(argv: &[ByteText]) -> usize {
    let is_env = argv.first().is_some_and(|word| base_name(&word.lossy()) == "env");
    if !is_env {
        return 0;
    }
    let is_program = |word: &ByteText| !word.0.contains(&b'=') && !word.0.starts_with(b"-");
    argv.iter().skip(1).position(is_program).map_or(0, |place| place + 1)
}

/// The last part of a path.
pub fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Calls of these names on the slow side minus those on the fast side.
pub fn more_calls(case: &Case<'_>, names: &[&str]) -> Option<f64> {
    case.more(|side| side.syscalls().map(|syscalls| syscalls.count_of(names) as f64))
}

/// The same for calls that did not fail.
pub fn more_successful_calls(case: &Case<'_>, names: &[&str]) -> Option<f64> {
    let successful = |side: &Side<'_>| {
        let syscalls = side.syscalls()?;
        let counts = names.iter().filter_map(|name| syscalls.calls.get(*name));
        Some(counts.map(|count| count.calls.saturating_sub(count.errors)).sum::<u64>() as f64)
    };
    case.more(successful)
}

/// Programs started on the slow side minus those on the fast side.
pub fn more_starts(case: &Case<'_>) -> Option<f64> {
    case.more(|side| side.starts().map(|starts| starts as f64))
}

/// Calls that failed with this error, on the slow side minus those on the fast side.
pub fn more_errors(case: &Case<'_>, names: &[&str], error: &str) -> Option<f64> {
    let errors = |side: &Side<'_>| {
        let syscalls = side.syscalls()?;
        Some(names.iter().map(|name| syscalls.errors(name, error)).sum::<u64>() as f64)
    };
    case.more(errors)
}

/// The part of the gap that so many system calls cost.
pub fn share_of_calls(case: &Case<'_>, calls: f64) -> f64 {
    case.share(calls * case.prices.syscall_s).clamp(0.0, 1.0)
}

/// Seconds that the slow side spends more in functions with one of these texts in their names, callees included; none
/// where so few samples could be chance.
pub fn more_in_functions(case: &Case<'_>, texts: &[&str]) -> Option<f64> {
    let is_wanted = |name: &str| texts.iter().any(|text| name.contains(text));
    more_than_the_rest(case, |side| side.cpu_in(is_wanted))
}

/// The same for frames, by function and file.
pub fn more_in_functions_where(case: &Case<'_>, is_wanted: impl Fn(&Frame) -> bool) -> Option<f64> {
    more_than_the_rest(case, |side| side.cpu_where(&is_wanted))
}

fn more_than_the_rest<'a>(case: &Case<'a>, seconds: impl Fn(&Side<'a>) -> Option<f64>) -> Option<f64> {
    if grows_with_the_rest(case, &seconds) { Some(0.0) } else { more_by_samples(case, seconds) }
}

/// A part of the work, and no larger a part of it on the slow side: there is more of everything.
fn grows_with_the_rest<'a>(case: &Case<'a>, seconds: impl Fn(&Side<'a>) -> Option<f64>) -> bool {
    const PART: std::ops::Range<f64> = 0.05..0.6;
    const GROWS: f64 = 1.25;
    let share = |side: &Side<'a>| Some(seconds(side)? / side.median("cpu_s")?);
    share(&case.fast)
        .zip(share(&case.slow))
        .is_some_and(|(fast, slow)| PART.contains(&fast) && slow < PART.end && slow < fast * GROWS)
}

/// Whether what functions are called tells anything: those of a static program without symbols have no names, so every
/// function of a library would be new on the other side.
pub fn names_functions_alike(case: &Case<'_>) -> bool {
    let is_nameless = |side: &Side<'_>| starting::any_elf(side, |elf| elf.is_static && elf.is_stripped);
    is_nameless(&case.fast) == is_nameless(&case.slow)
}

/// The difference, where it is more than twice what chance does to the numbers of samples.
fn more_by_samples<'a>(case: &Case<'a>, seconds: impl Fn(&Side<'a>) -> Option<f64>) -> Option<f64> {
    names_functions_alike(case).then_some(())?;
    let (fast_s, slow_s) = (seconds(&case.fast)?, seconds(&case.slow)?);
    let variance =
        |side: &Side<'_>, seconds: f64| side.sample_s().map(|sample_s| sample_s * (seconds + sample_s));
    let scatter_s = (variance(&case.fast, fast_s)? + variance(&case.slow, slow_s)?).sqrt();
    let more_s = slow_s - fast_s;
    Some(if more_s.abs() > 2.0 * scatter_s { more_s } else { 0.0 })
}

/// The same for code of files with one of these texts in their names.
pub fn more_in_modules(case: &Case<'_>, texts: &[&str]) -> Option<f64> {
    more_by_samples(case, |side| side.cpu_where(|frame| texts.iter().any(|text| frame.module.contains(text))))
}

/// The same for the functions themselves, without what they call.
pub fn more_in_functions_alone(case: &Case<'_>, texts: &[&str]) -> Option<f64> {
    let is_wanted = |name: &str| texts.iter().any(|text| name.contains(text));
    more_than_the_rest(case, |side| side.cpu_own_in(is_wanted))
}

/// A count of files, slow minus fast, over the paths that are wanted. Of those that are not listed for their number, the
/// same part is taken to be wanted.
pub fn more_of_files(
    case: &Case<'_>,
    is_wanted: impl Fn(&str) -> bool,
    count: impl Fn(&FileUse) -> u64,
) -> Option<f64> {
    let sum = |side: &Side<'_>| {
        let seen = side.files()?;
        let of = |is_counted: &dyn Fn(&FileUse) -> bool| -> f64 {
            seen.files.iter().filter(|file| is_counted(file)).map(|file| count(file) as f64).sum()
        };
        let (wanted, listed) = (of(&|file| is_wanted(&file.path)), of(&|_| true));
        let is_cut = seen.paths > seen.files.len() as u64 && listed > 0.0;
        let unlisted = if is_cut { (count(&seen.total) as f64 - listed).max(0.0) } else { 0.0 };
        Some(wanted + if is_cut { unlisted * wanted / listed } else { 0.0 })
    };
    case.more(sum)
}

/// "4.2 ms", "1.30 s": a time in a sign.
pub fn seconds(time_s: f64) -> String {
    match time_s.abs() {
        small if small < 1e-3 => format!("{:.0} us", time_s * 1e6),
        small if small < 1.0 => format!("{:.1} ms", time_s * 1e3),
        _ => format!("{time_s:.2} s"),
    }
}

/// "a against b" for a count of both sides, the slow one first.
pub fn counts(what: &str, slow: f64, fast: f64) -> String {
    format!("{what} {slow:.0} against {fast:.0}")
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    #[test]
    fn the_program_stands_behind_env_and_its_assignments() {
        let test = TestCase::new("env A=1 -u B /usr/bin/perl x.pl", "java -Xmx14m -cp . Live").build();
        let case = test.case();
        assert_eq!(program(&case.slow), "java");
        assert_eq!(arguments(&case.slow).len(), 4);
    }

    #[test]
    fn what_no_probe_saw_is_unknown() {
        let test = TestCase::new("a", "b").build();
        assert_eq!(more_calls(&test.case(), &["read"]), None);
        assert_eq!(more_in_functions(&test.case(), &["malloc"]), None);
    }

    #[test]
    fn counts_and_times_are_of_the_slow_side_minus_the_fast_one() {
        let test = TestCase::new("a", "b")
            .seconds(0.1, 0.4)
            .syscalls(|fast, slow| {
                fast.call("read", 10);
                slow.call("read", 1000);
                slow.fail("openat", "ENOENT", 70);
            })
            .cpu(&[("main", 1.0)], &[("main", 1.0), ("main;libc.so.6!malloc", 1.0)])
            .build();
        let case = test.case();
        assert_eq!(more_calls(&case, &["read"]), Some(990.0));
        assert_eq!(more_errors(&case, &["openat", "open"], "ENOENT"), Some(70.0));
        assert!((more_in_functions(&case, &["malloc"]).unwrap() - 0.2).abs() < 1e-9);
    }

    #[test]
    fn more_of_everything_is_no_sign() {
        let hooks = |fast: f64, slow: f64| {
            let stacks = |share: f64| [("main", 1.0 - share), ("main;hook", share)];
            let test =
                TestCase::new("a 1", "a 2").seconds(0.2, 0.4).cpu(&stacks(fast), &stacks(slow)).build();
            more_in_functions(&test.case(), &["hook"]).unwrap()
        };
        assert_eq!(hooks(0.28, 0.3), 0.0);
        assert!(hooks(0.1, 0.3) > 0.09 && hooks(0.9, 0.98) > 0.2);
    }

    /// A thousand samples: one of a half second is worth half a millisecond.
    #[test]
    fn a_few_samples_are_chance() {
        let hooks = |share: f64| {
            let slow = [("main", 1.0 - share), ("main;hook", share)];
            let test = TestCase::new("a 1", "a 2").seconds(0.49, 0.5).cpu(&[("main", 1.0)], &slow).build();
            more_in_functions(&test.case(), &["hook"]).unwrap()
        };
        assert_eq!(hooks(0.002), 0.0);
        assert!((hooks(0.05) - 0.025).abs() < 0.001);
    }
}
