//! The probe of allocations: runs the launch with a library in front of all others that counts what every program of the
//! tree asks its allocator for. It gets into dynamic programs only; what it cannot get into is told.

use std::fs::{self, File, Permissions};
use std::io::{self, BufReader, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use whyslow_agent::{COUNTERS_FILE, Object, Tally, counters_file_bytes, counters_header};

use super::super::delivery::Directory;
use super::super::environment::Prepared;
use super::super::{preloadable, preloads};
use super::held::{Held, HeldEnd};
use super::{Looker, general_remedy, missing, started, tracer, unstarted};
use crate::model::{Allocations, Missing, Probe, Probed, Trace};

/// Room for so many threads and program images. The file takes no more space than what is used of it.
const THREADS: u64 = 256 << 10;

const NO_AGENT: &str = "not measured: the library that counts is not made for this kind of machine";

pub fn can() -> Result<(), Missing> {
    if Object::Agent.bytes().is_none() {
        return Err(missing(Probe::Allocations, NO_AGENT, None));
    }
    if !can_tell_forks() {
        let why = "not measured: this kernel cannot tell a forked process from its parent (MADV_WIPEONFORK)";
        return Err(missing(Probe::Allocations, why, Some("use Linux 4.14 or later")));
    }
    Ok(())
}

pub fn look(looker: &Looker<'_>) -> Result<Probed, Missing> {
    can()?;
    tracer::check_program(Probe::Allocations, looker)?;
    let (program, obstacle) = preloadable::obstacle(looker.prepared);
    if let Some(obstacle) = obstacle {
        let why = format!("not measured: {} {}", program.display(), obstacle.why());
        return Err(missing(Probe::Allocations, why, Some(obstacle.remedy())));
    }
    let counting = Counting::begin().map_err(no_place)?;
    let end = run(looker, &counting).map_err(unstarted(Probe::Allocations))?;
    let end = started(Probe::Allocations, end)?;
    let tally = counting.end().map_err(no_place)?;
    if tally.images == 0 {
        return Err(not_loaded(&tally));
    }
    let blind_spots = blind_spots(&tally, looker.prepared);
    Ok(end.probed(Trace::Allocations(allocations(tally)), blind_spots))
}

fn run(looker: &Looker<'_>, counting: &Counting) -> io::Result<HeldEnd> {
    let mut prepared = looker.prepared.clone();
    preloads::put_paths(&mut prepared, vec![counting.agent.clone()])
        .map_err(|refused| io::Error::from_raw_os_error(refused.errno))?;
    Held::start(&Looker { prepared: &prepared, ..*looker })?.wait(None, |_| {})
}

fn no_place(error: io::Error) -> Missing {
    let why = format!("not measured: there is no place for the library that counts: {error}");
    let remedy =
        "set TMPDIR to a directory from which programs may be run, without spaces or colons in its path";
    missing(Probe::Allocations, why, general_remedy(&error).or(Some(remedy)))
}

fn not_loaded(tally: &Tally) -> Missing {
    let why = if tally.lost > 0 {
        "not measured: the library that counts could not reach its file"
    } else {
        "not measured: no program of this run loaded the library that counts"
    };
    let remedy =
        "programs load it that are linked dynamically and are started with the LD_PRELOAD of their parent";
    missing(Probe::Allocations, why, Some(remedy))
}

/// The library and its counters, in a directory that is removed with this.
struct Counting {
    directory: Directory,
    agent: PathBuf,
    counters: File,
}

impl Counting {
    fn begin() -> io::Result<Counting> {
        let bytes = Object::Agent.bytes().ok_or_else(|| io::Error::from_raw_os_error(libc::ENOSYS))?;
        let mut directory = Directory::create()?;
        let agent = directory.put(Object::Agent.file_name(), bytes)?;
        let length = counters_file_bytes(THREADS).min(longest_file());
        let path = directory.put(COUNTERS_FILE, &counters_header(length))?;
        // What root starts may give up its rights; nobody else can start what another user runs.
        // SAFETY: no memory is involved.
        let mode = if unsafe { libc::geteuid() } == 0 { 0o666 } else { 0o600 };
        fs::set_permissions(&path, Permissions::from_mode(mode))?;
        let counters = File::options().read(true).write(true).open(&path)?;
        counters.set_len(length)?;
        Ok(Counting { directory, agent, counters })
    }

    /// To be called when no program of the run is left.
    fn end(self) -> io::Result<Tally> {
        let mut counters = self.counters;
        counters.flush()?;
        counters.rewind()?;
        let tally = Tally::read(BufReader::with_capacity(1 << 16, counters));
        drop(self.directory);
        tally
    }
}

/// A longer one would end this program with a signal.
fn longest_file() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call fills the structure.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    if result == 0 { limit.rlim_cur & !0xffff } else { 0 }
}

