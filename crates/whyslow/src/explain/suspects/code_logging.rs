//! Messages that somebody asked for.

use super::evidence::{by_variable, claims_on_words, joined};
use super::signs::more_in_functions_where;
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
/// Words in the name of a function that logs; of a logarithm there is only the first.
const LOGS: [&str; 4] = ["log", "logger", "logf", "vlog"];
const WHAT: [&str; 18] = [
    "debug", "info", "trace", "verbose", "warn", "warning", "error", "message", "msg", "line", "print",
    "printf", "write", "emit", "append", "event", "entry", "record",
];
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
    let more = more_in_functions_where(case, |frame| {
        let is_named = FUNCTIONS.iter().any(|text| frame.name.contains(text)) || is_log(&frame.name);
        frame.module != "[kernel]" && is_named
    })?;
    Suspicion::of_time(case, more, "functions that log")
}

/// `log_debug`, `Logger::write`, `writeLogLine`: by its words, wherever they begin.
fn is_log(function: &str) -> bool {
    let name = function.split(['(', '<', ' ']).next().unwrap_or_default();
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase();
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
    }
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    has(&LOGS) && has(&WHAT)
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
    fn a_number_as_a_level_and_a_function_that_says_what_it_does() {
        let test = TestCase::new("worker 1", "worker 2").seconds(0.18, 0.23).cpu(
            &[("main", 1.0)],
            &[("main", 0.8), ("main;log_debug", 0.05), ("main;log_debug;libc.so.6!fflush", 0.15)],
        );
        assert_eq!(test.candidates()[0], "code.logging");
    }

    #[test]
    fn functions_that_log_and_logarithms() {
        for name in ["log_debug", "Logger::write(char const*)", "writeLogLine", "app::log::info<int>"] {
            assert!(is_log(name), "{name}");
        }
        for name in
            ["log", "__ieee754_log_fma", "catalog_write", "dialogPrint", "log1p", "walk_log_entries_x"]
        {
            assert!(!is_log(name), "{name}");
        }
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
