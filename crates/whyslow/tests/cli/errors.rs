//! Everything that can be asked wrongly: an error with a remedy, exit code 2, and nothing started.

use whyslow::cli::Status;
use whyslow::machine::MachineError;
use whyslow::machine::simulated::{Cost, Failure, How, Program, Simulated, When, World};

use crate::COMPARE;
use crate::common::{PLAIN, Printed, WHITE, whyslow, whyslow_with, whyslow_without_machine};

/// `error:` first, then what belongs to it, then at most one `hint:`.
#[track_caller]
fn assert_error(printed: &Printed, error: &str, hint: Option<&str>) {
    let lines: Vec<&str> = printed.stderr.lines().collect();
    assert_eq!(printed.status, Status::CouldNot, "{printed:?}");
    assert!(lines[0].starts_with("error: ") && lines[0].contains(error), "{}", printed.stderr);
    let hints: Vec<&&str> = lines.iter().filter(|line| line.starts_with("hint: ")).collect();
    match hint {
        Some(hint) => {
            assert!(hints.len() == 1 && lines.last() == Some(hints[0]), "{}", printed.stderr);
            assert!(hints[0].contains(hint), "{}", printed.stderr);
        }
        None => assert!(hints.is_empty(), "{}", printed.stderr),
    }
}

#[test]
fn a_question_that_cannot_be_measured_is_refused() {
    let cases: [(&[&str], &str, Option<&str>); 16] = [
        (&[], "there is no command to run", Some("in quotes")),
        (&["", "b"], "command 1 is empty", Some("in quotes")),
        (&["a", "  "], "command 2 is empty", Some("in quotes")),
        (&["a", "echo 'x"], "quotes of `echo 'x` do not match", Some("quote")),
        (&["a | b", "b"], "shell syntax (`|`)", Some("sh -c")),
        (&["LANG=C a", "b"], "shell syntax (`LANG=`)", Some("sh -c")),
        (&["a", "b", "-n", "x", "-n", "y", "-n", "z"], "3 names for 2 commands", None),
        (&["a", "b", "-n", "x", "-n", "x"], "`x` is given twice", Some("--name")),
        (&["a", "b", "-n", "x", "-n", " x "], "`x` is given twice", Some("--name")),
        (&["a", "b", "-n", "x", "-n", ""], "name 2 is empty", None),
        (&["a", "b", "--runs", "0"], "at least 1", None),
        (
            &["a", "b", "--min-runs", "9", "--max-runs", "3"],
            "`--min-runs 9` is more than `--max-runs 3`",
            None,
        ),
        (&["a", "b", "--budget", "0"], "`--budget` must be a positive number", None),
        (&["a", "b", "--confidence", "100"], "`--confidence` must be above 50 and below 100, not 100", None),
        (&["a", "b", "--margin", "-1"], "`--margin` must be above 0", None),
        (&["a", "b", "--margin", "nan"], "`--margin` must be above 0", None),
    ];
    for (arguments, error, hint) in cases {
        let printed = whyslow_without_machine(&[&["compare"], arguments].concat());
        assert_error(&printed, error, hint);
        assert_eq!(printed.stdout, "");
    }
}

/// These words are clap's.
#[test]
fn words_that_are_no_arguments_are_refused() {
    let cases: [(&[&str], &str); 12] = [
        (&["explain", "--resume", "x"], "cannot be gone on with"),
        (&["compare", "a", "b", "--runz", "3"], "'--runs'"),
        (&["comapre", "a", "b"], "'compare'"),
        (&["compare"], "there is no command"),
        (&["explain"], "at least two commands"),
        (&["explain", "a"], "`whyslow compare COMMAND`"),
        (&["compare", "a", "b", "--budget", "soon"], "not a time such as"),
        (&["compare", "a", "b", "--margin", "much"], "not a number of per cent"),
        (&["compare", "a", "b", "--timeout", "0"], "must be above 0"),
        (&["compare", "--resume", "x", "--runs", "3"], "cannot be used with"),
        (&["compare", "a", "b", "--color", "blue"], "always"),
        (&["compare", "a", "b", "--runs", "3", "--min-runs", "2"], "--min-runs"),
    ];
    for (arguments, expected) in cases {
        let printed = whyslow_without_machine(arguments);
        assert_eq!((printed.status, printed.stdout.as_str()), (Status::CouldNot, ""), "{arguments:?}");
        assert!(printed.stderr.starts_with("error: "), "{}", printed.stderr);
        assert!(printed.stderr.contains(expected), "{}", printed.stderr);
    }
}

