//! A run time that interprets where it could compile.

use super::evidence::claims_on_options;
use super::settings::Setting;
use super::{Suspect, Suspicion, settings};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "rt.jit-off",
    title: "just-in-time compiler off",
    about: "A virtual machine was told to interpret, or to compile with less optimisation: --jitless, -Xint, \
            -XX:TieredStopAtLevel, PYTHON_JIT=0.",
    shows: "User time in the interpreter of the machine instead of in compiled code; the same system calls.",
    test: "The variable of the fast side on the slow side. An option in the command line is located by swapping it.",
    fix: "leave the option out",
    report: "V8, \"JIT-less V8\": the mode needs no executable memory, and comes with a penalty in speed.",
    look,
};

const OPTIONS: [&str; 24] = [
    "--jitless",
    "--no-opt",
    "--no-sparkplug",
    "--no-maglev",
    "--max-optimized-bytecode-size",
    "--interpreted-frames-native-stack",
    "--always-osr",
    "--no-turbofan",
    "--no-use-osr",
    "-Xint",
    "-Xcomp",
    "-XX:TieredStopAtLevel",
    "-XX:-TieredCompilation",
    "-XX:-UseCompiler",
    "-XX:CompileThreshold",
    "-XX:ReservedCodeCacheSize",
    "-XX:+UseInterpreter",
    "-Djava.compiler",
    "--jit",
    "--yjit",
    "--rjit",
    "--disable-jit",
    "--disable-yjit",
    "-joff",
];
const VARIABLES: [&str; 12] = [
    "PYTHON_JIT",
    "PYTHONJIT",
    "RUBY_YJIT_ENABLE",
    "NUMBA_DISABLE_JIT",
    "PYPY_DISABLE_JIT",
    "JULIA_OPT_LEVEL",
    "DOTNET_TieredCompilation",
    "DOTNET_TieredPGO",
    "DOTNET_TC_QuickJitForLoops",
    "DOTNET_ReadyToRun",
    "DOTNET_JITMinOpts",
    "COMPlus_JITMinOpts",
];

fn is_option(option: &str) -> bool {
    OPTIONS.iter().any(|known| option.starts_with(known)) || option == "jit=off" || option == "opcache.jit=0"
}

fn is_mine(setting: &Setting) -> bool {
    VARIABLES.contains(&setting.name.as_str()) || setting.is_option(is_option)
}

fn look(case: &Case<'_>) -> Option<Suspicion> {
    if let Some(found) = settings::suspicion(case, is_mine) {
        return Some(found);
    }
    let claims = claims_on_options(case, 0.9, is_option);
    (!claims.is_empty()).then(|| Suspicion {
        weight: 0.5,
        signs: vec!["an option of the just-in-time compiler".to_owned()],
        claims,
        ideas: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    #[test]
    fn the_variable_is_the_experiment() {
        let test = TestCase::new("node jit.js", "node jit.js");
        assert!(
            test.clone()
                .slow_env("NODE_OPTIONS", "--jitless")
                .claim_on(&SUSPECT, "NODE_OPTIONS")
                .unwrap()
                .is_experiment
        );
        let java = test.slow_env("JAVA_TOOL_OPTIONS", "-Xint");
        assert!(java.claim_on(&SUSPECT, "JAVA_TOOL_OPTIONS").unwrap().is_experiment);
    }

    #[test]
    fn an_option_is_located_first() {
        assert_eq!(TestCase::new("java -cp w Loop", "java -Xint -cp w Loop").candidates()[0], "rt.jit-off");
        assert_eq!(TestCase::new("ruby --yjit a.rb", "ruby a.rb").candidates()[0], "rt.jit-off");
    }

    #[test]
    fn other_options_are_innocent() {
        let test =
            TestCase::new("node jit.js", "node jit.js").slow_env("NODE_OPTIONS", "--max-old-space-size=64");
        assert!(test.look(&SUSPECT).is_none());
    }
}
