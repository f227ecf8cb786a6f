//! How many directories are searched for every program that is started.

use super::evidence::specific;
use super::{Claim, Suspect, Suspicion, settings, signs};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "env.path",
    title: "search path of programs",
    about: "A program that is started by its name is looked for in every directory of PATH, one after the other, and each \
            of them may be slow or not exist.",
    shows: "System time; execve, stat or access that find no such file, as many as there are directories before the right one.",
    test: "The PATH of the fast side on the slow side.",
    fix: "shorten PATH, put the directory that is needed first, or call the program by its whole path",
    report: "WSL puts every directory of Windows into PATH: each command is then looked for in all of them, on a slow file \
             system.",
    look,
};

const STATS: [&str; 7] = ["newfstatat", "stat", "statx", "lstat", "access", "faccessat", "faccessat2"];
/// Directories more that hardly anything else than searching can be about.
const MANY: usize = 30;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let misses = misses(case);
    let weight = misses.and_then(|misses| specific(signs::share_of_calls(case, misses)));
    let sign = misses.map(|misses| format!("{misses:.0} more places searched for a program in vain"));
    if let Some(index) = settings::changed(case)
        .iter()
        .find_map(|(index, settings)| settings.iter().any(|setting| setting.name == "PATH").then_some(*index))
    {
        return Some(by_variable(case, index, misses.is_some(), weight, sign));
    }
    let longer = settings::hidden(case).into_iter().find(|setting| setting.name == "PATH");
    let mut signs: Vec<String> = sign.into_iter().collect();
    signs.extend(longer.map(|_| "another PATH on the way to the program".to_owned()));
    Some(Suspicion::located(case, weight?, signs))
}

/// PATH also decides which program is found, so it takes more than a difference to call it an experiment.
fn by_variable(
    case: &Case<'_>,
    difference: usize,
    is_counted: bool,
    weight: Option<f64>,
    sign: Option<String>,
) -> Suspicion {
    let is_experiment = if is_counted { weight.is_some() } else { is_only_longer(case) };
    let claim = Claim { difference, weight: weight.unwrap_or(0.4), is_experiment };
    let mut signs = vec![case.differences[difference].title()];
    signs.extend(sign);
    // A wrapper may set another one after all.
    let mut found = match weight {
        Some(weight) => Suspicion::located(case, weight, signs),
        None => Suspicion { weight: 0.1, signs, ..Suspicion::default() },
    };
    found.claims.push(claim);
    found
}

/// Searches for programs that found nothing: execve itself, and stats of the name of a program that was started.
fn misses(case: &Case<'_>) -> Option<f64> {
    let execs = signs::more_errors(case, &["execve", "execveat"], "ENOENT")?;
    let names = |side: &Side<'_>| -> Vec<String> {
        let programs = side.syscalls().map(|seen| seen.programs.as_slice()).unwrap_or_default();
        programs.iter().map(|program| signs::base_name(&program.path).to_owned()).collect()
    };
    let (fast, slow) = (names(&case.fast), names(&case.slow));
    let is_program = |path: &str| {
        let name = signs::base_name(path);
        fast.iter().chain(&slow).any(|known| known == name)
    };
    let stats = signs::more_of_files(case, is_program, |file| file.stat_missed).unwrap_or(0.0);
    let missed = signs::more_errors(case, &STATS, "ENOENT").unwrap_or(0.0);
    Some(execs + stats.min(missed.max(stats)))
}

/// Whether the slow side searches the same directories in the same order, and many more.
fn is_only_longer(case: &Case<'_>) -> bool {
    let (Some(fast), Some(slow)) = (case.fast.env("PATH"), case.slow.env("PATH")) else { return false };
    let mut wanted = fast.split(':').peekable();
    for directory in slow.split(':') {
        if wanted.peek() == Some(&directory) {
            wanted.next();
        }
    }
    wanted.peek().is_none() && slow.split(':').count() >= fast.split(':').count() + MANY
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn long() -> String {
        let more: String = (0..1500).map(|number| format!("/mnt/c/dir{number}:")).collect();
        format!("{more}/usr/bin:/bin")
    }

    fn searched(misses: u64) -> TestCase {
        TestCase::scripts("seq 1 300 | xargs -n1 true", "seq 1 300 | xargs -n1 true")
            .seconds(0.28, 0.79)
            .system(0.055, 0.36)
            .syscalls(|_, slow| slow.fail("execve", "ENOENT", misses))
    }

    #[test]
    fn many_misses_with_another_path() {
        let test = searched(450_000).fast_env("PATH", "/usr/bin:/bin").slow_env("PATH", &long());
        assert!(test.claim_on(&SUSPECT, "PATH").unwrap().is_experiment);
        assert!(test.weight(&SUSPECT) > 0.4);
    }

    #[test]
    fn a_wrapper_with_another_path_is_located() {
        let test = TestCase::new("xargs true", "./long.sh")
            .seconds(0.28, 0.79)
            .system(0.055, 0.36)
            .fast_env("PATH", "/usr/bin:/bin")
            .syscalls(|_, slow| slow.fail("execve", "ENOENT", 450_000));
        assert_eq!(test.candidates()[0], "env.path");
        let claims = test.look(&SUSPECT).unwrap().claims;
        assert!(claims.iter().any(|claim| !claim.is_experiment), "also on the wrapper");
    }

    #[test]
    fn a_few_misses_clear_it_of_being_about_searching() {
        let test = searched(5).fast_env("PATH", "/usr/bin").slow_env("PATH", &long());
        assert!(!test.claim_on(&SUSPECT, "PATH").unwrap().is_experiment);
        assert!(test.weight(&SUSPECT) < 0.2);
    }

    #[test]
    fn without_a_count_only_more_directories_are_an_experiment() {
        let test = TestCase::new("xargs true", "xargs true").fast_env("PATH", "/usr/bin:/bin");
        assert!(test.clone().slow_env("PATH", &long()).claim_on(&SUSPECT, "PATH").unwrap().is_experiment);
        let other = test.slow_env("PATH", "/opt/bin").claim_on(&SUSPECT, "PATH").unwrap();
        assert!(!other.is_experiment, "another program may be found");
    }
}
