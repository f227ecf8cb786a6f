//! Instructions, where they can be counted: by a counter of the processor, or by running the command in valgrind, which
//! takes some fifty times as long and tells them by function.

pub mod callgrind;
mod counter;

use std::ffi::CString;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::callgrind::Counts;
use self::counter::Counter;
use super::super::environment::Prepared;
use super::super::scratch::Scratch;
use super::held::Held;
use super::perf::refusal;
use super::{Looker, missing, spot, started, unstarted, unwatched};
use crate::model::{CountedFunction, Instructions, Launch, Missing, Probe, Probed, Trace};

const PROBE: Probe = Probe::Instructions;

/// Where valgrind is found, and the time limit is that many times as long.
const SLOWDOWN: f64 = 100.0;

/// How often the files of processes that have ended are read, so that thousands do not pile up.
const READING: Duration = Duration::from_millis(500);

const MOST_FUNCTIONS: usize = 200;

pub fn can() -> Result<(), Missing> {
    Means::find().map(drop)
}

pub fn look(looker: &Looker<'_>) -> Result<Probed, Missing> {
    match Means::find()? {
        Means::Counter => counted(looker),
        Means::Valgrind { valgrind, error } => in_valgrind(looker, &valgrind, &error),
    }
}

/// What counts.
enum Means {
    Counter,
    Valgrind {
        valgrind: PathBuf,
        /// Why there is no counter.
        error: io::Error,
    },
}

impl Means {
    fn find() -> Result<Means, Missing> {
        let Err(error) = Counter::open(0) else { return Ok(Means::Counter) };
        if let Some(valgrind) = valgrind() {
            return Ok(Means::Valgrind { valgrind, error });
        }
        let why = format!("{}, and valgrind is not installed", no_counter(&error));
        Err(missing(PROBE, why, Some("apt-get install valgrind")))
    }
}

fn no_counter(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
            "no PMU on this machine: its processor shows no counters, as in most virtual machines".to_owned()
        }
        _ => refusal::refused(PROBE, error).why,
    }
}

fn counted(looker: &Looker<'_>) -> Result<Probed, Missing> {
    let failed = unwatched(PROBE);
    let held = Held::start(looker).map_err(unstarted(PROBE))?;
    let counter = Counter::open(held.pid()).map_err(failed)?;
    let end = started(PROBE, held.wait(None, |_| {}).map_err(failed)?)?;
    let total = counter.read().ok_or_else(|| {
        missing(PROBE, "the counter of the processor never ran: others use it", Some("stop other profilers"))
    })?;
    let mut blind_spots = Vec::new();
    if !counter.with_kernel {
        let why = "this user may count those of programs only";
        let remedy = Some("sysctl kernel.perf_event_paranoid=1, or run as root");
        blind_spots.push(spot("instructions in the kernel", why, remedy));
    }
    let instructions = Instructions { total, source: "hardware counters".to_owned(), functions: Vec::new() };
    Ok(end.probed(Trace::Instructions(instructions), blind_spots))
}

fn in_valgrind(looker: &Looker<'_>, valgrind: &Path, error: &io::Error) -> Result<Probed, Missing> {
    let failed = unwatched(PROBE);
    let directory = Scratch::create("instructions").map_err(failed)?;
    let prepared = inside(looker.prepared, valgrind, directory.path());
    let launch =
        Launch { timeout_s: looker.launch.timeout_s.map(|limit| limit * SLOWDOWN), ..looker.launch.clone() };
    let held =
        Held::start(&Looker { launch: &launch, prepared: &prepared, ..*looker }).map_err(unstarted(PROBE))?;
    let mut counts = Counts::default();
    let end = held.wait(Some(READING), |_| read_files(directory.path(), true, &mut counts));
    let end = started(PROBE, end.map_err(failed)?)?;
    read_files(directory.path(), false, &mut counts);
    if counts.total == 0 {
        return Err(missing(
            PROBE,
            format!("valgrind could not run this command{}", complaint(directory.path())),
            None,
        ));
    }
    let blind_spots = vec![spot(
        "instructions in the kernel, and of the real processor",
        format!("{}; callgrind counts those of programs, one thread at a time", no_counter(error)),
        Some("use a machine with performance counters"),
    )];
    let instructions =
        Instructions { total: counts.total, source: "callgrind".to_owned(), functions: functions(counts) };
    Ok(end.probed(Trace::Instructions(instructions), blind_spots))
}

/// By our own PATH: that of the command may have another purpose.
fn valgrind() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join("valgrind")).find(|program| program.is_file())
}

/// The same command in valgrind, which says what it has to say in files.
fn inside(prepared: &Prepared, valgrind: &Path, directory: &Path) -> Prepared {
    let file = |option: &str, name: &str| {
        [option.as_bytes(), directory.as_os_str().as_bytes(), name.as_bytes()].concat()
    };
    let options = [
        valgrind.as_os_str().as_bytes().to_vec(),
        b"--tool=callgrind".to_vec(),
        b"--trace-children=yes".to_vec(),
        b"--dump-line=no".to_vec(),
        file("--callgrind-out-file=", "/out.%p"),
        file("--log-file=", "/log.%p"),
        b"--".to_vec(),
    ];
    let options = options.into_iter().filter_map(|option| CString::new(option).ok());
    let arguments = prepared.argv.iter().skip(1).cloned();
    let argv: Vec<CString> = options.chain([prepared.program.clone()]).chain(arguments).collect();
    Prepared { program: argv[0].clone(), argv, ..prepared.clone() }
}

/// Adds up and removes the files of the processes, of those that have ended only or of all.
fn read_files(directory: &Path, ended_only: bool, counts: &mut Counts) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some((kind, rest)) = name.split_once('.') else { continue };
        let pid = rest.split('.').next().unwrap_or_default();
        if ended_only && Path::new("/proc").join(pid).exists() {
            continue;
        }
        if kind == "out"
            && let Ok(file) = File::open(entry.path())
        {
            // A file that cannot be read to its end has told what it has.
            let _ = callgrind::add(BufReader::new(file), counts);
        }
        if kind == "out" || ended_only {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// The last line that valgrind has written.
fn complaint(directory: &Path) -> String {
    let logs = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let texts = logs.filter_map(|entry| std::fs::read(entry.path()).ok());
    let last = |text: Vec<u8>| {
        let text = String::from_utf8_lossy(&text).into_owned();
        let line = text.lines().rev().map(|line| {
            line.trim_start_matches(['=', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', ' ']).to_owned()
        });
        line.into_iter().find(|line| !line.is_empty())
    };
    texts.filter_map(last).next().map(|line| format!(": {line}")).unwrap_or_default()
}

fn functions(counts: Counts) -> Vec<CountedFunction> {
    let function = |((module, name), own)| CountedFunction { name, module, own };
    let mut functions: Vec<CountedFunction> = counts.functions.into_iter().map(function).collect();
    functions.sort_by(|a, b| b.own.cmp(&a.own).then_with(|| a.name.cmp(&b.name)));
    functions.truncate(MOST_FUNCTIONS);
    functions
}
