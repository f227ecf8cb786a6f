//! Whether tasks can be traced here, and if not, why and what to do. Also which programs would not be themselves under a
//! tracer: those that have more rights than who starts them.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::super::{Looker, failed, missing, proc, ptrace, spot};
use super::STOPS;
use crate::model::{Missing, Probe};

/// Traces a child for a moment.
pub fn can(probe: Probe) -> Result<(), Missing> {
    let child = Sleeper::start().map_err(|error| failed(probe, "no process can be started", &error))?;
    ptrace::seize(child.0, STOPS).map_err(|error| refused(probe, child.0, &error))?;
    ptrace::interrupt(child.0);
    child.wait_for_stop();
    ptrace::call_stop(child.0).map_err(|error| {
        let why = format!("the kernel does not tell about system calls ({error})");
        missing(probe, why, Some("use Linux 5.3 or later"))
    })?;
    Ok(())
}

/// Why `task`, a child of ours, cannot be traced.
pub fn refused(probe: Probe, task: libc::pid_t, error: &io::Error) -> Missing {
    if let Some(tracer) = tracer_of(task) {
        let why = format!("the processes started here are traced already, by {tracer}");
        return missing(probe, why, Some("run whyslow itself without a tracer such as strace"));
    }
    if yama_scope().is_some_and(|scope| scope >= 2) && !is_root() {
        let remedy = "sysctl kernel.yama.ptrace_scope=1, or run as root";
        return missing(probe, "this system lets only administrators trace processes", Some(remedy));
    }
    let why = match is_filtered() {
        true => format!("ptrace is refused ({error}), by a filter of system calls as containers have them"),
        false => format!("ptrace is refused ({error})"),
    };
    missing(
        probe,
        why,
        Some("allow ptrace here (docker run --cap-add SYS_PTRACE), or run outside of the container"),
    )
}

/// A command that a tracer would change, or that the kernel would not show, is not started.
pub fn check_program(probe: Probe, looker: &Looker<'_>) -> Result<(), Missing> {
    let path = program_path(looker);
    if !gains_rights(&path) {
        return Ok(());
    }
    let why = format!("{} has more rights than you, so only root may look into it", path.display());
    Err(missing(probe, why, Some("run as root")))
}

/// As the launch will find it.
pub fn program_path(looker: &Looker<'_>) -> PathBuf {
    let program = Path::new(std::ffi::OsStr::from_bytes(looker.prepared.program.to_bytes()));
    let cwd = looker.launch.cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    // A directory of the launch may be relative to ours.
    let cwd = std::path::absolute(&cwd).unwrap_or(cwd);
    cwd.join(program)
}

/// Whether it will have more rights than we have when we start it.
pub fn gains_rights(path: &Path) -> bool {
    loses_rights(path) && !gives_no_rights(path) && !gets_no_rights(std::process::id().cast_signed())
}

/// Whether starting this file gives rights that a traced process does not get.
fn loses_rights(path: &Path) -> bool {
    let Ok(file) = fs::metadata(path) else { return false };
    if is_root() || !file.is_file() {
        return false;
    }
    // SAFETY: no memory is involved.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let is_other_user = file.mode() & libc::S_ISUID != 0 && file.uid() != user;
    let is_other_group = file.mode() & libc::S_ISGID != 0 && file.gid() != group;
    is_other_user || is_other_group || has_capabilities(path)
}

/// The same of a task that is traced and has just started its program.
pub fn has_lost_rights(task: libc::pid_t) -> bool {
    let program = PathBuf::from(format!("/proc/{task}/exe"));
    loses_rights(&program) && !gives_no_rights(&program) && !gets_no_rights(task)
}

/// Whether it lies on a file system whose programs give none.
fn gives_no_rights(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: zeroes are valid, and the call fills the structure.
    let (result, about) = unsafe {
        let mut about: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(path.as_ptr(), &mut about), about)
    };
    result == 0 && about.f_flag & libc::ST_NOSUID != 0
}

/// Whether it has given up to get any.
fn gets_no_rights(task: libc::pid_t) -> bool {
    let status = proc::read(task, "status").unwrap_or_default();
    proc::field(&status, "NoNewPrivs") == Some("1")
}

/// What is told of programs that have lost theirs.
pub fn lost(programs: &BTreeSet<String>) -> Option<Missing> {
    let names: Vec<&str> = programs.iter().map(String::as_str).collect();
    let why = format!("under a tracer they start without the rights of their files: {}", names.join(", "));
    (!names.is_empty()).then(|| spot("programs with more rights than you", why, Some("run as root")))
}

fn has_capabilities(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    let name: &CStr = c"security.capability";
    // SAFETY: two strings; nothing is written to a buffer of no length.
    unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), std::ptr::null_mut(), 0) > 0 }
}

pub fn is_root() -> bool {
    // SAFETY: no memory is involved.
    unsafe { libc::geteuid() == 0 }
}

/// With its name.
fn tracer_of(task: libc::pid_t) -> Option<String> {
    let tracer: libc::pid_t = proc::field(&proc::read(task, "status")?, "TracerPid")?.parse().ok()?;
    let name = proc::read(tracer, "comm").unwrap_or_default();
    let name = String::from_utf8_lossy(&name);
    (tracer != 0).then(|| format!("process {tracer} {}", name.trim()).trim_end().to_owned())
}

fn is_filtered() -> bool {
    let status = fs::read("/proc/self/status").unwrap_or_default();
    proc::field(&status, "Seccomp") == Some("2")
}

fn yama_scope() -> Option<i32> {
    fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").ok()?.trim().parse().ok()
}

/// A child that does nothing until it is killed.
struct Sleeper(libc::pid_t);

impl Sleeper {
    fn start() -> io::Result<Sleeper> {
        // SAFETY: the child calls nothing but async-signal-safe functions.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: as above.
            0 => unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                loop {
                    libc::pause();
                }
            },
            child => Ok(Sleeper(child)),
        }
    }

    fn wait_for_stop(&self) {
        // SAFETY: the status is not wanted.
        unsafe { libc::waitpid(self.0, std::ptr::null_mut(), libc::__WALL) };
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        // SAFETY: a child of ours that is not reaped yet.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
        self.wait_for_stop();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_of_our_own_gives_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("program");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).unwrap();
        assert!(!loses_rights(&path) && !loses_rights(&directory.path().join("none")));
    }
}
