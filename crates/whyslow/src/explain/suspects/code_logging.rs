//! Messages that somebody asked for.

use super::evidence::{by_variable, claims_on_words, joined};
use super::signs::more_in_functions;
use super::traffic::writes;
use super::{Suspect, Suspicion};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "code.logging",
    title: "logging",
    about: "Messages are formatted and written that the other side does not ask for: debug level, verbose, trace.",
    shows: "A level or an option that differs; more calls of write with more bytes; time in functions that format and log.",
    test: "the variable is swapped; a level among the arguments can only be located",
    fix: "log at a higher level, or less per item",
    report: "rust-lang/rust-analyzer#4424: RUST_LOG set for another program slowed it considerably; roapi/roapi#85.",
    look,
};

/// Not DEBUG or VERBOSE: what they do besides is not known.
const VARIABLES: [&str; 15] = [
    "RUST_LOG",
    "LOG_LEVEL",
    "LOGLEVEL",
    "NODE_DEBUG",
    "G_MESSAGES_DEBUG",
    "GST_DEBUG",
    "GLOG_v",
    "GLOG_minloglevel",
    "QT_LOGGING_RULES",
    "GIT_TRACE",
    "LD_DEBUG",
    "PYTHONVERBOSE",
    "SPDLOG_LEVEL",
    "TF_CPP_MIN_LOG_LEVEL",
    "RUSTC_LOG",
];
const LEVELS: [&str; 9] = ["debug", "trace", "verbose", "all", "-v", "-vv", "-vvv", "-d", "--debug"];
const FUNCTIONS: [&str; 6] = ["syslog", "spdlog", "log4", "logging", "log_msg", "g_log"];
/// One line of a log.
const LINE_BYTES: f64 = 8.0;

fn look(case: &Case<'_>) -> Option<Suspicion> {
    joined(by_variable(case, &VARIABLES), joined(by_level(case), in_functions(case)))
}

/// A word that asks for messages, and the messages.
fn by_level(case: &Case<'_>) -> Option<Suspicion> {
    let claims = claims_on_words(case, 0.8, asks_for_messages);
    let written = writes(case).map(|writes| (writes.more(), writes.slow_bytes - writes.fast_bytes));
    if claims.is_empty() || written.is_some_and(|(_, bytes)| bytes < LINE_BYTES) {
        return None;
    }
    let mut signs = vec!["the slow side asks for more messages".to_owned()];
    signs.extend(written.map(|(calls, bytes)| format!("{calls:.0} writes and {bytes:.0} bytes more")));
    Some(Suspicion { weight: 0.6, signs, claims, ideas: Vec::new() })
}

fn asks_for_messages(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let value = word.rsplit('=').next().unwrap_or(&word);
    let is_option = word.starts_with("--log") || word.starts_with("--verbose") || word.starts_with("--trace");
    LEVELS.contains(&value) || is_option
}

fn in_functions(case: &Case<'_>) -> Option<Suspicion> {
    let more = more_in_functions(case, &FUNCTIONS)?;
    Suspicion::of_time(case, more, "functions that log")
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    #[test]
    fn a_level_and_its_messages() {
        let test = TestCase::new("python3 pylog.py 150000 INFO", "python3 pylog.py 150000 DEBUG")
            .seconds(0.05, 0.94)
            .system(0.004, 0.056)
            .syscalls(|_, slow| slow.transfer("write", 150_000, 5_000_000));
        assert_eq!(test.candidates()[0], "code.logging");
    }

    #[test]
    fn a_level_without_messages_is_innocent() {
        let test = TestCase::new("a INFO", "a DEBUG").syscalls(|fast, slow| {
            fast.transfer("write", 10, 100);
            slow.transfer("write", 10, 100);
        });
        assert_eq!(test.weight(&SUSPECT), 0.0);
    }

    #[test]
    fn the_variable_is_an_experiment() {
        let test = TestCase::new("a", "a").slow_env("RUST_LOG", "debug");
        assert!(test.claim_on(&SUSPECT, "RUST_LOG").unwrap().is_experiment);
    }
}
