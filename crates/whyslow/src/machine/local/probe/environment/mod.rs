//! What a run has around it, read back from the live process and not from what was asked for: a limit that could not be
//! raised and a variable that a script has changed are seen as they are. It follows the first process through every exec
//! and looks at it as late as possible, so that everything it loads is there. Where that one only waits for a descendant
//! that does the work, as shells do, it is the descendant that is told about.

mod computer;
pub mod facts;
mod groups;
pub mod interpreter;
mod locales;
mod objects;
mod secrets;
mod snapshot;
mod tunables;
mod watch;
mod work;

use std::collections::BTreeSet;
use std::ffi::CString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use self::facts::Facts;
use self::snapshot::Snapshot;
use self::watch::Watched;
use super::held::Held;
use super::{Looker, missing, spot, started, tracer, unstarted, unwatched};
use crate::model::{Environment, Missing, Probe, Probed, Trace};

const PROBE: Probe = Probe::Environment;

/// Of the CPU time of the whole tree.
const WORKING_SHARE: f64 = 0.5;
const IDLE_SHARE: f64 = 0.25;

pub fn can() -> Result<(), Missing> {
    if Path::new("/proc/self/stat").exists() {
        return Ok(());
    }
    Err(missing(
        PROBE,
        "/proc is not there, so processes cannot be looked at",
        Some("mount -t proc proc /proc"),
    ))
}

pub fn look(looker: &Looker<'_>) -> Result<Probed, Missing> {
    let failed = unwatched(PROBE);
    let held = Held::start(looker).map_err(unstarted(PROBE))?;
    let watched = watch::watch(held, untraceable(looker).is_none()).map_err(failed)?;
    started(PROBE, watched.end.clone())?;
    let mut blind_spots = blind_spots(&watched, looker);
    let facts = facts(&watched, looker, &mut blind_spots);
    Ok(Probed {
        trace: Trace::Environment(Environment { facts }),
        exit: watched.end.exit,
        wall_s: watched.end.wall_s,
        cpu_s: Some(watched.end.cpu_s),
        blind_spots,
    })
}

/// Why the program is not traced: it would be another one. With the remedy.
fn untraceable(looker: &Looker<'_>) -> Option<(&'static str, &'static str)> {
    let program = tracer::program_path(looker);
    if tracer::gains_rights(&program) {
        let why = "it runs with the rights of its file, which a traced one would not get";
        return Some((why, "run as root"));
    }
    (tracer::uses_ptrace(&program) == Some(true)).then_some((
        "it uses ptrace, which might fail in a traced one",
        "look at the traced program alone, without its tracer",
    ))
}

fn facts(watched: &Watched, looker: &Looker<'_>, blind_spots: &mut Vec<Missing>) -> Facts {
    let mut facts = Facts::new();
    let first = watched.begun.clone().unwrap_or_else(|| asked_for(looker));
    let role = role(watched);
    let worker =
        watched.work.as_ref().map(|work| &work.snapshot).filter(|_| matches!(role, Role::Descendant));
    let (begun, ended) = match worker {
        Some(worker) => (worker.clone(), worker.clone()),
        // Of a process that could not be seen at its end, the beginning is the latest that is known.
        None => (first.clone(), watched.ended.clone().unwrap_or_default().or(first)),
    };
    facts.insert("process".into(), role.name().to_owned());
    let (begun, ended) =
        (in_the_group_of_work(watched, &role, begun), in_the_group_of_work(watched, &role, ended));
    facts::add(&mut facts, &begun, &ended);
    let program = begun.program.clone().unwrap_or_default();
    objects::add(&mut facts, &program, ended.maps.as_deref().unwrap_or_default());
    let programs = watched.programs.iter().chain(worker.and_then(|worker| worker.program.as_ref()));
    let chain: Vec<String> = programs.map(|path| path.display().to_string()).collect();
    if !chain.is_empty() {
        facts.insert("program.chain".into(), chain.join(" > "));
    }
    tunables::add(&mut facts, begun.environ.as_deref().unwrap_or_default());
    if let Err(why) = interpreter::add(&mut facts, &begun) {
        blind_spots.push(spot("build of the interpreter", why, None));
    }
    computer::add(&mut facts);
    facts
}

