//! What is typed: nothing here runs a command.

use std::fs;

use whyslow::cli::Status;
use whyslow::machine::simulated::World;

use crate::common::{WHITE, text_of, whyslow, whyslow_without_machine};

/// What would be run.
fn plan(arguments: &[&str]) -> String {
    let printed = whyslow_without_machine(&[&["compare", "--dry-run"], arguments].concat());
    assert_eq!((printed.status, printed.stderr.as_str()), (Status::Done, ""));
    printed.stdout
}

/// Every way to run a command that a plan holds, without the word before it.
fn runs(plan: &str) -> Vec<&str> {
    plan.lines().filter_map(|line| line.strip_prefix("  run ")).map(str::trim).collect()
}

#[track_caller]
fn assert_refused(arguments: &[&str], error: &str) {
    let printed = whyslow_without_machine(&[&["compare"], arguments].concat());
    assert_eq!((printed.status as u8, printed.stdout.as_str()), (2, ""), "{arguments:?}");
    assert!(printed.stderr.contains(error), "{arguments:?}: {}", printed.stderr);
}

#[test]
fn case_11_shell_syntax_is_refused_also_glued_to_a_word() {
    for command in ["sort < /etc/services", "echo hi>/tmp/x", "echo $HOME", "ls ~", "ls *.c"] {
        assert_refused(&[command, "true"], "but commands run without a shell");
    }
}

#[test]
fn case_12_words_need_no_quotes() {
    assert_eq!(runs(&plan(&["ls '/tmp/a b'", "true"])), ["ls '/tmp/a b'", "true"]);
    assert_eq!(runs(&plan(&["--", "ls", "/tmp/a b", "--", "true"])), ["ls '/tmp/a b'", "true"]);
}

#[test]
fn case_14_every_variant_may_have_its_own_shell() {
    let plan = plan(&["-S", "zsh -f", "-S", "none", "a=1; exit", "true"]);
    assert_eq!(runs(&plan), ["zsh -f -c 'a=1; exit'", "true"]);
}

#[test]
fn case_24_an_older_export_outlives_wrong_options_and_is_replaced_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("old.json");
    fs::write(&file, "x".repeat(100_000)).unwrap();
    let export = format!("json={}", text_of(&file));
    for wrong in [["--runz", "5"], ["--runs", "0"], ["--margin", "x"]] {
        assert_refused(&[&["a", "b", "--export", &export][..], &wrong].concat(), "error: ");
    }
    assert_eq!(fs::read(&file).unwrap().len(), 100_000);

    let world = World::pair(0.05, 1.2).with_noise(WHITE);
    assert_eq!(whyslow(world, &["compare", "a", "b", "--export", &export]).status, Status::Done);
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        serde_json::from_str::<serde_json::Value>(&text).is_ok(),
        "nothing of the older one is left:\n{text}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn case_25_no_runs_are_refused() {
    assert_refused(&["true", "true", "-r", "0"], "the number of runs must be at least 1");
}

#[test]
fn case_26_scans_are_exact_and_endless_ones_refused() {
    let plan = plan(&["-P", "d", "0", "1", "-D", "0.1", "sleep {d}"]);
    let expected: Vec<String> =
        (0..=10).map(|tenths| format!("sleep {}", f64::from(tenths) / 10.0)).collect();
    assert_eq!(runs(&plan), expected);
    for (max, step, error) in
        [("5", "-1", "more than 0"), ("5", "0", "more than 0"), ("200000", "1", "100000 values")]
    {
        assert_refused(&["-P", "n", "1", max, "-D", step, "sleep {n}"], error);
    }
}

#[test]
fn case_27_placeholders_are_filled_once_and_everywhere() {
    let arguments =
        ["-L", "a", r"{b},x\,y,", "-L", "b", "2", "--reference", "ref {a}", "--prepare", "p {a} {b}"];
    let plan = plan(&[&arguments[..], &["run {a}", "-n", "name {a}"]].concat());
    let expected = ["ref {b}", "run {b}", "ref x,y", "run x,y", "ref ''", "run ''"];
    assert_eq!(runs(&plan), expected, "{plan}");
    assert!(plan.contains("p {b} 2") && plan.contains("name {b}") && plan.contains("name x,y"), "{plan}");
    assert_refused(&["-L", "a", "1,2", "run {a}", "--prepare", "p {c}"], "`{c}` is no parameter");
    assert_refused(&["-L", "a", "1,2", "run {a}", "--prepare", "p {c}"], "the parameters are a");
}
