//! What an interpreter says of itself: its version and how it was built. It is asked once, in the environment and the
//! directory of the run, by a fixed question that does nothing else. Programs that are no interpreters are never run.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::super::proc;
use super::facts::Facts;
use super::secrets;
use super::snapshot::Snapshot;

/// An interpreter that takes longer to say what it is remains unknown.
const PATIENCE: Duration = Duration::from_secs(5);

const MOST_ANSWER_BYTES: u64 = 64 * 1024;

/// How the interpreters whose file begins with this name are asked. They answer with lines `name=value`.
struct Question {
    prefix: &'static str,
    arguments: &'static [&'static str],
}

const QUESTIONS: [Question; 7] = [
    Question {
        prefix: "perl",
        arguments: &[
            "-V:version",
            "-V:archname",
            "-V:cc",
            "-V:gccversion",
            "-V:optimize",
            "-V:ccflags",
            "-V:usethreads",
            "-V:usemymalloc",
            "-V:uselongdouble",
            "-V:d_setlocale",
            "-V:useshrplib",
        ],
    },
    Question { prefix: "python", arguments: &["-S", "-c", PYTHON] },
    Question { prefix: "pypy", arguments: &["-S", "-c", PYTHON] },
    Question { prefix: "node", arguments: &["-e", NODE] },
    Question { prefix: "ruby", arguments: &["--disable=gems", "-e", RUBY] },
    Question { prefix: "java", arguments: &["-version"] },
    Question { prefix: "php", arguments: &["-v"] },
];

const PYTHON: &str = "import sys, sysconfig
print('version=' + sys.version.replace('\\n', ' '))
print('implementation=' + sys.implementation.name)
print('prefix=' + sys.prefix)
print('flags=' + str(sys.flags))
gil = getattr(sys, '_is_gil_enabled', None)
print('gil=' + str(gil() if gil else True))
for name in ('CONFIG_ARGS', 'OPT', 'CC', 'Py_DEBUG', 'WITH_PYMALLOC', 'Py_ENABLE_SHARED', 'Py_GIL_DISABLED'):
    print(name + '=' + str(sysconfig.get_config_var(name)).replace('\\n', ' '))
";

const NODE: &str = "console.log('version=' + process.version);
console.log('execArgv=' + process.execArgv.slice(0, -2).join(' '));
console.log('v8=' + process.versions.v8); console.log('openssl=' + process.versions.openssl);
const v = process.config.variables;
for (const name of ['node_shared', 'v8_enable_pointer_compression', 'debug_node', 'enable_lto', 'enable_pgo_use'])
  console.log(name + '=' + v[name]);";

const RUBY: &str = "puts 'version=' + RUBY_DESCRIPTION
%w[configure_args optflags debugflags CFLAGS].each { |name| puts name + '=' + RbConfig::CONFIG[name].to_s }";

/// Answers are the same for the same file, environment and directory.
static ANSWERS: Mutex<BTreeMap<u64, Vec<(String, String)>>> = Mutex::new(BTreeMap::new());

/// Whether the program is an interpreter that did not answer.
pub fn add(facts: &mut Facts, begun: &Snapshot) -> Result<(), String> {
    let Some(program) = begun.program.as_deref() else { return Ok(()) };
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(question) = QUESTIONS.iter().find(|question| is_called(&name, question.prefix)) else {
        return Ok(());
    };
    facts.insert("interpreter.name".into(), question.prefix.to_owned());
    let key = key(program, begun);
    let known = ANSWERS.lock().ok().and_then(|answers| answers.get(&key).cloned());
    let answer = match known {
        Some(answer) => answer,
        None => {
            let text =
                ask(program, question, begun).map_err(|why| format!("{name} did not answer: {why}"))?;
            let answer = parse(&text);
            if let Ok(mut answers) = ANSWERS.lock() {
                answers.insert(key, answer.clone());
            }
            answer
        }
    };
    facts.extend(answer.into_iter().map(|(name, value)| (format!("interpreter.{name}"), value)));
    Ok(())
}

/// `python3.12` is python, `debugperl` and `perl5.36-x86_64-linux-gnu` are perl, `perldoc` is not.
fn is_called(name: &str, prefix: &str) -> bool {
    let Some(rest) = name.strip_prefix("debug").unwrap_or(name).strip_prefix(prefix) else { return false };
    let kind = rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    ["", "t", "d", "td", "-dbg"].contains(&kind) || (kind.starts_with('-') && kind.contains("-linux-"))
}

