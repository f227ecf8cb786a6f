//! What `whyslow explain` and `whyslow try` refuse, with what is wrong and what to do.

use std::path::Path;

use whyslow::cli::Status;
use whyslow::machine::simulated::{Cost, Program, World};

use crate::common::{WHITE, text_of, whyslow, whyslow_without_machine};

#[track_caller]
fn assert_refused(arguments: &[&str], error: &str) {
    let printed = whyslow_without_machine(arguments);
    assert_eq!((printed.status, printed.stdout.as_str()), (Status::CouldNot, ""), "{arguments:?}");
    assert!(printed.stderr.starts_with("error: ") && printed.stderr.contains(error), "{}", printed.stderr);
}

fn three() -> World {
    let program = |name: &str, seconds| Program::new(name, Cost::of_cpu(seconds));
    let world = World::default().with_program(program("a", 0.05)).with_program(program("b", 0.1));
    world.with_program(program("c", 0.2)).with_noise(WHITE)
}

fn record(path: &Path) {
    let printed = whyslow(three(), &["explain", "a", "b", "--seed", "1", "--record", text_of(path)]);
    assert_eq!(printed.status, Status::Done, "{}", printed.stderr);
}

#[test]
fn edits_that_cannot_be_made() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.so");
    std::fs::write(&text, "no library").unwrap();
    let preload = format!("preload={}", text_of(&text));
    for (edits, error) in [
        (vec![preload.as_str()], "is no library"),
        (vec!["preload=/no/such.so"], "cannot preload /no/such.so"),
        (vec!["cpus=8000"], "there is no CPU 8000"),
        (vec!["A=1", "-A"], "A is edited twice"),
        (vec!["-WHYSLOW_IS_NOT_SET"], "is not set"),
    ] {
        for commands in [&["a"][..], &["a", "b"]] {
            let edits: Vec<&str> = edits.iter().flat_map(|edit| ["-e", *edit]).collect();
            assert_refused(&[&["try"], commands, &edits].concat(), error);
        }
    }
    for (edit, error) in [("preload=", "needs a library"), ("wrap='abc", "is not closed"), ("wrap=", "words")]
    {
        let printed = whyslow_without_machine(&["try", "-e", edit, "a"]);
        assert!(printed.status == Status::CouldNot && printed.stderr.contains(error), "{}", printed.stderr);
    }
}

#[test]
fn an_edit_on_three_commands() {
    assert_refused(&["try", "-e", "A=1", "a", "b", "c"], "between two, not 3");
    assert_refused(&["try", "-e", "A=1", "a", "b", "--reference", "c"], "not 3");
}

#[test]
fn of_three_commands_the_one_between_is_named() {
    let printed = whyslow(three(), &["explain", "a", "b", "c", "--seed", "1"]);
    let (first, rest) = printed.stdout.split_once('\n').unwrap();
    assert!(
        first.contains("c is") && rest.contains("than a") && rest.contains("b 2.00x slower"),
        "{}",
        printed.stdout
    );
}

#[test]
fn recordings_that_hold_nothing_to_compare() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let whole = file("whole.jsonl");
    record(&whole);
    let header = file("header.jsonl");
    let text = std::fs::read_to_string(&whole).unwrap();
    std::fs::write(&header, format!("{}\n", text.lines().next().unwrap())).unwrap();
    assert_refused(&["explain", text_of(&whole), text_of(&header)], "header.jsonl holds no runs");
    assert_refused(&["explain", text_of(&header)], "holds no runs");
    assert_refused(&["explain", text_of(&whole), text_of(&whole)], "is given twice");
}

#[test]
fn what_is_meant_as_a_recording_is_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let whole = folder.path().join("whole.jsonl");
    record(&whole);
    for path in [file("empty", b""), file("random", &[0, 159, 7]), file("other.json", b"{\"a\": 1}")] {
        assert_refused(&["explain", text_of(&whole), text_of(&path)], "is not a recording");
    }
    let missing = folder.path().join("missing.jsonl");
    assert_refused(&["explain", text_of(&whole), text_of(&missing)], "cannot open the recording");
    assert_refused(&["explain", text_of(&missing), "a"], "`a` is no recording");
    let broken = file("broken.jsonl", b"");
    assert_refused(&["explain", text_of(&broken)], "is not a recording");
}

#[test]
fn suspects_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("binary");
    std::fs::write(&binary, b"a\nb\n\xff").unwrap();
    let suspects =
        |path: &str, error: &str| assert_refused(&["explain", "a", "b", "--suspects", path], error);
    suspects(text_of(folder.path()), "no file in it ends in .toml");
    suspects("/dev/zero", "not a regular file");
    suspects("/no/such/file", "cannot read /no/such/file");
    suspects(text_of(&binary), "line 3 is not text in UTF-8");
    let large = folder.path().join("large");
    std::fs::File::create(&large).unwrap().set_len(1 << 30).unwrap();
    suspects(text_of(&large), "larger than 1 MiB");
    let edit = folder.path().join("edit.toml");
    std::fs::write(
        &edit,
        "[[suspect]]\nname='a.b'\ntitle='t'\nadvice='x'\n[suspect.trigger]\nprogram='p'\n[suspect.edit]\naffinity=[8000]\n",
    )
    .unwrap();
    suspects(text_of(&edit), "line 7: there is no CPU 8000");
}
