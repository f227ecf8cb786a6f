//! A program in front of the program.

use super::evidence::LEAST;
use super::signs::{base_name, more_starts, program_path};
use super::{Suspect, Suspicion};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "proc.shim",
    title: "a script in front of the program",
    about: "What is started is a shim: a script that finds out which program is meant and starts that one.",
    shows: "A chain of programs (bash, env, sed ...) before the one that the other side starts at once.",
    test: "the program is swapped for the one that the other side starts",
    fix: "call the real program, or take the directory of shims out of PATH",
    report: "pyenv/pyenv#2802: the shim takes about 250 ms; also pyenv/pyenv#356.",
    look,
};

/// A loop of processes is something else.
const MOST: f64 = 60.0;
const SHELLS: [&str; 5] = ["bash", "sh", "dash", "busybox", "zsh"];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let more = more_starts(case).filter(|more| (1.0..=MOST).contains(more))?;
    if !reaches_the_same(case) || !starts_as_a_script(&case.slow) {
        return None;
    }
    let in_shells = case
        .more(|side| side.cpu_own_where(|frame| SHELLS.contains(&base_name(&frame.module))))
        .unwrap_or(0.0);
    let priced = case.share(more * case.prices.process_s + in_shells.max(0.0));
    if priced <= LEAST {
        return None;
    }
    let program = base_name(&program_path(&case.fast)).to_owned();
    let sign = format!("{more:.0} programs more are started on the way to {program}");
    // What costs a sixth of the gap is hardly by chance on the way; less may be one cause of several.
    let weight = if priced > 0.15 { 0.6 + 0.4 * priced.min(1.0) } else { priced };
    Some(Suspicion::located(case, weight, vec![sign]))
}

/// The slow side comes to a program of the same name as the fast one, by a detour.
fn reaches_the_same(case: &Case<'_>) -> bool {
    let (Some(fast), Some(slow)) = (case.fast.syscalls(), case.slow.syscalls()) else { return false };
    let wanted = base_name(&program_path(&case.fast)).to_owned();
    let has = |side: &crate::model::Syscalls| {
        side.programs.iter().any(|program| is_version_of(base_name(&program.path), &wanted))
    };
    has(slow)
        && (has(fast) || fast.programs.is_empty())
        && program_path(&case.slow) != program_path(&case.fast)
}

/// `python3` is `python3.11` here.
fn is_version_of(name: &str, wanted: &str) -> bool {
    let plain = |name: &str| {
        name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.').to_owned()
    };
    !name.is_empty() && plain(name) == plain(wanted)
}

fn starts_as_a_script(side: &Side<'_>) -> bool {
    let is_shell = |path: &str| SHELLS.contains(&base_name(path)) || base_name(path) == "env";
    let started = side.syscalls().is_some_and(|seen| seen.programs.iter().any(|one| is_shell(&one.path)));
    let is_script = side.loading().is_some_and(|seen| seen.programs.iter().any(|one| one.script.is_some()));
    started || is_script || program_path(side).contains("/shims/")
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::model::StartedProgram;

    fn shims(slow_s: f64) -> TestCase {
        let line = "/v/3.11.7/bin/python3.11 -c pass";
        TestCase::new(line, "/pyenv/shims/python3.11 -c pass").seconds(0.037, slow_s).syscalls(
            |fast, slow| {
                let started = |path: &str| StartedProgram { path: path.to_owned(), starts: 1 };
                fast.programs = vec![started("/v/3.11.7/bin/python3.11")];
                slow.programs =
                    ["/usr/bin/bash", "/usr/bin/env", "/v/3.11.7/bin/python3.11"].map(started).to_vec();
                slow.starts = 12;
                slow.processes = 20;
            },
        )
    }

    #[test]
    fn the_shim_of_pyenv() {
        let test = shims(0.082);
        assert!(test.weight(&SUSPECT) > 0.6);
        assert_eq!(test.candidates()[0], "proc.shim");
    }

    #[test]
    fn a_detour_in_a_much_larger_gap_is_innocent() {
        assert_eq!(shims(5.0).weight(&SUSPECT), 0.0);
    }

    #[test]
    fn another_program_is_no_shim() {
        let test = TestCase::new("perl -e 1", "sh x.sh").syscalls(|_, slow| slow.starts = 12);
        assert_eq!(test.weight(&SUSPECT), 0.0);
    }
}
