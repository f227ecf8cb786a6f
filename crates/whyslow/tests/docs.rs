//! The examples in README.md, the other documents beside it and docs/*.md run, and do what they show.
//!
//! Rules for whoever writes one:
//!
//! * A block is fenced and marked `console`. `console norun` is not run; say in the text why not.
//!   `console needs=gawk,mawk` is skipped, with a word, where one of these programs is not installed.
//! * A line that starts with `$ ` is a command; one that ends with a backslash goes on in the next line. It is given to
//!   `sh -c`, with this whyslow first in the PATH, in an empty temporary directory that the commands of one block
//!   share; the only thing in it is `examples`, the directory of the repository.
//! * A command must succeed, unless the line `[exit 2]` (or another status) follows it.
//! * The other lines are what it writes to either output. Machines differ, so only lines without digits and bars are
//!   looked for, anywhere in what was written, white space aside.
//! * From the first note of a result on (a line that starts with `* `), nothing is looked for: which notes there are
//!   depends on the machine and the hour.
//! * `...` in a line of its own stands for anything, and excuses the line before it as well: the rest of a note that
//!   not every machine gives.

#[path = "docs/blocks.rs"]
mod blocks;
#[path = "docs/running.rs"]
mod running;

use std::fs;
use std::path::{Path, PathBuf};

use blocks::{Block, blocks};
use running::{is_installed, run};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All documents that there are.
fn documents() -> Vec<PathBuf> {
    let folders = [repository(), repository().join("docs")];
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn every_example_does_what_it_shows() {
    let mut faults = Vec::new();
    for path in documents() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for block in blocks(&fs::read_to_string(&path).unwrap()) {
            let place = format!("{name}:{}", block.line);
            match block.needs.iter().find(|program| !is_installed(program)) {
                Some(missing) => println!("{place} is skipped: {missing} is not installed"),
                None => faults.extend(faults_of(&block).into_iter().map(|fault| format!("{place}: {fault}"))),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn faults_of(block: &Block) -> Vec<String> {
    let mut faults = block.faults.clone();
    if block.is_run {
        faults.extend(run(block, &repository().join("examples")));
    }
    faults
}

fn faults_in(text: &str) -> Vec<String> {
    blocks(text).iter().flat_map(faults_of).collect()
}

#[test]
fn examples_that_are_right_have_no_faults() {
    let right = [
        "```console\n$ echo hello\nhello\n```\n",
        "```console\n$ whyslow --version\nwhyslow 123\n$ false\n[exit 1]\n```",
        "```console\n$ echo to; echo the >&2\nto\nthe\n```\n",
        "```console\n$ echo a \\\n  b\na   b\n```\n",
        "```console\n$ echo one > file\n$ cat file\none\n```\n",
        "```console\n$ echo 17 ms\n12 ms\n▂█▃ anything\n```\n",
        "```console\n$ echo kept\nkept\nnot on every machine\n...\n```\n",
        "```console\n$ echo result\nresult\n* a note\n  that goes on\n```\n",
        "1. indented\n\n   ```console\n   $ echo hello\n   hello\n   ```\n",
        "```console norun\n$ rm -rf /\n```\n",
        "```text\n$ false\n```\n",
    ];
    for text in right {
        assert_eq!(faults_in(text), [""; 0], "{text}");
    }
}

#[test]
fn examples_that_are_wrong_are_found() {
    let wrong = [
        ("```console\n$ echo hello\ngood bye\n```\n", "good bye"),
        ("```console\n$ false\n```\n", "exit 1"),
        ("```console\n$ whyslow\n```\n", "exit 2"),
        ("```console\n$ true\n[exit 2]\n```\n", "exit 0"),
        ("```console\n$ kill -9 $$\n```\n", "signal"),
        ("```console no-run\n$ true\n```\n", "no-run"),
        ("```console\nhello\n```\n", "before the first command"),
        ("```console\n```\n", "no command"),
    ];
    for (text, expected) in wrong {
        let faults = faults_in(text);
        assert!(faults.iter().any(|fault| fault.contains(expected)), "{text}: {faults:?}");
    }
}

#[test]
fn a_program_that_is_not_installed_is_noticed() {
    assert!(is_installed("sh"));
    assert!(!is_installed("no-such-program-anywhere"));
    assert_eq!(blocks("```console needs=gawk,mawk\n$ gawk 1\n```")[0].needs, ["gawk", "mawk"]);
}
