//! Modules that are loaded at the start.

use super::evidence::specific;
use super::settings::Setting;
use super::{Suspect, Suspicion, modules, settings, signs};
use crate::explain::{Case, Side};

pub const SUSPECT: Suspect = Suspect {
    name: "rt.import",
    title: "imports",
    about: "Modules are found, read and run at every start, whether they are used or not: imported by the program, or loaded \
            into every interpreter by PERL5OPT, RUBYOPT, NODE_OPTIONS or a .pth file.",
    shows: "User time at the start; more module files opened; python -X importtime.",
    test: "The variable of the fast side on the slow side. What the program imports can only be located.",
    fix: "import where it is used (lazily), unset PERL5OPT and the like, leave out what is not needed",
    report: "pypa/setuptools: the import of pkg_resources; CPython's work on start-up time (-X importtime).",
    look,
};

const IMPORTS: [&str; 9] = [
    "PyImport_Import",
    "import_find_and_load",
    "import_name",
    "_imp_create_dynamic",
    "marshal_loads",
    "Perl_pp_require",
    "S_require_file",
    "rb_require",
    "r_object",
];
const VARIABLES: [&str; 4] = ["PYTHONSTARTUP", "PERL5DB_LOAD", "RUBYLIB_PREFIX", "PYTHONNODEBUGRANGES"];

/// Options of a list that load something.
fn is_loading(option: &str) -> bool {
    let starts = [
        "-M",
        "-m",
        "-r",
        "--require",
        "--import",
        "--loader",
        "--experimental-loader",
        "-javaagent",
        "-agentpath",
    ];
    starts.iter().any(|start| option.starts_with(start)) && !option.starts_with("--max")
}

fn is_mine(setting: &Setting) -> bool {
    VARIABLES.contains(&setting.name.as_str()) || setting.is_option(is_loading)
}

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let more = case.more(modules::opened).filter(|more| *more > 3.0);
    let sign = more.map(|more| format!("{more:.0} more modules loaded"));
    if let Some(mut found) = settings::suspicion(case, is_mine) {
        found.signs.extend(sign);
        return Some(found);
    }
    let by_count = more.map(|more| more * modules::MODULE_S);
    let by_time = importing_s(case).filter(|_| more.is_some_and(|more| more > 0.0) || has_no_files(case));
    let seconds = by_time.unwrap_or(0.0).max(by_count.unwrap_or(0.0));
    let weight = specific(case.share(seconds))?;
    let mut signs: Vec<String> = sign.into_iter().collect();
    signs.extend(by_time.map(|seconds| format!("{} more in importing", signs::seconds(seconds))));
    Some(Suspicion::located(case, weight, signs))
}

fn has_no_files(case: &Case<'_>) -> bool {
    let is_unknown = |side: &Side<'_>| side.files().is_none();
    is_unknown(&case.fast) || is_unknown(&case.slow)
}

fn importing_s(case: &Case<'_>) -> Option<f64> {
    signs::more_in_functions(case, &IMPORTS).filter(|more| *more > 0.0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;
    use crate::model::FileUse;

    fn importing(count: usize) -> TestCase {
        TestCase::new("python3 -c print(1)", "python3 -c import-asyncio").seconds(0.0102, 0.083).files(
            |_, slow| {
                for number in 0..count {
                    let path = format!("/usr/lib/python3.11/__pycache__/m{number}.cpython-311.pyc");
                    slow.file(FileUse { path, opened: 1, ..FileUse::default() });
                }
            },
        )
    }

    #[test]
    fn many_more_modules_are_located() {
        assert_eq!(importing(160).candidates()[0], "rt.import");
    }

    #[test]
    fn a_few_modules_are_too_cheap() {
        assert!(importing(8).look(&SUSPECT).is_none());
    }

    #[test]
    fn options_that_load_are_the_experiment() {
        let test = TestCase::new("perl -e 1", "perl -e 1").slow_env("PERL5OPT", "-MPOSIX -MFile::Temp");
        assert!(test.claim_on(&SUSPECT, "PERL5OPT").unwrap().is_experiment);
        let warnings = TestCase::new("perl -e 1", "perl -e 1").slow_env("PERL5OPT", "-w");
        assert!(warnings.look(&SUSPECT).is_none());
    }
}
