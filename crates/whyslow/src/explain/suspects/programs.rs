//! Which program files differ, and which interpreters: the evidence that the suspects about builds and run times share.

use super::evidence::{changed, has_alike_syscalls, is_user_time};
use super::{allocating, signs};
use crate::explain::{Case, Side};
use crate::model::{ElfFacts, LoadedProgram};

/// Programs that run other programs' text: the implementation, and how its files are called.
const INTERPRETERS: [(&str, &[&str]); 26] = [
    ("python", &["python"]),
    ("pypy", &["pypy"]),
    ("perl", &["perl", "debugperl"]),
    ("node", &["node", "nodejs"]),
    ("deno", &["deno"]),
    ("bun", &["bun"]),
    ("ruby", &["ruby"]),
    ("jruby", &["jruby"]),
    ("truffleruby", &["truffleruby"]),
    ("java", &["java"]),
    ("php", &["php"]),
    ("lua", &["lua"]),
    ("luajit", &["luajit"]),
    ("bash", &["bash"]),
    ("dash", &["dash"]),
    ("sh", &["sh", "ash"]),
    ("zsh", &["zsh"]),
    ("ksh", &["ksh"]),
    ("mksh", &["mksh"]),
    ("oksh", &["oksh"]),
    ("awk", &["awk", "nawk"]),
    ("gawk", &["gawk"]),
    ("mawk", &["mawk"]),
    ("original-awk", &["original-awk"]),
    ("goawk", &["goawk"]),
    ("tcl", &["tclsh"]),
];

/// The implementation of an interpreter and its name, by a path: `python` and `python3.12`.
pub fn interpreter(path: &str) -> Option<(&'static str, &str)> {
    let name = signs::base_name(path);
    let is_version = |rest: &str| {
        rest.is_empty()
            || rest.starts_with(|letter: char| letter.is_ascii_digit() || matches!(letter, '-' | '.'))
    };
    let is_called = |known: &&&str| name.strip_prefix(**known).is_some_and(is_version);
    INTERPRETERS
        .iter()
        .find(|(_, names)| names.iter().any(|known| is_called(&known)))
        .map(|(implementation, _)| (*implementation, name))
}

/// An interpreter that is another one on the slow side, for the rest of the command line.
#[derive(Debug)]
pub struct Swapped {
    pub difference: usize,
    pub fast: String,
    pub slow: String,
}

/// The first difference in which a word is an interpreter on both sides.
pub fn swapped_interpreter(case: &Case<'_>) -> Option<Swapped> {
    changed(case).into_iter().find_map(|changed| {
        let find = |words: &[String]| words.iter().find(|word| interpreter(word).is_some()).cloned();
        let (fast, slow) = (find(&changed.fast)?, find(&changed.slow)?);
        let is_other = fast != slow && !ends_in(case, &fast);
        is_other.then_some(Swapped { difference: changed.index, fast, slow })
    })
}

/// Whether the slow side comes to the program of the fast side by a detour.
fn ends_in(case: &Case<'_>, fast: &str) -> bool {
    let started = case.slow.syscalls().map(|seen| seen.programs.as_slice()).unwrap_or_default();
    let path = |side: &Side<'_>| side.environment()?.get("program.path").map(str::to_owned);
    let is_same = path(&case.fast).is_some_and(|fast| path(&case.slow) == Some(fast));
    is_same || (fast.contains('/') && started.iter().any(|program| program.path == fast))
}

/// Program files that only one side starts: those of the fast side and those of the slow side. By the loading
/// probe; none where it did not look.
fn other_programs<'a>(case: &Case<'a>) -> (Vec<&'a LoadedProgram>, Vec<&'a LoadedProgram>) {
    let all = |side: &Side<'a>| side.loading().map(|loading| loading.programs.iter()).into_iter().flatten();
    let only = |these: &Side<'a>, those: &Side<'a>| {
        let is_new = |program: &&LoadedProgram| !all(those).any(|other| other.path == program.path);
        all(these).filter(is_new).collect()
    };
    (only(&case.fast, &case.slow), only(&case.slow, &case.fast))
}

