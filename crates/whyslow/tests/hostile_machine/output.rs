//! Where the output of runs goes, and what is learnt from it.

use std::fs;
use std::path::PathBuf;

use whyslow::machine::{Machine, Outcome};
use whyslow::model::{Exit, Input, Launch, Metric, Output, Pattern};

use super::common::{machine, number, number_of, printed, shell, shell_to, value};

fn run(launch: &Launch) -> Outcome {
    machine().run(launch, &Metric::all_known()).unwrap()
}

#[test]
fn nothing_that_is_not_read_has_a_length() {
    let outcome = run(&shell_to(Output::Null, "test -c /dev/stdout; echo text; echo sorry >&2; exit 3"));
    assert_eq!((outcome.exit.clone(), value(&outcome, "output_bytes")), (Exit::Code(3), None));
    assert_eq!(outcome.stderr_tail, b"sorry\n");
    assert_eq!(outcome.output_digest, None);
}

#[test]
fn a_file_is_emptied_before_each_run() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("output");
    fs::write(&file, "what was there before, and longer").unwrap();
    let mut machine = machine();
    let launch = shell_to(Output::File(file.clone()), "echo text");
    for _ in 0..3 {
        let outcome = machine.run(&launch, &Metric::all_known()).unwrap();
        assert_eq!(value(&outcome, "output_bytes"), Some(5.0));
    }
    assert_eq!(fs::read(file).unwrap(), b"text\n");
}

#[test]
fn a_file_that_cannot_be_had_is_a_run_that_did_not_start() {
    for (path, errno) in [("/no/such/directory/file", libc::ENOENT), ("/", libc::EISDIR)] {
        let outcome = run(&shell_to(Output::File(PathBuf::from(path)), "echo text"));
        assert_eq!(outcome.exit, Exit::NotStarted { errno, step: "stdout".into() }, "{path}");
    }
}

#[test]
fn a_terminal_of_its_own() {
    let script = "test -t 0 && test -t 1 && test -t 2 && : > /dev/tty && stty size";
    let launch = shell_to(Output::Terminal, script);
    let outcome = run(&launch);
    assert_eq!(outcome.exit, Exit::Code(0), "{}", String::from_utf8_lossy(&outcome.stderr_tail));
    assert_eq!(number_of(&mut machine(), &launch, "24 (80)"), Some(80.0));
    // What went wrong is found in what the terminal shows.
    let failed = run(&shell_to(Output::Terminal, "echo sorry >&2; exit 4"));
    assert_eq!((failed.exit, &failed.stderr_tail[..]), (Exit::Code(4), &b"sorry\r\n"[..]));
}

#[test]
fn a_terminal_leaves_an_input_file_alone() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("input");
    fs::write(&file, "17").unwrap();
    let launch = Launch { stdin: Input::File(file), ..shell_to(Output::Terminal, "test -t 1 && cat") };
    assert_eq!(number_of(&mut machine(), &launch, "[0-9]+"), Some(17.0));
}

#[test]
fn all_that_a_terminal_gets_arrives() {
    let mut machine = machine();
    let metrics = Metric::all_known();
    let long = shell_to(Output::Terminal, "head -c 300000 /dev/zero | tr '\\0' x");
    assert_eq!(value(&machine.run(&long, &metrics).unwrap(), "output_bytes"), Some(300_000.0));
    let short = shell_to(Output::Terminal, "echo end");
    for _ in 0..50 {
        assert_eq!(value(&machine.run(&short, &metrics).unwrap(), "output_bytes"), Some(5.0));
    }
}

#[test]
fn a_program_may_do_to_its_terminal_what_it_likes() {
    let mut machine = machine();
    let launch = shell_to(Output::Terminal, "stty raw -echo; printf '\\033[?25l\\033[2J'; kill -9 $$");
    for _ in 0..3 {
        assert_eq!(machine.run(&launch, &[]).unwrap().exit, Exit::Signal(9));
    }
    // One that stays behind has lost its terminal and holds nobody.
    let launch = shell_to(Output::Terminal, "trap '' HUP; (while echo x; do :; done) & echo done");
    assert_eq!(machine.run(&launch, &[]).unwrap().exit, Exit::Code(0));
}

#[test]
fn digests_are_of_all_the_output_wherever_it_goes() {
    let directory = tempfile::tempdir().unwrap();
    let mut machine = machine();
    let mut digest = |stdout, script| {
        let launch = Launch { digest_output: true, ..shell_to(stdout, script) };
        machine.run(&launch, &[]).unwrap().output_digest
    };
    let long = "head -c 3000000 /dev/zero; echo end";
    let by_pipe = digest(Output::Pipe, long);
    assert!(by_pipe.is_some());
    assert_eq!(digest(Output::File(directory.path().join("output")), long), by_pipe);
    assert_ne!(digest(Output::Pipe, "head -c 3000000 /dev/zero; echo eng"), by_pipe);
    assert_ne!(digest(Output::Pipe, "true"), None, "no output is an output");
    assert_eq!(digest(Output::Null, long), None);
    assert_eq!(machine.run(&shell("echo text"), &[]).unwrap().output_digest, None, "nobody asked");
}

#[test]
fn numbers_that_programs_print() {
    let mut machine = machine();
    let metrics = [
        number("took ([0-9.,]+)"),
        printed(Pattern::Regex("took ([0-9.,]+)".into()), 1e-3),
        number("speed ([0-9]+)"),
        printed(Pattern::JsonPointer("/a".into()), 1.0),
    ];
    assert!(metrics.iter().all(|metric| machine.can_measure(metric).is_ok()));
    let mut values = |script: &str| machine.run(&shell(script), &metrics).unwrap().values;
    let script = "echo took 1; head -c 100000 /dev/zero; printf '\\377\\ntook 2,500.5 ms'; exit 3";
    assert_eq!(values(script), [Some(2500.5), Some(2.5005), None, None]);
    assert_eq!(values("echo '{\"a\": 1.5e3}'"), [None, None, None, Some(1500.0)]);
    assert_eq!(values("true"), [None; 4]);
    // The end of a long output is what is looked at.
    let long = "echo speed 1; head -c 20000000 /dev/zero; echo took 3";
    assert_eq!(values(long), [Some(3.0), Some(0.003), None, None]);
}

#[test]
fn numbers_are_found_in_files_and_terminals_and_not_in_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut machine = machine();
    let mut found = |stdout| number_of(&mut machine, &shell_to(stdout, "echo took 4"), "took ([0-9]+)");
    assert_eq!(found(Output::File(directory.path().join("output"))), Some(4.0));
    assert_eq!(found(Output::Terminal), Some(4.0));
    assert_eq!(found(Output::Null), None);
}

#[test]
fn a_gigabyte() {
    let outcome = run(&shell("head -c 1000000000 /dev/zero"));
    assert_eq!((outcome.exit.clone(), value(&outcome, "output_bytes")), (Exit::Code(0), Some(1e9)));
}
