//! The built program in poor surroundings, and under the hands of an impatient user.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use whyslow::machine::Machine;
use whyslow::model::{Exit, Output as Stdout};

use super::common::{is_soon_gone, machine, number, shell_to, word_in};

const WHYSLOW: &str = env!("CARGO_BIN_EXE_whyslow");

fn sh(script: &str) -> Output {
    Command::new("sh").args(["-c", script]).stdin(Stdio::null()).output().unwrap()
}

fn assert_measured(output: &Output) {
    let (text, complaint) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{text}{complaint}");
    assert!(text.contains("wall time"), "{text}{complaint}");
}

#[test]
fn with_few_descriptors() {
    let directory = tempfile::tempdir().unwrap();
    let record = directory.path().join("run.jsonl");
    let options = format!("--runs 3 --record {}", record.display());
    assert_measured(&sh(&format!("ulimit -n 32; {WHYSLOW} compare true 'sleep 0.001' {options}")));
}

/// One error with one hint, and nothing of a result.
#[track_caller]
fn assert_one_error(output: &Output, error: &str, hint: &str) {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{complaint}");
    let lines: Vec<&str> = complaint.lines().collect();
    let [said, remedy] = lines.as_slice() else { panic!("{complaint}") };
    assert!(said.starts_with("error: ") && said.contains(error), "{complaint}");
    assert!(remedy.starts_with("hint: ") && remedy.contains(hint), "{complaint}");
}

#[test]
fn with_too_few_descriptors_for_any_probe() {
    let output = sh(&format!("ulimit -n 20; {WHYSLOW} probe -q true"));
    assert_one_error(&output, "Too many open files", "ulimit -n 256");
}

#[test]
fn with_too_little_memory() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().display();
    // With less it cannot be loaded, and from some limit on there is enough.
    let tries = (1..).map(|step| 20_000 + 5_000 * step);
    let outputs =
        tries.map(|limit| sh(&format!("ulimit -v {limit}; TMPDIR={place} {WHYSLOW} probe -q true")));
    let outputs = outputs.skip_while(|output| !matches!(output.status.code(), Some(0 | 2)));
    for output in outputs.take_while(|output| output.status.code() != Some(0)).take(40) {
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{complaint}");
        assert!(complaint.starts_with("error: ") && !complaint.contains("backtrace"), "{complaint}");
    }
}

#[test]
fn with_no_output_at_all() {
    let output = sh(&format!("{WHYSLOW} report --help >&-"));
    assert_one_error(&output, "output is closed", "/dev/null");
    assert_eq!(sh(&format!("{WHYSLOW} report --help > /dev/null")).status.code(), Some(0));
}

#[test]
fn without_proc() {
    // Where we may not make such a system there is nothing to see.
    if !sh("unshare -rm sh -c 'mount -t tmpfs none /proc'").status.success() {
        return;
    }
    let script =
        format!("unshare -rm sh -c \"mount -t tmpfs none /proc; {WHYSLOW} compare true false -i --runs 3\"");
    let output = sh(&script);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("3 of 3 runs failed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn nothing_is_written_that_was_not_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().display();
    let script = format!(
        "cd {home}; export HOME={home} TMPDIR={home} XDG_CONFIG_HOME={home} XDG_CACHE_HOME={home}; \
         {WHYSLOW} compare true 'sleep 0.001' --runs 3"
    );
    assert_measured(&sh(&script));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

/// A comparison whose first command says its number and then does not listen.
fn deaf(directory: &Path) -> (std::process::Child, String) {
    let file = directory.join("pid");
    let script = format!("sh -c 'trap \"\" INT TERM; echo $$ > {}; sleep 1000 & wait; wait'", file.display());
    let child = Command::new(WHYSLOW)
        .args(["compare", &script, &script, "--warmup", "0", "--runs", "3"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = word_in(&file);
    (child, pid)
}

fn interrupt(child: &std::process::Child) {
    // SAFETY: our child, and not reaped.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
}

#[test]
fn ctrl_c_ends_the_run_and_keeps_what_there_is() {
    let directory = tempfile::tempdir().unwrap();
    let (child, pid) = deaf(directory.path());
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(is_soon_gone(&pid));
}

#[test]
fn a_second_ctrl_c_ends_everything_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let (mut child, pid) = deaf(directory.path());
    interrupt(&child);
    // Signals that come together are one; the run is given half a second, in which the second must come.
    std::thread::sleep(std::time::Duration::from_millis(50));
    interrupt(&child);
    let status = child.wait().unwrap();
    let is_second = status.signal() == Some(libc::SIGINT);
    assert!(
        is_second || status.code() == Some(130),
        "on a very slow machine the first has done it: {status}"
    );
    assert!(is_soon_gone(&pid));
}

#[test]
fn the_death_of_the_program_ends_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let (mut child, pid) = deaf(directory.path());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(is_soon_gone(&pid));
}

#[test]
fn modes_of_our_terminal_are_put_back() {
    let change = "sh -c 'stty raw -echo <&1'";
    let script = format!(
        "before=$(stty -g); {WHYSLOW} compare \"{change}\" \"{change}\" --show-output --runs 2 > /dev/tty 2>&1; \
         test \"$before\" = \"$(stty -g)\" && echo same 1"
    );
    let outcome = machine().run(&shell_to(Stdout::Terminal, &script), &[number("same (1)")]).unwrap();
    let shown = String::from_utf8_lossy(&outcome.stderr_tail).into_owned();
    assert_eq!(outcome.values, [Some(1.0)], "{shown}");
}

#[test]
fn no_output_of_a_command_reaches_our_terminal() {
    let noise =
        "sh -c 'echo LE\\AK; echo LE\\AK >&2; echo LE\\AK > /dev/tty; stty raw -echo < /dev/tty; true'";
    let noise = noise.replace("\\AK", "''AK").replace("''", "\\\"\\\"");
    let script = format!(
        "before=$(stty -g); {WHYSLOW} compare -n a -n b \"{noise}\" \"{noise}\" --runs 2 > /dev/tty 2>&1; \
         test \"$before\" = \"$(stty -g)\" && echo same 1"
    );
    let metrics = [number("same (1)"), number("wall (t)ime"), number("LEAK()")];
    let outcome = machine().run(&shell_to(Stdout::Terminal, &script), &metrics).unwrap();
    let shown = String::from_utf8_lossy(&outcome.stderr_tail).into_owned();
    assert_eq!(outcome.exit, Exit::Code(0), "{shown}");
    assert_eq!(outcome.values[0], Some(1.0), "{shown}");
    assert!(shown.contains("wall time") && !shown.contains("LEAK"), "{shown}");
}

#[test]
fn a_probe_of_what_cannot_be_started_says_so_once_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    fs::write(&script, "#!/nowhere/to/be/found\n").unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let cases = [(folder.path(), "chmod +x"), (script.as_path(), "interpreter behind `#!`")];
    for (program, remedy) in cases {
        let output = sh(&format!("{WHYSLOW} probe --with faults,loading {}", program.display()));
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{text}");
        assert!(text.contains(remedy) && !text.contains("whyslow doctor"), "{text}");
    }
}