fn key(program: &Path, begun: &Snapshot) -> u64 {
    let environ = begun.environ.as_deref().unwrap_or_default();
    let parts = [
        program.as_os_str().as_bytes(),
        environ,
        begun.cwd.as_deref().map_or(&[][..], |cwd| cwd.as_os_str().as_bytes()),
    ];
    twox_hash::XxHash3_64::oneshot(&parts.join(&b'\n'))
}

fn ask(program: &Path, question: &Question, begun: &Snapshot) -> Result<Vec<u8>, String> {
    let mut command = Command::new(program);
    // Python finds a virtual environment by the name that it was called with.
    let argv = begun.argv.as_deref().map(proc::strings).unwrap_or_default();
    if let Some(name) = argv.first().filter(|name| name.contains(&b'/')) {
        command.arg0(OsStr::from_bytes(name));
    }
    command.args(question.arguments).env_clear().envs(variables(begun));
    if let Some(cwd) = &begun.cwd {
        command.current_dir(cwd);
    }
    let is_java = question.prefix == "java";
    let (stdout, stderr) =
        if is_java { (Stdio::null(), Stdio::piped()) } else { (Stdio::piped(), Stdio::null()) };
    command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).process_group(0);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    answer(&mut child)
}

fn variables(begun: &Snapshot) -> Vec<(OsString, OsString)> {
    let environ = begun.environ.as_deref().map(proc::strings).unwrap_or_default();
    let pair = |variable: &[u8]| {
        let equals = variable.iter().position(|byte| *byte == b'=').filter(|place| *place > 0)?;
        let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        Some((text(&variable[..equals]), text(&variable[equals + 1..])))
    };
    environ.into_iter().filter_map(pair).collect()
}

/// Its output, read by a thread so that a silent one can be ended.
fn answer(child: &mut Child) -> Result<Vec<u8>, String> {
    let stdout = child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
    let pipe = stdout.or_else(|| child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let Some(pipe) = pipe else { return Err("it has no output".to_owned()) };
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.take(MOST_ANSWER_BYTES).read_to_end(&mut bytes);
        bytes
    });
    let until = Instant::now() + PATIENCE;
    let is_in_time = loop {
        match child.try_wait() {
            Ok(Some(_)) => break true,
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(2)),
            _ => break false,
        }
    };
    // SAFETY: no memory is involved; the group is that of the child, and whatever it left there must not stay.
    unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
    let _ = child.kill();
    let _ = child.wait();
    let bytes = reader.join().unwrap_or_default();
    if is_in_time && !bytes.is_empty() { Ok(bytes) } else { Err("nothing in five seconds".to_owned()) }
}

/// Lines `name=value`, with or without quotes and semicolons; other first lines are the version.
pub fn parse(text: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(text);
    let mut found = Vec::new();
    for line in text.lines().take(100) {
        let pair = line.split_once('=').filter(|(name, _)| {
            !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        });
        match pair {
            Some(("version", value)) => found.push(("version".to_owned(), clean(value))),
            Some((name, value)) => found.push((format!("build.{name}"), clean(value))),
            None if !line.trim().is_empty() && !line.starts_with("Picked up ") => {
                let name = if found.iter().any(|(name, _)| name == "version") { "build" } else { "version" };
                if !found.iter().any(|(known, _)| known == name) {
                    found.push((name.to_owned(), clean(line)));
                }
            }
            None => {}
        }
    }
    found
}

fn clean(value: &str) -> String {
    secrets::shortened(value.trim().trim_end_matches(';').trim_matches('\'').trim().as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn answers() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            parse(b"version='5.36.0';\nccflags=' -fwrapv -O2 ';\n"),
            [pair("version", "5.36.0"), pair("build.ccflags", "-fwrapv -O2")]
        );
        assert_eq!(
            parse(b"Picked up X\nopenjdk version \"17\"\nOpenJDK Runtime\nOpenJDK 64-Bit\n"),
            [pair("version", "openjdk version \"17\""), pair("build", "OpenJDK Runtime")]
        );
    }

    #[test]
    fn names() {
        assert!(
            is_called("python3.12", "python") && is_called("perl", "perl") && is_called("perl5.36.0", "perl")
        );
        assert!(is_called("debugperl", "perl") && is_called("perl5.36-x86_64-linux-gnu", "perl"));
        assert!(is_called("python3.13t", "python") && !is_called("python3-config", "python"));
        assert!(
            !is_called("perldoc", "perl") && !is_called("nodejs-x", "node") && !is_called("javac", "java")
        );
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            parse(&bytes);
        }
    }
}
