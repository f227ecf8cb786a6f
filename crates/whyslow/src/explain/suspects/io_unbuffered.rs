//! Output that is handed to the kernel line by line or byte by byte.

use super::evidence::{by_variable, by_wrapper, joined, specific};
use super::signs::{arguments, program, share_of_calls};
use super::traffic::{reads, writes};
use super::{Suspect, Suspicion, settings};
use crate::explain::Case;

pub const SUSPECT: Suspect = Suspect {
    name: "io.unbuffered",
    title: "unbuffered output",
    about: "The same bytes are written in many small pieces, each of them a system call: a flush after every line, or no \
            buffer at all.",
    shows: "Many times as many calls of write for about the same bytes; system time.",
    test: "the variable or the stdbuf that only one side has is swapped; PYTHONUNBUFFERED unset where it is set on both \
           sides; a flush in the program itself can only be located",
    fix: "let the output be buffered: unset PYTHONUNBUFFERED, '\\n' instead of std::endl, no flush after each line",
    report: "docker-library/python#604 and aws/amazon-sagemaker-examples#319: PYTHONUNBUFFERED in images; clang-tidy warns of \
             endl as performance-avoid-endl.",
    look,
};

fn look(case: &Case<'_>) -> Option<Suspicion> {
    let set = by_variable(case, &["PYTHONUNBUFFERED"]).or_else(|| by_wrapper(case, &["stdbuf"]));
    joined(set, in_pieces(case))
}

fn in_pieces(case: &Case<'_>) -> Option<Suspicion> {
    let (writes, reads) = (writes(case)?, reads(case));
    // Both split alike is a block size.
    if !writes.is_split() || reads.is_some_and(|reads| reads.is_split()) {
        return None;
    }
    let weight = specific(share_of_calls(case, writes.more()))?;
    let mut suspicion = Suspicion::located(case, weight, vec![writes.sign("written")]);
    if is_python_told(case) {
        suspicion.ideas.extend(settings::removed_on_both_sides(case, "PYTHONUNBUFFERED"));
    }
    Some(suspicion)
}

/// The variable is set on both sides, so that it is no difference, and only the slow side prints enough to suffer.
fn is_python_told(case: &Case<'_>) -> bool {
    let is_set = case.slow.env("PYTHONUNBUFFERED").is_some_and(|value| !value.is_empty());
    let is_python = |word: &str| super::signs::base_name(word).starts_with("python");
    let runs_python =
        is_python(&program(&case.slow)) || arguments(&case.slow).iter().any(|word| is_python(word));
    is_set && runs_python && case.variable("PYTHONUNBUFFERED").is_none()
}

#[cfg(test)]
mod tests {
    use super::super::testing::TestCase;
    use super::*;

    fn lines(price_s: f64) -> TestCase {
        TestCase::new("nl 500000", "endl 500000").seconds(0.034, 0.034 + 500_000.0 * price_s).syscalls(
            |fast, slow| {
                fast.transfer("write", 6000, 24_000_000);
                slow.transfer("write", 500_000, 24_000_000);
            },
        )
    }

    #[test]
    fn endl_is_located() {
        let suspicion = lines(0.8e-6).look(&SUSPECT).unwrap();
        assert!(suspicion.weight > 0.4 && !suspicion.claims[0].is_experiment);
    }

    #[test]
    fn many_writes_that_cost_nothing_accuse_nobody() {
        assert_eq!(lines(20e-6).weight(&SUSPECT), 0.0);
    }

    #[test]
    fn more_output_is_not_unbuffered() {
        let test = TestCase::new("a", "b").syscalls(|fast, slow| {
            fast.transfer("write", 1, 10);
            slow.transfer("write", 150_000, 5_000_000);
        });
        assert_eq!(test.weight(&SUSPECT), 0.0);
    }

    #[test]
    fn the_variable_is_an_experiment() {
        let test = TestCase::new("python3 lines.py", "python3 lines.py").slow_env("PYTHONUNBUFFERED", "1");
        assert!(test.claim_on(&SUSPECT, "PYTHONUNBUFFERED").unwrap().is_experiment);
    }

    #[test]
    fn a_variable_of_both_sides_is_tried() {
        let test = TestCase::new("python3 lines.py 0", "python3 lines.py 1")
            .env("PYTHONUNBUFFERED", "1")
            .seconds(0.1, 0.2)
            .syscalls(|fast, slow| {
                fast.transfer("write", 100, 1_000_000);
                slow.transfer("write", 100_000, 1_000_000);
            });
        assert_eq!(test.look(&SUSPECT).unwrap().ideas.len(), 1);
    }
}
