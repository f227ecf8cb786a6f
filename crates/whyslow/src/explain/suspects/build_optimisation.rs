//! The same program, compiled with less optimisation.

use super::programs::{is_in_the_code, other_elf, own_functions, swapped_program};
use super::{Suspect, Suspicion, evidence::changed};
use crate::explain::Case;
use crate::model::ElfFacts;

pub const SUSPECT: Suspect = Suspect {
    name: "build.optimisation",
    title: "optimisation of the build",
    about: "The compiler was told to optimise less (-O0, a debug build, no --release, another -march), so that the same \
            source becomes more instructions.",
    shows: "User time in functions of the program itself, spread as before or in small functions that the other build has \
            inlined; the same system calls and allocations.",
    test: "Only another build is without it, so it is located by swapping the program.",
    fix: "build with -O2 (--release, CMAKE_BUILD_TYPE=Release)",
    report: "edgenai/llama_cpp-rs#51 and Folyd/lox-lang#1: a Rust program without --release took 16.6 s for 1.2 s.",
    look,
};

/// For another program file with the gap in its own code.
const USUAL: f64 = 0.4;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let difference = swapped_program(case)?;
    if !is_in_the_code(case) || is_in_libraries(case) || is_of_one_level(case) {
        return None;
    }
    let mut signs = vec!["another program file, and the gap is user time in the program itself".to_owned()];
    signs.extend(by_flags(case));
    signs.extend(by_functions(case));
    signs.extend(by_name(case, difference));
    let weight = (USUAL + 0.2 * (signs.len() - 1) as f64).min(0.95);
    Some(Suspicion::of_difference(difference, weight, signs))
}

/// Most of the gap is in shared libraries, which another build of the program does not change.
fn is_in_libraries(case: &Case<'_>) -> bool {
    let more = case.more(|side| side.cpu_own_where(|frame| frame.module.contains(".so")));
    more.is_some_and(|more| case.share(more) > 0.6)
}

/// Levels that the compilers left in the files.
fn levels(files: &[&ElfFacts]) -> Vec<String> {
    let flags = files.iter().flat_map(|elf| &elf.producers).flat_map(|text| text.split_whitespace());
    let mut levels: Vec<String> = flags.filter(|flag| flag.starts_with("-O")).map(str::to_owned).collect();
    levels.sort();
    levels.dedup();
    levels
}

/// Both say how they were built, and say the same.
fn is_of_one_level(case: &Case<'_>) -> bool {
    let (fast, slow) = other_elf(case);
    let (fast, slow) = (levels(&fast), levels(&slow));
    !fast.is_empty() && fast == slow
}

fn by_flags(case: &Case<'_>) -> Option<String> {
    let (fast, slow) = other_elf(case);
    let (fast_levels, slow_levels) = (levels(&fast), levels(&slow));
    // A file that says nothing of its flags is not one without any.
    if fast_levels != slow_levels && !fast_levels.is_empty() && !slow_levels.is_empty() {
        return Some(format!("built with {} against {}", slow_levels.join(" "), fast_levels.join(" ")));
    }
    let has_debug = |files: &[&ElfFacts]| files.iter().any(|elf| elf.has_debug_info);
    (has_debug(&slow) && !has_debug(&fast)).then(|| "debugging information on the slow side only".to_owned())
}

/// Small functions that the other build has put into their callers.
fn by_functions(case: &Case<'_>) -> Option<String> {
    let (fast, slow) = (own_functions(&case.fast)?, own_functions(&case.slow)?);
    let new = slow.iter().filter(|name| !fast.contains(name)).count();
    let kept = slow.iter().filter(|name| fast.contains(name)).count();
    (new >= 1 && kept >= 1)
        .then(|| format!("{new} functions of the program appear beside {kept} that both have"))
}

fn by_name(case: &Case<'_>, difference: usize) -> Option<String> {
    const LESS: [&str; 6] = ["debug", "dbg", "-O0", "O0", "noopt", "unopt"];
    let words = changed(case).into_iter().find(|changed| changed.index == difference)?;
    let says =
        |words: &[String]| words.iter().find(|word| LESS.iter().any(|less| word.contains(less))).cloned();
    let word = says(&words.slow).filter(|_| says(&words.fast).is_none())?;
    Some(format!("it is called {word}"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::model::LoadedProgram;

    fn builds() -> TestCase {
        TestCase::new("/w/calc-a 4000", "/w/calc-b 4000")
            .seconds(0.143, 0.757)
            .cpu(&[("main;score", 1.0)], &[("main;score", 0.8), ("main;score;step", 0.2)])
    }

    #[test]
    fn the_same_functions_take_longer() {
        let test = builds();
        assert_eq!(test.candidates()[0], "build.optimisation");
        assert!(test.weight(&SUSPECT) > 0.5);
    }

    #[test]
    fn flags_in_the_files_make_it_certain() {
        let test = builds().loading(|fast, slow| {
            for (side, path, flags) in
                [(fast, "/w/calc-a", "GNU C17 -O2"), (slow, "/w/calc-b", "GNU C17 -O0")]
            {
                let elf = ElfFacts { producers: vec![flags.to_owned()], ..ElfFacts::default() };
                side.programs.push(LoadedProgram {
                    path: path.to_owned(),
                    elf: Some(elf),
                    ..LoadedProgram::default()
                });
            }
        });
        assert!(test.look(&SUSPECT).unwrap().signs.contains(&"built with -O0 against -O2".to_owned()));
    }

    #[test]
    fn another_library_is_no_optimisation() {
        let in_libc = [("main;ld-musl-x86_64.so.1!0x15000 after aligned_alloc", 1.0)];
        let test = TestCase::new("/w/mal", "/w/malm").seconds(0.1, 0.4).cpu(&[("main", 1.0)], &in_libc);
        assert!(test.look(&SUSPECT).is_none());
        let silent = builds().loading(|fast, slow| {
            for (side, path, flags) in [(fast, "/w/calc-a", ""), (slow, "/w/calc-b", "GNU C17 -O2")] {
                let elf = ElfFacts { producers: vec![flags.to_owned()], ..ElfFacts::default() };
                let program =
                    LoadedProgram { path: path.to_owned(), elf: Some(elf), ..LoadedProgram::default() };
                side.programs.push(program);
            }
        });
        let signs = silent.look(&SUSPECT).unwrap().signs;
        assert!(!signs.iter().any(|sign| sign.contains("-O")), "{signs:?}");
    }

    #[test]
    fn other_arguments_interpreters_and_allocations_are_somebody_else() {
        assert!(TestCase::new("/w/calc 1", "/w/calc 2").look(&SUSPECT).is_none());
        assert!(TestCase::new("dash x.sh", "bash x.sh").look(&SUSPECT).is_none());
        let copies = builds().allocations(|_, slow| slow.malloc_calls = 16_000_000);
        assert!(copies.seconds(0.018, 0.309).look(&SUSPECT).is_none());
        assert!(builds().system(0.1, 0.7).look(&SUSPECT).is_none());
    }
}