/// The agent needs memory that a forked process finds empty.
fn can_tell_forks() -> bool {
    // SAFETY: a new mapping of one page, which nobody else knows of.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let page = libc::mmap(std::ptr::null_mut(), 1, libc::PROT_READ, flags, -1, 0);
        if page == libc::MAP_FAILED {
            return true;
        }
        let result = libc::madvise(page, 1, libc::MADV_WIPEONFORK);
        libc::munmap(page, 1);
        result == 0
    }
}

fn allocations(tally: Tally) -> Allocations {
    Allocations {
        processes: tally.images,
        processes_unseen: None,
        allocators: tally.owners.into_iter().map(|(path, _)| path).collect(),
        malloc_calls: tally.malloc_calls,
        calloc_calls: tally.calloc_calls,
        realloc_calls: tally.realloc_calls,
        aligned_calls: tally.aligned_calls,
        free_calls: tally.free_calls,
        asked_bytes: tally.asked_bytes,
        sizes: tally.sizes,
        realloc_new: tally.realloc_new,
        realloc_freed: tally.realloc_freed,
        realloc_in_place: tally.realloc_in_place,
        realloc_moved: tally.realloc_moved,
        realloc_moved_bytes: tally.realloc_moved_bytes,
        realloc_remapped: tally.realloc_remapped,
        realloc_remapped_bytes: tally.realloc_remapped_bytes,
        peak_live_bytes: tally.peak_live_bytes,
        sbrk_calls: tally.sbrk_calls,
    }
}

fn blind_spots(tally: &Tally, prepared: &Prepared) -> Vec<Missing> {
    let python_asks_malloc =
        prepared.env.iter().any(|variable| variable.as_bytes() == b"PYTHONMALLOC=malloc");
    let with_python = if python_asks_malloc { 0 } else { tally.with_python };
    let spots = [
        (
            tally.lost,
            "in threads or forked processes that could not reach the file of counters nothing was counted",
            "it needs a free descriptor, and the rights of the user who runs whyslow",
        ),
        (
            tally.with_own_malloc,
            "in programs with a malloc of their own nothing was counted",
            "look at builds with the malloc of the libc",
        ),
        (
            tally.with_own_new,
            "in programs whose allocator is operator new of C++ too, what came by that way was not counted",
            "look at them with the malloc of the libc",
        ),
        (
            with_python,
            "Python asks malloc for large blocks only and divides them itself: small ones were not counted",
            "--env PYTHONMALLOC=malloc shows them all",
        ),
        (
            tally.with_perl_malloc,
            "in a perl that was built with a malloc of its own nothing was counted",
            "look at a perl that was built without usemymalloc",
        ),
    ];
    let spots = spots.into_iter().filter(|(times, ..)| *times > 0);
    spots.map(|(times, why, remedy)| spot(times, why, remedy)).collect()
}

fn spot(times: u64, why: &str, remedy: &str) -> Missing {
    missing(
        Probe::Allocations,
        format!("{why} (seen {times} times)").replace(" 1 times", " once"),
        Some(remedy),
    )
}
