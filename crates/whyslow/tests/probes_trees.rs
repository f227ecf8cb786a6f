//! Every probe on the trees of processes that people really run: it runs or says why not, what the program writes and how
//! it ends is the same as without it, and nothing is left behind.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const USUAL: &str = "environment,loading,syscalls,files,allocations,cpu,faults,waiting,series";
/// With valgrind, which is slow where there is no counter.
const ALL: &str = "environment,loading,syscalls,files,allocations,cpu,faults,waiting,series,instructions";
const MARK: &str = "WHYSLOW_TEST_TREE";
const NOBODY: u32 = 65534;

/// Where the command works, what whyslow may leave nothing in, and what the command writes.
struct Place {
    work: tempfile::TempDir,
    temporary: tempfile::TempDir,
    home: tempfile::TempDir,
    written: tempfile::TempDir,
    user: Option<u32>,
}

/// What a run of the command left.
#[derive(Debug, PartialEq)]
struct Outcome {
    exit: i32,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    work: BTreeMap<PathBuf, Vec<u8>>,
}

impl Place {
    fn new() -> Place {
        let [work, temporary, home, written] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
        Place { work, temporary, home, written, user: None }
    }

    /// The same as somebody without rights, if we may.
    fn of_nobody(self) -> Option<Place> {
        let folders = [&self.work, &self.temporary, &self.home, &self.written].map(tempfile::TempDir::path);
        let owner = Command::new("chown").args(["-R", "65534:65534"]).args(folders).output();
        owner.is_ok_and(|done| done.status.success()).then_some(Place { user: Some(NOBODY), ..self })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.work.path());
        command.envs([("TMPDIR", self.temporary.path()), ("HOME", self.home.path())]);
        command.env("LC_ALL", "C").env(MARK, self.mark());
        command.env("GIT_CONFIG_NOSYSTEM", "1").env_remove("MAKEFLAGS").env_remove("NODE_OPTIONS");
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    fn mark(&self) -> OsString {
        self.work.path().as_os_str().to_owned()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.written.path().join(name)
    }

    /// Standard output and error go to two files.
    fn script(&self, words: &str) -> String {
        let [out, err] = ["out", "err"].map(|name| self.file(name).display().to_string());
        format!("exec {words} >'{out}' 2>'{err}'")
    }

    fn outcome(&self, exit: i32) -> Outcome {
        let [stdout, stderr] = ["out", "err"].map(|name| fs::read(self.file(name)).unwrap());
        Outcome { exit, stdout, stderr, work: contents(self.work.path()) }
    }

    fn unprobed(&self, words: &str) -> Outcome {
        let done = self.command("sh").args(["-c", &self.script(words)]).output().unwrap();
        self.outcome(done.status.code().unwrap())
    }

    fn probed(&self, probe: &str, words: &str) -> Outcome {
        let mut command = self.command(&whyslow_for(self.user, &self.home).display().to_string());
        command.args(["probe", "--json", "--with", probe, "--", "sh", "-c", &self.script(words)]);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let document: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{probe} of {words}: {error}: {said}"));
        let trace = &document["traces"][0];
        if trace["seen"].is_null() {
            let why = trace["missing"]["why"].as_str();
            assert!(why.is_some_and(|why| !why.is_empty()), "{probe} of {words}: {trace:#}");
            eprintln!("{probe} of {words}: {}", trace["missing"]);
            return self.unprobed(words);
        }
        let exit = trace["exit"]["code"].as_i64();
        self.outcome(exit.unwrap_or_else(|| panic!("{probe} of {words}: {trace:#}")) as i32)
    }

    /// Processes that have our mark in their environment.
    fn living(&self) -> Vec<String> {
        let mark = format!("{MARK}={}", self.mark().to_str().unwrap()).into_bytes();
        let has_mark = |process: &PathBuf| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark)
        };
        let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path()).filter(has_mark);
        processes.map(|path| fs::read_to_string(path.join("comm")).unwrap_or_default()).collect()
    }
}

/// The program, where this user may start it.
fn whyslow_for(user: Option<u32>, home: &tempfile::TempDir) -> PathBuf {
    let own = PathBuf::from(env!("CARGO_BIN_EXE_whyslow"));
    if user.is_none() {
        return own;
    }
    let copy = home.path().join("whyslow");
    if !copy.exists() {
        fs::copy(own, &copy).unwrap();
    }
    copy
}

/// Every file below, but for what git writes whenever it looks.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let read = |path: PathBuf| {
        let bytes = if path.ends_with(".git/index") { Vec::new() } else { fs::read(&path).unwrap() };
        (path, bytes)
    };
    files(folder).into_iter().map(read).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut found: Vec<PathBuf> = entries
        .flat_map(|entry| match entry.file_type().unwrap().is_dir() {
            true => files(&entry.path()),
            false => vec![entry.path()],
        })
        .collect();
    found.sort();
    found
}

