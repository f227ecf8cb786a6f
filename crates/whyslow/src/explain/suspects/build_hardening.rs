//! Checks and barriers that a compiler adds against attacks.

use super::evidence::{LEAST, specific};
use super::programs::{is_in_the_code, other_elf, swapped_program};
use super::{Suspect, Suspicion, signs};
use crate::explain::Case;
use crate::model::ElfFacts;

pub const SUSPECT: Suspect = Suspect {
    name: "build.hardening",
    title: "hardened build",
    about: "The program was built with stack protection, fortified functions, bounds checks, retpolines or as a \
            position-independent executable, which adds a little to calls and accesses.",
    shows: "User time spread over the functions that the program has anyway; __*_chk functions; flags in the file.",
    test: "Only another build is without it, so it is located by swapping the program.",
    fix: "leave it on where input cannot be trusted; measure -fno-stack-protector and -fno-plt for what is hot",
    report: "Perl 5.36 adds hardening flags by itself, older ones do not: builds of both differ in more than the version.",
    look,
};

const KINDS: [&str; 7] =
    ["stack protector", "fortify", "cfi", "retpoline", "stack clash", "libstdc++ assertions", "safe stack"];
/// What such builds call: fortified functions, arithmetic that traps (-ftrapv), the checks of a standard library.
const CHECKS: [&str; 8] =
    ["_chk", "__addv", "__subv", "__mulv", "__negv", "__absv", "__ubsan_handle", "__glibcxx_assert"];
/// Then they come before what else may be said of a build.
const MOSTLY: f64 = 0.8;
/// From this part of the gap on, the checks themselves are it.
const MOST: f64 = 0.2;
const FLAGS: [&str; 9] = [
    "-fstack-protector",
    "-D_FORTIFY_SOURCE",
    "-fcf-protection",
    "-mindirect-branch",
    "-fstack-clash-protection",
    "-ftrapv",
    "-fsanitize",
    "-fhardened",
    "-D_GLIBCXX_ASSERTIONS",
];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let difference = swapped_program(case)?;
    if !is_in_the_code(case) {
        return None;
    }
    let (fast, slow) = other_elf(case);
    let (known, all) = (hardening(&fast), hardening(&slow));
    let added: Vec<String> = all.into_iter().filter(|kind| !known.contains(kind)).collect();
    let checked = signs::more_in_functions_alone(case, &CHECKS).filter(|more| case.share(*more) > LEAST);
    if added.is_empty() && checked.is_none() {
        return None;
    }
    // It rarely makes much of a difference, so anything else that is known of the builds comes before it.
    let is_small = case.gap.ratio < 1.5;
    let by_time = checked.map(|more| case.share(more)).filter(|share| *share > MOST).and_then(specific);
    let weight = if is_small || checked.is_some() { 0.5 } else { 0.3 };
    let weight = by_time.map_or(weight, |seen| seen.max(MOSTLY));
    let mut signs: Vec<String> = added.iter().map(|kind| format!("built with {kind}")).collect();
    signs.extend(checked.map(|more| format!("{} more in checking functions", signs::seconds(more))));
    Some(Suspicion::of_difference(difference, weight, signs))
}

fn hardening(files: &[&ElfFacts]) -> Vec<String> {
    let by_file = files.iter().flat_map(|elf| elf.instrumentation.clone());
    let kinds = by_file.filter(|kind| KINDS.contains(&kind.as_str()));
    let words = files.iter().flat_map(|elf| &elf.producers).flat_map(|text| text.split_whitespace());
    let flags = words.filter(|word| FLAGS.iter().any(|flag| word.starts_with(flag))).map(str::to_owned);
    let mut found: Vec<String> = kinds.chain(flags).collect();
    found.extend(files.iter().any(|elf| elf.is_pie).then(|| "position independence".to_owned()));
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::model::LoadedProgram;

    fn builds(slow: f64, kind: Option<&str>) -> TestCase {
        TestCase::new("/w/a 1", "/w/b 1").seconds(0.3, slow).loading(|fast, side| {
            for (side, path, kind) in [(fast, "/w/a", None), (side, "/w/b", kind)] {
                let instrumentation = kind.map(str::to_owned).into_iter().collect();
                let elf = ElfFacts { instrumentation, ..ElfFacts::default() };
                side.programs.push(LoadedProgram {
                    path: path.to_owned(),
                    elf: Some(elf),
                    ..LoadedProgram::default()
                });
            }
        })
    }

    #[test]
    fn a_little_more_with_stack_protection() {
        let test = builds(0.36, Some("stack protector"));
        assert!(test.weight(&SUSPECT) > 0.4);
        assert_eq!(test.candidates()[0], "build.hardening");
    }

    #[test]
    fn arithmetic_that_traps_is_a_check() {
        let test = builds(0.9, None).cpu(
            &[("main;sum", 1.0)],
            &[("main;sum;b!__addvsi3", 0.4), ("main;sum;b!__mulvsi3", 0.2), ("main;sum", 0.4)],
        );
        assert_eq!(test.candidates()[0], "build.hardening");
    }

    #[test]
    fn five_times_as_much_is_hardly_hardening() {
        let test = builds(1.5, Some("stack protector"));
        assert_eq!(test.candidates()[0], "build.optimisation");
        assert!(builds(0.36, None).look(&SUSPECT).is_none());
    }
}
