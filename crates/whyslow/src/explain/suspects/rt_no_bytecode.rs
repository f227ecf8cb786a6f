//! Modules that are compiled at every start.

use super::evidence::specific;
use super::settings::Setting;
use super::{Claim, Suspect, Suspicion, modules, settings, signs};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "rt.no-bytecode",
    title: "no bytecode",
    about: "Python compiles a module when it finds no bytecode for it, and keeps the result, unless it may not: with \
            PYTHONDONTWRITEBYTECODE, or in a folder where it cannot write, it compiles at every start.",
    shows: "User time in the compiler and parser; .pyc files that are looked for and not found; the same modules.",
    test: "The variables of the fast side on the slow side, the search path with them: what is written there would stay.",
    fix: "unset PYTHONDONTWRITEBYTECODE, or run python -m compileall when the program is installed",
    report: "Images of containers set PYTHONDONTWRITEBYTECODE to be smaller, and every start pays for it.",
    look,
};

const VARIABLES: [&str; 3] = ["PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PYTHONOPTIMIZE"];
const COMPILER: [&str; 8] = [
    "_PyPegen",
    "_PyAST",
    "PyAST",
    "builtin_compile",
    "Py_CompileString",
    "_PyParser",
    "compiler_",
    "_PyCompile",
];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let (weight, signs) = evidence(case).unwrap_or_default();
    let is_mine = |setting: &Setting| VARIABLES.contains(&setting.name.as_str());
    if let Some(mut found) = settings::suspicion(case, is_mine) {
        found.signs.extend(signs);
        found.claims.extend(search_path(case, 0.9));
        return Some(found);
    }
    if weight == 0.0 {
        return None;
    }
    let mut found = Suspicion::located(case, weight, signs);
    found.claims.extend(search_path(case, weight.max(0.8)));
    Some(found)
}

/// Bytecode that is missing on the slow side only, and time in the compiler.
fn evidence(case: &Case<'_>) -> Option<(f64, Vec<String>)> {
    let missing =
        modules::more_missing_bytecode(case).unwrap_or(0.0).max(modules::less_bytecode(case).unwrap_or(0.0));
    let compiling = signs::more_in_functions(case, &COMPILER).filter(|more| *more > 0.0);
    let by_count = missing.max(0.0) * modules::COMPILE_S;
    let weight = specific(case.share(compiling.unwrap_or(by_count)))?;
    let mut signs = Vec::new();
    signs.extend((missing > 0.0).then(|| format!("{missing:.0} more modules without bytecode")));
    signs.extend(compiling.map(|more| format!("{} more in the compiler", signs::seconds(more))));
    Some((weight, signs))
}

/// Another folder with the same modules differs in their bytecode only; swapped with the other variables, nothing is
/// written where it would stay.
fn search_path(case: &Case<'_>, weight: f64) -> Option<Claim> {
    let (difference, _) = case.variable("PYTHONPATH")?;
    let is_told = case.variable("PYTHONDONTWRITEBYTECODE").is_some();
    let is_seen = evidence(case).is_some();
    (is_told || is_seen).then_some(Claim { difference, weight, is_experiment: true })
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::model::FileUse;

    fn package(missing: u64) -> TestCase {
        TestCase::new("python3 -c import-bigpkg", "python3 -c import-bigpkg")
            .seconds(0.052, 0.204)
            .fast_env("PYTHONPATH", "/w/pkg")
            .slow_env("PYTHONPATH", "/w/pkg2")
            .files(|_, slow| {
                let path = "/w/pkg2/bigpkg/__pycache__/m1.cpython-311.pyc".to_owned();
                slow.file(FileUse { path, missed: missing, ..FileUse::default() });
            })
    }

    #[test]
    fn both_variables_are_the_experiment_together() {
        let test = package(61).slow_env("PYTHONDONTWRITEBYTECODE", "1");
        assert!(test.claim_on(&SUSPECT, "PYTHONDONTWRITEBYTECODE").unwrap().is_experiment);
        assert!(test.claim_on(&SUSPECT, "PYTHONPATH").unwrap().is_experiment);
    }

    #[test]
    fn a_folder_without_bytecode_is_enough() {
        assert!(package(61).claim_on(&SUSPECT, "PYTHONPATH").unwrap().is_experiment);
    }

    #[test]
    fn a_module_or_two_are_too_cheap() {
        assert!(package(2).look(&SUSPECT).is_none());
        assert!(TestCase::new("python3 a.py", "python3 b.py").look(&SUSPECT).is_none());
    }
}