/// `form` brings what may come in any order into one.
fn check(place: &Place, probes: &str, words: &str, form: impl Fn(Outcome) -> Outcome) {
    drop(whyslow_for(place.user, &place.home));
    // Whatever it makes for itself the first time is there afterwards.
    place.unprobed(words);
    let usual = form(place.unprobed(words));
    let left = [&place.temporary, &place.home].map(|folder| files(folder.path()));
    for probe in probes.split(',') {
        let probed = form(place.probed(probe, words));
        assert_eq!((probed.exit, &probed.stderr), (usual.exit, &usual.stderr), "{probe} of {words}");
        assert!(probed.stdout == usual.stdout, "{probe} of {words} changes its output");
        assert!(probed.work == usual.work, "{probe} of {words} changes its files");
        assert_eq!(
            [&place.temporary, &place.home].map(|folder| files(folder.path())),
            left,
            "{probe} of {words}"
        );
        assert_eq!(place.living(), [""; 0], "{probe} of {words}");
    }
}

fn is_there(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok();
    if !is_there {
        eprintln!("not tested: {program} is not installed");
    }
    is_there
}

/// Lines of jobs that run side by side.
fn sorted(outcome: Outcome) -> Outcome {
    let mut lines: Vec<&[u8]> = outcome.stdout.split_inclusive(|byte| *byte == b'\n').collect();
    lines.sort_unstable();
    Outcome { stdout: lines.concat(), ..outcome }
}

const MAKEFILE: &str = "program: main.o a.o b.o c.o
	cc -o $@ $^
%.o: %.c all.h
	@echo compiling $<; cc -O1 -c -o $@ $<
";

fn small_project() -> Place {
    let place = Place::new();
    let put = |name: &str, text: &str| fs::write(place.work.path().join(name), text).unwrap();
    put("Makefile", MAKEFILE);
    put("all.h", "#include <stdio.h>\nint a(int), b(int), c(int);\n");
    for name in ["a", "b", "c"] {
        let text =
            format!("#include \"all.h\"\nint {name}(int x) {{ printf(\"%d\\n\", x); return x + 1; }}\n");
        put(&format!("{name}.c"), &text);
    }
    put("main.c", "#include \"all.h\"\nint main(void) { return a(b(c(1))); }\n");
    place
}

#[test]
fn make_of_a_small_project() {
    check(&small_project(), USUAL, "make -B -j2", sorted);
}

#[test]
fn make_that_fails() {
    let place = small_project();
    fs::write(place.work.path().join("b.c"), "#error broken\n").unwrap();
    let only_exit = |outcome| Outcome { stdout: Vec::new(), stderr: Vec::new(), ..outcome };
    check(&place, "loading,syscalls,cpu", "make -k -j2", only_exit);
}

#[test]
fn make_as_somebody_without_rights() {
    if let Some(place) = small_project().of_nobody() {
        check(&place, USUAL, "make -B -j2", sorted);
    }
}

fn repository() -> Place {
    let place = small_project();
    let script = "git init -q . && git add . && git -c user.name=n -c user.email=e commit -q -m first &&
        mkdir new && echo changed >>a.c && echo new >new/file && rm b.c && git mv c.c d.c";
    let made = place.command("sh").args(["-c", script]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    place
}

#[test]
fn git_status_of_a_repository() {
    check(&repository(), ALL, "git status", |outcome| outcome);
}

#[test]
fn git_status_as_somebody_without_rights() {
    if let Some(place) = repository().of_nobody() {
        check(&place, USUAL, "git status", |outcome| outcome);
    }
}

#[test]
fn python_that_imports() {
    let words = "/usr/bin/python3 -I -c 'import json; print(json.dumps([1, 2])); raise SystemExit(3)'";
    check(&Place::new(), ALL, words, |outcome| outcome);
}

#[test]
fn node_that_starts() {
    if is_there("node") {
        check(&Place::new(), USUAL, "node -e 0", |outcome| outcome);
    }
}

#[test]
fn a_search_of_packages() {
    if is_there("apt-cache") {
        check(&Place::new(), USUAL, "apt-cache search zlib", |outcome| outcome);
    }
}

/// The first and the last word that it prints is what the modes of the terminal are.
#[test]
fn the_terminal_is_as_it_was() {
    let place = repository();
    let whyslow = env!("CARGO_BIN_EXE_whyslow");
    let script = format!(
        "stty -g; {whyslow} probe --tty --with {USUAL} -- git status; {whyslow} probe --with {USUAL} -- git status; stty -g"
    );
    let output = place.command("script").args(["-qec", &script, "/dev/null"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let words: Vec<&str> = text.split_whitespace().collect();
    let (first, last) = (words.first().unwrap(), words.last().unwrap());
    assert!(first.contains(':') && first == last, "{text}");
    assert!(text.contains("system calls") && place.living().is_empty(), "{text}");
}
