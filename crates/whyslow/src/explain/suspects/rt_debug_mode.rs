//! Checks of a run time that are meant for developing.

use super::evidence::{claims_on_words, specific};
use super::rt_version::same_interpreter;
use super::settings::Setting;
use super::{Suspect, Suspicion, settings, signs};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "rt.debug-mode",
    title: "debugging mode of the run time",
    about: "An interpreter or virtual machine runs with checks, traces or hooks that are meant for finding errors, such as \
            PYTHONDEVMODE, PYTHONMALLOC=debug, perl -d or -Xcheck:jni.",
    shows: "User time in hooks (_PyMem_Debug*, tracing functions); the same system calls.",
    test: "The variable of the fast side on the slow side. An option in the command line is located by swapping it.",
    fix: "unset the variable, or leave out the option, where times matter",
    report: "The Python documentation, Development Mode: it is not to be used by default, since it costs time.",
    look,
};

const VARIABLES: [&str; 14] = [
    "PYTHONDEVMODE",
    "PYTHONASYNCIODEBUG",
    "PYTHONTRACEMALLOC",
    "PYTHONMALLOCSTATS",
    "PYTHONDUMPREFS",
    "PYTHONVERBOSE",
    "PYTHONDEBUG",
    "PYTHONPROFILEIMPORTTIME",
    "PYTHONPERFSUPPORT",
    "PERL5DB",
    "PERL_MEM_LOG",
    "NODE_DEBUG",
    "NODE_V8_COVERAGE",
    "RUBY_DEBUG",
];
/// In options of the run times, wherever they are given.
const OPTIONS: [&str; 16] = [
    "--inspect",
    "--trace",
    "--prof",
    "--cpu-prof",
    "--verify-heap",
    "--enable-slow-asserts",
    "-Xcheck",
    "-Xdebug",
    "-agentlib:jdwp",
    "-Xrunjdwp",
    "-XX:+Verify",
    "-XX:+ExtendedDTraceProbes",
    "-esa",
    "-d:",
    "--debug",
    "-Xverify:all",
];
const FUNCTIONS: [&str; 8] = [
    "_PyMem_Debug",
    "PyMem_Debug",
    "tracemalloc",
    "_PyObject_Debug",
    "Perl_runops_debug",
    "Perl_pp_dbstate",
    "trace_trampoline",
    "call_trace",
];

fn is_mine(setting: &Setting) -> bool {
    VARIABLES.contains(&setting.name.as_str())
        || is_checked_malloc(setting)
        || setting.is_option(is_debugging)
}

/// PYTHONMALLOC asks for checks on one of the sides; else it chooses an allocator.
pub fn is_checked_malloc(setting: &Setting) -> bool {
    let is_debug = |value: &Option<String>| value.as_ref().is_some_and(|value| value.contains("debug"));
    setting.name == "PYTHONMALLOC" && (is_debug(&setting.slow) || is_debug(&setting.fast))
}

fn is_debugging(option: &str) -> bool {
    OPTIONS.iter().any(|known| option.starts_with(known))
}

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let (weight, sign) = in_hooks(case).unzip();
    if let Some(mut found) = settings::suspicion(case, is_mine) {
        found.signs.extend(sign);
        return Some(found);
    }
    // `-X dev` is two words, of which the second tells.
    let is_word = |word: &str| {
        is_debugging(word) || matches!(word, "-d" | "dev" | "-Xdev" | "tracemalloc" | "-Xtracemalloc" | "-ea")
    };
    let claims = claims_on_words(case, 0.85, is_word);
    if !claims.is_empty() {
        let signs = [Some("an option for debugging".to_owned()), sign].into_iter().flatten().collect();
        return Some(Suspicion { weight: 0.5, signs, claims, ideas: Vec::new() });
    }
    // An interpreter that was built with them has no mode.
    same_interpreter(case).is_none().then_some(())?;
    Some(Suspicion::located(case, weight?, sign.into_iter().collect()))
}

/// How much of the gap is in hooks for debugging, with the sign that says so.
pub fn in_hooks(case: &Case<'_>) -> Option<(f64, String)> {
    let more = signs::more_in_functions(case, &FUNCTIONS)?;
    Some((specific(case.share(more))?, format!("{} more in debugging hooks", signs::seconds(more))))
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    #[test]
    fn the_variable_is_the_experiment() {
        for (name, value) in
            [("PYTHONDEVMODE", "1"), ("PYTHONMALLOC", "debug"), ("NODE_OPTIONS", "--inspect")]
        {
            let test = TestCase::new("python3 b.py", "python3 b.py").slow_env(name, value);
            assert!(test.claim_on(&SUSPECT, name).unwrap().is_experiment, "{name}");
        }
    }

    #[test]
    fn an_option_is_located() {
        let found = TestCase::new("python3 b.py", "python3 -X dev b.py").look(&SUSPECT).unwrap();
        assert!(!found.claims[0].is_experiment);
    }

    #[test]
    fn another_allocator_and_a_few_hooks_are_innocent() {
        assert!(
            TestCase::new("python3 b.py", "python3 b.py")
                .slow_env("PYTHONMALLOC", "malloc")
                .look(&SUSPECT)
                .is_none()
        );
        let few = TestCase::new("python3 a.py", "python3 b.py")
            .cpu(&[("main", 1.0)], &[("main;_PyMem_DebugMalloc", 0.01), ("main", 0.99)]);
        assert!(few.look(&SUSPECT).is_none());
    }
}
