//! The built program on real commands. No test here looks at how long something takes.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

/// In a folder of its own, with nothing to read.
fn whyslow(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.current_dir(folder).arg("compare").args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    whyslow(folder, arguments).output().unwrap()
}

fn lines_in(file: &Path) -> usize {
    fs::read_to_string(file).unwrap_or_default().lines().count()
}

#[test]
fn case_10_an_operator_that_the_shell_reads_otherwise_is_noticed_by_what_it_leaves() {
    let folder = tempfile::tempdir().unwrap();
    // What dash makes of `sleep 100 &> /dev/null`, whatever sh is here.
    let output =
        run(folder.path(), &["-S", "sh", "sleep 100 & > /dev/null", "true", "--runs", "2", "--json"]);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut kinds = result["concerns"].as_array().unwrap().iter().map(|concern| &concern["kind"]);
    assert!(kinds.any(|kind| kind == "leftovers"), "{result}");
}

#[test]
fn case_17_the_output_is_a_pipe_unless_asked_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let (is_pipe, is_device) = ("sh -c 'test -p /dev/stdout'", "sh -c 'test -c /dev/stdout'");
    for (command, more) in [(is_pipe, &[][..]), (is_device, &["--output", "null"])] {
        let output = run(folder.path(), &[&[command, command, "--runs", "1"], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Interrupts it in the sixth run, which waits for that.
fn interrupted_in_the_sixth_run(folder: &Path, child: Child) -> Output {
    while lines_in(&folder.join("runs")) < 6 {
        std::thread::sleep(Duration::from_millis(10));
    }
    // SAFETY: our child, and not reaped.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    child.wait_with_output().unwrap()
}

#[test]
fn case_19_ctrl_c_keeps_the_result_concludes_and_cleans_up() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("run.sh"), "echo >> runs; test $(wc -l < runs) -lt 6 || exec sleep 1000").unwrap();
    let hooks = ["--conclude", "echo >> concluded", "--cleanup", "echo >> cleaned"];
    let options = ["sh run.sh", "sh run.sh", "--warmup", "0", "--runs", "50", "--export-json", "result.json"];
    let child = whyslow(folder, &[&options[..], &hooks].concat()).spawn().unwrap();
    let output = interrupted_in_the_sixth_run(folder, child);
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("interrupted: "));
    assert_eq!((lines_in(&folder.join("concluded")), lines_in(&folder.join("cleaned"))), (6, 2));
    let saved: Value = serde_json::from_slice(&fs::read(folder.join("result.json")).unwrap()).unwrap();
    assert_eq!(saved["results"].as_array().unwrap().len(), 2, "{saved}");
}

#[test]
fn case_21_a_failure_is_concluded_and_cleaned_up() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let hooks = ["--conclude", "echo >> concluded", "--cleanup", "echo >> cleaned"];
    let output = run(folder, &[&["false", "false", "--runs", "3"][..], &hooks].concat());
    assert_eq!(output.status.code(), Some(2));
    assert_eq!((lines_in(&folder.join("concluded")), lines_in(&folder.join("cleaned"))), (1, 2));
}

#[test]
fn case_22_a_reader_that_has_gone_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = whyslow(folder.path(), &["true", "true", "--runs", "2"]).stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[test]
fn case_35_commands_have_our_environment_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let mut command =
        whyslow(folder.path(), &["env", "env", "--output", "./a", "--output", "./b", "--runs", "3"]);
    let path = std::env::var_os("PATH").unwrap();
    let output = command.env_clear().env("PATH", &path).env("ONE", "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for file in ["a", "b"] {
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["ONE=1", &format!("PATH={}", path.display())]);
    }
}