/// Where one descendant has used most of the CPU time and the first process next to none, that one is told about. One
/// that was too quick to be seen at its work leaves nothing but the first process, which only waited for it.
fn role(watched: &Watched) -> Role {
    let total_s = watched.end.cpu_s;
    let own_s = watched.ended.as_ref().and_then(Snapshot::own_cpu_s);
    if own_s.is_none_or(|own_s| own_s >= IDLE_SHARE * total_s) {
        return Role::First;
    }
    match &watched.work {
        Some(work) if work.cpu_s > WORKING_SHARE * total_s => Role::Descendant,
        // Of one that was not seen at its end it is not known what it did since.
        _ if watched.is_whole => Role::Waiting,
        _ => Role::First,
    }
}

/// Who only waits is held up by no limit of its group: what counts is the group of those that work, though none of them
/// does most of it.
fn in_the_group_of_work(watched: &Watched, role: &Role, snapshot: Snapshot) -> Snapshot {
    let of_work = watched.work.as_ref().and_then(|work| work.snapshot.groups.clone());
    match (role, of_work) {
        (Role::Waiting, Some(groups)) => Snapshot { groups: Some(groups), ..snapshot },
        _ => snapshot,
    }
}

enum Role {
    First,
    Descendant,
    Waiting,
}

impl Role {
    fn name(&self) -> &'static str {
        match self {
            Role::First => "the first",
            Role::Descendant => "a descendant",
            Role::Waiting => Environment::WAITING,
        }
    }
}

/// What the process was to be started with, where it was too quick to be looked at.
fn asked_for(looker: &Looker<'_>) -> Snapshot {
    let joined =
        |strings: &[CString]| strings.iter().flat_map(|text| text.as_bytes_with_nul().to_vec()).collect();
    let program = PathBuf::from(std::ffi::OsString::from_vec(looker.prepared.program.as_bytes().to_vec()));
    let here = Snapshot::take(std::process::id() as i32);
    let cwd = looker.launch.cwd.clone().or(here.cwd);
    Snapshot {
        program: cwd.as_ref().map_or(program.clone(), |cwd| cwd.join(&program)).canonicalize().ok(),
        argv: Some(joined(&looker.prepared.argv)),
        environ: Some(joined(&looker.prepared.env)),
        cwd,
        limits: here.limits,
        groups: here.groups,
        personality: here.personality,
        ..Snapshot::default()
    }
}

fn blind_spots(watched: &Watched, looker: &Looker<'_>) -> Vec<Missing> {
    let trace = Some("allow ptrace: outside a sandbox, or with --cap-add SYS_PTRACE in a container");
    let mut spots = Vec::new();
    if watched.begun.is_none() {
        let known = "arguments, variables and limits are those it was started with";
        let (why, remedy) = match untraceable(looker) {
            Some((why, remedy)) => {
                (format!("{why}, and it ended before it could be looked at: {known}"), Some(remedy))
            }
            None => (format!("it ended before it could be looked at: {known}"), trace),
        };
        spots.push(spot("the live process", why, remedy));
    } else if !watched.is_traced {
        let (why, remedy) = match untraceable(looker) {
            Some((why, remedy)) => (why, Some(remedy)),
            None => ("it may not be traced here", trace),
        };
        let why = format!("{why}: seen from time to time, not at its end");
        spots.push(spot("libraries loaded late", why, remedy));
    } else if !watched.is_whole {
        let why =
            "it was killed before it could be looked at: libraries and limits are those just after its start";
        spots.push(spot("the end of the process", why, None));
    }
    spots.extend(tracer::lost(&watched.without_rights));
    spots.extend(may_have_failed(&watched.tracers));
    let is_hidden = watched.begun.as_ref().is_some_and(|begun| begun.environ.is_none());
    if is_hidden {
        spots.push(spot(
            "variables of the process",
            "the kernel does not show them to this user",
            Some("run as root"),
        ));
    }
    spots
}

/// Of programs that were started in the place of the first one, when it was traced already.
fn may_have_failed(tracers: &BTreeSet<String>) -> Option<Missing> {
    let names: Vec<&str> = tracers.iter().map(String::as_str).collect();
    let why = format!(
        "{} uses ptrace and was traced here: where it wants to be traced by its parent or its child, that has failed",
        names.join(", ")
    );
    let remedy = "start it without a shell in front, and it is not traced";
    (!names.is_empty()).then(|| spot("a program that is traced already", why, Some(remedy)))
}
