//! Runs the examples and compares.

use std::env;
use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{self, Stdio};

use super::blocks::{Block, Command};

/// Everything that is not as the block shows it, in words.
pub fn run(block: &Block, examples: &Path) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    if let Ok(examples) = examples.canonicalize() {
        symlink(examples, folder.path().join("examples")).unwrap();
    }
    block.commands.iter().flat_map(|command| run_command(command, folder.path())).collect()
}

fn run_command(command: &Command, folder: &Path) -> Vec<String> {
    let output = process::Command::new("sh")
        .args(["-c", &command.text])
        .current_dir(folder)
        .env("PATH", path_with_whyslow())
        .env("LC_ALL", "C.UTF-8")
        // No terminal at any end, or the width would be that of whoever runs the tests.
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let written = [&output.stdout[..], b"\n", &output.stderr].concat();
    let written = String::from_utf8_lossy(&written);
    let mut faults = status_fault(command, output.status).into_iter().collect::<Vec<_>>();
    faults.extend(missing_lines(command, &written));
    if !faults.is_empty() {
        faults.push(format!("this is what it wrote:\n{written}"));
    }
    faults
}

fn status_fault(command: &Command, status: process::ExitStatus) -> Option<String> {
    let ended = match (status.code(), status.signal()) {
        (Some(code), _) if code == command.status => return None,
        (Some(code), _) => format!("exit {code}"),
        (None, signal) => format!("signal {}", signal.unwrap_or(0)),
    };
    Some(format!("`{}` ended with {ended} and not with exit {}", command.text, command.status))
}

fn missing_lines(command: &Command, written: &str) -> Vec<String> {
    let lines: Vec<String> = written.lines().map(without_spaces).collect();
    let is_missing = |line: &&String| is_the_same_everywhere(line) && !lines.contains(&without_spaces(line));
    let missing = command.expected.iter().filter(is_missing);
    missing.map(|line| format!("`{}` did not write {line:?}", command.text)).collect()
}

/// Numbers and bars are different on every machine.
fn is_the_same_everywhere(line: &str) -> bool {
    !line.contains(|c: char| c.is_ascii_digit() || ('▁'..='█').contains(&c))
}

fn without_spaces(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn path_with_whyslow() -> OsString {
    let program = Path::new(env!("CARGO_BIN_EXE_whyslow"));
    let folders = program.parent().map(Path::to_owned).into_iter();
    let path = env::var_os("PATH").unwrap_or_default();
    env::join_paths(folders.chain(env::split_paths(&path))).expect("folders without a colon")
}

pub fn is_installed(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