#[test]
fn nothing_to_do_shows_the_help() {
    let printed = whyslow_without_machine(&[]);
    assert_eq!((printed.status, printed.stdout.as_str()), (Status::CouldNot, ""));
    assert!(printed.stderr.contains("Usage: whyslow"), "{}", printed.stderr);
}

#[test]
fn a_machine_that_cannot_start_is_an_error_with_its_cause() {
    let source = std::io::Error::other("no more processes");
    let machine =
        |_settings| Err(MachineError::new("cannot start the launcher").because(source).hint("end some"));
    let printed = whyslow_with(PLAIN, Box::new(machine), &COMPARE);
    assert_error(&printed, "cannot start the launcher: no more processes", Some("end some"));
}

fn failing(failure: Failure) -> World {
    let program = Program::new("b", Cost::of_cpu(0.05)).with_failure(failure);
    World::default()
        .with_program(Program::new("a", Cost::of_cpu(0.05)))
        .with_program(program)
        .with_noise(WHITE)
}

#[test]
fn a_command_that_fails_is_named_with_its_status_and_its_last_words() {
    let message = Some("reading\ncannot open words.txt\n".to_owned());
    let failure = Failure { when: When::From(20), message, ..Failure::always(How::Exit(22)) };
    let printed = whyslow(failing(failure), &[&COMPARE[..], &["--runs", "50"]].concat());
    assert_error(&printed, "b exited with status 22", Some("run it by itself"));
    assert!(printed.stderr.contains("  cannot open words.txt\n"), "{}", printed.stderr);
    assert!(printed.stdout.contains("b and a: no difference larger"), "{}", printed.stdout);
    assert!(printed.stdout.contains("18 blocks"), "the result until then:\n{}", printed.stdout);
}

#[test]
fn every_way_to_fail_has_its_words() {
    let not_allowed = How::NotStarted { errno: libc::EACCES, step: "exec".into() };
    for (how, error, hint) in [
        (How::Exit(1), "b exited with status 1", "run it by itself"),
        (How::Signal(11), "b was killed by signal 11 (SIGSEGV)", "run it by itself"),
        (not_allowed, "b could not be started (exec: permission denied)", "executable"),
    ] {
        let printed = whyslow(failing(Failure::always(how)), &COMPARE);
        assert_error(&printed, error, Some(hint));
    }
}

#[test]
fn a_program_that_does_not_exist_is_named() {
    let printed = whyslow(World::pair(0.05, 1.0), &["compare", "a", "prel -e 1"]);
    assert_error(&printed, "`prel` was not found", Some("did you mean `perl`?"));
    assert!(!printed.stdout.contains("wrote nothing"), "it never ran:\n{}", printed.stdout);
}

#[test]
fn control_characters_of_a_program_reach_no_terminal() {
    let message = Some("\u{1b}[2J\u{7}bad\r\u{9b}31m".to_owned());
    let failure = Failure { message, ..Failure::always(How::Exit(1)) };
    let printed = whyslow(failing(failure), &COMPARE);
    for text in [&printed.stdout, &printed.stderr] {
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    }
}

#[test]
fn a_machine_that_fails_on_the_way_leaves_the_result_until_then() {
    let hangs = Failure { when: When::From(15), ..Failure::always(How::Hang) };
    let world = failing(hangs);
    let machine = |_settings| Ok(Box::new(Simulated::new(world)) as Box<dyn whyslow::machine::Machine>);
    let printed = whyslow_with(PLAIN, Box::new(machine), &[&COMPARE[..], &["--runs", "50"]].concat());
    assert_error(&printed, "never ends", None);
    assert!(printed.stdout.contains("13 blocks"), "{}", printed.stdout);
}