/// The difference that puts another program file in, where neither is an interpreter.
pub fn swapped_program(case: &Case<'_>) -> Option<usize> {
    let looks_like_a_program = |word: &String| word.contains('/') && !word.starts_with('-');
    let (fast, slow) = other_programs(case);
    let is_started = |word: &String, programs: &[&LoadedProgram]| {
        programs.iter().any(|program| signs::base_name(&program.path) == signs::base_name(word))
    };
    let is_known = case.fast.loading().is_some() && case.slow.loading().is_some();
    changed(case).into_iter().find_map(|changed| {
        let is_first = case.differences[changed.index].is_program();
        let pair = changed.fast.iter().zip(&changed.slow);
        let is_program = pair.clone().any(|(one, other)| {
            let seen = is_known && is_started(one, &fast) && is_started(other, &slow);
            let named = !is_known
                && are_alike(one, other)
                && (is_first || (looks_like_a_program(one) && looks_like_a_program(other)));
            (seen || named) && interpreter(one).is_none() && interpreter(other).is_none()
        });
        is_program.then_some(changed.index)
    })
}

/// Whether the names could be those of two builds: `calc-a` and `calc-b`, or `old/calc` and `new/calc`.
fn are_alike(one: &str, other: &str) -> bool {
    let (one, other) = (signs::base_name(one), signs::base_name(other));
    let common = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    one == other || common >= 3
}

/// What the ELF files say that only one of the sides starts.
pub fn other_elf<'a>(case: &Case<'a>) -> (Vec<&'a ElfFacts>, Vec<&'a ElfFacts>) {
    let (fast, slow) = other_programs(case);
    let elf = |programs: Vec<&'a LoadedProgram>| {
        programs.into_iter().filter_map(|program| program.elf.as_ref()).collect()
    };
    (elf(fast), elf(slow))
}

/// Whether the gap is user time that neither system calls nor allocations account for, so that it is in the code.
pub fn is_in_the_code(case: &Case<'_>) -> bool {
    let is_alike = allocating::counted(case).is_none_or(|(fast, slow)| {
        let more = slow.allocations() as f64 - fast.allocations() as f64;
        case.share(more * case.prices.malloc_s) < 0.3
    });
    is_user_time(case, 0.6) && is_alike && (has_alike_syscalls(case) || is_user_time(case, 0.8))
}

/// Distinct functions of the program itself in which a side is seen.
pub fn own_functions(side: &Side<'_>) -> Option<Vec<String>> {
    let profile = side.cpu()?;
    let program = signs::program(side);
    let is_own = |module: &str| {
        module == program || module == "program" || !(module.contains(".so") || module.starts_with('['))
    };
    let frames = profile.frames.iter().filter(|frame| is_own(&frame.module));
    Some(frames.map(|frame| frame.name.clone()).collect())
}

/// The first version number in a text: digits with dots between them.
pub fn version_in(text: &str) -> Option<String> {
    let is_part = |letter: char| letter.is_ascii_digit() || letter == '.';
    text.split(|letter: char| !is_part(letter))
        .map(|part| part.trim_matches('.'))
        .find(|part| part.contains('.') && part.starts_with(|letter: char| letter.is_ascii_digit()))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    #[test]
    fn interpreters_are_known_by_their_names() {
        assert_eq!(interpreter("/usr/bin/python3.12"), Some(("python", "python3.12")));
        assert_eq!(interpreter("bash-static"), Some(("bash", "bash-static")));
        assert_eq!(interpreter("/usr/bin/debugperl"), Some(("perl", "debugperl")));
        assert_eq!(interpreter("gawk"), Some(("gawk", "gawk")));
        for other in ["perldoc", "shasum", "./calc", "awkward", "nodeinfo", "shred"] {
            assert_eq!(interpreter(other), None, "{other}");
        }
    }

    #[test]
    fn the_interpreter_is_found_wherever_it_stands() {
        let test = TestCase::new("env A=1 dash x.sh", "env A=1 bash x.sh").build();
        assert_eq!(swapped_interpreter(&test.case()).unwrap().slow, "bash");
        let same = TestCase::new("bash x.sh 1", "bash x.sh 2").build();
        assert!(swapped_interpreter(&same.case()).is_none());
    }

    #[test]
    fn a_program_in_a_script_is_a_program() {
        let test = TestCase::scripts("/w/calc-O2 2000 >o", "/w/calc-O0 2000 >o").build();
        assert_eq!(swapped_program(&test.case()), Some(0));
        let option = TestCase::scripts("/w/calc 2000 >o", "/w/calc 3000 >o").build();
        assert_eq!(swapped_program(&option.case()), None);
    }

    #[test]
    fn versions() {
        assert_eq!(version_in("/root/.pyenv/versions/3.8.18/bin/python3").as_deref(), Some("3.8.18"));
        assert_eq!(version_in("v20.1.0").as_deref(), Some("20.1.0"));
        assert_eq!(version_in("/usr/bin/python3"), None);
    }
}
