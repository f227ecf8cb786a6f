//! Code that a compiler adds to watch the program.

use super::evidence::specific;
use super::programs::{other_elf, swapped_program};
use super::{Suspect, Suspicion, signs};
use crate::explain::Case;
use crate::model::ElfFacts;

pub const SUSPECT: Suspect = Suspect {
    name: "build.instrumentation",
    title: "instrumented build",
    about: "The program was built to be watched: a profiler (-pg), coverage (--coverage), a sanitizer, or a checking standard \
            library adds code to every function, branch or access.",
    shows: "User time in mcount, __asan_*, __tsan_*, __gcov_*, __gnu_debug; files such as gmon.out written at the end.",
    test: "Only another build is without it, so it is located by swapping the program.",
    fix: "build without -pg, --coverage, -fsanitize and -D_GLIBCXX_DEBUG where times are measured",
    report: "A perl that was rebuilt with -pg to find out why it was slow.",
    look,
};

const FUNCTIONS: [&str; 16] = [
    "mcount",
    "__fentry__",
    "__gmon",
    "__asan",
    "__tsan",
    "__msan",
    "__ubsan",
    "__hwasan",
    "__gcov",
    "__llvm_profile",
    "__llvm_gcov",
    "__sanitizer",
    "__interceptor",
    "__gnu_debug",
    "__cyg_profile",
    "__sanitizer_cov",
];
const KINDS: [&str; 11] = [
    "asan",
    "ubsan",
    "tsan",
    "msan",
    "gprof",
    "gcov",
    "libstdc++ debug mode",
    "coverage",
    "hwasan",
    "xray",
    "profile",
];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let (fast, slow) = other_elf(case);
    let kinds = |files: &[&ElfFacts]| -> Vec<String> {
        let all = files.iter().flat_map(|elf| elf.instrumentation.clone());
        all.filter(|kind| KINDS.contains(&kind.as_str())).collect()
    };
    let known = kinds(&fast);
    let added: Vec<String> = kinds(&slow).into_iter().filter(|kind| !known.contains(kind)).collect();
    let seconds = signs::more_in_functions(case, &FUNCTIONS);
    let by_time = seconds.and_then(|seconds| specific(case.share(seconds)));
    let mut signs: Vec<String> = added.iter().map(|kind| format!("built with {kind}")).collect();
    signs.extend(by_time.and(seconds).map(|more| format!("{} more in added code", signs::seconds(more))));
    // What is in the file but takes no time is innocent, unless nobody could look at the time: added code is mostly inlined.
    let is_user = case.share(case.gap.budget.user_s) > 0.5;
    let weight = match (by_time, added.is_empty()) {
        (Some(weight), false) => weight.max(0.9),
        (Some(weight), true) => weight,
        (None, false) if is_user => 0.7,
        _ => return None,
    };
    Some(match swapped_program(case) {
        Some(difference) => Suspicion::of_difference(difference, weight, signs),
        None => Suspicion::located(case, weight, signs),
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::model::LoadedProgram;

    fn builds(kind: &str) -> TestCase {
        TestCase::new("/w/sfn-a 40", "/w/sfn-b 40").seconds(0.122, 0.475).loading(|fast, slow| {
            for (side, path, kinds) in [(fast, "/w/sfn-a", vec![]), (slow, "/w/sfn-b", vec![kind.to_owned()])]
            {
                let elf = ElfFacts { instrumentation: kinds, ..ElfFacts::default() };
                side.programs.push(LoadedProgram {
                    path: path.to_owned(),
                    elf: Some(elf),
                    ..LoadedProgram::default()
                });
            }
        })
    }

    #[test]
    fn what_is_in_the_file_and_takes_time() {
        let test = builds("gprof")
            .cpu(&[("main;f", 1.0)], &[("main;f;libc.so.6!__mcount_internal", 0.7), ("main;f", 0.3)]);
        assert_eq!(test.candidates()[0], "build.instrumentation");
        assert!(test.weight(&SUSPECT) >= 0.9);
    }

    #[test]
    fn hardening_is_not_meant_and_system_time_is_not_of_it() {
        assert!(builds("stack protector").look(&SUSPECT).is_none());
        assert!(builds("gprof").system(0.1, 0.45).look(&SUSPECT).is_none());
    }
}
