//! Another version of the same interpreter.

use super::programs::{Swapped, interpreter, swapped_interpreter, version_in};
use super::rt_interpreter::part_of_programs;
use super::starting::any_elf;
use super::{Suspect, Suspicion};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "rt.version",
    title: "version of the interpreter",
    about: "The same script is run by another version of the same interpreter.",
    shows: "User time in the interpreter; another version, and about the same system calls.",
    test: "Only the interpreter is swapped; that locates it, since two builds may differ in more than their version.",
    fix: "use the faster version",
    report: "Python 3.11 release notes: 10 to 60 % faster than 3.10; python/cpython#99862 is slower since 3.11.",
    look,
};

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let swapped = same_interpreter(case)?;
    let (fast, slow) = versions(case, &swapped);
    let (weight, sign) = match (&fast, &slow) {
        (Some(fast), Some(slow)) if fast == slow => return None,
        // What is mended within a release is seldom this slow; how it was built may well be.
        (Some(fast), Some(slow)) if release(fast) == release(slow) => {
            (0.5, format!("version {slow} against {fast}, of the same release"))
        }
        (Some(fast), Some(slow)) => (0.9, format!("version {slow} against {fast}")),
        // Two ways of linking one interpreter are hardly two versions.
        _ if is_static(&case.fast) != is_static(&case.slow) => return None,
        _ => (0.4, format!("{} against {}, of unknown versions", swapped.slow, swapped.fast)),
    };
    let weight = weight * part_of_programs(case);
    Some(Suspicion::of_difference(swapped.difference, weight, vec![sign]))
}

/// `3.11` of 3.11.7.
pub fn release(version: &str) -> Vec<&str> {
    version.split('.').take(2).collect()
}

fn is_static(side: &Side<'_>) -> bool {
    any_elf(side, |elf| elf.is_static)
}

/// Two files of one interpreter.
pub fn same_interpreter(case: &Case<'_>) -> Option<Swapped> {
    let swapped = swapped_interpreter(case)?;
    (interpreter(&swapped.fast)?.0 == interpreter(&swapped.slow)?.0).then_some(swapped)
}

/// By what the interpreters say of themselves, else by their paths.
pub fn versions(case: &Case<'_>, swapped: &Swapped) -> (Option<String>, Option<String>) {
    let told = |side: &Side<'_>| {
        let text = side.environment()?.get("interpreter.version")?;
        Some(version_in(text).unwrap_or_else(|| text.to_owned()))
    };
    match (told(&case.fast), told(&case.slow)) {
        (Some(fast), Some(slow)) => (Some(fast), Some(slow)),
        _ => (version_in(&swapped.fast), version_in(&swapped.slow)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    #[test]
    fn versions_by_what_they_say_or_by_their_paths() {
        let paths =
            TestCase::new("/v/3.12.1/bin/python3 b.py", "/v/3.8.18/bin/python3 b.py").seconds(0.135, 0.187);
        assert_eq!(paths.candidates()[0], "rt.version");
        let test = TestCase::new("/opt/new/perl a.pl", "/usr/bin/perl a.pl")
            .facts(&[("interpreter.version", "5.36.0")], &[("interpreter.version", "5.8.8")]);
        assert_eq!(test.look(&SUSPECT).unwrap().signs, ["version 5.8.8 against 5.36.0"]);
    }

    #[test]
    fn the_same_version_is_innocent() {
        let test = TestCase::new("/opt/perl a.pl", "/usr/bin/perl a.pl")
            .facts(&[("interpreter.version", "5.36.0")], &[("interpreter.version", "5.36.0")]);
        assert!(test.look(&SUSPECT).is_none());
        assert!(TestCase::new("perl a.pl", "perl b.pl").look(&SUSPECT).is_none());
    }

    #[test]
    fn a_static_build_is_no_other_version_until_it_says_so() {
        let test = TestCase::new("bash-static f.sh", "bash f.sh").loading(|fast, slow| {
            super::super::starting::tests::load(fast, "bash-static", 1, 0);
            super::super::starting::tests::load(slow, "bash", 1, 3);
        });
        assert!(test.look(&SUSPECT).is_none());
    }
}
