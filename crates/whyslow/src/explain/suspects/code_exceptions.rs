//! Exceptions as a way to go on.

use super::signs::more_in_functions;
use super::{Suspect, Suspicion};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "code.exceptions",
    title: "exceptions",
    about: "Exceptions are thrown and caught again and again, and each of them unwinds the stack by its tables.",
    shows: "User time in _Unwind_RaiseException, __cxa_throw, the personality routine, or the runtime's own unwinder.",
    test: "Nothing can be changed from outside; the functions are weighed by their time.",
    fix: "return an error where failing is usual, and keep exceptions for what is rare",
    report: "scylladb/scylladb#2646: exceptions are serialised in _Unwind_Find_FDE.",
    look,
};

const FUNCTIONS: [&str; 22] = [
    "_Unwind_",
    "__cxa_throw",
    "__cxa_rethrow",
    "__cxa_begin_catch",
    "__gxx_personality",
    "__cxa_allocate_exception",
    "PyErr_SetObject",
    "PyErr_SetString",
    "PyErr_SetNone",
    "PyErr_Format",
    "PyErr_NormalizeException",
    "PyErr_CreateException",
    "PyTraceBack_Here",
    "Perl_die_unwind",
    "fillInStackTrace",
    "fill_in_stack_trace",
    "internal::Isolate::Throw",
    "CaptureSimpleStackTrace",
    "CaptureAndSetErrorStack",
    "ErrorUtils::Construct",
    "ErrorCaptureStackTrace",
    "rust_panic",
];

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let more = more_in_functions(case, &FUNCTIONS)?;
    Suspicion::of_time(case, more, "throwing and catching exceptions")
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn throws(share: f64) -> TestCase {
        TestCase::new("parse 0", "parse 1").seconds(0.05, 0.5).cpu(
            &[("main;parse", 1.0)],
            &[
                ("main;parse", 1.0 - share),
                ("main;parse;libstdc++.so.6!__cxa_throw;libgcc_s.so.1!_Unwind_RaiseException", share),
            ],
        )
    }

    #[test]
    fn asking_for_signals_and_page_faults_are_no_exceptions() {
        let stacks = [("main;fork;PyErr_CheckSignals", 0.5), ("main;[kernel]!exc_page_fault", 0.5)];
        let test = TestCase::new("fork 0", "fork 9").seconds(0.1, 0.5).cpu(&[("main", 1.0)], &stacks);
        assert!(test.look(&SUSPECT).is_none());
    }

    #[test]
    fn throwing_takes_the_time() {
        assert!(throws(0.9).weight(&SUSPECT) > 0.9);
        assert_eq!(throws(0.9).candidates()[0], "code.exceptions");
    }

    #[test]
    fn an_exception_now_and_then_is_innocent() {
        assert_eq!(throws(0.02).weight(&SUSPECT), 0.0);
    }
}
