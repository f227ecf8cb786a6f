//! What it takes to load the programs of a run: the loader of glibc is asked for its statistics by LD_DEBUG in the
//! environment of the command, and the program files are read. The loader's text goes to a directory of its own that is
//! removed, and a tracer closes it before each program begins, so that no program comes across it. Where there is no
//! tracer the loader is not asked, and only the files are read.

mod entry;
mod programs;
mod starts;
pub mod told;

use std::ffi::CString;
use std::fs::{self, Permissions};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use self::starts::Starts;
use super::super::environment::Prepared;
use super::super::scratch::Scratch;
use super::held::Held;
use super::tracer::{self, Traced};
use super::{Looker, failed, spot, started, unstarted, unwatched};
use crate::model::{Loading, Missing, Probe, Probed, Trace};

const PROBE: Probe = Probe::Loading;

/// What is missing where the loader did not tell.
const STATISTICS: &str = "statistics of the loader";

/// The files of programs can be read anywhere.
pub fn can() -> Result<(), Missing> {
    Ok(())
}

pub fn look(looker: &Looker<'_>) -> Result<Probed, Missing> {
    if !cfg!(target_arch = "x86_64") {
        let why = "the loader can be stopped and silenced on x86-64 only";
        return files_only(looker, spot(STATISTICS, why, None));
    }
    if let Err(refused) = tracer::can(PROBE) {
        return files_only(looker, Missing { what: STATISTICS.to_owned(), ..refused });
    }
    let directory =
        open_directory().map_err(|error| failed(PROBE, "no place for the loader to write to", &error))?;
    if let Err(untold) = can_tell(directory.path(), Path::new("/proc/self/maps")) {
        return files_only(looker, untold);
    }
    let prepared = asking(looker.prepared, directory.path());
    let asking = Looker { prepared: &prepared, ..*looker };
    let clock = Clock::start();
    let traced = tracer::trace(&asking, PROBE, Starts::new(directory.path()))?;
    Ok(probed(traced, clock.cycles_per_s()))
}

/// Any user may write there: a command may change its user.
fn open_directory() -> std::io::Result<Scratch> {
    let directory = Scratch::create("loading")?;
    fs::set_permissions(directory.path(), Permissions::from_mode(0o1777))?;
    Ok(directory)
}

/// Otherwise a silent loader would be taken for none.
fn can_tell(directory: &Path, of_a_process: &Path) -> Result<(), Missing> {
    if !of_a_process.exists() {
        let why = "there is no /proc, which tells what is loaded";
        return Err(spot(STATISTICS, why, Some("mount -t proc proc /proc")));
    }
    let trial = directory.join("trial");
    // As much as a loader writes about some libraries.
    fs::write(&trial, [b'x'; 16384]).and_then(|()| fs::remove_file(&trial)).map_err(|error| {
        let place = directory.parent().unwrap_or(directory).display();
        let why = format!("the loader could not write to {place}: {error}");
        spot(STATISTICS, why, Some("make room there, or set TMPDIR to a directory that has some"))
    })
}

fn asking(prepared: &Prepared, directory: &Path) -> Prepared {
    let mut prepared = prepared.clone();
    let is_ours = |text: &CString| {
        text.as_bytes().starts_with(b"LD_DEBUG=") || text.as_bytes().starts_with(b"LD_DEBUG_OUTPUT=")
    };
    prepared.env.retain(|variable| !is_ours(variable));
    let output = [b"LD_DEBUG_OUTPUT=", directory.as_os_str().as_bytes(), b"/told"].concat();
    prepared.env.push(c"LD_DEBUG=libs,statistics".to_owned());
    prepared.env.extend(CString::new(output));
    prepared
}

fn probed(traced: Traced<Starts>, cycles_per_s: Option<f64>) -> Probed {
    let mut blind_spots = traced.blindness.spots();
    let observer = traced.observer;
    let programs = programs::programs(&traced.tree.programs(), &observer.programs);
    if observer.sums.loads == Some(0) {
        let why = "no program of this run was loaded by the loader of glibc: they are static, or of another C library";
        blind_spots.push(spot(STATISTICS, why, None));
    }
    if observer.unstopped > 0 {
        let why = format!("{} starts of programs for another processor were not counted", observer.unstopped);
        blind_spots.push(spot("statistics of some loaders", why, None));
    }
    if observer.unsilenced > 0 {
        let why = "the loader of this system could not be silenced: at its end it may write to a file of the program";
        blind_spots.push(spot("an undisturbed run", why, None));
    }
    let sums = observer.sums;
    let startup_s = sums.startup_cycles.zip(cycles_per_s).map(|(cycles, rate)| cycles as f64 / rate);
    traced.end.probed(Trace::Loading(Loading { programs, startup_s, ..sums }), blind_spots)
}

/// What the file of the command says, without asking the loader.
fn files_only(looker: &Looker<'_>, statistics: Missing) -> Result<Probed, Missing> {
    let held = Held::start(looker).map_err(unstarted(PROBE))?;
    let end = started(PROBE, held.wait(None, |_| {}).map_err(unwatched(PROBE))?)?;
    let path = PathBuf::from(std::ffi::OsString::from_vec(looker.prepared.program.as_bytes().to_vec()));
    let path = looker.launch.cwd.as_deref().map_or(path.clone(), |cwd| cwd.join(&path));
    let program = programs::one(path.display().to_string(), None, &path, &Default::default());
    let loading = Loading { programs: vec![program], ..Loading::default() };
    Ok(end.probed(Trace::Loading(loading), vec![statistics]))
}

/// How fast the counter runs that the loader reads, by looking at it before and after a run.
struct Clock {
    began: Instant,
    count: Option<u64>,
}

impl Clock {
    const SHORTEST_S: f64 = 0.02;

    fn start() -> Clock {
        Clock { began: Instant::now(), count: count() }
    }

    fn cycles_per_s(&self) -> Option<f64> {
        let passed_s = self.began.elapsed().as_secs_f64();
        if passed_s < Clock::SHORTEST_S {
            std::thread::sleep(std::time::Duration::from_secs_f64(Clock::SHORTEST_S - passed_s));
        }
        let counted = count()?.checked_sub(self.count?)?;
        Some(counted as f64 / self.began.elapsed().as_secs_f64()).filter(|rate| *rate > 1e6)
    }
}

/// Only a counter that runs at one speed tells time.
#[cfg(target_arch = "x86_64")]
fn count() -> Option<u64> {
    let features = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    // SAFETY: reads a register; every processor of this architecture has it.
    features.contains("constant_tsc").then(|| unsafe { std::arch::x86_64::_rdtsc() })
}

#[cfg(not(target_arch = "x86_64"))]
fn count() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loader_that_cannot_tell_is_not_taken_for_none() {
        let place = tempfile::tempdir().unwrap();
        let maps = Path::new("/proc/self/maps");
        assert_eq!(can_tell(place.path(), maps), Ok(()));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        let unwritable = can_tell(&place.path().join("none"), maps).unwrap_err();
        assert!(unwritable.why.contains("could not write"), "{unwritable:?}");
        let unmounted = can_tell(place.path(), &place.path().join("maps")).unwrap_err();
        assert!(unmounted.why.contains("no /proc"), "{unmounted:?}");
    }
}
