//! Files that a shell or an interpreter runs before its work.

use super::evidence::{by_variable, claims_on_words, joined};
use super::signs::{base_name, more_of_files, program};
use super::{Suspect, Suspicion, settings};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "proc.startup-file",
    title: "start-up file",
    about: "Every shell or interpreter that is started runs a file first: BASH_ENV, a profile, .bashrc, \
            sitecustomize.py.",
    shows: "A variable that names the file, or an option such as -l or -i; the file is opened by every start.",
    test: "the variable is swapped, or unset on both sides; an option can only be located",
    fix: "unset the variable, or make the file end at once in shells that are not interactive",
    report: "pyenv/pyenv#2802: measured with and without BASH_ENV to find out.",
    look,
};

/// Not ENV: other programs mean something else by it.
const VARIABLES: [&str; 3] = ["BASH_ENV", "PYTHONSTARTUP", "ZDOTDIR"];
const FILES: [&str; 8] = [
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    "bash.bashrc",
    "sitecustomize.py",
    "usercustomize.py",
];
const OPTIONS: [&str; 6] = ["-l", "--login", "-i", "-lc", "-ic", "-lic"];
const SHELLS: [&str; 6] = ["bash", "sh", "dash", "zsh", "ksh", "mksh"];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    joined(by_variable(case, &VARIABLES), joined(by_option(case), inherited(case)))
}

/// A shell that reads the profile of a log-in or of a user at a terminal.
fn by_option(case: &Case<'_>) -> Option<Suspicion> {
    if !SHELLS.contains(&program(&case.slow).as_str()) {
        return None;
    }
    let read = more_of_files(case, |path| FILES.contains(&base_name(path)), |file| file.opened - file.missed);
    let claims = claims_on_words(case, 0.7, |word| OPTIONS.contains(&word) || word.contains("rcfile"));
    if claims.is_empty() || read.is_some_and(|read| read < 1.0) {
        return None;
    }
    let signs = vec!["the shell of the slow side reads its start-up files".to_owned()];
    Some(Suspicion { weight: 0.7, signs, claims, ideas: Vec::new() })
}

/// Set on both sides, so that it is no difference, and one side starts more shells than the other.
fn inherited(case: &Case<'_>) -> Option<Suspicion> {
    let file = case.slow.env("BASH_ENV").filter(|file| !file.is_empty())?;
    let opened = more_of_files(case, |path| path == file, |used| used.opened).filter(|more| *more >= 1.0)?;
    if case.variable("BASH_ENV").is_some() {
        return None;
    }
    let weight = case.share(opened * 2.0 * case.prices.process_s).clamp(0.0, 1.0);
    let signs = vec![format!("{file} is read {opened:.0} times more (BASH_ENV)")];
    let ideas = settings::removed_on_both_sides(case, "BASH_ENV").into_iter().collect();
    Some(Suspicion { weight, signs, claims: Vec::new(), ideas })
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::model::FileUse;

    #[test]
    fn the_variable_is_an_experiment() {
        let test = TestCase::new("bash x.sh", "bash x.sh").slow_env("BASH_ENV", "/w/rc");
        assert!(test.claim_on(&SUSPECT, "BASH_ENV").unwrap().is_experiment);
    }

    #[test]
    fn a_login_shell_is_located() {
        let test = TestCase::new("bash x.sh", "bash -l x.sh");
        assert_eq!(test.candidates()[0], "proc.startup-file");
        let nothing = test.files(|_, _| {});
        assert_eq!(nothing.weight(&SUSPECT), 0.0);
    }

    #[test]
    fn a_file_that_is_read_once_more_in_a_large_gap_is_innocent() {
        let test =
            TestCase::new("bash a", "bash b").env("BASH_ENV", "/w/rc").seconds(0.1, 3.0).files(|_, slow| {
                slow.file(FileUse { path: "/w/rc".to_owned(), opened: 1, ..FileUse::default() });
            });
        assert!(test.weight(&SUSPECT) < 0.05);
    }
}
