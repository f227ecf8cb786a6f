//! Work that a library in C could do, done by the interpreter.

use super::evidence::specific;
use super::settings::Setting;
use super::{Suspect, Suspicion, settings, signs};
use crate::explain::{Case, Side};
use crate::model::Frame;

pub const SUSPECT: Suspect = Suspect {
    name: "rt.c-extension",
    title: "no C extension",
    about: "A module of an interpreted language has a fast implementation in C, and the slow side takes the one in the \
            language itself: the extension is not installed, switched off, or has to be asked for.",
    shows: "User time in the interpreter's loop instead of in a shared library; a library that only the fast side uses.",
    test: "A variable that switches extensions off is swapped. What the code chooses can only be located.",
    fix: "install and choose the extension (CSafeLoader, JSON::XS, ...), unset *_NO_EXTENSIONS and the like",
    report: "kxr/o-must-gather#33: 6.8 s become 0.5 s with yaml.CSafeLoader; RedHatInsights/insights-core#2271.",
    look,
};

const VARIABLES: [&str; 6] = [
    "PURE_PYTHON",
    "PURE_PERL",
    "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION",
    "PERL_JSON_BACKEND",
    "PACKAGE_STASH_IMPLEMENTATION",
    "PARAMS_VALIDATE_IMPLEMENTATION",
];
/// Of the interpreters themselves.
const LOOPS: [&str; 8] = [
    "_PyEval_EvalFrame",
    "PyEval_EvalFrame",
    "Perl_runops",
    "Perl_pp_",
    "vm_exec_core",
    "rb_vm_exec",
    "Builtins_Interpreter",
    "execute_ex",
];
/// Libraries that every program has are no extensions.
const COMMON: [&str; 9] =
    ["libc.", "libc-", "ld-linux", "libm.", "libpython", "libperl", "libruby", "libpthread", "libnode"];

fn is_mine(setting: &Setting) -> bool {
    let name = setting.name.as_str();
    VARIABLES.contains(&name)
        || name.ends_with("_NO_EXTENSIONS")
        || name.ends_with("_PUREPERL")
        || (name.starts_with("PERL_") && name.ends_with("_PP"))
        || name.ends_with("_PURE_PYTHON")
}

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let seen = by_profile(case);
    if let Some(mut found) = settings::suspicion(case, is_mine) {
        found.signs.extend(seen.map(|(_, sign)| sign));
        return Some(found);
    }
    let (weight, sign) = seen?;
    Some(Suspicion::located(case, weight, vec![sign]))
}

/// The fast side spends time in libraries that the slow side hardly uses, and the slow side in the interpreter instead.
fn by_profile(case: &Case<'_>) -> Option<(f64, String)> {
    let is_extension = |frame: &Frame| {
        let name = signs::base_name(&frame.module);
        (name.contains(".so") || name.ends_with(".node"))
            && !COMMON.iter().any(|common| name.starts_with(common))
    };
    let inside = |side: &Side<'_>| side.cpu_own_where(is_extension);
    let (fast, slow) = (inside(&case.fast)?, inside(&case.slow)?);
    // A short run is mostly its start, and one that was made for the interpreter is an extension however little it takes.
    let is_made_for_it =
        slow == 0.0 && case.gap.ratio > 1.5 && largest(&case.fast, is_extension).is_some_and(is_module);
    let least = if is_made_for_it { 0.02 } else { 0.05 };
    let is_used = fast > least * case.fast.median("cpu_s")? && slow < 0.5 * fast;
    // The interpreter may well have the same part of both.
    let in_loops = |name: &str| LOOPS.iter().any(|text| name.contains(text));
    let more = case.more(|side| side.cpu_in(in_loops)).filter(|more| is_used && *more > 0.0)?;
    let weight = specific(case.share(more))?;
    let library = largest(&case.fast, is_extension).unwrap_or_default();
    let sign = format!(
        "{} more in the interpreter; {library} does {} of the work on the fast side",
        signs::seconds(more),
        signs::seconds(fast)
    );
    Some((weight.max(0.7), sign))
}

/// Whether a library is a module of an interpreter by its name.
fn is_module(library: String) -> bool {
    [".cpython-", ".abi3.so", ".pypy", ".node"].iter().any(|part| library.contains(part))
}

/// The library in which a side spends most.
fn largest(side: &Side<'_>, is_wanted: impl Fn(&Frame) -> bool) -> Option<String> {
    let profile = side.cpu()?;
    let own = profile.own();
    let wanted = profile.frames.iter().zip(own).filter(|(frame, _)| is_wanted(frame));
    wanted.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(frame, _)| frame.module.clone())
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn yaml(in_library: f64) -> TestCase {
        TestCase::new("python3 load.py c 3000", "python3 load.py py 3000").seconds(0.17, 0.638).cpu(
            &[
                ("main;_PyEval_EvalFrameDefault;libyaml-0.so.2!yaml_parser_parse", in_library),
                ("main;_PyEval_EvalFrameDefault", 1.0 - in_library),
            ],
            &[("main;_PyEval_EvalFrameDefault", 1.0)],
        )
    }

    #[test]
    fn the_interpreter_does_what_a_library_does() {
        assert_eq!(yaml(0.3).candidates()[0], "rt.c-extension");
        assert!(yaml(0.3).look(&SUSPECT).unwrap().signs[0].contains("libyaml-0.so.2"));
    }

    /// Both spend half of their time in other functions.
    #[test]
    fn the_interpreter_may_have_the_same_part_of_both() {
        let test = TestCase::new("python3 load.py c 3000", "python3 load.py py 3000").seconds(0.1, 0.5).cpu(
            &[("main", 0.5), ("main;_PyEval_EvalFrameDefault;libyaml-0.so.2!yaml_parser_parse", 0.5)],
            &[("main", 0.45), ("main;_PyEval_EvalFrameDefault", 0.55)],
        );
        assert_eq!(test.candidates()[0], "rt.c-extension");
    }

    #[test]
    fn a_library_that_is_hardly_used_is_innocent() {
        assert!(yaml(0.01).look(&SUSPECT).is_none());
    }

    #[test]
    fn a_module_that_takes_next_to_nothing_is_what_the_interpreter_does_instead() {
        let decimal = |module: &str| {
            let inside = format!("main;_PyEval_EvalFrameDefault;{module}!dec_add");
            TestCase::new("python3 deci.py c", "python3 deci.py py")
                .seconds(0.015, 0.045)
                .cpu(
                    &[(inside.as_str(), 0.03), ("main;_PyEval_EvalFrameDefault", 0.97)],
                    &[("main;_PyEval_EvalFrameDefault", 1.0)],
                )
                .candidates()[0]
        };
        assert_eq!(decimal("_decimal.cpython-311-x86_64-linux-gnu.so"), "rt.c-extension");
        assert_ne!(decimal("libz.so.1"), "rt.c-extension");
    }

    #[test]
    fn a_variable_that_switches_it_off_is_the_experiment() {
        let test = TestCase::new("python3 a.py", "python3 a.py").slow_env("AIOHTTP_NO_EXTENSIONS", "1");
        assert!(test.claim_on(&SUSPECT, "AIOHTTP_NO_EXTENSIONS").unwrap().is_experiment);
    }
}
