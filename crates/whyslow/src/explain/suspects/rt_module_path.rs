//! How many folders are searched for every module.

use super::evidence::specific;
use super::settings::Setting;
use super::{Claim, Suspect, Suspicion, modules, settings, signs};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "rt.module-path",
    title: "search path of modules",
    about: "An interpreter looks for each module in every folder of its path (PYTHONPATH, PERL5LIB, NODE_PATH, RUBYLIB, the \
            class path), under several names in each.",
    shows: "System time at the start; stat and openat of module files that are not there.",
    test: "The variable of the fast side on the slow side.",
    fix: "shorten the path, put the right folder first, install into one folder or an archive",
    report: "NixOS puts every dependency into a folder of its own on PYTHONPATH and PERL5LIB.",
    look,
};

const VARIABLES: [&str; 10] = [
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONUSERBASE",
    "PERL5LIB",
    "PERLLIB",
    "NODE_PATH",
    "RUBYLIB",
    "GEM_PATH",
    "CLASSPATH",
    "LUA_PATH",
];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let at_folders = modules::more_looks_at_folders(case, &added_folders(case)).unwrap_or(0.0);
    let misses = modules::more_search_misses(case).map(|misses| misses.max(at_folders));
    let misses = misses.filter(|misses| *misses > 0.0);
    let weight = misses.and_then(|misses| specific(signs::share_of_calls(case, misses)));
    let sign =
        weight.and(misses).map(|misses| format!("{misses:.0} more places searched for a module in vain"));
    let is_mine = |setting: &Setting| VARIABLES.contains(&setting.name.as_str());
    let claims: Vec<Claim> = settings::changed(case)
        .into_iter()
        .filter(|(_, settings)| settings.iter().all(is_mine))
        // The variable also decides which modules are found, so it takes a count to call it an experiment.
        .map(|(difference, _)| Claim {
            difference,
            weight: weight.unwrap_or(0.4),
            is_experiment: weight.is_some(),
        })
        .collect();
    if weight.is_none() && claims.is_empty() {
        return None;
    }
    let mut found = match weight {
        Some(weight) => Suspicion::located(case, weight, sign.into_iter().collect()),
        None => Suspicion { weight: 0.1, ..Suspicion::default() },
    };
    found.claims.extend(claims);
    Some(found)
}

/// Folders that only the slow side's variables name.
fn added_folders(case: &Case<'_>) -> Vec<String> {
    let changed = settings::changed(case);
    let mine = changed
        .iter()
        .flat_map(|(_, settings)| settings)
        .filter(|one| VARIABLES.contains(&one.name.as_str()));
    mine.flat_map(|setting| {
        let folders = |value: &Option<String>| -> Vec<String> {
            let value = value.as_deref().unwrap_or_default();
            value.split(':').map(|folder| folder.trim_end_matches('/').to_owned()).collect()
        };
        let known = folders(&setting.fast);
        folders(&setting.slow).into_iter().filter(move |one| one.starts_with('/') && !known.contains(one))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::model::FileUse;

    fn searched(misses: u64) -> TestCase {
        TestCase::new("perl a.pl", "perl a.pl")
            .seconds(0.02, 0.12)
            .system(0.005, 0.1)
            .slow_env("PERL5LIB", "/a:/b:/c")
            .syscalls(|_, slow| slow.fail("newfstatat", "ENOENT", misses))
            .files(|_, slow| {
                slow.file(FileUse {
                    path: "/a/POSIX.pm".to_owned(),
                    stat_missed: misses,
                    ..FileUse::default()
                });
            })
    }

    #[test]
    fn many_misses_make_the_variable_the_experiment() {
        assert!(searched(50_000).claim_on(&SUSPECT, "PERL5LIB").unwrap().is_experiment);
    }

    /// Python keeps what a folder holds, and looks for every module whether the folder has changed. The list of files is
    /// cut, so that no bytecode is in it, which is no sign that there is none.
    #[test]
    fn folders_that_are_there_and_hold_nothing() {
        let pyc = |name: usize| FileUse {
            path: format!("/usr/lib/python3.11/__pycache__/m{name}.cpython-311.pyc"),
            opened: 1,
            reads: 1,
            ..FileUse::default()
        };
        let test = TestCase::new("python3 a.py", "python3 a.py")
            .seconds(0.03, 0.14)
            .system(0.005, 0.04)
            .slow_env("PYTHONPATH", "/w/d1:/w/d2")
            .files(move |fast, slow| {
                (0..49).for_each(|name| fast.file(pyc(name)));
                for folder in ["/w/d1", "/w/d2"] {
                    slow.file(FileUse { path: folder.to_owned(), stated: 12_000, ..FileUse::default() });
                }
                slow.paths = 500;
            });
        assert!(test.claim_on(&SUSPECT, "PYTHONPATH").unwrap().is_experiment);
        assert!(test.claim_on(&super::super::rt_no_bytecode::SUSPECT, "PYTHONPATH").is_none());
    }

    #[test]
    fn without_them_other_modules_may_be_found() {
        let claim = searched(10).claim_on(&SUSPECT, "PERL5LIB").unwrap();
        assert!(!claim.is_experiment && claim.weight < 0.5);
        assert!(TestCase::new("perl a.pl", "perl b.pl").look(&SUSPECT).is_none());
    }
}
